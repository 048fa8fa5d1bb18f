"""What pages work out by themselves, against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.interests import SHAPES, random_interest, topics_by_node
from reference.measures import LINK_SHAPES, random_links
from topicloom import Interest, Overlay
from topicloom.views.curves import binned, ccdf, first_reaching, thinned
from topicloom.views.numbers import amount, percent
from topicloom.views.overlays import carriers, wanted


@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES), links=st.sampled_from(LINK_SHAPES))
def test_carriers_equal_their_twin(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    chosen = random_links(seed, links, interest.node_count)
    names = interest.node_names
    overlay = Overlay.from_links(interest, [(names[u], names[v]) for u, v in chosen])
    topics = topics_by_node(interest)
    rows = []
    for node in range(interest.node_count):
        others = [v if u == node else u for u, v in chosen if node in (u, v)]
        if others:
            streams = sum(len(topics[node] & topics[other]) for other in others)
            rows.append((node, len(others), len(topics[node]), streams))
    rows.sort(key=lambda row: (-row[1], -row[2], row[0]))
    assert [tuple(each) for each in carriers(overlay, 4)] == rows[:4]


@pytest.mark.parametrize("length", [1, 2, 299, 300, 301, 650, 5000])
def test_groups_hold_every_value_once(length: int) -> None:
    values = np.random.default_rng(length).normal(size=length)
    groups = binned(np.arange(length, dtype=np.float64), values)
    assert len(groups.at) == min(300, length)
    assert groups.at[-1] == length - 1
    begin = 0
    for end, mean, low, high in zip(groups.at.tolist(), groups.mean, groups.low, groups.high, strict=True):
        part = values[begin : int(end) + 1]
        assert (low, high) == (part.min(), part.max())
        assert mean == pytest.approx(part.mean())
        begin = int(end) + 1


@pytest.mark.parametrize("length", [1, 2, 299, 300, 301, 650, 5000])
def test_thinned_lines_keep_their_ends(length: int) -> None:
    values = np.random.default_rng(length).normal(size=length)
    at, kept = thinned(values)
    assert len(at) == len(set(at.tolist())) == min(300, length)
    assert (at[0], at[-1]) == (0, length - 1)
    assert kept.tolist() == values[at].tolist()


def test_first_reaching() -> None:
    curve = np.array([0.0, 0.5, 0.8, 1.0])
    assert [first_reaching(curve, share) for share in (0, 0.5, 0.6, 1.0)] == [0, 1, 2, 3]
    assert first_reaching(curve[:2], 0.8) is None


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (1.0, "100%"), (0.99999, "99.99%"), (0.57, "57.00%"), (0.00001, "0.00%"), (1.5, "150.00%")],
)
def test_only_full_support_reads_as_full(share: float, text: str) -> None:
    assert percent(share).text == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "–"),
        (0, "0"),
        (3351.1191, "3,351.12"),
        (0.0371, "0.0371"),
        (99_999.44, "99,999.4"),
        (1234567.8, "1,234,568"),
    ],
)
def test_amounts_have_six_digits_or_are_whole(number: float | None, text: str) -> None:
    assert amount(number).text == text


@given(st.lists(st.integers(0, 500), max_size=400))
def test_ccdfs_count_what_is_at_least_as_large(sizes: list[int]) -> None:
    different, shares = ccdf(np.array(sizes, np.int64))
    assert len(different) == min(300, len({size for size in sizes if size}))
    assert different.tolist() == sorted(set(different.tolist()))
    for size, share in zip(different.tolist(), shares.tolist(), strict=True):
        assert share == pytest.approx(sum(other >= size for other in sizes) / len(sizes))


def test_who_only_publishes_wants_nothing() -> None:
    rows = [("a", "x", "sub"), ("b", "x", "pub"), ("b", "y", "both"), ("c", "y", "pub"), ("c", "x", "both")]
    topics, nodes = wanted(Interest.from_roles(rows))
    assert topics.tolist() == [1, 1, 1]
    assert nodes.tolist() == [2, 1]
