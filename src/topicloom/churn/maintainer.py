"""The contract of maintainers.

Whether every topic is in one piece, and how far those are that are not.

What a maintainer is: it mends an overlay after each event, and says which links that takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from topicloom.churn.live_overlay import Link
from topicloom.errors import InputError
from topicloom.kernels.components import topic_components
from topicloom.model.events import CHANGE, JOIN, LEAVE, Event, event_problem, is_name
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay


def broken_topics(overlay: Overlay) -> list[str]:
    """The topics that are in several pieces."""
    names = overlay.interest.topic_names
    return [names[topic] for topic in np.flatnonzero(_pieces(overlay) > 1).tolist()]


def support_of(overlay: Overlay) -> float:
    """Share of the possible merging that is done; 1 where every topic is in one piece."""
    sizes = np.diff(overlay.interest.topic_start)
    return share_merged(int((_pieces(overlay) - 1).sum()), int((sizes - 1).sum()))


def share_merged(missing: int, possible: int) -> float:
    """Support, from how many merges are missing and how many are possible."""
    return 1.0 - missing / possible if possible else 1.0


def _pieces(overlay: Overlay) -> Ids:
    """In how many pieces each topic is."""
    interest = overlay.interest
    order = np.argsort(overlay.source, kind="stable")
    start = np.zeros(interest.node_count + 1, np.int64)
    np.cumsum(np.bincount(overlay.source, minlength=interest.node_count), out=start[1:])
    pieces: Ids = topic_components(interest.topic_start, interest.topic_nodes, start, overlay.target[order])[1]
    return pieces


def require_connected(overlay: Overlay) -> None:
    """An error where a topic is in several pieces: maintainers mend what an event breaks, and nothing else."""
    broken = broken_topics(overlay)
    if broken:
        others = f" and {len(broken) - 1:,} more" if len(broken) > 1 else ""
        raise InputError(
            f"the overlay does not connect all nodes of topic '{broken[0]}'{others}; "
            "give one that does, such as the designer low-oda makes"
        )


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
        wanted = _after_join(node, _names(topics), self._wanted(node))
        return self._join(node, sorted(wanted))

    def leave(self, node: str) -> Change:
        """A node leaves."""
        self.settle()
        _require(LEAVE, node, set() if self.has(node) else None, set(), set())
        return self._leave(node)

    def change(self, node: str, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Change:
        """A node wants some topics more and others no longer."""
        self.settle()
        added, given_up = _names(add), _names(remove)
        _after_change(node, added, given_up, self._wanted(node))
        return self._change(node, sorted(added), sorted(given_up))

    def apply(self, event: Event) -> Change:
        """Let an event happen."""
        _require_both_roles(event)
        if event.kind == JOIN:
            return self.join(event.node, event.add)
        if event.kind == LEAVE:
            return self.leave(event.node)
        return self.change(event.node, event.add, event.remove)

    def apply_jointly(self, events: Iterable[Event]) -> tuple[Change, dict[int, str]]:
        """Let several events happen and mend the overlay once, for what they come to.

        Gives the change, and by their ids why events were refused; the others happen nevertheless.
        """
        self.settle()
        wanted: dict[str, set[str] | None] = {}
        refused = {}
        for event in events:
            try:
                wanted[event.node] = _after(event, wanted.get(event.node, self._wanted(event.node)))
            except EventRefused as refusal:
                refused[event.id] = str(refusal)
        changed = {node: after for node, after in wanted.items() if after != self._wanted(node)}
        return self._become(changed) if changed else Change((), (), 0), refused

    def _wanted(self, node: str) -> set[str] | None:
        """The topics that a node wants, None where it is not there."""
        return set(self.topics_of(node)) if self.has(node) else None

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

    @property
    def support(self) -> float:
        """Share of the possible merging that is done now; less than 1 only where constraints keep topics in pieces."""
        return support_of(self.overlay())

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

    @abstractmethod
    def _become(self, wanted: Mapping[str, set[str] | None]) -> Change:
        """Let nodes want other topics than now, None where they are gone, and mend the overlay once."""


class MaintainerByName(Maintainer):
    """Keeps the topics of all nodes, and the links, by names."""

    _topics: Mapping[str, Collection[str]]
    _links: Mapping[Link, None]

    @property
    def link_count(self) -> int:
        """How many links there are now."""
        return len(self._links)

    @property
    def node_count(self) -> int:
        """How many nodes there are now."""
        return len(self._topics)

    @property
    def max_degree(self) -> int:
        """The most links that a node has now."""
        return int(self.overlay().degrees.max(initial=0))

    def has(self, node: str) -> bool:
        """Whether a node is there."""
        return node in self._topics

    def topics_of(self, node: str) -> list[str]:
        """The topics that a node wants now."""
        return sorted(self._topics[node])


def _after(event: Event, before: set[str] | None) -> set[str] | None:
    """What a node wants after an event, None where it is gone; an error where the event cannot have happened."""
    _require_both_roles(event)
    if event.kind == JOIN:
        return _after_join(event.node, set(event.add), before)
    if event.kind == LEAVE:
        _require(LEAVE, event.node, before, set(), set())
        return None
    return _after_change(event.node, set(event.add), set(event.remove), before)


def _require_both_roles(event: Event) -> None:
    if event.role != "both":
        raise EventRefused(f"{event.kind} of '{event.node}' with the role {event.role}, which only watch knows")


def _after_join(node: str, topics: set[str], before: set[str] | None) -> set[str]:
    _require(JOIN, node, before, topics, set())
    return topics


def _require(kind: str, node: str, before: set[str] | None, added: set[str], given_up: set[str]) -> set[str]:
    """Raise EventRefused if an event cannot have happened; return what the node wanted before."""
    there = before or set()
    problem = event_problem(
        kind,
        node,
        there=before is not None,
        have=added & there,
        lack=given_up - there,
        left=bool(added or there - given_up),
        changes=bool(added or given_up),
    )
    if problem is not None:
        raise EventRefused(problem)
    return there


def _after_change(node: str, added: set[str], given_up: set[str], before: set[str] | None) -> set[str]:
    return (_require(CHANGE, node, before, added, given_up) - given_up) | added


def _names(topics: Iterable[str]) -> set[str]:
    """Topics without repeats; an error where one is no name."""
    if isinstance(topics, str):
        raise EventRefused(f"topics are a list of names, not the text '{topics}'")
    found = set(topics)
    for topic in found:
        if not is_name(topic):
            raise EventRefused(f"topic {topic!r} is no name")
    return found
