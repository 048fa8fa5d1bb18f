"""The contract of maintainers: they repair an overlay after each event, and return the links that changed.

Also which topics of an overlay are in several components, as maintainers repair what an event breaks and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from topicloom.churn.live_overlay import Link
from topicloom.designers.contract import Links
from topicloom.errors import InputError
from topicloom.kernels.components import topic_components
from topicloom.model.events import CHANGE, JOIN, LEAVE, Event, event_problem, is_name
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay


def broken_topics(overlay: Overlay) -> list[str]:
    """Return the topics that are in several components."""
    names = overlay.interest.topic_names
    return [names[topic] for topic in np.flatnonzero(_components(overlay) > 1).tolist()]


def support_of(overlay: Overlay) -> float:
    """Return the share of the possible merges that is done; 1 if every topic is connected."""
    sizes = np.diff(overlay.interest.topic_start)
    return share_merged(int((_components(overlay) - 1).sum()), int((sizes - 1).sum()))


def share_merged(missing: int, possible: int) -> float:
    """Return the support by how many merges are missing and how many are possible."""
    return 1.0 - missing / possible if possible else 1.0


def _components(overlay: Overlay) -> Ids:
    """Return the number of components of each topic."""
    interest = overlay.interest
    order = np.argsort(overlay.source, kind="stable")
    start = np.zeros(interest.node_count + 1, np.int64)
    np.cumsum(np.bincount(overlay.source, minlength=interest.node_count), out=start[1:])
    counts: Ids = topic_components(interest.topic_start, interest.topic_nodes, start, overlay.target[order])[1]
    return counts


def require_connected(overlay: Overlay) -> None:
    """Raise InputError if a topic is in several components."""
    broken = broken_topics(overlay)
    if broken:
        others = f" and {len(broken) - 1:,} more" if len(broken) > 1 else ""
        raise InputError(
            f"the overlay does not connect all nodes of topic '{broken[0]}'{others}; "
            "give one that does, such as the designer low-oda makes"
        )


# How much worse than a fresh design links may be before they are tidied.
SLACK = 1.1


class LinkStep(NamedTuple):
    """One change of an overlay: a link that is added or removed."""

    action: Literal["add", "remove"]
    link: Link


class EventRefused(InputError):  # noqa: N818  it is the event's error
    """An event that cannot have happened; nothing was changed."""


@dataclass(frozen=True)
class Change:
    """The links that an event changed; `shadow` is how many nodes were considered for new ones."""

    added: tuple[Link, ...]
    removed: tuple[Link, ...]
    shadow: int


NO_CHANGE = Change((), (), 0)


class Maintainer(ABC):
    """Keeps an overlay topic-connected while nodes join, leave and change their topics."""

    method: str

    def join(self, node: str, topics: Iterable[str]) -> Change:
        """Let a node join that wants these topics."""
        self.settle()
        wanted = _after_join(node, _names(topics), self._wanted(node))
        return self._join(node, sorted(wanted))

    def leave(self, node: str) -> Change:
        """Let a node leave."""
        self.settle()
        _require(LEAVE, node, set() if self.has(node) else None, set(), set())
        return self._leave(node)

    def change(self, node: str, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Change:
        """Change a node's subscriptions."""
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
        """Let several events happen, and repair the overlay once for all of them.

        Returns the change, and by event id why events were refused; the others happen nevertheless.
        """
        self.settle()
        events = tuple(events)
        reasons, wanted = self._judged(events)
        changed = {node: after for node, after in wanted.items() if after != self._wanted(node)}
        refused = {event.id: why for event, why in zip(events, reasons, strict=True) if why is not None}
        return self._apply_jointly(changed) if changed else NO_CHANGE, refused

    def refusals(self, events: Sequence[Event]) -> list[str | None]:
        """Return for each of several events why it will be refused, or None; nothing changes."""
        return self._judged(events)[0]

    def _judged(self, events: Sequence[Event]) -> tuple[list[str | None], dict[str, set[str] | None]]:
        """Return why each event is refused, or None, and what the nodes of the others want after all of them."""
        reasons: list[str | None] = []
        wanted: dict[str, set[str] | None] = {}
        for event in events:
            before = wanted[event.node] if event.node in wanted else self._wanted(event.node)
            try:
                wanted[event.node] = _after(event, before)
                reasons.append(None)
            except EventRefused as refusal:
                reasons.append(str(refusal))
        return reasons, wanted

    def become(self, interest: Interest) -> Change:
        """Change the nodes and their topics to those of an interest, and repair the overlay once.

        The links are those of the one event if one node differs, and those of `apply_jointly` if several do.
        """
        changed = _changed(self.interest(), interest)
        if len(changed) != 1:
            self.settle()
            return self._apply_jointly(changed) if changed else NO_CHANGE
        ((node, after),) = changed.items()
        before = self._wanted(node)
        if after is None:
            return self.leave(node)
        if before is None:
            return self.join(node, after)
        return self.change(node, after - before, before - after)

    def freeze(self) -> dict[str, Any]:
        """Return all that `settings.thaw` needs to make a maintainer that goes on as this one, as plain JSON values."""
        overlay = self.overlay()
        names = overlay.interest.node_names
        contribution = overlay.contribution
        if contribution is None:
            contribution = Links.measured(overlay.interest, overlay.source, overlay.target).contribution
        links = zip(overlay.source.tolist(), overlay.target.tolist(), contribution.tolist(), strict=True)
        return {
            "method": self.method,
            "nodes": {node: self.topics_of(node) for node in names},
            "links": [[names[u], names[v], merged] for u, v, merged in links],
        }

    def tidying(self, fresh: Overlay, most: int) -> list[LinkStep]:
        """Return steps that bring the links nearer to a fresh design, if they became much worse.

        Args:
            fresh: a design of the present interest.
            most: the most steps.
        """
        raise InputError(f"{self.method} designs anew with every event, and has nothing to tidy")

    def relink(self, steps: Iterable[tuple[str, Sequence[str]]]) -> Change:
        """Take steps, such as those of `tidying`: links that are added or removed.

        What cannot be is passed over: a link that is there is not added, and one of a node that is not there neither.
        """
        overlay = self.overlay()
        before = links_by_name(overlay)
        links = dict(before)
        there = overlay.interest.node_ids
        for action, (source, target) in steps:
            link = Link(source, target)
            if action == "remove":
                links.pop(link, None)
            elif source in there and target in there:
                links.setdefault(link)
        self._restart(Overlay.from_links(overlay.interest, links))
        after = links_by_name(self.overlay())
        added = tuple(link for link in after if link not in before)
        return Change(added, tuple(sorted(before.keys() - after.keys())), 0)

    def tidy(self, fresh: Overlay, most: int) -> Change:
        """Take the steps of `tidying`, at most so many."""
        steps = self.tidying(fresh, most)
        return self.relink(steps) if steps else NO_CHANGE

    def _wanted(self, node: str) -> set[str] | None:
        """Return the topics that a node wants, None if it is not there."""
        return set(self.topics_of(node)) if self.has(node) else None

    def settle(self) -> None:  # noqa: B027  not all have something to do
        """Prepare for the next event, which would otherwise do it first."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, int | float | str | bool]:
        """The parameters that it was made with."""

    @property
    @abstractmethod
    def link_count(self) -> int:
        """The number of links now."""

    @property
    @abstractmethod
    def node_count(self) -> int:
        """The number of nodes now."""

    @property
    @abstractmethod
    def max_degree(self) -> int:
        """The highest degree now."""

    @property
    def support(self) -> float:
        """Share of the possible merges that is done; below 1 only if constraints keep topics from being connected."""
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
    def _overlay_now(self) -> Overlay:
        """Return the links as they are now, over what all nodes want now."""

    def overlay(self, interest: Interest | None = None) -> Overlay:
        """Return the links as they are now, in the order they were added.

        Args:
            interest: of the same nodes, for instance with roles; what all nodes want now unless given.
        """
        overlay = self._overlay_now()
        if interest is None:
            return overlay
        made = Overlay.from_links(interest, links_by_name(overlay))
        return replace(made, provenance=overlay.provenance)

    @abstractmethod
    def _join(self, node: str, topics: list[str]) -> Change: ...

    @abstractmethod
    def _leave(self, node: str) -> Change: ...

    @abstractmethod
    def _change(self, node: str, add: list[str], remove: list[str]) -> Change: ...

    @abstractmethod
    def _apply_jointly(self, wanted: Mapping[str, set[str] | None]) -> Change:
        """Let nodes want other topics than now, None for those that are gone, and repair the overlay once."""

    @abstractmethod
    def _restart(self, overlay: Overlay) -> None:
        """Go on from an overlay of the same interest, as if it had begun with it."""


class MaintainerByName(Maintainer):
    """Keeps the topics of all nodes, and the links, by name."""

    _topics: Mapping[str, Collection[str]]
    _links: Mapping[Link, None]

    @property
    def link_count(self) -> int:
        """The number of links now."""
        return len(self._links)

    @property
    def node_count(self) -> int:
        """The number of nodes now."""
        return len(self._topics)

    @property
    def max_degree(self) -> int:
        """The highest degree now."""
        return int(self.overlay().degrees.max(initial=0))

    def has(self, node: str) -> bool:
        """Whether a node is there."""
        return node in self._topics

    def topics_of(self, node: str) -> list[str]:
        """The topics that a node wants now."""
        return sorted(self._topics[node])


def _after(event: Event, before: set[str] | None) -> set[str] | None:
    """Return what a node wants after an event, None if it is gone; raise EventRefused if it cannot have happened."""
    _require_both_roles(event)
    if event.kind == JOIN:
        return _after_join(event.node, _names(event.add), before)
    if event.kind == LEAVE:
        _require(LEAVE, event.node, before, set(), set())
        return None
    return _after_change(event.node, _names(event.add), _names(event.remove), before)


def _changed(before: Interest, after: Interest) -> dict[str, set[str] | None]:
    """Return what the nodes want that an interest has otherwise than another; None for those that it has not."""
    nodes = np.array([after.node_ids.get(name, -1) for name in before.node_names], np.int64)
    topics = np.array([after.topic_ids.get(name, -1) for name in before.topic_names], np.int64)
    count = max(1, after.topic_count)
    old_nodes = nodes[np.repeat(np.arange(before.node_count), np.diff(before.node_start))]
    old_topics = topics[before.node_topics]
    kept = (old_nodes >= 0) & (old_topics >= 0)
    new_nodes = np.repeat(np.arange(after.node_count), np.diff(after.node_start))
    old, new = old_nodes[kept] * count + old_topics[kept], new_nodes * count + after.node_topics
    others = np.setxor1d(old, new, assume_unique=True) // count
    # A topic that an interest no longer has is no row of it.
    lost = old_nodes[(old_nodes >= 0) & (old_topics < 0)]
    wanted: dict[str, set[str] | None] = {}
    for node in np.union1d(others, lost).tolist():
        rows = after.topics_of(node).tolist()
        wanted[after.node_names[node]] = {after.topic_names[topic] for topic in rows} or None
    wanted |= {before.node_names[node]: None for node in np.flatnonzero(nodes < 0).tolist()}
    return wanted


def links_by_name(overlay: Overlay) -> dict[Link, None]:
    """Return the links of an overlay, in their order."""
    names = overlay.interest.node_names
    ends = zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
    return {Link(names[u], names[v]): None for u, v in ends}


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
    """Return topics without repeats; raise EventRefused if one is not a name."""
    if isinstance(topics, str):
        raise EventRefused(f"topics are a list of names, not the text '{topics}'")
    found = set(topics)
    for topic in found:
        if not is_name(topic):
            raise EventRefused(f"topic {topic!r} is no name")
    return found
