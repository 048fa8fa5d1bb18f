"""The greedy designers against their slow twins: the very same links in the same order, with the same contributions.

Every way to keep topics is forced on every interest, whichever it would get.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from representations import REPRESENTATIONS, designed

from reference import exhaustive, greedy
from reference.greedy import Step
from reference.interests import SHAPES, random_interest
from topicloom.designers.greedy import max_common_topics
from topicloom.kernels.pair_bounds import code_step
from topicloom.model import Interest

Parameters = dict[str, Any]
Twin = Callable[[Interest], list[Step]]

SEEDS = range(15)
SMALL: dict[str, tuple[str, Parameters, Twin]] = {
    "gm": ("gm", {}, greedy.gm),
    "minmax-oda": ("minmax-oda", {}, greedy.low_oda),
    "low-oda k=1": ("low-oda", {"k": 1}, partial(greedy.low_oda, k=1)),
    "low-oda k=1.5": ("low-oda", {"k": 1.5}, partial(greedy.low_oda, k=1.5)),
    "low-oda k=3": ("low-oda", {"k": 3}, partial(greedy.low_oda, k=3)),
    "low-oda k=8": ("low-oda", {"k": 8}, partial(greedy.low_oda, k=8)),
    "gpa 1": ("gpa", {"max_edges": 1}, partial(greedy.gm, max_edges=1)),
    "gpa 4": ("gpa", {"max_edges": 4}, partial(greedy.gm, max_edges=4)),
    "gpm 1": ("gpm", {"max_degree": 1}, partial(greedy.low_oda, max_degree=1)),
    "gpm 2": ("gpm", {"max_degree": 2}, partial(greedy.low_oda, max_degree=2)),
    "gpm 3": ("gpm", {"max_degree": 3}, partial(greedy.low_oda, max_degree=3)),
    "minmax-oda maximal": ("minmax-oda", {"matching": "maximal"}, partial(greedy.low_oda, maximal=True)),
    "gpm 1 maximal": (
        "gpm",
        {"max_degree": 1, "matching": "maximal"},
        partial(greedy.low_oda, max_degree=1, maximal=True),
    ),
    "gpm 3 maximal": (
        "gpm",
        {"max_degree": 3, "matching": "maximal"},
        partial(greedy.low_oda, max_degree=3, maximal=True),
    ),
    "low-oda k=1 strict": ("low-oda", {"k": 1, "strict": True}, greedy.gm),
    "low-oda k=2 strict": ("low-oda", {"k": 2, "strict": True}, partial(greedy.low_oda, k=2, strict=True)),
    "gm-fold 3": ("gm-fold", {"folds": 3}, partial(greedy.gm_fold, folds=3)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", SMALL)
def test_equals_its_twin(case: str, shape: str) -> None:
    name, parameters, twin = SMALL[case]
    for seed in SEEDS:
        interest = random_interest(seed, shape)
        assert designed(interest, name, **parameters) == twin(interest), f"seed {seed}"


# Larger interests: rows of more than one block of 64 slots; pairs with more than 128 and more than 255 common
# topics, whose bounds are coded in steps; many exact ties.


def _interest(rows: Iterator[set[int]]) -> Interest:
    """Rows in the order of ids; topics are numbered, nodes shuffled no further."""
    return Interest.from_pairs([(f"n{u:03}", f"t{t:03}") for u, row in enumerate(rows) for t in sorted(row)])


def _coins(dice: random.Random, nodes: int, topics: int, chance: Callable[[int, int], float]) -> Interest:
    return _interest({t for t in range(topics) if dice.random() < chance(u, t)} | {u % topics} for u in range(nodes))


def _many_nodes(dice: random.Random) -> Interest:
    return _coins(dice, 132, 30, lambda u, t: 0.15)


def _many_skewed(dice: random.Random) -> Interest:
    return _coins(dice, 100, 70, lambda u, t: 3 / (3 + t))


def _share_over_128(dice: random.Random) -> Interest:
    return _coins(dice, 70, 300, lambda u, t: 0.75)


def _share_over_255(dice: random.Random) -> Interest:
    """Second longest row of some 600 topics: bounds above 128 are coded in steps of four."""
    return _coins(dice, 66, 700, lambda u, t: 0.85 if u % 3 else 0.45)


def _few_to_many_topics(dice: random.Random) -> Interest:
    """Rows of some 500 topics beside rows of a few, so that both kinds of bounds are met in one search."""
    return _coins(dice, 80, 520, lambda u, t: (0.95, 0.5, 0.1, 0.01)[u % 4])


def _identical_groups(dice: random.Random) -> Interest:
    """Ten groups of ten nodes with the very same topics, 24 to a group, half of them shared by all."""
    own = [{t for t in range(60) if t < 12 or t % 10 == g or (t + 1) % 10 == g} for g in range(10)]
    order = dice.sample(range(100), 100)
    return _interest(own[order[u] % 10] for u in range(100))


def _identical_large_groups(dice: random.Random) -> Interest:
    """Four groups of eighteen nodes with the very same 200 to 380 topics, in codes of more than one contribution."""
    own = [{t for t in range(500) if t % 4 == g or t < 80 + 60 * g} for g in range(4)]
    order = dice.sample(range(72), 72)
    return _interest(own[order[u] % 4] for u in range(72))


LARGE: dict[str, Callable[[random.Random], Interest]] = {
    "many nodes": _many_nodes,
    "many nodes, skewed": _many_skewed,
    "pairs share over 128": _share_over_128,
    "pairs share over 255": _share_over_255,
    "few to many topics": _few_to_many_topics,
    "identical groups": _identical_groups,
    "identical large groups": _identical_large_groups,
}
LARGE_TWINS: dict[str, Twin] = {
    "gm": exhaustive.gm,
    "minmax-oda": exhaustive.low_oda,
    "low-oda": partial(exhaustive.low_oda, k=2),
    "gm-fold": partial(exhaustive.gm_fold, folds=2),
}


@cache
def large_interest(kind: str) -> Interest:
    return LARGE[kind](random.Random(kind))


@cache
def large_steps(name: str, kind: str) -> list[Step]:
    return LARGE_TWINS[name](large_interest(kind))


def within_degree(links: list[Step], nodes: int, most: int) -> list[Step]:
    """The links before the first that gives a node more than `most`."""
    degree = [0] * nodes
    for count, (u, v, _) in enumerate(links):
        degree[u] += 1
        degree[v] += 1
        if max(degree[u], degree[v]) > most:
            return links[:count]
    return links


@pytest.fixture(params=[None, 0], ids=["room", "tiny room"])
def _tie_capacity(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual capacity for ties, and the least, so that ties overflow it and the scan is repeated."""
    if request.param is not None:
        for kind, representation in REPRESENTATIONS.items():
            monkeypatch.setitem(REPRESENTATIONS, kind, representation._replace(tie_capacity=request.param))


