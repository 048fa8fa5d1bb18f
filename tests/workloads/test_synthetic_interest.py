from __future__ import annotations

import math
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.model import InputError
from topicloom.workloads import POPULARITIES, SIZES, synthetic
from topicloom.workloads.interests import probabilities

# Of these even the last of a few topics is drawn often enough to be counted.
FLAT_ENOUGH = [name for name in POPULARITIES if name != "steep-exponential"]


def assert_drawn_from(counts: Iterable[int], chances: Iterable[float]) -> None:
    """Chi-square, refusing what happens about once in a thousand times."""
    counted, expected = np.array(list(counts), float), np.array(list(chances), float)
    expected *= counted.sum() / expected.sum()
    assert expected.min() >= 5
    freedom = len(expected) - 1
    assert ((counted - expected) ** 2 / expected).sum() < freedom + 3.1 * (2 * freedom) ** 0.5 + 6


@given(
    nodes=st.integers(1, 60),
    topics=st.integers(1, 40),
    popularity=st.sampled_from(POPULARITIES),
    alpha=st.floats(0.1, 1000),
    sizes=st.sampled_from(SIZES),
    bounds=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    seed=st.integers(0, 2**40),
)
def test_every_node_wants_as_many_topics_as_allowed(
    nodes: int, topics: int, popularity: str, alpha: float, sizes: str, bounds: tuple[int, int], seed: int
) -> None:
    low, high = sorted(min(bound, topics) for bound in bounds)
    interest = synthetic(
        nodes,
        topics,
        popularity=popularity,
        alpha=alpha,
        sizes=sizes,
        min_topics=low,
        max_topics=None if sizes in ("fixed", "by-chance") else high,
        seed=seed,
    )
    counts = np.diff(interest.node_start)
    assert len(counts) == nodes
    assert counts.min() >= (1 if sizes == "by-chance" else low)
    assert counts.max() <= {"fixed": low, "by-chance": topics}.get(sizes, high)
    assert all(len(set(interest.topics_of(u).tolist())) == counts[u] for u in range(nodes))
    assert np.diff(interest.topic_start).min() >= 1
    assert interest.topic_count <= topics


def test_names_are_padded_and_sorted_and_unwanted_topics_left_out() -> None:
    interest = synthetic(1000, 300, popularity="zipf", alpha=1000, min_topics=2)
    assert interest.node_names[0] == "n0001"
    assert interest.node_names[-1] == "n1000"
    assert list(interest.node_names) == sorted(interest.node_names)
    assert interest.topic_names == ("t001", "t002")


def test_a_steep_zipf_gives_everyone_the_first_topics() -> None:
    interest = synthetic(20, 1000, popularity="zipf", alpha=1000, min_topics=30)
    assert interest.topic_names == tuple(f"t{i:04}" for i in range(1, 31))


def test_the_same_seed_gives_the_same_bytes(tmp_path: Any) -> None:
    files = []
    for run, seed in enumerate((7, 7, 8)):
        files.append(tmp_path / f"{run}.parquet")
        synthetic(300, 50, popularity="exponential", sizes="power-law", min_topics=2, max_topics=30, seed=seed).write(
            files[-1]
        )
    same, again, other = (file.read_bytes() for file in files)
    assert same == again
    assert same != other


@pytest.mark.parametrize("block", [1, 700, 1 << 24])
def test_drawing_in_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    def draw() -> object:
        return synthetic(200, 100, popularity="zipf", sizes="uniform", min_topics=1, max_topics=100, seed=3)

    expected = draw()
    monkeypatch.setattr("topicloom.workloads.interests._BLOCK", block)
    assert draw() == expected


@pytest.mark.parametrize("popularity", FLAT_ENOUGH)
def test_first_choices_follow_popularity(popularity: str) -> None:
    interest = synthetic(40_000, 8, popularity=popularity, alpha=1.0, min_topics=1, seed=11)
    assert interest.topic_count == 8
    assert_drawn_from(np.diff(interest.topic_start), probabilities(popularity, 8, 1.0))


@pytest.mark.parametrize("popularity", FLAT_ENOUGH)
@pytest.mark.parametrize("sizes", ["fixed", "uniform"])
def test_topics_are_drawn_one_after_the_other_without_replacement(popularity: str, sizes: str) -> None:
    """Against all orders in which five topics can be drawn, for nodes of one size and of many sizes in a block."""
    chances = probabilities(popularity, 5, 1.0)
    low, high = (2, None) if sizes == "fixed" else (1, 4)
    interest = synthetic(
        30_000, 5, popularity=popularity, alpha=1.0, sizes=sizes, min_topics=low, max_topics=high, seed=5
    )
    drawn = Counter(tuple(interest.topics_of(u).tolist()) for u in range(interest.node_count))
    for size in {len(topics) for topics in drawn}:
        expected: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for order in permutations(range(5), size):
            chance, left = 1.0, 1.0
            for topic in order:
                chance *= chances[topic] / left
                left -= chances[topic]
            expected[tuple(sorted(order))] += chance
        assert_drawn_from((drawn[topics] for topics in expected), expected.values())


