from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import spidercast as twin
from reference.interests import SHAPES, random_interest, topics_by_node
from topicloom.designers import spidercast, spidercast_m
from topicloom.designers.contract import DesignProblem, Links
from topicloom.model import Interest
from topicloom.registry.running import Watch
from topicloom.workloads import synthetic

seeds = st.integers(0, 10**6)
shapes = st.sampled_from(SHAPES)
times = st.integers(0, 4)
budgets = st.integers(1, 6)


def build(interest: Interest, seed: int = 0, **parameters: Any) -> Links:
    designer = (spidercast_m if "max_degree" in parameters else spidercast).DESIGNER
    watch = Watch()
    links = designer.build(DesignProblem.of(interest, seed=seed, watch=watch), **designer.checked(parameters))
    assert watch.done == len(links.source)
    assert {array.dtype for array in links[:3]} == {np.dtype(np.int32)}
    return links


@pytest.fixture(params=[8, 16, 64], ids=["rows", "few rows", "no rows"])
def _counting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to count what nodes would cover; the longer a row, the larger are the topics without one."""
    monkeypatch.setattr(spidercast, "row_words", lambda nodes: request.param)


def pairs(links: Links) -> list[tuple[int, int]]:
    return list(zip(links.source.tolist(), links.target.tolist(), strict=True))


def neighbours(links: Links, nodes: int) -> list[set[int]]:
    linked: list[set[int]] = [set() for _ in range(nodes)]
    for u, v in pairs(links):
        linked[u].add(v)
        linked[v].add(u)
    return linked


@pytest.mark.usefixtures("_counting")
@given(seed=seeds, shape=shapes, greedy=times, random=times)
def test_spidercast_equals_its_twin(seed: int, shape: str, greedy: int, random: int) -> None:
    interest = random_interest(seed, shape)
    expected = twin.spidercast(interest, greedy, random, interest.node_count, np.random.default_rng(seed))
    assert pairs(build(interest, seed, greedy=greedy, random=random)) == expected


@pytest.mark.usefixtures("_counting")
@given(seed=seeds, shape=shapes, greedy=times, random=times, max_degree=budgets)
def test_link_by_link_spidercast_m_equals_its_twin(
    seed: int, shape: str, greedy: int, random: int, max_degree: int
) -> None:
    interest = random_interest(seed, shape)
    expected = twin.spidercast(interest, greedy, random, max_degree, np.random.default_rng(seed), turns="links")
    assert pairs(build(interest, seed, greedy=greedy, random=random, max_degree=max_degree, turns="links")) == expected


def test_link_by_link_nodes_go_on_until_they_are_full() -> None:
    """No two nodes with room share a topic unless they are linked."""
    interest = synthetic(60, 30, min_topics=4, seed=3)
    links = build(interest, max_degree=7, turns="links")
    linked, wanted = neighbours(links, 60), topics_by_node(interest)
    left = [u for u in range(60) if len(linked[u]) < 7]
    assert all(v in linked[u] for u, v in combinations(left, 2) if wanted[u] & wanted[v])
    assert max(map(len, linked)) == 7
    assert len(links.source) > len(build(interest, max_degree=7, greedy=1, random=0).source)


@pytest.mark.usefixtures("_counting")
@given(seed=seeds, shape=shapes, greedy=times, random=times, max_degree=budgets)
def test_spidercast_m_equals_its_twin(seed: int, shape: str, greedy: int, random: int, max_degree: int) -> None:
    interest = random_interest(seed, shape)
    expected = twin.spidercast(interest, greedy, random, max_degree, np.random.default_rng(seed))
    assert pairs(build(interest, seed, greedy=greedy, random=random, max_degree=max_degree)) == expected


@pytest.mark.usefixtures("_counting")
@pytest.mark.parametrize("popularity", ["uniform", "zipf", "exponential"])
@pytest.mark.parametrize("max_degree", [3, 100])
def test_equals_its_twin_on_many_nodes(popularity: str, max_degree: int) -> None:
    interest = synthetic(100, 40, popularity=popularity, sizes="power-law", min_topics=1, max_topics=20, seed=5)
    expected = twin.spidercast(interest, 3, 1, max_degree, np.random.default_rng(9))
    assert pairs(build(interest, 9, max_degree=max_degree)) == expected


@given(seed=seeds, shape=shapes, greedy=times, random=times)
def test_each_topic_is_covered_as_often_as_can_be(seed: int, shape: str, greedy: int, random: int) -> None:
    interest = random_interest(seed, shape)
    wanted = topics_by_node(interest)
    for u, linked in enumerate(neighbours(build(interest, seed, greedy=greedy, random=random), len(wanted))):
        for t in wanted[u]:
            covered = sum(t in wanted[v] for v in linked)
            assert covered >= min(greedy + random, len(interest.nodes_of(t)) - 1)


@given(seed=seeds, shape=shapes, max_degree=budgets)
def test_no_degree_passes_max_degree_and_none_stays_low_in_need(seed: int, shape: str, max_degree: int) -> None:
    interest = random_interest(seed, shape)
    wanted = topics_by_node(interest)
    linked = neighbours(build(interest, seed, max_degree=max_degree), len(wanted))
    assert max(map(len, linked)) <= max_degree
    for u, v in combinations(range(len(wanted)), 2):
        if v not in linked[u] and len(linked[u]) < max_degree and len(linked[v]) < max_degree:
            for t in wanted[u] & wanted[v]:
                assert sum(t in wanted[w] for w in linked[u]) >= 4
                assert sum(t in wanted[w] for w in linked[v]) >= 4


def test_seeds_decide_the_random_links_and_nothing_else() -> None:
    interest = synthetic(50, 20, min_topics=3, seed=2)
    assert pairs(build(interest, 1)) == pairs(build(interest, 1))
    assert pairs(build(interest, 1)) != pairs(build(interest, 2))
    assert pairs(build(interest, 1, random=0)) == pairs(build(interest, 2, random=0))


def test_random_links_go_to_all_alike() -> None:
    """One topic, ten nodes, no greedy link: the first node links to each of the nine others equally often."""
    interest = Interest.from_pairs([(f"n{i}", "t") for i in range(10)])
    first = [pairs(build(interest, seed, greedy=0))[0] for seed in range(1800)]
    counts = np.bincount([v for _, v in first], minlength=10)
    assert {u for u, _ in first} == {0}
    assert counts[0] == 0
    assert ((counts[1:] - 200) ** 2 / 200).sum() < 26.1  # chi-square, 8 degrees of freedom, one in a thousand


def test_very_large_parameters_link_all_that_share_a_topic() -> None:
    interest = random_interest(1, "identical")
    nodes = interest.node_count
    assert len(build(interest, greedy=10**12).source) == nodes * (nodes - 1) // 2
    assert len(build(interest, random=10**12, max_degree=10**12).source) == nodes * (nodes - 1) // 2


def test_stops_when_asked() -> None:
    watch = Watch()
    watch.stop()
    links = spidercast.DESIGNER.build(DesignProblem.of(random_interest(3, "mixed"), watch=watch), greedy=3, random=1)
    assert pairs(links) == []
