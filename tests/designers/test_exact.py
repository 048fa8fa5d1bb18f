"""`exact` against the true optimum of tiny interests, and against every other designer."""

from __future__ import annotations

import random
import sys
import threading
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import times
from reference.exhaustive import Optimum
from reference.interests import SHAPES, random_interest
from reference.worst_cases import cuboid, hub
from topicloom import InputError, Interest, Overlay, bound, design, measure, synthetic
from topicloom.designers.exact import SharingPairs
from topicloom.kernels.minimum_cut import minimum_cut
from topicloom.registry import Stopped, Watch

# Any subset of topics a node, as bits; some interests fall into islands.
tiny = st.lists(st.integers(0, 2**7 - 1), min_size=2, max_size=5).map(
    lambda rows: Interest.from_pairs(
        [(f"n{u}", f"t{t}") for u, row in enumerate(rows) for t in range(7) if row >> t & 1]
        + [(f"n{u}", f"own{u}") for u in range(len(rows))]
    )
)


@settings(max_examples=times(60))
@given(tiny)
def test_it_finds_the_optimum(interest: Interest) -> None:
    optimum = Optimum(interest)
    few, low = design(interest, "exact"), design(interest, "exact", minimise="max_degree")
    assert len(few) == optimum.fewest_links
    assert few.provenance.facts == {"lower_bound": optimum.fewest_links, "optimal": True}
    assert low.degrees.max() == optimum.lowest_degree
    assert low.provenance.facts == {"lower_bound": optimum.lowest_degree, "optimal": True}
    assert len(low) == _fewest_within(interest, optimum.lowest_degree)
    assert measure(interest, few).topic_connected
    assert measure(interest, low).topic_connected


def _fewest_within(interest: Interest, degree: int) -> int:
    """The fewest links with which every topic is connected and no node has more than so many, by trying all."""
    names = interest.node_names
    pairs = list(combinations(names, 2))
    for count in range(len(pairs) + 1):
        for links in combinations(pairs, count):
            overlay = Overlay.from_links(interest, links)
            if overlay.degrees.max() <= degree and measure(interest, overlay, diameters=False).topic_connected:
                return count
    raise AssertionError("all links connect every topic")


@settings(max_examples=times(60))
@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES))
def test_no_designer_beats_it_and_no_bound_passes_it(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    few, low = design(interest, "exact"), design(interest, "exact", minimise="max_degree")
    assert few.provenance.facts["optimal"]
    assert low.provenance.facts["optimal"]
    proved = bound(interest)
    assert proved.links <= len(few) <= len(low)
    assert proved.max_degree <= low.degrees.max() <= few.degrees.max()
    for name in ("gm", "minmax-oda", "low-oda", "cd-oda-2", "ring-per-topic"):
        other = design(interest, name)
        assert len(few) <= len(other)
        assert low.degrees.max() <= other.degrees.max()


@pytest.mark.parametrize(("k", "m"), [(2, 4), (3, 3), (3, 7)])
def test_it_escapes_the_cuboid_of_gm_2007(k: int, m: int) -> None:
    case = cuboid(k, m)
    assert len(design(case.interest, "exact")) <= len(case.good) <= len(design(case.interest, "gm"))


@pytest.mark.parametrize("n", [4, 7, 10])
def test_it_escapes_the_hub_of_low_2010(n: int) -> None:
    assert len(design(hub(n).interest, "exact")) == n - 1


def test_it_is_better_than_greedy_and_the_same_whatever_the_order_of_rows() -> None:
    interest = synthetic(20, 12, min_topics=4, seed=1)
    rows = [(row["node"], row["topic"]) for row in interest.to_arrow().to_pylist()]
    first, second = design(interest, "exact"), design(Interest.from_pairs(rows[::-1]), "exact")
    assert len(first) < len(design(interest, "gm"))
    assert np.array_equal(first.source, second.source)
    assert np.array_equal(first.target, second.target)


@pytest.mark.parametrize("minimise", ["links", "max_degree"])
def test_without_time_it_gives_the_best_of_greedy_and_says_that_nothing_is_proved(minimise: str) -> None:
    interest = synthetic(20, 12, min_topics=4, seed=1)
    overlay = design(interest, "exact", minimise=minimise, seconds=0)
    assert overlay.provenance.facts == {"lower_bound": 0, "optimal": False}
    assert measure(interest, overlay).topic_connected
    if minimise == "links":
        assert len(overlay) <= min(len(design(interest, name)) for name in ("gm", "low-oda", "minmax-oda"))
    else:
        assert overlay.degrees.max() <= design(interest, "minmax-oda").degrees.max()


def test_what_it_proved_is_kept_with_the_overlay(tmp_path) -> None:
    interest = random_interest(3, "mixed")
    overlay = design(interest, "exact")
    overlay.write(tmp_path / "overlay.parquet")
    assert Overlay.read(tmp_path / "overlay.parquet", interest).provenance == overlay.provenance


def test_large_interests_are_refused() -> None:
    with pytest.raises(InputError, match=r"^exact is for small interests: this one has 400 nodes, .*; use another"):
        design(synthetic(400, 2, min_topics=2), "exact")


def test_unknown_goals_are_refused() -> None:
    with pytest.raises(InputError, match=r"^minimise of exact must be links or max_degree, not 'hops'$"):
        design(random_interest(1, "dense"), "exact", minimise="hops")


def test_without_highs_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(InputError, match=r"^exact needs HiGHS; install it with: pip install 'topicloom\[exact\]'$"):
        design(synthetic(20, 12, min_topics=4, seed=4), "exact", seconds=7)


@given(seed=st.integers(0, 10**6), nodes=st.integers(2, 8))
def test_the_minimum_cut_is_the_least_of_all_cuts(seed: int, nodes: int) -> None:
    weight = np.triu(np.random.default_rng(seed).integers(0, 4, (nodes, nodes)), 1).astype(float)
    weight += weight.T
    cuts = [
        weight[np.ix_(list(side), [u for u in range(nodes) if u not in side])].sum()
        for size in range(1, nodes)
        for side in combinations(range(nodes), size)
    ]
    least, side = minimum_cut(weight.copy())
    assert least == min(cuts)
    assert 0 < side.sum() < nodes
    assert weight[side][:, ~side].sum() == least


@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES))
def test_completing_leaves_only_what_is_needed(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    pairs = SharingPairs(interest)
    everything = np.ones(len(pairs), np.bool_)
    few = pairs.completed(np.random.default_rng(seed).random(len(pairs)) < 0.3, everything)
    for left in [few, *(few & (np.arange(len(pairs)) != link) for link in np.flatnonzero(few))]:
        names = interest.node_names
        links = [(names[u], names[v]) for u, v in zip(pairs.source[left], pairs.target[left], strict=True)]
        connected = measure(interest, Overlay.from_links(interest, links), diameters=False).topic_connected
        assert connected == (left is few)


@pytest.mark.slow
def test_a_solve_hears_a_stop() -> None:
    """A program that would take its 60 seconds ends soon after it is asked to stop."""
    rng = random.Random(3)
    interest = Interest.from_pairs((f"n{u:03}", f"t{t:03}") for u in range(100) for t in rng.sample(range(100), 10))
    watch = Watch()
    began = time.monotonic()
    threading.Timer(2, watch.stop).start()
    with pytest.raises(Stopped):
        design(interest, "exact", seconds=60, watch=watch)
    assert time.monotonic() - began < 40
