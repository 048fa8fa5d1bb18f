from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.interests import SHAPES, random_interest
from topicloom.designers import random_a, random_m
from topicloom.designers.contract import Designer, DesignProblem, Links
from topicloom.model import Interest
from topicloom.registry.running import Watch

Pairs = list[tuple[int, int]]


@cache
def apart(nodes: int) -> Interest:
    """Nodes that share no topic: random links do not care."""
    return Interest.from_pairs([(f"n{i:04}", f"t{i:04}") for i in range(nodes)])


def build(designer: Designer, interest: Interest, budget: int, seed: int = 0) -> Links:
    watch = Watch()
    links = designer.build(DesignProblem.of(interest, seed=seed, watch=watch), **{designer.budget: budget})
    assert watch.done == len(links.source)
    assert {array.dtype for array in links[:3]} == {np.dtype(np.int32)}
    return links


def pairs(links: Links) -> Pairs:
    return list(zip(links.source.tolist(), links.target.tolist(), strict=True))


def assert_distinct_pairs(links: Pairs, nodes: int) -> None:
    assert all(0 <= u < v < nodes for u, v in links)
    assert len(set(links)) == len(links)


@given(nodes=st.integers(1, 40), max_edges=st.integers(1, 900), seed=st.integers(0, 10**6))
def test_random_a_gives_exactly_max_edges_or_all_pairs(nodes: int, max_edges: int, seed: int) -> None:
    links = pairs(build(random_a.DESIGNER, apart(nodes), max_edges, seed))
    assert_distinct_pairs(links, nodes)
    assert len(links) == min(max_edges, nodes * (nodes - 1) // 2)


@given(nodes=st.integers(1, 40), max_degree=st.integers(1, 45), seed=st.integers(0, 10**6))
def test_random_m_leaves_no_allowed_pair(nodes: int, max_degree: int, seed: int) -> None:
    links = pairs(build(random_m.DESIGNER, apart(nodes), max_degree, seed))
    assert_distinct_pairs(links, nodes)
    degree = Counter(end for link in links for end in link)
    assert all(count <= max_degree for count in degree.values())
    below = [u for u in range(nodes) if degree[u] < max_degree]
    assert set(combinations(below, 2)) <= set(links)


@pytest.mark.parametrize("designer", [random_a.DESIGNER, random_m.DESIGNER], ids=lambda designer: designer.name)
def test_seeds_decide(designer: Designer) -> None:
    interest = apart(100)
    assert pairs(build(designer, interest, 5, 1)) == pairs(build(designer, interest, 5, 1))
    assert pairs(build(designer, interest, 5, 1)) != pairs(build(designer, interest, 5, 2))


@pytest.mark.parametrize("shape", SHAPES)
def test_contribution_counts_shared_topics_only(shape: str) -> None:
    interest = random_interest(4, shape)
    all_pairs = build(random_a.DESIGNER, interest, 1000)
    assert all_pairs.contribution.sum() == interest.subscription_count - interest.topic_count


@pytest.mark.slow
@pytest.mark.parametrize("max_edges", [3, 9, 10], ids=["drawn", "permuted", "all"])
def test_random_a_puts_each_pair_in_each_place_equally_often(max_edges: int) -> None:
    """Five nodes, ten pairs, 2,000 runs: every pair is expected 200 times in every place."""
    runs = [pairs(build(random_a.DESIGNER, apart(5), max_edges, seed)) for seed in range(2000)]
    for place in range(max_edges):
        counts = Counter(links[place] for links in runs)
        assert len(counts) == 10
        assert sum((count - 200) ** 2 / 200 for count in counts.values()) < 31  # 9 degrees of freedom, 3 in 10,000


@cache
def end_chances(
    nodes: int, max_degree: int, links: frozenset[tuple[int, int]]
) -> dict[frozenset[tuple[int, int]], float]:
    """Chance of every final set of links, if each is drawn uniformly from the pairs allowed at its time."""
    degree = Counter(end for link in links for end in link)
    allowed = [
        (u, v)
        for u, v in combinations(range(nodes), 2)
        if (u, v) not in links and degree[u] < max_degree and degree[v] < max_degree
    ]
    if not allowed:
        return {links: 1.0}
    chances: defaultdict[frozenset[tuple[int, int]], float] = defaultdict(float)
    for link in allowed:
        for end, chance in end_chances(nodes, max_degree, links | {link}).items():
            chances[end] += chance / len(allowed)
    return dict(chances)


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "max_degree"), [(4, 1), (5, 1), (4, 2), (5, 2), (5, 3)])
def test_random_m_draws_from_the_allowed_pairs_alike(nodes: int, max_degree: int) -> None:
    runs = 4000
    counts = Counter(frozenset(pairs(build(random_m.DESIGNER, apart(nodes), max_degree, seed))) for seed in range(runs))
    expected = end_chances(nodes, max_degree, frozenset())
    assert set(counts) <= set(expected)
    chi_square = sum((counts[end] - runs * chance) ** 2 / (runs * chance) for end, chance in expected.items())
    freedom = len(expected) - 1
    assert chi_square < freedom + 4 * (2 * freedom) ** 0.5 + 4


def test_pairs_are_numbered_without_gaps() -> None:
    source, target = random_a._ends(np.arange(45))
    assert list(zip(source.tolist(), target.tolist(), strict=True)) == [(u, v) for v in range(10) for u in range(v)]


def test_pairs_of_many_nodes_survive_rounding() -> None:
    """The first and the last pair of a row, where the square root is rounded."""
    target = np.array([3, 94_906_267, 2**31 - 2, 2**31 - 1])
    first = target * (target - 1) // 2
    for pair, u in ((first, np.zeros(4)), (first + target - 1, target - 1)):
        source, found = random_a._ends(pair)
        assert found.tolist() == target.tolist()
        assert source.tolist() == u.tolist()


def test_random_m_stops_when_asked() -> None:
    watch = Watch()
    watch.stop()
    links = random_m.DESIGNER.build(DesignProblem.of(apart(20), watch=watch), max_degree=3)
    assert pairs(links) == []
