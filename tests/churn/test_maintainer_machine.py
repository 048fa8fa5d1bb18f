"""Any sequence of events, possible and impossible ones, searched for one that breaks a maintainer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from effort import times
from reference.fleets import links_of, topics_of
from reference.maintainers import broken_topics, needed_for
from topicloom.churn import BACKUPS, METHODS, Change, EventRefused, Settings, maintainer
from topicloom.churn.shadow import MendingMaintainer
from topicloom.designers import design
from topicloom.model import Interest

names = st.sampled_from(["a", "b", "c", "d", "e", "f", "\u00e9", "\U0001f600"])
topics = st.sets(st.sampled_from("tuvwx"), max_size=5)
some_topics = st.sets(st.sampled_from("tuvwx"), min_size=1, max_size=5)
chosen = st.builds(
    Settings,
    method=st.sampled_from(METHODS),
    backups=st.sampled_from(sorted(BACKUPS)),
    coverage=st.integers(1, 4),
    rho=st.sampled_from([1, 1.5, 3, 100]),
    prune=st.booleans(),
    seed=st.integers(0, 2**64 - 1),
)


class Maintaining(RuleBasedStateMachine):
    """The model is a dict of topics by node, and the links that changes told of."""

    @initialize(wanted=st.dictionaries(names, some_topics, min_size=1), chosen=chosen)
    def start(self, wanted: dict[str, set[str]], chosen: Settings) -> None:
        self.topics = wanted
        interest = Interest.from_pairs([(node, topic) for node in wanted for topic in wanted[node]])
        overlay = design(interest, "ring-per-topic")
        self.links = set(links_of(overlay))
        self.found = maintainer(overlay, chosen)
        self.prunes = chosen.prune and chosen.method != "rebuild"
        self.pruned = False

    def follow(self, change: Change) -> None:
        assert not self.links & set(change.added)
        assert self.links >= set(change.removed)
        self.links = self.links - set(change.removed) | set(change.added)
        self.pruned = self.prunes

    @rule(node=names, wanted=topics)
    def join(self, node: str, wanted: set[str]) -> None:
        if node in self.topics:
            self.refused(lambda: self.found.join(node, wanted), f"join of '{node}', which is there already")
        elif not wanted:
            self.refused(lambda: self.found.join(node, wanted), f"join of '{node}', which wants no topic")
        else:
            self.follow(self.found.join(node, wanted))
            self.topics[node] = wanted

    @rule(node=names)
    def leave(self, node: str) -> None:
        if node not in self.topics:
            self.refused(lambda: self.found.leave(node), f"leave of '{node}', which is not there")
        else:
            self.follow(self.found.leave(node))
            del self.topics[node]

    @precondition(lambda self: self.topics)
    @rule(data=st.data(), other=topics)
    def change(self, data: st.DataObject, other: set[str]) -> None:
        """From what a node wants to anything else, in one event."""
        node = data.draw(st.sampled_from(sorted(self.topics)))
        before = self.topics[node]

        def call() -> Change:
            return self.found.change(node, other - before, before - other)

        if other == before:
            self.refused(call, f"change of '{node}', in which nothing changes")
        elif not other:
            self.refused(call, f"change of '{node}': it would want no topic; let it leave instead")
        else:
            self.follow(call())
            self.topics[node] = other

    @rule(node=names, add=topics, remove=topics)
    def change_blindly(self, node: str, add: set[str], remove: set[str]) -> None:
        def call() -> Change:
            return self.found.change(node, add, remove)

        before = self.topics.get(node)
        if before is None:
            self.refused(call, f"change of '{node}', which is not there")
        elif add & before:
            self.refused(call, f"change of '{node}': it wants '{min(add & before)}' already")
        elif remove - before:
            lacking = min(remove - before)
            self.refused(call, f"change of '{node}': it does not want '{lacking}', which it is to give up")
        elif not add and not remove:
            self.refused(call, f"change of '{node}', in which nothing changes")
        elif not add and remove == before:
            self.refused(call, f"change of '{node}': it would want no topic; let it leave instead")
        else:
            self.follow(call())
            self.topics[node] = before - remove | add

    @rule()
    def settle(self) -> None:
        self.found.settle()

    def refused(self, call: Callable[[], Change], message: str) -> None:
        before = self.found.overlay().to_arrow()
        with pytest.raises(EventRefused) as caught:
            call()
        assert str(caught.value) == message
        assert self.found.overlay().to_arrow().equals(before, check_metadata=True)

    @invariant()
    def links_are_those_told_of(self) -> None:
        # Before anything settles what the latest event left for later.
        degrees = [sum(node in link for link in self.links) for node in self.topics]
        assert self.found.link_count == len(self.links)
        assert self.found.node_count == len(self.topics)
        assert self.found.max_degree == max(degrees, default=0)

    @invariant()
    def every_topic_is_connected(self) -> None:
        overlay = self.found.overlay()
        assert topics_of(overlay.interest) == self.topics
        assert set(links_of(overlay)) == self.links
        if self.topics:
            assert broken_topics(self.topics, self.links) == []

    @invariant()
    def every_link_is_needed_where_others_are_dropped(self) -> None:
        if self.pruned:
            assert all(needed_for(self.topics, self.links, link) for link in self.links)

    @invariant()
    def primaries_are_backups_the_other_way(self) -> None:
        if not isinstance(self.found, MendingMaintainer):
            return
        backups, primaries = self.found.backups(), self.found.primaries()
        assert {(u, v) for u in backups for v in backups[u]} == {(u, v) for v in primaries for u in primaries[v]}
        if self.found.method == "shadow":
            for node, wanted in self.topics.items():
                others = set().union(*(self.topics[u] for u in self.topics if u != node))
                covered = set().union(*(self.topics[u] for u in backups[node]))
                assert wanted & others <= covered
                assert all(self.topics[u] & wanted for u in backups[node])


Maintaining.TestCase.settings = settings(max_examples=times(150), stateful_step_count=25)
TestMaintaining = Maintaining.TestCase
