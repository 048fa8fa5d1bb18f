"""What plans of a watched fleet leave out: nodes without a broker, and topics that its kind of broker cannot carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from topicloom.control.watching.wishes import Wish, WishesByNode
from topicloom.deploy.planning.broker_names import filter_problem, name_problem, quoted
from topicloom.deploy.planning.fleet_file import Fleet
from topicloom.model.filters import Protocol, protocol_of

# More nodes of a topic than these are counted, not named.
_NAMED = 3
_KNOWN_TOPICS = 1 << 16


@dataclass(frozen=True)
class LeftOut:
    """A topic with the nodes that want or publish it, or a node if `topic` is None; and the reason."""

    topic: str | None
    nodes: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        if self.topic is None:
            return f"node {quoted(self.nodes[0])}: {self.why}"
        more = f" and {len(self.nodes) - _NAMED} more" if len(self.nodes) > _NAMED else ""
        return f"topic {quoted(self.topic)} of {', '.join(self.nodes[:_NAMED])}{more}: {self.why}"


class Plannable:
    """Separates what a fleet can have in its plans from what it cannot."""

    def __init__(self, fleet: Fleet, target: str) -> None:
        self._fleet = fleet
        self._target = target
        self._problem = lru_cache(maxsize=_KNOWN_TOPICS)(self._new_problem)

    def require_brokers(self, nodes: Iterable[str]) -> None:
        """Refuse nodes without a broker."""
        self._fleet.require_brokers(sorted(nodes))

    def among(self, wanted: WishesByNode, filters: str | None) -> tuple[WishesByNode, tuple[LeftOut, ...]]:
        """The part of what nodes want and publish that plans can have, and what they leave out: nodes, then topics."""
        protocol = None if filters is None else protocol_of(filters)
        nodes = [node for node in sorted(wanted) if node not in self._fleet.brokers]
        why = f"{self._fleet.where} has no broker of this name"
        left_out = [LeftOut(None, (node,), why) for node in nodes]
        kept = {node: wishes for node, wishes in wanted.items() if node in self._fleet.brokers}
        problems = self._problems({topic for wishes in kept.values() for topic, _ in wishes}, protocol)
        if not problems:
            return (kept if nodes else wanted), tuple(left_out)
        of: dict[str, set[str]] = {}
        for node, wishes in kept.items():
            bad: frozenset[Wish] = frozenset(wish for wish in wishes if wish[0] in problems)
            kept[node] = wishes - bad
            for topic, _ in bad:
                of.setdefault(topic, set()).add(node)
        left_out += [LeftOut(topic, tuple(sorted(of[topic])), problems[topic]) for topic in sorted(of)]
        return kept, tuple(left_out)

    def _problems(self, topics: set[str], protocol: Protocol | None) -> Mapping[str, str]:
        """By topic why it cannot be carried."""
        found = {topic: why for topic in topics if (why := self._problem(topic, protocol)) is not None}
        if protocol is None or self._target != "rabbitmq":
            return found
        # Filters that overlap are an exchange, which is called by the widest of them.
        names = {topic for topic in topics - found.keys() if name_problem(self._target, topic) is None}
        for topic in topics - found.keys() - names:
            if not any(protocol.covers(name, topic) for name in names):
                found[topic] = str(name_problem(self._target, topic))
        return found

    def _new_problem(self, topic: str, protocol: Protocol | None) -> str | None:
        if protocol is None:
            return name_problem(self._target, topic)
        own = protocol.own(topic)
        return None if protocol.stays(own) else filter_problem(self._target, protocol, own)
