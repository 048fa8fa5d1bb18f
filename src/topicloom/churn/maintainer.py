"""What a maintainer is: it mends an overlay after each event, and says which links that takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from topicloom.churn.live_overlay import Link
from topicloom.errors import InputError
from topicloom.model.events import JOIN, LEAVE, Event, is_name
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay


class EventRefused(InputError):  # noqa: N818  it is the event's error
    """An event that cannot have happened; nothing was changed."""


@dataclass(frozen=True)
class Change:
    """What an event does to the links; `shadow` is how many nodes were considered for new ones."""

    added: tuple[Link, ...]
    removed: tuple[Link, ...]
    shadow: int


class Maintainer(ABC):
    """Keeps an overlay topic-connected while nodes join, leave and change their topics."""

    method: str

    def join(self, node: str, topics: Iterable[str]) -> Change:
        """A new node that wants these topics joins."""
        self.settle()
        wanted = sorted(_names(topics))
        if self.has(node):
            raise EventRefused(f"join of '{node}', which is there already")
        if not wanted:
            raise EventRefused(f"join of '{node}', which wants no topic")
        if not is_name(node):
            raise EventRefused(f"join of {node!r}, which is no name")
        return self._join(node, wanted)

    def leave(self, node: str) -> Change:
        """A node leaves."""
        self.settle()
        if not self.has(node):
            raise EventRefused(f"leave of '{node}', which is not there")
        return self._leave(node)

    def change(self, node: str, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Change:
        """A node wants some topics more and others no longer."""
        self.settle()
        if not self.has(node):
            raise EventRefused(f"change of '{node}', which is not there")
        added, given_up, before = _names(add), _names(remove), set(self.topics_of(node))
        if have := sorted(added & before):
            raise EventRefused(f"change of '{node}': it wants '{have[0]}' already")
        if lack := sorted(given_up - before):
            raise EventRefused(f"change of '{node}': it does not want '{lack[0]}', which it is to give up")
        if not added and not given_up:
            raise EventRefused(f"change of '{node}', in which nothing changes")
        if not added and given_up == before:
            raise EventRefused(f"change of '{node}': it would want no topic; let it leave instead")
        return self._change(node, sorted(added), sorted(given_up))

    def apply(self, event: Event) -> Change:
        """Let an event happen."""
        if event.kind == JOIN:
            return self.join(event.node, event.add)
        if event.kind == LEAVE:
            return self.leave(event.node)
        return self.change(event.node, event.add, event.remove)

    def settle(self) -> None:  # noqa: B027  not all have something to do
        """Make ready for the next event, which would otherwise do it first."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, int | float | str | bool]:
        """What it was made with."""

    @property
    @abstractmethod
    def link_count(self) -> int:
        """How many links there are now."""

    @property
    @abstractmethod
    def node_count(self) -> int:
        """How many nodes there are now."""

    @property
    @abstractmethod
    def max_degree(self) -> int:
        """The most links that a node has now."""

    @abstractmethod
    def has(self, node: str) -> bool:
        """Whether a node is there."""

    @abstractmethod
    def topics_of(self, node: str) -> list[str]:
        """The topics that a node wants now."""

    @abstractmethod
    def interest(self) -> Interest:
        """What all nodes want now."""

    @abstractmethod
    def overlay(self) -> Overlay:
        """The links as they are now, in the order they were added."""

    @abstractmethod
    def _join(self, node: str, topics: list[str]) -> Change: ...

    @abstractmethod
    def _leave(self, node: str) -> Change: ...

    @abstractmethod
    def _change(self, node: str, add: list[str], remove: list[str]) -> Change: ...


def _names(topics: Iterable[str]) -> set[str]:
    """Topics without repeats; an error where one is no name."""
    if isinstance(topics, str):
        raise EventRefused(f"topics are a list of names, not the text '{topics}'")
    found = set(topics)
    for topic in found:
        if not is_name(topic):
            raise EventRefused(f"topic {topic!r} is no name")
    return found
