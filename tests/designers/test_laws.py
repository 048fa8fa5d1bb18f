"""Laws that hold for every interest, searched for counterexamples."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.greedy import Components, Link, steps
from topicloom import design, measure
from topicloom.designers import DESIGNERS
from topicloom.kernels.components import merge_links
from topicloom.model import Interest, Overlay

BUDGETS = {name: {designer.budget: 3} for name, designer in DESIGNERS.items() if designer.budget is not None}
GIVEN = {**BUDGETS, "search": {"rounds": 50}}
TOPIC_ORDER_MATTERS = {
    "ring-per-topic",
    "spidercast",
    "spidercast-m",
    "search",
}  # in the order of the links, or the draws


def named(rows: list[int], nodes: list[str] | None = None, topics: list[str] | None = None) -> Interest:
    """An interest from the topics of each node as the bits of a number."""
    nodes = nodes or [f"n{u:02}" for u in range(len(rows))]
    topics = topics or [f"t{t}" for t in range(8)]
    return Interest.from_pairs([(nodes[u], topics[t]) for u, row in enumerate(rows) for t in range(8) if row >> t & 1])


rows = st.lists(st.integers(1, 255), min_size=2, max_size=9)
interests = rows.map(named)


def pairs(interest: Interest) -> list[Link]:
    return list(combinations(range(interest.node_count), 2))


def overlay_of(interest: Interest, links: list[Link]) -> Overlay:
    ends = np.array(links, np.int32).reshape(-1, 2)
    return Overlay(interest, ends[:, 0].copy(), ends[:, 1].copy())


def contributions(interest: Interest, links: list[Link]) -> list[int]:
    """What each link contributes when they are added in this order."""
    overlay = overlay_of(interest, links)
    found, _ = merge_links(interest.node_start, interest.node_topics, overlay.source, overlay.target)
    return found.tolist()


@st.composite
def nested_links(draw: st.DrawFn) -> tuple[Interest, list[Link], list[Link], Link]:
    """An interest, links E, links F that hold E, and one link more."""
    interest = draw(interests)
    larger = draw(st.lists(st.sampled_from(pairs(interest)), unique=True))
    smaller = [link for link in larger if draw(st.booleans())]
    return interest, smaller, larger, draw(st.sampled_from(pairs(interest)))


class TestContribution:
    @given(nested_links())
    def test_is_monotone_and_submodular(self, case: tuple[Interest, list[Link], list[Link], Link]) -> None:
        interest, smaller, larger, link = case
        assert sum(contributions(interest, smaller)) <= sum(contributions(interest, larger))
        to_smaller = contributions(interest, [*smaller, link])[-1]
        to_larger = contributions(interest, [*larger, link])[-1]
        assert to_smaller >= to_larger >= 0
        if link in larger:
            assert to_larger == 0

    @given(nested_links())
    def test_sum_does_not_depend_on_the_order(self, case: tuple[Interest, list[Link], list[Link], Link]) -> None:
        interest, _, links, _ = case
        assert sum(contributions(interest, links)) == sum(contributions(interest, links[::-1]))

    @given(interests)
    def test_of_a_first_link_is_the_number_of_common_topics(self, interest: Interest) -> None:
        for u, v in pairs(interest):
            common = set(interest.topics_of(u).tolist()) & set(interest.topics_of(v).tolist())
            assert contributions(interest, [(u, v)]) == [len(common)]


class TestSupport:
    @given(interests)
    def test_is_0_with_no_links_where_anything_can_be_merged(self, interest: Interest) -> None:
        found = measure(interest, overlay_of(interest, []), diameters=False)
        assert found.support == float(interest.subscription_count == interest.topic_count)

    @given(nested_links())
    def test_is_1_exactly_when_topic_connected(self, case: tuple[Interest, list[Link], list[Link], Link]) -> None:
        interest, _, links, _ = case
        found = measure(interest, overlay_of(interest, links), diameters=False)
        reached = [_reached(set(interest.nodes_of(t).tolist()), links) for t in range(interest.topic_count)]
        assert found.topic_connected == all(reached)
        assert (found.support == 1.0) == all(reached)

    @given(nested_links())
    def test_never_falls_as_links_are_added(self, case: tuple[Interest, list[Link], list[Link], Link]) -> None:
        interest, smaller, larger, _ = case
        supports = [
            measure(interest, overlay_of(interest, links), diameters=False).support for links in ([], smaller, larger)
        ]
        assert supports == sorted(supports)

    @given(interests)
    def test_of_all_links_is_1(self, interest: Interest) -> None:
        assert measure(interest, overlay_of(interest, pairs(interest)), diameters=False).support == 1.0


def _reached(nodes: set[int], links: list[Link]) -> bool:
    """Whether a walk from one of the nodes along links among them meets them all."""
    front = {min(nodes)}
    seen = set(front)
    while front:
        front = {b for u, v in links for a, b in ((u, v), (v, u)) if a in front and b in nodes} - seen
        seen |= front
    return seen == nodes


@pytest.mark.parametrize("name", [name for name in DESIGNERS if name != "gm-fold"])
@given(interest=interests)
def test_components_fall_by_the_contribution_at_each_step(name: str, interest: Interest) -> None:
    links = steps(design(interest, name, **GIVEN.get(name, {})))
    components = [
        measure(interest, overlay_of(interest, [(u, v) for u, v, _ in links[:count]]), diameters=False).components
        for count in range(len(links) + 1)
    ]
    assert [before - after for before, after in pairwise(components)] == [merged for *_, merged in links]


class TestGpa:
    @given(interest=interests, spare=st.integers(0, 3))
    def test_with_enough_links_is_gm(self, interest: Interest, spare: int) -> None:
        complete = steps(design(interest, "gm"))
        assert steps(design(interest, "gpa", max_edges=max(1, len(complete) + spare))) == complete

    @given(interest=interests, max_edges=st.integers(1, 20))
    def test_is_the_beginning_of_gm(self, interest: Interest, max_edges: int) -> None:
        assert steps(design(interest, "gpa", max_edges=max_edges)) == steps(design(interest, "gm"))[:max_edges]


class TestGpm:
    @given(interest=interests, spare=st.integers(0, 3))
    def test_with_a_degree_high_enough_is_minmax_oda(self, interest: Interest, spare: int) -> None:
        complete = design(interest, "minmax-oda")
        enough = max(1, int(complete.degrees.max()) + spare)
        assert steps(design(interest, "gpm", max_degree=enough)) == steps(complete)

    @given(interest=interests, max_degree=st.integers(1, 8))
    def test_is_minmax_oda_up_to_the_first_link_past_the_degree(self, interest: Interest, max_degree: int) -> None:
        complete = steps(design(interest, "minmax-oda"))
        found = steps(design(interest, "gpm", max_degree=max_degree))
        assert found == complete[: len(found)]
        if len(found) < len(complete):
            after = overlay_of(interest, [(u, v) for u, v, _ in complete[: len(found) + 1]])
            assert after.degrees.max() == max_degree + 1


class TestLowOda:
    @given(interests)
    def test_with_k_1_adds_what_contributes_most_as_gm_does(self, interest: Interest) -> None:
        components = Components(interest)
        for u, v, merged in steps(design(interest, "low-oda", k=1)):
            assert merged == max(components.contribution(link) for link in pairs(interest)) > 0
            components.add((u, v))
        assert not any(components.contribution(link) for link in pairs(interest))

    @given(interests)
    def test_with_k_large_is_minmax_oda(self, interest: Interest) -> None:
        """No contribution is more than the number of topics times another that is not 0."""
        assert steps(design(interest, "low-oda", k=interest.topic_count)) == steps(design(interest, "minmax-oda"))

    @given(interest=interests, k=st.sampled_from([1, 1.25, 1.5, 2, 3]))
    def test_never_adds_less_than_a_kth_of_the_most(self, interest: Interest, k: float) -> None:
        components = Components(interest)
        degree = [0] * interest.node_count
        for u, v, merged in steps(design(interest, "low-oda", k=k)):
            most = max(components.contribution(link) for link in pairs(interest))
            assert merged * k >= most
            if max(degree[u], degree[v]) == max(degree):  # it raised the degree: nothing else was worth it
                below = [link for link in pairs(interest) if max(degree[end] for end in link) < max(degree)]
                even = max((components.contribution(link) for link in below), default=0)
                assert merged == most
                assert even * k < most or even == 0
            components.add((u, v))
            degree[u] += 1
            degree[v] += 1


class TestGmFold:
    @given(interest=interests, folds=st.integers(1, 4))
    def test_begins_with_gm_and_uses_no_link_twice(self, interest: Interest, folds: int) -> None:
        first = steps(design(interest, "gm"))
        folded = steps(design(interest, "gm-fold", folds=folds))
        assert folded[: len(first)] == first
        assert len({(u, v) for u, v, _ in folded}) == len(folded)
        if folds == 1:
            assert folded == first

    @given(interest=interests, folds=st.integers(1, 3))
    def test_one_fold_more_adds_links_after_the_others(self, interest: Interest, folds: int) -> None:
        fewer = steps(design(interest, "gm-fold", folds=folds))
        more = steps(design(interest, "gm-fold", folds=folds + 1))
        assert more[: len(fewer)] == fewer
        used = {(u, v) for u, v, _ in fewer}
        left = [link for link in pairs(interest) if link not in used]
        # The next fold merges, from nothing, all that the links not yet used can merge.
        assert sum(merged for *_, merged in more[len(fewer) :]) == sum(contributions(interest, left))

    @given(st.integers(3, 8))
    def test_two_folds_survive_the_loss_of_any_link(self, nodes: int) -> None:
        interest = named([3] * nodes)
        links = [(u, v) for u, v, _ in steps(design(interest, "gm-fold", folds=2))]
        both_connect = nodes >= 4  # three nodes have three links, too few for two trees
        for lost in links:
            left = [link for link in links if link != lost]
            assert _reached(set(range(nodes)), left) or not both_connect


class TestGreedySteps:
    @pytest.mark.parametrize(("name", "parameters"), [("gm", {}), ("gpa", {"max_edges": 4}), ("low-oda", {"k": 1})])
    @given(interest=interests)
    def test_contributions_never_rise(self, name: str, parameters: dict[str, float], interest: Interest) -> None:
        merged = [step[2] for step in steps(design(interest, name, **parameters))]
        assert merged == sorted(merged, reverse=True)

    @given(interest=interests)
    def test_minmax_oda_raises_the_degree_only_where_nothing_else_contributes(self, interest: Interest) -> None:
        components = Components(interest)
        degree = [0] * interest.node_count
        for u, v, merged in steps(design(interest, "minmax-oda")):
            highest = max(degree)
            below = [
                link for link in pairs(interest) if max(degree[link[0]], degree[link[1]]) < highest
            ]  # those that would not raise it
            useful = [components.contribution(link) for link in below if components.contribution(link)]
            others = [components.contribution(link) for link in pairs(interest)]
            assert merged == max(useful or others)
            assert ((u, v) in below) == bool(useful)
            components.add((u, v))
            degree[u] += 1
            degree[v] += 1


class TestBudgetRatio:
    """The hub wants a topic of each of 100 others: minmax-oda needs 100 links, all at the hub."""

    HUB = Interest.from_pairs([(node, f"t{i:03}") for i in range(100) for node in ("hub", f"n{i:03}")])

    @pytest.mark.parametrize("name", BUDGETS)
    @pytest.mark.parametrize(
        ("ratio", "budget"),
        [(0.29, 29), (0.57, 57), (0.58, 58), (0.295, 29), (1, 100), (1.15, 115), (0.001, 1), (1e-9, 1), (0.999, 99)],
    )
    def test_is_exact_rounded_down_and_at_least_1(self, name: str, ratio: float, budget: int) -> None:
        overlay = design(self.HUB, name, budget_ratio=ratio)
        assert overlay.provenance.parameters[DESIGNERS[name].budget] == budget
        assert overlay.provenance.parameters["budget_ratio"] == ratio
        assert steps(overlay) == steps(design(self.HUB, name, **{DESIGNERS[name].budget: budget}))

    @given(interest=interests, percent=st.integers(1, 250))
    def test_is_a_share_of_minmax_oda(self, interest: Interest, percent: int) -> None:
        complete = design(interest, "minmax-oda")
        for name, whole in (("gpa", len(complete)), ("gpm", int(complete.degrees.max()))):
            found = design(interest, name, budget_ratio=percent / 100).provenance.parameters
            assert found[DESIGNERS[name].budget] == max(1, int(Fraction(percent, 100) * whole))


class TestNames:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", DESIGNERS)
    @given(rows=rows, gaps=st.lists(st.integers(1, 10**6), min_size=9, max_size=9))
    def test_other_names_in_the_same_order_give_the_same_links(
        self, name: str, rows: list[int], gaps: list[int]
    ) -> None:
        renamed = [f"{number:08} {'é/' * (number % 3)}" for number in accumulate(gaps)]
        parameters = GIVEN.get(name, {})
        expected = steps(design(named(rows), name, seed=7, **parameters))
        assert steps(design(named(rows, nodes=renamed[: len(rows)]), name, seed=7, **parameters)) == expected

    @pytest.mark.parametrize("name", sorted(set(DESIGNERS) - TOPIC_ORDER_MATTERS))
    @given(rows=rows, order=st.permutations([f"topic {t}" for t in range(8)]))
    def test_names_of_topics_do_not_matter(self, name: str, rows: list[int], order: list[str]) -> None:
        parameters = GIVEN.get(name, {})
        expected = steps(design(named(rows), name, seed=7, **parameters))
        assert steps(design(named(rows, topics=list(order)), name, seed=7, **parameters)) == expected

    @pytest.mark.parametrize("name", sorted(TOPIC_ORDER_MATTERS - {"spidercast", "spidercast-m", "search"}))
    @given(rows=rows, order=st.permutations([f"topic {t}" for t in range(8)]))
    def test_names_of_topics_change_no_more_than_the_order(self, name: str, rows: list[int], order: list[str]) -> None:
        expected = {(u, v) for u, v, _ in steps(design(named(rows), name))}
        assert {(u, v) for u, v, _ in steps(design(named(rows, topics=list(order)), name))} == expected