def test_small_nodes_beside_large_ones_get_the_topics_they_drew_first() -> None:
    """With so steep a Zipf a node's first choices are the first topics, whatever the others in its block want."""
    interest = synthetic(
        900, 1000, popularity="zipf", alpha=1000, sizes="uniform", min_topics=1, max_topics=1000, seed=2
    )
    small = [u for u in range(900) if len(interest.topics_of(u)) <= 50]
    assert len(small) > 20
    assert all(interest.topics_of(u).tolist() == list(range(len(interest.topics_of(u)))) for u in small)


@pytest.mark.parametrize(("given", "exponent"), [({}, 2.0), ({"size_exponent": 3.5}, 3.5)])
def test_power_law_sizes_fall_with_the_exponent(given: dict[str, float], exponent: float) -> None:
    interest = synthetic(50_000, 30, sizes="power-law", min_topics=2, max_topics=20, seed=1, **given)
    counts = np.bincount(np.diff(interest.node_start), minlength=21)
    assert_drawn_from(counts[2:], np.arange(2, 21) ** -exponent)


def test_shifted_zipf_sizes_fall_with_the_square_of_what_is_above_the_fewest() -> None:
    interest = synthetic(50_000, 30, sizes="shifted-zipf", min_topics=5, max_topics=25, seed=1)
    counts = np.bincount(np.diff(interest.node_start), minlength=26)
    assert_drawn_from(counts[5:], np.arange(1, 22) ** -2.0)


def test_by_chance_every_node_takes_each_topic_alike() -> None:
    interest = synthetic(20_000, 12, sizes="by-chance", min_topics=3, seed=1)
    counts = np.bincount(np.diff(interest.node_start), minlength=13)
    chances = [math.comb(12, size) * 0.25**size * 0.75 ** (12 - size) for size in range(13)]
    assert_drawn_from([*counts[1:8], counts[8:].sum()], [chances[0] + chances[1], *chances[2:8], sum(chances[8:])])
    assert interest.subscription_count / 20_000 == pytest.approx(3 + chances[0], abs=0.05)


def test_uniform_sizes_are_alike() -> None:
    interest = synthetic(20_000, 30, sizes="uniform", min_topics=3, max_topics=12, seed=1)
    counts = np.bincount(np.diff(interest.node_start), minlength=13)
    assert_drawn_from(counts[3:], np.ones(10))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"nodes": 0}, "nodes is 0; give a whole number of at least 1"),
        ({"nodes": 2.5}, "nodes is 2.5; give a whole number of at least 1"),
        ({"topics": 0}, "topics is 0; give a whole number of at least 1"),
        ({"min_topics": 0}, "min_topics is 0; give a whole number from 1 to the number of topics, 20"),
        ({"min_topics": 21}, "min_topics is 21; give a whole number from 1 to the number of topics, 20"),
        (
            {"max_topics": 4},
            "max_topics is 4; give a whole number from min_topics, 5, to the number of topics, 20",
        ),
        (
            {"max_topics": 21},
            "max_topics is 21; give a whole number from min_topics, 5, to the number of topics, 20",
        ),
        ({"max_topics": None}, "sizes 'uniform' needs max_topics; give a number of at least min_topics = 5"),
        ({"popularity": "zip"}, "popularity 'zip' is unknown; known are uniform, zipf, exponential, steep-exponential"),
        (
            {"sizes": "normal"},
            "sizes 'normal' is unknown; known are fixed, uniform, power-law, shifted-zipf, by-chance",
        ),
        (
            {"sizes": "fixed"},
            (
                "max_topics is 9 but sizes 'fixed' gives every node min_topics = 5 topics; "
                "leave max_topics out, or give sizes 'uniform' or 'power-law'"
            ),
        ),
        (
            {"sizes": "by-chance"},
            (
                "max_topics is 9 but sizes 'by-chance' gives every node in the mean min_topics = 5 topics; "
                "leave max_topics out, or give sizes 'uniform' or 'power-law'"
            ),
        ),
        ({"size_exponent": -1}, "size_exponent is -1.0; give a number, 0 or more"),
        ({"size_exponent": float("nan")}, "size_exponent is nan; give a number, 0 or more"),
        ({"alpha": -1}, "alpha is -1; give a number above 0 and at most 1000"),
        ({"seed": -1}, "seed is -1; give a whole number of at least 0"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(wrong: dict[str, Any], message: str) -> None:
    good = {"nodes": 10, "topics": 20, "sizes": "uniform", "min_topics": 5, "max_topics": 9}
    with pytest.raises(InputError) as caught:
        synthetic(**(good | wrong))  # type: ignore[arg-type]
    assert str(caught.value) == message


@pytest.mark.slow
def test_memory_does_not_grow_with_nodes_times_topics() -> None:
    """All keys of 4,000 nodes and 10,000 topics would take 320 MB; a block and its indices take 16."""
    tracemalloc.start()
    synthetic(4_000, 10_000, min_topics=3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6
