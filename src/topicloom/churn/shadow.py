"""Shadow and naive maintenance: add a few links if an event broke topics, among a shadow set or among all nodes.

Paper: Shadows, section V. `naive` is algorithms 3 and 4, `shadow` algorithms 6 to 10; the coverage factor is V-G.

Rule: add links among the shadow set until every topic is connected, each chosen as `low-oda` would with `rho` for its
k. The shadow set of a node that leaves is its neighbours and backups, of one that joins its backups; naively it is
every node that wants a topic of the event. Ties go to the lowest pair of names.

Beyond the paper: a change of topics is repaired as a leave for the topics given up, then as a join for the new ones.
Backups are built anew for the primaries of a node that left (algorithm 8), for those of a node that gave up a topic
of theirs, and for a node that was the only one with a topic until another came: only so do its backups cover all
topics of a node at all times, as far as others want them.

Constraints are kept throughout. If they, or the few nodes of a shadow set, leave a topic in several components, all
nodes that want it are considered after every event, as another event may have made more links possible. A node that
joins is linked at once to nodes with which a link is to be kept.

Cost of a leave: a search through each of the node's topics, and pairs of the shadow set times broken topics. Then,
after its links are known and before the next event, one building of backups for each primary (`settle`).
Memory: some 40 bytes a subscription and 80 a backup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from topicloom.churn.improve import improve
from topicloom.churn.live_overlay import Link, LiveOverlay, row_of
from topicloom.churn.maintainer import SLACK, Change, LinkStep, Maintainer, broken_topics, share_merged
from topicloom.churn.prune import Pruner
from topicloom.designers.local_search import Aim
from topicloom.kernels import mending, shadow_sets
from topicloom.kernels.live_graph import GrowingRows
from topicloom.model.constraints import Constraints
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay
from topicloom.model.provenance import Provenance


def coverage_factor(wanted_by: Iterable[Collection[str]], topics: Collection[str]) -> int:
    """Return how many of some nodes want the topic that fewest of them want; 0 if there are no topics.

    Args:
        wanted_by: the topics of each of the nodes.
        topics: those that are to be covered.
    """
    counts = Counter(topic for wanted in wanted_by for topic in wanted)
    return min((counts[topic] for topic in topics), default=0)


_NO_NODES = np.empty(0, np.int32)
# By how many links more it is tried whether they suffice to tidy.
_FEW_STEPS = 4
# Rounds of each try: some tenths of a second.
_TIDY_ROUNDS = 20_000


def _has_many(overlay: Overlay, fresh: Overlay) -> bool:
    return len(overlay) > SLACK * len(fresh)


def _is_high(overlay: Overlay, fresh: Overlay) -> bool:
    return bool(overlay.degrees.max(initial=0) > SLACK * fresh.degrees.max(initial=0))


class MendingMaintainer(Maintainer):
    """Repairs among a shadow set; `kind` is a number of `kernels.shadow_sets`, `coverage` 0 if there are no backups."""

    def __init__(
        self,
        live: LiveOverlay,
        method: str,
        kind: int,
        coverage: int,
        rho: float,
        pruner: Pruner | None,
        made_with: Mapping[str, int | float | str | bool],
    ) -> None:
        self.method = method
        self._kind = kind
        self._coverage = coverage
        self._rho = rho
        self._pruner = pruner
        self._made_with = MappingProxyType(dict(made_with))
        self._constrained = live.constraints != Constraints()
        self._begin(live)

    def _begin(self, live: LiveOverlay) -> None:
        self.live = live
        # A node that has left and must yet be retired, and nodes whose backups must be built anew.
        self._left: int | None = None
        self._stale: Ids = _NO_NODES
        # Topics that constraints have left in several components.
        self._broken: Ids = _NO_NODES
        if self._constrained:
            topics = np.arange(len(live.topic_names), dtype=np.int32)
            self._broken = mending.pieces_of(live.population, live.scratch, topics)[2]

    def build_backups(self, nodes: Ids | None = None) -> None:
        """Build the backups of nodes, one after the other; of all nodes in the order of their names unless given."""
        if self._coverage == 0:
            return
        live = self.live
        if nodes is None:
            nodes = np.argsort(live.population.rank[: len(live.names)], kind="stable").astype(np.int32)
        if len(nodes):
            live.reserve(backups=self._coverage * int(live.population.topics.length[nodes].sum()))
            shadow_sets.build_backups(live.population, live.scratch, nodes, self._coverage, self._kind)

    def settle(self) -> None:
        """Build the backups that the latest event made stale; the next event would do it first."""
        left, stale = self._left, self._stale
        self._left, self._stale = None, _NO_NODES
        if left is not None:
            stale = shadow_sets.drop_backups(self.live.population, left)
        self.build_backups(stale)

    def _join(self, node: str, topics: list[str]) -> Change:
        live = self.live
        rank = live.rank_of_new(node)
        numbers = live.numbers_of_topics(topics)
        number = live.add_node(node)
        first = np.array(live.staying_neighbours(node), np.int32)
        links = len(numbers) + len(first)
        live.reserve(topics=len(numbers), links=links, backups=self._coverage * len(numbers))
        given = (number, rank, numbers, first, self._all_connected, self._rho, self._coverage, self._kind)
        ends, contributions, shadow, self._stale = shadow_sets.join(live.population, live.scratch, *given)
        added = self._record_first(number, first) + live.note_added(ends, contributions)
        return self._changed(added, [], shadow, numbers)

    def _covered(self, number: int, first: Ids) -> Ids:
        """Return for each of the first neighbours of a node how many of its topics no earlier one wants."""
        topics = self.live.population.topics
        left = set(row_of(topics, number).tolist())
        covered = []
        for other in first.tolist():
            common = left.intersection(row_of(topics, other).tolist())
            covered.append(len(common))
            left -= common
        return np.array(covered, np.int32)

    def _leave(self, node: str) -> Change:
        live = self.live
        number = live.numbers[node]
        numbers = row_of(live.population.topics, number).copy()
        live.reserve(links=len(numbers) * int(live.population.neighbours.length[number]))
        live.remove_node(node)
        ends, contributions, shadow, around = shadow_sets.leave(
            live.population, live.scratch, number, self._all_connected, self._rho, self._kind
        )
        removed = sorted(live.note_removed((min(number, other), max(number, other))) for other in around.tolist())
        live.exit(node)
        self._left = number
        return self._changed(live.note_added(ends, contributions), removed, shadow, numbers)

    def _change(self, node: str, add: list[str], remove: list[str]) -> Change:
        live = self.live
        number = live.numbers[node]
        before = live.topics_of(node)
        kept = [topic for topic in before if topic not in remove]
        numbers = [live.numbers_of_topics(topics) for topics in (kept, remove, sorted(kept + add), add)]
        live.reserve(
            topics=2 * len(before) + len(add),
            links=len(remove) * int(live.population.neighbours.length[number]) + len(add),
            backups=self._coverage * len(numbers[2]),
        )
        ends, contributions, shadow, self._stale = shadow_sets.change(
            live.population, live.scratch, number, *numbers, self._all_connected, self._rho, self._coverage, self._kind
        )
        added = live.note_added(ends, contributions)
        return self._changed(added, [], shadow, np.concatenate([numbers[1], numbers[3]]))

    @property
    def _all_connected(self) -> bool:
        """Whether all topics are connected, so that only an event can break one."""
        return len(self._broken) == 0

    def _mend_rest(self, topics: Ids) -> list[Link]:
        """Add links among all nodes of topics that are not connected, these or earlier ones, as far as allowed."""
        live = self.live
        concerned = np.union1d(topics, self._broken).astype(np.int32)
        nodes, table, self._broken = mending.pieces_of(live.population, live.scratch, concerned)
        if len(self._broken) == 0:
            return []
        live.reserve(links=int(table.max(axis=0).sum()))
        return live.note_added(*mending.mend(live.population, nodes, table, mending.NO_NODE, self._rho))

    def _apply_jointly(self, wanted: Mapping[str, set[str] | None]) -> Change:
        """Repair once for several events, among the shadow sets of all nodes that they change."""
        live = self.live
        before = {node: self._wanted(node) or set() for node in wanted}
        after = {node: topics or set() for node, topics in wanted.items()}
        given_up = {node: before[node] - after[node] for node in sorted(wanted)}
        taken_up = {node: after[node] - before[node] for node in sorted(wanted)}
        concerned = live.numbers_of_topics(sorted(set().union(*given_up.values(), *taken_up.values())))
        shadow = {other for node in given_up if given_up[node] for other in self._around(node)}
        removed = self._unsubscribe(before, after)
        shadow, alone = shadow | self._old_members(taken_up), self._old_members(taken_up, alone=True)
        newer, staying = self._subscribe(wanted)
        stale = {live.numbers[node] for node in alone}
        for node, topics in given_up.items():
            if topics and wanted[node] is not None:
                numbers = live.numbers_of_topics(sorted(topics))
                stale.update(
                    shadow_sets.primaries_that_want(live.population, live.scratch, live.numbers[node], numbers).tolist()
                )
        for node in sorted(wanted):
            if wanted[node] is None:
                number = live.numbers[node]
                stale.update(shadow_sets.drop_backups(live.population, number).tolist())
                live.exit(node)
        self.build_backups(self._by_rank(live.numbers[node] for node in newer))
        shadow |= {other for node in newer if taken_up[node] for other in (node, *self._around(node, linked=False))}
        if self._kind == shadow_sets.NAIVE:
            shadow |= {node for topic in concerned.tolist() for node in self._members(topic)}
        elif self._kind == shadow_sets.NEIGHBOURS:
            wished = live.numbers_of_topics(sorted(set().union(*taken_up.values())))
            shadow |= {node for topic in wished.tolist() for node in self._members(topic)}
        nodes = self._by_rank(live.numbers[node] for node in shadow if node in live.numbers)
        live.reserve(links=len(nodes) * len(concerned))
        ends, contributions = shadow_sets.mend_jointly(live.population, live.scratch, concerned, nodes, self._rho)
        self._stale = self._by_rank(number for number in stale if live.population.rank[number] >= 0)
        return self._changed(staying + live.note_added(ends, contributions), removed, len(nodes), concerned)

    def _around(self, node: str, *, linked: bool = True) -> list[str]:
        """Return the nodes that may be linked in place of a node: its backups and, if `linked`, its neighbours."""
        number, population, names = self.live.numbers[node], self.live.population, self.live.names
        rows = [population.backups, *([population.neighbours] if linked else [])]
        return [names[other] for rows_of in rows for other in row_of(rows_of, number).tolist()]

    def _members(self, topic: int) -> list[str]:
        """Return the nodes that want a topic; a new topic may have no row yet."""
        rows = self.live.population.members
        return [self.live.names[u] for u in row_of(rows, topic).tolist()] if topic < len(rows.start) else []

    def _old_members(self, taken_up: Mapping[str, set[str]], *, alone: bool = False) -> set[str]:
        """Return for each topic that is taken up the first node by name that wants it; with `alone` only sole ones."""
        found = set()
        for topic in set().union(*taken_up.values()):
            members = self._members(self.live.topic_numbers[topic])
            if members and (not alone or len(members) == 1):
                found.add(min(members))
        return found

    def _unsubscribe(self, before: Mapping[str, set[str]], after: Mapping[str, set[str]]) -> list[Link]:
        """Let nodes want only what they keep, take the links of those that leave, and return these links."""
        live = self.live
        removed = []
        for node in sorted(node for node in before if node in live.numbers):
            number = live.numbers[node]
            if after[node]:
                kept = live.numbers_of_topics(sorted(before[node] & after[node]))
                live.reserve(topics=len(kept))
                shadow_sets.rewant(live.population, number, kept)
            else:
                live.remove_node(node)
                lost = shadow_sets.detach(live.population, number)
                removed += [live.note_removed((min(number, other), max(number, other))) for other in lost.tolist()]
        return sorted(removed)

    def _subscribe(self, wanted: Mapping[str, set[str] | None]) -> tuple[list[str], list[Link]]:
        """Let nodes join, and others want what they take up.

        Returns the nodes that are there with other topics, and the links that newcomers have at once.
        """
        live = self.live
        staying: list[Link] = []
        newer = [node for node in sorted(wanted) if wanted[node] is not None]
        for node in newer:
            numbers = live.numbers_of_topics(sorted(wanted[node] or ()))
            if node in live.numbers:
                live.reserve(topics=len(numbers), backups=self._coverage * len(numbers))
                shadow_sets.rewant(live.population, live.numbers[node], numbers)
            else:
                rank = live.rank_of_new(node)
                number = live.add_node(node)
                first = np.array(live.staying_neighbours(node), np.int32)
                live.reserve(topics=len(numbers), links=len(first), backups=self._coverage * len(numbers))
                shadow_sets.attach(live.population, number, rank, numbers, first)
                staying += self._record_first(number, first)
        return newer, staying

    def _record_first(self, number: int, first: Ids) -> list[Link]:
        """Note the links that a newcomer has at once, and return them."""
        if len(first) == 0:
            return []
        ends = np.stack([np.full(len(first), number, np.int32), first], axis=1)
        return self.live.note_added(ends, self._covered(number, first))

    def _by_rank(self, numbers: Iterable[int]) -> Ids:
        some: Ids = np.array(sorted(set(numbers)), np.int32)
        return some[np.argsort(self.live.population.rank[some], kind="stable")]

    def _changed(self, added: list[Link], removed: list[Link], shadow: int, topics: Ids) -> Change:
        if self._constrained:
            added = added + self._mend_rest(topics)
        if self._pruner is not None:
            removed = removed + self._pruner.prune(self.live, topics, added)
            gone = set(removed)
            added, removed = [link for link in added if link not in gone], sorted(gone.difference(added))
        return Change(tuple(added), tuple(removed), shadow)

    @property
    def parameters(self) -> Mapping[str, int | float | str | bool]:
        """The parameters that it was made with."""
        return self._made_with

    @property
    def link_count(self) -> int:
        """The number of links now."""
        return len(self.live.links)

    @property
    def node_count(self) -> int:
        """The number of nodes now."""
        return self.live.node_count

    @property
    def max_degree(self) -> int:
        """The highest degree now."""
        return self.live.max_degree

    @property
    def support(self) -> float:
        """Share of the possible merges that is done; only topics that were not connected are looked at."""
        if self._all_connected:
            return 1.0
        population = self.live.population
        table = mending.pieces_of(population, self.live.scratch, self._broken)[1]
        possible = np.maximum(population.members.length - 1, 0).sum()
        return share_merged(int(table.max(axis=0, initial=0).sum()), int(possible))

    def has(self, node: str) -> bool:
        """Whether a node is there."""
        return node in self.live.numbers

    def topics_of(self, node: str) -> list[str]:
        """Return the topics that a node wants now."""
        return self.live.topics_of(node)

    def shadow_of(self, node: str) -> list[str]:
        """Return the shadow set if a node left: its neighbours and backups, or naively all that want its topics."""
        self.settle()
        if self._kind != shadow_sets.NAIVE:
            return sorted(set(self._around(node)))
        topics = set(self.topics_of(node))
        return sorted(other for other in self.live.numbers if other != node and topics & set(self.topics_of(other)))

    def coverage_factors(self) -> dict[str, int]:
        """Return the coverage factor of the backups of each node, the paper's lambda.

        Only topics that other nodes want, too, count; it is 0 if there are none.
        """
        topics = {node: set(self.topics_of(node)) for node in self.live.numbers}
        wanting = Counter(topic for wanted in topics.values() for topic in wanted)
        return {
            node: coverage_factor(
                (topics[other] for other in others), {topic for topic in topics[node] if wanting[topic] > 1}
            )
            for node, others in self.backups().items()
        }

    def backups(self) -> dict[str, list[str]]:
        """Return the backups of each node, by name."""
        self.settle()
        return self._by_name(self.live.population.backups)

    def primaries(self) -> dict[str, list[str]]:
        """Return the primaries of each node, by name."""
        self.settle()
        return self._by_name(self.live.population.primaries)

    def _by_name(self, rows: GrowingRows) -> dict[str, list[str]]:
        names = self.live.names
        return {
            node: sorted(names[other] for other in row_of(rows, number).tolist())
            for node, number in sorted(self.live.numbers.items())
        }

    def interest(self) -> Interest:
        """Return what all nodes want now."""
        self.settle()
        return self.live.interest()

    def freeze(self) -> dict[str, Any]:
        """Return all that `settings.thaw` needs to make a maintainer that goes on as this one."""
        return {**super().freeze(), "backups": self.backups(), "random": int(self.live.scratch.random[0])}

    def tidying(self, fresh: Overlay, most: int) -> list[LinkStep]:
        """Return steps towards a fresh design, if links or the highest degree became much more.

        As few as suffice: each link that changes restarts a broker or two.
        """
        overlay = self.overlay()
        if not len(overlay):
            return []
        constraints = self.live.constraints
        better = None
        for count in (*range(_FEW_STEPS, most, _FEW_STEPS), most):
            found = overlay if better is None else better.overlay
            if not _has_many(found, fresh) and not _is_high(found, fresh):
                break
            aim: Aim = "degree-links" if _is_high(overlay, fresh) else "links"
            better = improve(overlay, count, aim=aim, constraints=constraints, rounds=_TIDY_ROUNDS)
        if better is None or broken_topics(better.overlay) or constraints.broken_by(better.overlay):
            return []
        return list(better.steps)

    def _restart(self, overlay: Overlay) -> None:
        self._begin(LiveOverlay(overlay, int(self._made_with["seed"]), self.live.constraints, self.live.prices))
        self.build_backups()

    def _overlay_now(self) -> Overlay:
        self.settle()
        numbers = {name: value for name, value in self.parameters.items() if not isinstance(value, str)}
        return self.live.overlay(Provenance(self.method, MappingProxyType(numbers), int(self._made_with["seed"])))