@pytest.mark.slow
@pytest.mark.usefixtures("_tie_capacity")
@pytest.mark.parametrize("kind", LARGE)
class TestLarge:
    def test_gm(self, kind: str) -> None:
        assert designed(large_interest(kind), "gm") == large_steps("gm", kind)

    def test_minmax_oda(self, kind: str) -> None:
        assert designed(large_interest(kind), "minmax-oda") == large_steps("minmax-oda", kind)

    def test_low_oda(self, kind: str) -> None:
        assert designed(large_interest(kind), "low-oda", k=2) == large_steps("low-oda", kind)

    def test_gm_fold(self, kind: str) -> None:
        assert designed(large_interest(kind), "gm-fold", folds=2) == large_steps("gm-fold", kind)

    @pytest.mark.parametrize("max_edges", [1, 64, 101])
    def test_gpa(self, kind: str, max_edges: int) -> None:
        found = designed(large_interest(kind), "gpa", max_edges=max_edges)
        assert found == large_steps("gm", kind)[:max_edges]

    @pytest.mark.parametrize("max_degree", [1, 2, 4])
    def test_gpm(self, kind: str, max_degree: int) -> None:
        interest = large_interest(kind)
        expected = within_degree(large_steps("minmax-oda", kind), interest.node_count, max_degree)
        assert designed(interest, "gpm", max_degree=max_degree) == expected


def test_large_interests_are_what_they_are_for() -> None:
    """Rows of several blocks everywhere; ties beyond the least room; common topics where codes begin to skip."""
    shared, ties, width = {}, {}, {}
    for kind in LARGE:
        interest = large_interest(kind)
        assert interest.node_count > 64
        contributions = exhaustive.Recount(interest).contributions()
        shared[kind] = int(contributions.max())
        ties[kind] = np.bincount(contributions[contributions > 0]).max() / (2 * interest.node_count)
        width[kind] = code_step(max_common_topics(interest))
    assert {kind for kind, most in shared.items() if most > 128} >= {"pairs share over 128", "few to many topics"}
    assert shared["pairs share over 255"] > 255
    assert shared["identical large groups"] > 255
    assert width["pairs share over 255"] == 4
    assert width["few to many topics"] == 3
    assert sum(ratio > 1 for ratio in ties.values()) >= 4
    assert ties["identical large groups"] > 1


@pytest.mark.parametrize("shape", SHAPES)
def test_twins_agree(shape: str) -> None:
    """The recounting twins of large interests give what those straight from the papers give."""
    for seed in range(5):
        interest = random_interest(seed, shape)
        assert exhaustive.gm(interest) == greedy.gm(interest), f"seed {seed}"
        assert exhaustive.gm_fold(interest, 2) == greedy.gm_fold(interest, 2), f"seed {seed}"
        for k in (1, 2, math.inf):
            assert exhaustive.low_oda(interest, k) == greedy.low_oda(interest, k), f"seed {seed}"
