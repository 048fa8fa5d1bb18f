"""Bounds never pass the best there is, and their kernels count as plain loops do."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from effort import times
from reference import bounds as slow
from reference.exhaustive import Optimum
from reference.interests import SHAPES, random_interest
from reference.tree_bound import lowest_price
from reference.worst_cases import cuboid, hub
from topicloom import Interest, bound, design, synthetic
from topicloom.designers import DesignProblem, run
from topicloom.errors import InputError
from topicloom.kernels.bounds import heaviest_overlaps, overpaid_links
from topicloom.metrics import bounds, degree_bound
from topicloom.metrics.compared_topics import ComparedTopics, neighbours_needed
from topicloom.metrics.offers import LINK, paid_links
from topicloom.model.prices import MILLIONTHS, LinkPrices, Prices
from topicloom.registry import Watch

seeds = st.integers(0, 10**6)
shapes = st.sampled_from(SHAPES)


def tiny_interest(nodes: int, seed: int) -> Interest:
    """Up to twelve topics, dense or sparse; now and then a node that shares nothing."""
    dice = random.Random(f"bounds {nodes} {seed}")
    chances = [dice.choice([0.2, 0.35, 0.5, 0.75, 1.0]) for _ in range(dice.randint(1, 12))]
    pairs = [(f"n{u}", f"t{t:02}") for u in range(nodes) for t, chance in enumerate(chances) if dice.random() < chance]
    return Interest.from_pairs([*pairs, *((f"n{u}", f"own{u}") for u in range(nodes))])


def rows(interest: Interest) -> tuple[np.ndarray, ...]:
    return interest.node_start, interest.node_topics, interest.topic_start, interest.topic_nodes


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "seeds"), [(3, times(800)), (4, times(800)), (5, times(800)), (6, times(100))])
def test_no_bound_passes_the_optimum(nodes: int, seeds: int) -> None:
    tight = 0
    for seed in range(seeds):
        interest = tiny_interest(nodes, seed)
        optimum, found = Optimum(interest), bound(interest)
        said = f"seed {seed}"
        assert found.links <= optimum.fewest_links, said
        assert found.max_degree <= optimum.lowest_degree, said
        for argument in found.arguments:
            best = optimum.fewest_links if argument.of == "links" else optimum.lowest_degree
            assert argument.value <= best, f"{said}, {argument.name}"
        tight += found.links == optimum.fewest_links
    assert tight > 0.8 * seeds


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "seeds"), [(3, times(500)), (4, times(1000)), (5, times(1000))])
def test_no_bound_of_prices_or_degrees_passes_the_optimum(
    monkeypatch: pytest.MonkeyPatch, nodes: int, seeds: int
) -> None:
    """Weights of nodes are tried however few and even these are."""
    monkeypatch.setattr(bounds, "_WEIGHED_NODES", 0)
    monkeypatch.setattr(degree_bound, "_UNEVEN", 0.0)
    priced = weighed = 0
    for seed in range(seeds):
        interest = tiny_interest(nodes, seed)
        price = 10.0 ** np.random.default_rng(seed).uniform(0, 9, (3, 3))
        prices = LinkPrices(np.arange(nodes, dtype=np.int32) % 3, (price + price.T).astype(np.int64))
        found = bound(interest, prices=prices, rounds=60)
        lowest = lowest_price(interest, lambda u, v, prices=prices: int(prices.price[u % 3, v % 3]))
        best = {"links": Optimum(interest).fewest_links, "price": lowest / MILLIONTHS}
        best["max_degree"] = Optimum(interest).lowest_degree
        for argument in found.arguments:
            assert argument.value <= best[argument.of], f"seed {seed}, {argument.of} by {argument.name}"
        weighed += any(argument.name == "weights" for argument in found.arguments)
        priced += found.price >= 0.99 * best["price"]
    assert priced > 0.5 * seeds
    assert weighed > 0.5 * seeds


def test_weights_of_nodes_prove_more_where_few_nodes_want_most_topics() -> None:
    interest = synthetic(200, 500, popularity="uniform", sizes="power-law", min_topics=10, max_topics=300, seed=1)
    found = bound(interest)
    by = {argument.name: argument.value for argument in found.arguments if argument.of == "max_degree"}
    assert max(by["mean"], by["neighbours"]) < by["weights"] == found.max_degree
    assert found.max_degree <= design(interest, "minmax-oda").degrees.max()
    assert bound(interest, degrees=False).max_degree < found.max_degree


def test_prices_that_differ_by_much_are_bounded_from_near() -> None:
    """Nodes in regions: links inside one cost next to nothing, so trees pay nearly all for the few between them."""
    interest = synthetic(120, 40, popularity="zipf", min_topics=5, seed=3)
    near, far = 0.5, 80.0
    price = np.where(np.eye(8, dtype=bool), near, far + 10 * np.arange(8) + 10 * np.arange(8)[:, None])
    prices = LinkPrices(np.arange(120, dtype=np.int32) % 8, (price * MILLIONTHS).astype(np.int64))
    found = bound(interest, prices=prices).price
    overlay = search_for_price(interest, prices)
    assert found <= overlay < 1.05 * found


def search_for_price(interest: Interest, prices: LinkPrices) -> float:
    problem = DesignProblem(interest=interest, prices=prices)
    links = run(problem, "search", aim="price", rounds=5000).overlay
    return float(prices.of(links.source, links.target).sum()) / MILLIONTHS


def test_prices_are_bounded_in_their_own_units() -> None:
    interest = Interest.from_pairs([(name, "t") for name in "abc"])
    found = bound(interest, prices=Prices({("a", "b"): 1.5, ("b", "c"): 2, ("a", "c"): 4}))
    assert found.price == 3.5
    assert found.to_dict()["price"] == 3.5
    assert bound(interest).price is None


@given(seed=seeds, shape=shapes)
def test_no_bound_passes_a_design(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    found = bound(interest)
    assert found.links <= min(len(design(interest, name)) for name in ("gm", "low-oda"))
    assert found.max_degree <= design(interest, "minmax-oda").degrees.max(initial=0)
    of_links = [argument.value for argument in found.arguments if argument.of == "links"]
    of_degree = [argument.value for argument in found.arguments if argument.of == "max_degree"]
    assert (found.links, found.max_degree) == (max(of_links), max(of_degree))


@given(seed=seeds, shape=shapes, highest=st.integers(0, 5))
def test_overpaid_links_are_those_of_plain_loops(seed: int, shape: str, highest: int) -> None:
    interest = random_interest(seed, shape)
    offer = np.random.default_rng(seed).integers(0, highest + 1, interest.subscription_count)
    nodes = np.repeat(np.arange(interest.node_count), np.diff(interest.node_start))
    keys = list(zip(nodes.tolist(), interest.node_topics.tolist(), strict=True))
    over, taken = slow.overpaid(interest, dict(zip(keys, offer.tolist(), strict=True)), 4)
    by_topic = np.argsort(interest.node_topics, kind="stable")
    found, paid = np.zeros(interest.node_count, np.int64), np.zeros(len(offer), np.int32)
    price = np.full(interest.node_count, 2)
    overpaid_links(*rows(interest), offer, offer[by_topic], price, found, paid)
    assert found.tolist() == over
    assert paid.tolist() == [taken[key] for key in keys]


@given(seed=seeds, shape=shapes)
def test_the_heaviest_overlap_is_that_of_plain_loops(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    weight = np.random.default_rng(seed).integers(1, 9, interest.topic_count)
    offers = {(u, t): int(weight[t]) for u in range(interest.node_count) for t in interest.topics_of(u).tolist()}
    expected = [
        max((slow.link_gets(interest, offers, u, v) for v in range(interest.node_count) if v != u), default=0)
        for u in range(interest.node_count)
    ]
    assert heaviest_overlaps(*rows(interest), weight).tolist() == expected


@given(seed=seeds, shape=st.sampled_from(["dense", "sparse", "skewed", "lonely-topics", "mixed"]))
def test_neighbours_needed_are_not_above_the_truth(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    found = neighbours_needed(ComparedTopics.of(interest, 10**9))
    for node in range(interest.node_count):
        truth = slow.fewest_neighbours(interest, node)
        assert (truth + 1) // 2 <= found[node] <= truth or truth > 4 >= found[node] > 0, f"node {node}"


@given(seed=seeds, shape=shapes, most=st.integers(0, 60))
def test_fewer_topics_never_raise_a_bound(seed: int, shape: str, most: int) -> None:
    """Leaving out topics with many nodes, as is done for large interests, is safe."""
    interest = random_interest(seed, shape)
    some, everything = ComparedTopics.of(interest, most), ComparedTopics.of(interest, 10**9)
    assert some.pairs <= most
    shared = sum(len(interest.nodes_of(t)) >= 2 for t in range(interest.topic_count))
    assert (everything.left_out, some.left_out) == (0, shared - (len(some.topic_start) - 1))
    one_island = np.zeros(interest.node_count, np.int64)
    assert paid_links(some, one_island, 30)[0] <= LINK * len(design(interest, "gm"))
    assert (neighbours_needed(some) <= interest.node_count).all()


@given(seed=seeds, shape=shapes)
def test_islands_are_those_of_plain_sets(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    expected = slow.islands(interest)
    argument = bound(interest, rounds=0).arguments[0]
    assert argument.value == interest.node_count - len(expected)


@given(seed=seeds, shape=shapes, copies=st.integers(2, 3))
def test_copies_that_share_nothing_add_up(seed: int, shape: str, copies: int) -> None:
    interest = random_interest(seed, shape)
    pairs = [(row["node"], row["topic"]) for row in interest.to_arrow().to_pylist()]
    apart = Interest.from_pairs([(f"{copy} {n}", f"{copy} {t}") for copy in range(copies) for n, t in pairs])
    one, several = bound(interest), bound(apart)
    assert several.links == copies * one.links
    assert several.max_degree == one.max_degree


def test_names_and_rounds_do_not_matter_more_than_they_should() -> None:
    interest = synthetic(150, 40, popularity="zipf", alpha=0.9, min_topics=7, seed=4)
    found = [bound(interest, rounds=rounds).links for rounds in (0, 10, 300)]
    assert found == sorted(found)
    assert found[0] < found[-1] <= len(design(interest, "gm"))
    assert bound(interest) == bound(Interest.from_pairs(reversed(_pairs(interest))))


def _pairs(interest: Interest) -> list[tuple[str, str]]:
    return [(row["node"], row["topic"]) for row in interest.to_arrow().to_pylist()]


@pytest.mark.parametrize("n", [4, 8, 12, 20])
def test_the_hub_of_low_2010_is_solved(n: int) -> None:
    found = bound(hub(n).interest)
    assert (found.links, found.max_degree) == (n - 1, n - 1)


@pytest.mark.parametrize(("k", "m"), [(3, 7), (4, 7), (5, 20)])
def test_the_cuboid_of_gm_2007_shows_that_gm_is_far_off(k: int, m: int) -> None:
    """The overlay that the paper gives is nearly the best there is; gm is proved to be no better than it is."""
    case = cuboid(k, m)
    found = bound(case.interest)
    assert found.links <= len(case.good) < len(design(case.interest, "gm"))
    assert found.links > 0.6 * len(case.good)


@pytest.mark.parametrize(
    ("pairs", "links", "degree"),
    [
        ([], 0, 0),
        ([("a", "t")], 0, 0),
        ([("a", "t"), ("b", "u")], 0, 0),
        ([("a", "t"), ("b", "t")], 1, 1),
        ([("a", "t"), ("b", "t"), ("c", "t")], 2, 2),
        ([(n, "t") for n in "abcde"] + [(n, "u") for n in "vwxyz"], 8, 2),
        ([(n, f"t{i}") for i in range(4) for n in ("hub", f"n{i}")], 4, 4),
    ],
    ids=["nothing", "one node", "strangers", "a pair", "three", "two islands", "a hub"],
)
def test_what_is_easy_to_see(pairs: list[tuple[str, str]], links: int, degree: int) -> None:
    found = bound(Interest.from_pairs(pairs))
    assert (found.links, found.max_degree) == (links, degree)


def test_a_large_interest_does_without_its_largest_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    interest = synthetic(200, 40, popularity="zipf", alpha=1.0, min_topics=6, seed=2)
    whole = bound(interest)
    monkeypatch.setattr(bounds, "_WORK", 20_000)
    part = bound(interest)
    assert whole.left_out == 0 < part.left_out
    assert 199 <= part.links <= len(design(interest, "gm"))


def test_it_stops_when_asked_and_when_time_is_up() -> None:
    interest = synthetic(150, 40, min_topics=7, seed=4)
    watch = Watch()
    watch.stop()
    at_once = bound(interest, watch=watch)
    assert at_once.links <= bound(interest, seconds=0.2).links <= len(design(interest, "gm"))
    with pytest.raises(InputError, match=r"^seconds must be above 0, not 0$"):
        bound(interest, seconds=0)


def test_it_can_be_shown_and_written() -> None:
    found = bound(Interest.from_pairs([("a", "t<b>"), ("b<i>", "t<b>")]))
    page = found._repr_html_()
    assert "max degree" in page
    assert "<i>" not in page
    assert found.to_dict()["links"] == 1
    assert {each["of"] for each in found.to_dict()["arguments"]} == {"links", "max_degree"}


def test_rounds_below_zero_are_refused() -> None:
    with pytest.raises(InputError, match=r"^rounds must be from 0 to 100,000, not -1$"):
        bound(Interest.from_pairs([("a", "t")]), rounds=-1)
