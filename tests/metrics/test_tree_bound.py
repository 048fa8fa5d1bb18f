"""The bound of spanning trees: never above the best overlay, and proved by prices that plain loops check."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import times
from reference import tree_bound as slow
from reference.exhaustive import Optimum
from reference.interests import SHAPES, random_interest
from topicloom import Interest, Overlay, design, measure, synthetic
from topicloom.metrics.fixed_links import link_bounds
from topicloom.metrics.tree_bound import UNIT, tree_bound

seeds = st.integers(0, 10**6)
shapes = st.sampled_from(SHAPES)


class Groups(NamedTuple):
    """Prices of links by groups of nodes."""

    group: np.ndarray
    price: np.ndarray

    def of(self, u: int, v: int) -> int:
        return int(self.price[self.group[u], self.group[v]])


def random_prices(nodes: int, seed: int) -> Groups:
    """Prices of three regions, of very different sizes."""
    dice = np.random.default_rng(seed)
    price = (10.0 ** dice.integers(0, 7, (3, 3)) * dice.integers(1, 10, (3, 3))).astype(np.int64)
    return Groups(dice.integers(0, 3, nodes).astype(np.int32), np.maximum(price, price.T))


def tiny_interest(nodes: int, seed: int) -> Interest:
    """Up to twelve topics, dense or sparse; every node has a topic of its own besides."""
    dice = random.Random(f"trees {nodes} {seed}")
    chances = [dice.choice([0.2, 0.35, 0.5, 0.75, 1.0]) for _ in range(dice.randint(1, 12))]
    pairs = [(f"n{u}", f"t{t:02}") for u in range(nodes) for t, chance in enumerate(chances) if dice.random() < chance]
    return Interest.from_pairs([*pairs, *((f"n{u}", f"own{u}") for u in range(nodes))])


@pytest.mark.parametrize(("nodes", "count"), [(3, times(60)), (4, times(150)), (5, times(150))])
def test_it_never_passes_the_optimum(nodes: int, count: int) -> None:
    tight = 0
    for seed in range(count):
        interest = tiny_interest(nodes, seed)
        optimum = Optimum(interest).fewest_links
        found = tree_bound(interest, rounds=100).value
        assert found <= optimum, f"seed {seed}"
        tight += found == optimum
    assert tight > 0.9 * count


@pytest.mark.parametrize("nodes", [4, 5])
def test_it_never_passes_the_lowest_price(nodes: int) -> None:
    for seed in range(times(60)):
        interest, prices = tiny_interest(nodes, seed), random_prices(nodes, seed)
        found = tree_bound(interest, prices=prices, rounds=100).value
        assert found <= slow.lowest_price(interest, prices.of), f"seed {seed}"


@settings(max_examples=times(60))
@given(seed=seeds, shape=shapes, most=st.sampled_from([0, 5, 40, 10**6]), priced=st.booleans())
def test_plain_loops_find_the_certificate_right(seed: int, shape: str, most: int, priced: bool) -> None:
    """The prices of no pair exceed its capacity, whether it is stored or not, and trees cost what they say."""
    interest = random_interest(seed, shape)
    prices = random_prices(interest.node_count, seed) if priced else None
    found = tree_bound(interest, prices=prices, rounds=seed % 40, most_entries=most)
    paid = slow.prices(interest, found.certificate)
    capacity = {}
    if prices is not None:
        dearest = int(prices.price.max())
        n = interest.node_count
        capacity = {(u, v): prices.of(u, v) * UNIT // dearest for u in range(n) for v in range(n)}
    assert found.certificate.feasible
    assert len(found.certificate.price) <= most
    assert slow.overpaid(interest, paid, capacity) == []
    assert slow.tree_costs(interest, paid) == found.certificate.cost.tolist()
    assert found.certificate.value <= found.value


@settings(max_examples=times(60))
@given(seed=seeds, shape=shapes)
def test_it_rises_with_rounds_and_never_passes_a_design(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    found = [tree_bound(interest, rounds=rounds).value for rounds in (0, 3, 30, 60)]
    assert found == sorted(found)
    assert found[-1] <= min(len(design(interest, name)) for name in ("gm", "low-oda"))


@settings(max_examples=times(60))
@given(seed=seeds, shape=shapes, most=st.sampled_from([10, 10**6]))
def test_guided_links_are_those_of_plain_loops(seed: int, shape: str, most: int) -> None:
    interest = random_interest(seed, shape)
    found = tree_bound(interest, rounds=seed % 50, most_entries=most)
    pairs = found.certificate.pairs
    usage = {
        (u, v): float(found.usage[low:high].max())
        for u, v, low, high in zip(*(each.tolist() for each in pairs[:2]), pairs.start, pairs.start[1:], strict=False)
    }
    links = list(zip(*(each.tolist() for each in found.guided_links()), strict=True))
    assert links == slow.guided_links(interest, usage, 1.0)


def test_guided_links_beat_greedy_ones() -> None:
    interest = synthetic(200, 40, popularity="zipf", alpha=0.9, min_topics=8, seed=3)
    found = tree_bound(interest, rounds=300)
    names = interest.node_names
    overlay = Overlay.from_links(interest, [(names[u], names[v]) for u, v in zip(*found.guided_links(), strict=True)])
    assert measure(interest, overlay, diameters=False).topic_connected
    assert found.value <= len(overlay) < 0.9 * len(design(interest, "gm"))


def test_neither_threads_nor_the_order_of_rows_matter() -> None:
    interest = synthetic(200, 40, popularity="zipf", alpha=0.9, min_topics=8, seed=3)
    rows = [(row["node"], row["topic"]) for row in interest.to_arrow().to_pylist()]
    again = Interest.from_pairs(reversed(rows))
    found = [
        tree_bound(each, rounds=30, threads=threads) for each, threads in ((interest, 1), (interest, 3), (again, 1))
    ]
    assert len({each.value for each in found}) == 1
    for other in found[1:]:
        assert (other.certificate.price == found[0].certificate.price).all()


def test_less_memory_gives_less_but_not_nothing() -> None:
    interest = synthetic(300, 40, popularity="zipf", alpha=0.9, min_topics=8, seed=5)
    found = [tree_bound(interest, rounds=50, most_entries=most) for most in (0, 2_000, 10**6)]
    values = [each.value for each in found]
    assert values == sorted(values)
    assert 0 < values[0] < values[2] <= len(design(interest, "gm"))
    assert len(found[0].certificate.price) == 0
    assert 0 < len(found[1].certificate.price) <= 2_000


def test_it_stops_when_asked() -> None:
    interest = synthetic(100, 30, min_topics=6, seed=1)
    assert tree_bound(interest, stopped=lambda: True).rounds == 0
    assert tree_bound(interest, seconds=0).rounds == 0
    assert tree_bound(interest, upper=1).rounds == 0
    known = tree_bound(interest, rounds=500)
    assert tree_bound(interest, rounds=500, upper=known.value).rounds < known.rounds


def test_islands_are_rounded_up_one_by_one() -> None:
    """Five nodes, in which every two share a topic of their own but one pair: the bound of each copy counts."""
    one = tiny_interest(5, 7)
    pairs = [(row["node"], row["topic"]) for row in one.to_arrow().to_pylist()]
    apart = Interest.from_pairs([(f"{copy} {n}", f"{copy} {t}") for copy in range(3) for n, t in pairs])
    island = np.array([int(name[0]) for name in apart.node_names])
    single = tree_bound(one, rounds=50).value
    found = tree_bound(apart, rounds=400, island=island)
    assert len(found.by_island) == 3
    assert found.value == sum(found.by_island) == 3 * single


@pytest.mark.parametrize(
    ("pairs", "links"),
    [
        ([], 0),
        ([("a", "t")], 0),
        ([("a", "t"), ("b", "t")], 1),
        ([("a", "t"), ("b", "t"), ("c", "t")], 2),
        ([(n, t) for n in "abcd" for t in ("t", "u", "v")], 3),
        ([(n, f"t{i}") for i in range(4) for n in ("hub", f"n{i}")], 4),
        # A triangle: every two share a topic that the third does not want.
        ([("a", "t"), ("b", "t"), ("b", "u"), ("c", "u"), ("a", "v"), ("c", "v")], 3),
    ],
    ids=["nothing", "one node", "a pair", "three", "equal rows", "a hub", "a triangle"],
)
def test_what_is_easy_to_see(pairs: list[tuple[str, str]], links: int) -> None:
    assert tree_bound(Interest.from_pairs(pairs)).value == links


@pytest.mark.parametrize(("nodes", "priced"), [(4, False), (5, False), (5, True)])
def test_no_better_overlay_is_on_the_excluded_side(nodes: int, priced: bool) -> None:
    """For every pair, the bounds with and without it are not above the best overlay with and without it."""
    excluded = required = 0
    for seed in range(times(80)):
        interest = tiny_interest(nodes, seed)
        prices = random_prices(nodes, seed) if priced else None
        certificate = tree_bound(interest, prices=prices, rounds=60).certificate
        source, target = np.triu_indices(nodes, 1)
        bounds = link_bounds(certificate, source.astype(np.int32), target.astype(np.int32))
        lowest = slow.lowest_prices(interest, prices.of if prices else lambda u, v: 1)
        upper = min(min(pair) for pair in lowest)
        for more in (0, 1):
            fixed = bounds.fixed(upper + more)
            for pair, (linked, unlinked) in enumerate(lowest):
                assert not fixed.excluded[pair] or linked >= upper + more, f"seed {seed}"
                assert not fixed.required[pair] or unlinked >= upper + more, f"seed {seed}"
        excluded += int(fixed.excluded.sum())
        required += int(fixed.required.sum())
    assert excluded > 0
    assert required > 0


def test_exact_proves_more_with_links_settled() -> None:
    """Without them a minute is not enough for either."""
    for nodes, topics, links in ((80, 40, 173), (120, 60, 310)):
        interest = synthetic(nodes, topics, min_topics=4, seed=2 if nodes == 80 else 1)
        found = design(interest, "exact", seconds=60)
        assert found.provenance.facts == {"lower_bound": links, "optimal": True}
        assert len(found) == links
