"""Decisions about a watched fleet, and the links that follow from them.

Each decision is committed before it takes effect outside: an event that was taken, a broker that is gone or back, links
that were tidied. Its effect follows from what was before, so a killed controller goes on from its snapshot and the
decisions since. The overlay is mended before a decision is committed: one that cannot be followed is not taken, and all
is as it was before.

`MeshLinks` are the links of a fleet in which every topic has a tree of its own: mended by shadow sets, tidied towards
`low-oda`. `TreeLinks` are those of a fleet with one tree for all topics, as NATS needs; in quiet times the tree goes
over to a fresh one, link by link, if brokers pass on much more than there. `Plannable` separates what plans leave out:
nodes without a broker, and topics that their kind of broker cannot carry.

Only links that have to do with a topic are mended. A filter that comes or goes may change the topics of many brokers at
once, as filters that overlap are one topic; so may a publisher, as a topic that is not published needs no links.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from topicloom.brokers.kinds import filter_problem, kind_of, name_problem
from topicloom.brokers.names import quoted
from topicloom.brokers.store import FleetState
from topicloom.churn.maintainer import LinkStep, Maintainer, links_by_name
from topicloom.churn.settings import Settings, maintainer, thaw
from topicloom.churn.tree import TreeMaintainer
from topicloom.designers import design
from topicloom.errors import InputError
from topicloom.model.constraints import Constraints
from topicloom.model.demand import Demand, Wish, WishesByNode, roles_of, wishes_for
from topicloom.model.events import Event, topics_by_node
from topicloom.model.filters import Protocol, protocol_of
from topicloom.model.fleet import Fleet
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay

_MESH_DESIGNER = "low-oda"
_SETTINGS = Settings(prune=True)


class MeshLinks:
    """How links of a mesh are designed, mended, tidied and kept."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints

    def fresh(self, interest: Interest) -> Maintainer:
        """Links designed anew."""
        return self.over(design(interest, _MESH_DESIGNER, constraints=self._constraints))

    def over(self, overlay: Overlay) -> Maintainer:
        """These links."""
        return maintainer(overlay, _SETTINGS, self._constraints)

    def tidying(self, links: Maintainer, changes: int) -> list[LinkStep]:
        """Return steps that bring links nearer to a fresh design if they became much worse, at most so many."""
        fresh = design(links.interest(), _MESH_DESIGNER, constraints=self._constraints)
        return links.tidying(fresh, changes)

    def thaw(self, content: Mapping[str, Any]) -> Maintainer:
        """Return the links of a snapshot; a fresh design if they were made under other constraints."""
        links = thaw(content["links"], _SETTINGS, self._constraints)
        return links if content["constraints"] == self._constraints.text else self.fresh(links.interest())


_TREE_DESIGNER = "tree"


class TreeLinks:
    """How the links of a tree are designed, mended, tidied and kept."""

    def __init__(self, constraints: Constraints) -> None:
        constraints.require_forest()
        self._constraints = constraints

    def fresh(self, interest: Interest) -> Maintainer:
        """Links designed anew."""
        return self.over(design(interest, _TREE_DESIGNER, constraints=self._constraints))

    def over(self, overlay: Overlay) -> Maintainer:
        """These links."""
        return TreeMaintainer(topics_by_node(overlay.interest), links_by_name(overlay), self._constraints)

    def tidying(self, links: Maintainer, changes: int) -> list[LinkStep]:
        """Return steps that bring a tree nearer to a fresh one if brokers pass on much more, at most so many."""
        return links.tidying(self.fresh(links.interest()).overlay(), changes)

    def thaw(self, content: Mapping[str, Any]) -> Maintainer:
        """Return the links of a snapshot that are still allowed."""
        return thaw(content["links"], constraints=self._constraints)


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
        self._kinds = list(dict.fromkeys(kind_of(broker, target) for broker in fleet.brokers.values()))
        self._problem = lru_cache(maxsize=_KNOWN_TOPICS)(self._new_problem)

    def require_brokers(self, nodes: Iterable[str]) -> None:
        """Refuse nodes without a broker."""
        self._fleet.require_brokers(sorted(nodes))

    def among(self, demand: Demand) -> tuple[Demand, tuple[LeftOut, ...]]:
        """Return the part of a demand that plans can have, and what they leave out: nodes, then topics."""
        protocol = None if demand.filters is None else protocol_of(demand.filters)
        nodes = [node for node in sorted(demand.by_node) if node not in self._fleet.brokers]
        why = f"{self._fleet.where} has no broker of this name"
        left_out = [LeftOut(None, (node,), why) for node in nodes]
        kept = {node: wishes for node, wishes in demand.by_node.items() if node in self._fleet.brokers}
        problems = self._problems({topic for wishes in kept.values() for topic, _ in wishes}, protocol)
        if not problems:
            return replace(demand, by_node=kept), tuple(left_out)
        of: dict[str, set[str]] = {}
        for node, wishes in kept.items():
            bad: frozenset[Wish] = frozenset(wish for wish in wishes if wish[0] in problems)
            kept[node] = wishes - bad
            for topic, _ in bad:
                of.setdefault(topic, set()).add(node)
        left_out += [LeftOut(topic, tuple(sorted(of[topic])), problems[topic]) for topic in sorted(of)]
        return replace(demand, by_node=kept), tuple(left_out)

    def _problems(self, topics: set[str], protocol: Protocol | None) -> Mapping[str, str]:
        """By topic why it cannot be carried."""
        found = {topic: why for topic in topics if (why := self._problem(topic, protocol)) is not None}
        if protocol is None:
            return found
        # Filters that overlap are one topic, which is called by the widest of them.
        problems = {topic: self._group_problem(topic) for topic in topics - found.keys()}
        names = {topic for topic, problem in problems.items() if problem is None}
        for topic, problem in problems.items():
            if problem is not None and not any(protocol.covers(name, topic) for name in names):
                found[topic] = problem
        return found

    def _group_problem(self, topic: str) -> str | None:
        return next((problem for kind in self._kinds if (problem := kind.group_problem(topic)) is not None), None)

    def _new_problem(self, topic: str, protocol: Protocol | None) -> str | None:
        if protocol is None:
            return name_problem(self._kinds, topic)
        own = protocol.without_share_group(topic)
        return None if protocol.is_broker_local(own) else filter_problem(self._kinds, protocol, own)


_SNAPSHOT_EVERY = 500
# Decisions that are kept to look at.
_LATEST = 20


class DecisionFailed(InputError):  # noqa: N818  it says what happened
    """A decision that cannot be followed; it was not taken, and nothing changed."""


class Decisions:
    """A fleet as decided: who wants and publishes what, who is away, and the overlay among those that are there.

    Args:
        state: keeps decisions. constraints: which links there may be.
        begin: who wants and publishes what, if the state has no decisions. filters: whose filters the topics are, if
            any.
        tree: whether there is one tree for all topics, which NATS needs.
        plannable: says what the overlay leaves out; nothing unless given. It may be another one at the next start.
    """

    def __init__(
        self,
        state: FleetState,
        constraints: Constraints,
        begin: Demand | None,
        *,
        filters: str | None = None,
        tree: bool = False,
        plannable: Plannable | None = None,
    ) -> None:
        self._folder = state.folder
        self._store = state.store
        # What everybody wants and publishes, whether there or not, what was published at any time, and who is away.
        self.demand = Demand({})
        self.away: set[str] = set()
        self.last_event = -1
        self.left_out: tuple[LeftOut, ...] = ()
        self._latest: deque[dict[str, Any]] = deque(maxlen=_LATEST)
        self._plannable = plannable
        self._kept = self.demand
        self._constraints = constraints
        began = self._store.snapshot() is not None
        meta = self._store.meta
        self.filters = self._same(began, meta.get("filters") or None, filters, "topics", "filters")
        tree = (
            self._same(began, meta.get("links") == _TREE_DESIGNER or None, tree or None, "links", "target") is not None
        )
        self._links = TreeLinks(constraints) if tree else MeshLinks(constraints)
        if not began:
            self._begin(begin, tree=tree)
        else:
            self._restore()

    def _same(self, began: bool, then: Any, now: Any, of: str, parameter: str) -> Any:
        """What the state began with, or begins with; an error if it is something else now."""
        if not began:
            return now
        if now is not None and now != then:
            raise InputError(f"{self._folder}: began with other {of}, so it cannot go on with these", parameter)
        return then

    def _begin(self, begin: Demand | None, *, tree: bool) -> None:
        """Begin a new state."""
        if begin is None or not begin.by_node:
            raise InputError(
                f"{self._folder}: is new; give the subscriptions that there are, or let brokers be asked", "subs"
            )
        if self._plannable is not None:
            self._plannable.require_brokers(begin.by_node)
        self.demand = Demand.of(begin.by_node, self.filters)
        self.interest = self._interest()
        self.maintainer = self._links.fresh(self.interest)
        with self._store.transaction():
            self._store.set_meta({"filters": self.filters or "", "links": _TREE_DESIGNER if tree else "mesh"})
            self._append({"began": len(self.demand.by_node)})
            self._write_snapshot()

    @property
    def count(self) -> int:
        """How many decisions there are."""
        return self._store.last

    def latest(self) -> list[dict[str, Any]]:
        """The latest decisions, the last one first."""
        return list(reversed(self._latest))

    def take(self, event: Event) -> str | None:
        """Let an event happen; the reason if it is refused.

        An event that cannot have happened is judged again at the next start, one that cannot be followed is not.
        """
        problem = self.demand.refusal(event, self._there())
        if problem is None:
            fields = json.loads(event.to_json())
            try:
                self._decide({"event": fields})
            except DecisionFailed as failure:
                problem = f"{event.kind} of '{event.node}' {failure}"
                self._decide({"refused": fields, "why": problem})
        return problem

    def lose(self, broker: str) -> None:
        """A broker is gone for now; what it wants stays known. The last one that is there stays."""
        if set(self._there()) != {broker}:
            self._decide({"lost": broker})

    def regain(self, broker: str) -> None:
        """A broker is back."""
        self._decide({"back": broker})

    def overlay(self) -> Overlay:
        """The links among those that are there, over what they want and publish."""
        return self.maintainer.overlay(self.interest)

    def tidy(self, changes: int) -> int:
        """Bring the overlay nearer to a fresh design where it has become much worse, by at most so many links.

        Gives how many were changed.
        """
        steps = self._links.tidying(self.maintainer, changes) if changes > 0 else []
        if steps:
            self._decide({"tidied": [[action, *link] for action, link in steps]})
        return len(steps)

    def note(self, entry: dict[str, Any]) -> None:
        """Keep something that was done, which decides nothing."""
        with self._store.transaction():
            self._append(entry)

    def close(self) -> None:
        """Write a snapshot."""
        with self._store.transaction():
            self._write_snapshot()

    def _decide(self, entry: dict[str, Any]) -> None:
        """Follow a decision, then commit it."""
        try:
            self._follow(entry)
        except Exception as error:
            # The maintainer may be half mended: make it again from what is committed.
            self._restore()
            raise DecisionFailed(f"cannot be followed ({_reason(error)})") from error
        with self._store.transaction():
            self._append(entry)
            if self.count % _SNAPSHOT_EVERY == 0:
                self._write_snapshot()

    def _append(self, entry: dict[str, Any]) -> None:
        self._store.append([json.dumps(entry, ensure_ascii=False)])
        self._latest.append(entry)

    def _follow(self, entry: dict[str, Any]) -> None:
        """Let a decision have its effect on the overlay, and on what is known."""
        self._know(entry)
        if "tidied" in entry:
            self.maintainer.relink((action, link) for action, *link in entry["tidied"])
            return
        self.interest = self._interest()
        self.maintainer.become(self.interest)

    def _know(self, entry: dict[str, Any]) -> None:
        if "event" in entry:
            event = Event.from_json(json.dumps(entry["event"]), self._store.path.name)
            self.demand = self.demand.after(event)
            self.last_event = event.id
            if event.node not in self.demand.by_node:
                self.away.discard(event.node)
        elif "refused" in entry:
            self.last_event = entry["refused"]["id"]
        elif "lost" in entry:
            self.away.add(entry["lost"])
        elif "back" in entry:
            self.away.discard(entry["back"])

    def _interest(self) -> Interest:
        self._kept = self.demand
        if self._plannable is not None:
            self._kept, self.left_out = self._plannable.among(self.demand)
        return self._kept.among(self._there())

    def _there(self) -> list[str]:
        """Return the nodes that are there and that plans can have."""
        return [node for node in self._kept.by_node if node not in self.away]

    def _restore(self) -> None:
        """Take in what there is, and its links: the snapshot, and the decisions after it."""
        snapshot = self._store.snapshot()
        assert snapshot is not None
        number, text = snapshot
        try:
            content = json.loads(text)
            self.demand = Demand(_from_log(content["wants"]), self.filters, frozenset(content["published"]))
            self.away, self.last_event = set(content["away"]), content["last_event"]
            self._latest = deque(content["latest"], _LATEST)
            self.maintainer = self._links.thaw(content)
        except (ValueError, LookupError, TypeError):
            raise InputError(f"{self._store.path}: its snapshot is damaged; put the store back from a copy") from None
        try:
            self.interest = self._interest()
            # The fleet file may have other brokers now than when these links were kept.
            self.maintainer.become(self.interest)
            for each in self._store.entries(number):
                number, entry = each.number, json.loads(each.body)
                self._follow(entry)
                self._latest.append(entry)
        except Exception as error:
            raise InputError(
                f"{self._store.path}: decision {number} cannot be followed ({_reason(error)}); "
                "put the store back from a copy, or begin a new one"
            ) from error

    def _write_snapshot(self) -> None:
        content = {
            "wants": _to_log(self.demand),
            "published": sorted(self.demand.published),
            "away": sorted(self.away),
            "last_event": self.last_event,
            "latest": list(self._latest),
            "constraints": self._constraints.text,
            "links": self.maintainer.freeze(),
        }
        self._store.write_snapshot(self.count, json.dumps(content, ensure_ascii=False))


def _to_log(demand: Demand) -> dict[str, list[Any]]:
    """Return the wishes of all nodes for a snapshot: a topic if a node does both, else a topic and its role."""
    return {
        node: [topic if role == "both" else [topic, role] for topic, role in roles_of(wishes).items()]
        for node, wishes in demand.by_node.items()
    }


def _from_log(fields: Mapping[str, list[Any]]) -> WishesByNode:
    """Return what `_to_log` wrote."""
    return {
        node: frozenset(
            wish
            for one in each
            for wish in (wishes_for([one]) if isinstance(one, str) else wishes_for(one[:1], one[1]))
        )
        for node, each in fields.items()
    }


def _reason(error: Exception) -> str:
    """Why something cannot be followed, in one line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, InputError) else f"{type(error).__name__}: {text}"
