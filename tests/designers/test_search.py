"""The search that ruins and recreates: equal to its slow twin, and never worse than its start."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.greedy import Components
from reference.interests import SHAPES, random_interest
from reference.search import SlowSearch
from topicloom import Constraints, NodeRule, design
from topicloom.designers import DesignProblem, search
from topicloom.designers.local_search import AIMS, NearLinks, Search, SearchRules, Turn, search_bytes, search_links
from topicloom.errors import InputError
from topicloom.kernels import recreating, splits
from topicloom.kernels.subscriptions import new_subscriptions, wants
from topicloom.metrics import bound, measure
from topicloom.metrics.tree_bound import tree_bound_bytes
from topicloom.model import Interest
from topicloom.model.prices import LinkPrices
from topicloom.registry import Watch
from topicloom.workloads import synthetic

START = "gm"


def begun(interest: Interest, source, target, **rules) -> Search:
    return Search.of(interest, source, target, SearchRules(**rules))


def searched(
    interest: Interest, source, target, *, rounds=None, seconds=None, watch=None, clock=time.monotonic, **rules
):
    extent = {"rounds": rounds, "seconds": seconds, "watch": watch, "clock": clock}
    return search_links(interest, source, target, SearchRules(**rules), **extent)


def named(rows: list[int]) -> Interest:
    return Interest.from_pairs(
        [(f"n{u:02}", f"t{t:02}") for u, row in enumerate(rows) for t in range(12) if row >> t & 1]
    )


interests = st.lists(st.integers(1, 2**12 - 1), min_size=3, max_size=14).map(named)
seeds = st.integers(0, 2**64 - 1)


def random_fleet(seed: int, nodes: int = 60, topics: int = 30, each: int = 6) -> Interest:
    dice = np.random.default_rng(seed)
    weight = 1 / np.arange(1, topics + 1) ** 0.9
    chosen = [dice.choice(topics, each, replace=False, p=weight / weight.sum()) for _ in range(nodes)]
    return Interest.from_pairs([(f"n{u:03}", f"t{t:03}") for u in range(nodes) for t in chosen[u]])


def ends(interest: Interest, algorithm: str = START):
    overlay = design(interest, algorithm)
    return np.array(overlay.source), np.array(overlay.target)


def links(source, target):
    return list(zip(source.tolist(), target.tolist(), strict=True))


def merges(interest: Interest, source, target) -> int:
    """How many components the links merge, summed up over topics."""
    components = Components(interest)
    total = 0
    for link in links(source, target):
        total += components.contribution(link)
        components.add(link)
    return total


def degrees(interest: Interest, source, target):
    return np.bincount(np.concatenate([source, target]), minlength=interest.node_count)


def assert_same_as_twin(
    interest: Interest,
    source,
    target,
    seed: int,
    rounds: int,
    max_degree: int | None = None,
    changes: int | None = None,
):
    near = None if changes is None else NearLinks(source, target, changes)
    fast = begun(interest, source, target, max_degree=max_degree, seed=seed, near=near)
    most = fast.neighbours.most.tolist()
    slow = SlowSearch(interest, links(source, target), fast.instance.nearest.tolist(), most, seed, changes)
    for done in range(rounds):
        fast.run(Turn(1, 0.0, 1 / rounds, 0), Watch())
        slow.round(rounds)
        rows = [
            fast.neighbours.node[begin : begin + count].tolist()
            for begin, count in zip(fast.neighbours.start[:-1].tolist(), fast.neighbours.degree.tolist(), strict=True)
        ]
        assert rows == slow.row, f"after round {done}"
    assert links(*fast.best()) == slow.best[3]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_rounds_are_those_of_the_slow_twin(shape, seed):
    interest = random_interest(seed, shape)
    source, target = ends(interest)
    assert_same_as_twin(interest, source, target, seed, 150)


@pytest.mark.parametrize("seed", range(4))
def test_rounds_on_larger_fleets_are_those_of_the_slow_twin(seed):
    interest = random_fleet(seed)
    source, target = ends(interest)
    assert_same_as_twin(interest, source, target, seed, 400)
    assert_same_as_twin(interest, source, target, seed, 150, max_degree=7)


@pytest.mark.parametrize("changes", [0, 3, 12, 40])
def test_rounds_with_few_changes_are_those_of_the_slow_twin(changes):
    interest = random_fleet(changes)
    source, target = ends(interest)
    assert_same_as_twin(interest, source, target, 1, 500, changes=changes)
    interest = random_interest(changes, sorted(SHAPES)[0])
    source, target = ends(interest)
    assert_same_as_twin(interest, source, target, 1, 150, changes=changes)


@settings(max_examples=40, deadline=None)
@given(interests, seeds, st.integers(0, 12), st.sampled_from(AIMS))
def test_no_more_links_change_than_allowed(interest, seed, changes, aim):
    source, target = ends(interest)
    price = np.array([[2, 5, 9], [5, 3, 4], [9, 4, 7]])
    prices = LinkPrices(np.arange(interest.node_count, dtype=np.int32) % 3, price)
    near = NearLinks(source, target, changes)
    found = searched(interest, source, target, rounds=200, seed=seed, aim=aim, prices=prices, near=near)
    differing = set(links(source, target)) ^ set(links(*found[:2]))
    assert len(differing) == found.facts["changes"] <= changes
    assert merges(interest, *found[:2]) == merges(interest, source, target)


def test_kinds_of_ruins_are_weighed_as_by_the_slow_twin():
    interest = random_fleet(9, nodes=24, topics=12, each=4)
    source, target = ends(interest)
    assert_same_as_twin(interest, source, target, 1, 2200)


@settings(max_examples=60, deadline=None)
@given(interests, seeds)
def test_links_never_rise_and_topics_stay_connected(interest, seed):
    source, target = ends(interest)
    found = searched(interest, source, target, rounds=120, seed=seed)
    assert len(found.source) <= len(source)
    assert merges(interest, found.source, found.target) == merges(interest, source, target)
    assert (found.source < found.target).all()
    assert len(set(links(*found[:2]))) == len(found.source) == found.facts["links"]


@settings(max_examples=40, deadline=None)
@given(interests, seeds, st.data())
def test_a_start_that_is_not_connected_stays_as_connected_as_it_is(interest, seed, data):
    source, target = ends(interest)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(source), max_size=len(source))), np.bool_)
    source, target = source[kept], target[kept]
    found = searched(interest, source, target, rounds=120, seed=seed)
    assert len(found.source) <= len(source)
    assert merges(interest, found.source, found.target) >= merges(interest, source, target)


@settings(max_examples=40, deadline=None)
@given(interests, seeds, st.integers(1, 5), st.data())
def test_limits_are_kept_and_fixed_links_stay(interest, seed, most, data):
    source, target = ends(interest)
    fixed = np.array(data.draw(st.lists(st.booleans(), min_size=len(source), max_size=len(source))), np.bool_)
    accepting = data.draw(st.lists(st.booleans(), min_size=interest.node_count, max_size=interest.node_count))
    rules = {name: NodeRule(accepts=takes) for name, takes in zip(interest.node_names, accepting, strict=True)}
    limits = Constraints(nodes=rules).over(interest)
    limits = replace(limits, spare=np.full(interest.node_count, most + 1, np.int32))
    found = searched(interest, source, target, rounds=120, seed=seed, limits=limits, max_degree=most, fixed=fixed)
    before, after = degrees(interest, source, target), degrees(interest, *found[:2])
    assert (after <= np.maximum(before, most)).all()
    begun, ended = set(links(source, target)), set(links(*found[:2]))
    assert set(links(source[fixed], target[fixed])) <= ended
    assert all(accepting[u] or accepting[v] for u, v in ended - begun)
    assert len(ended) <= len(begun)


def test_links_of_the_limits_stay():
    interest = random_fleet(2)
    source, target = ends(interest)
    names = interest.node_names
    keep = tuple((names[u], names[v]) for u, v in links(source, target)[::3])
    found = searched(interest, source, target, rounds=3000, limits=Constraints(keep=keep).over(interest))
    assert {(names[u], names[v]) for u, v in links(*found[:2])} >= set(keep)
    assert len(found.source) < len(source)


@settings(max_examples=40, deadline=None)
@given(interests, seeds, st.data())
def test_the_price_never_rises(interest, seed, data):
    dice = np.random.default_rng(data.draw(st.integers(0, 1000)))
    price = dice.integers(1, 10_000_000, (3, 3))
    prices = LinkPrices(dice.integers(0, 3, interest.node_count).astype(np.int32), price + price.T)
    source, target = ends(interest)
    found = searched(interest, source, target, rounds=120, seed=seed, prices=prices, aim="price")
    assert prices.of(*found[:2]).sum() == found.facts["cost"] <= prices.of(source, target).sum()
    assert merges(interest, found.source, found.target) == merges(interest, source, target)


@settings(max_examples=40, deadline=None)
@given(interests, seeds)
def test_aims_come_in_their_order(interest, seed):
    source, target = ends(interest)
    begun = len(source), degrees(interest, source, target).max(initial=0)
    for aim, first in (("degree-links", 1), ("links-degree", 0)):
        found = searched(interest, source, target, rounds=150, seed=seed, aim=aim)
        ended = len(found.source), degrees(interest, *found[:2]).max(initial=0)
        assert (ended[first], ended[1 - first]) <= (begun[first], begun[1 - first])
        assert merges(interest, found.source, found.target) == merges(interest, source, target)


@pytest.mark.parametrize("aim", AIMS)
def test_chunks_give_the_same_links(aim):
    interest = random_fleet(5)
    source, target = ends(interest)
    prices = LinkPrices(np.zeros(interest.node_count, np.int32), np.full((1, 1), 3_000_000))
    found = []
    for chunks in ([100], [10] * 10, [1] * 100, [37, 63]):
        search = begun(interest, source, target, seed=3, aim=aim, prices=prices)
        for rounds in chunks:
            search.run(Turn(rounds, 0.0, 1 / 100, 0), Watch())
            search.best()
        found.append(links(*search.best()))
    whole = searched(interest, source, target, rounds=100, seed=3, aim=aim, prices=prices)
    assert found == [links(*whole[:2])] * 4


def test_the_same_seed_gives_the_same_links_and_another_seed_others():
    interest = random_fleet(4)
    source, target = ends(interest)
    one, again, other = (links(*searched(interest, source, target, rounds=500, seed=s)[:2]) for s in (1, 1, 2))
    assert one == again != other


def test_it_finds_fewer_links_of_lower_degree():
    interest = random_fleet(6, nodes=100, topics=60)
    source, target = ends(interest)
    facts = searched(interest, source, target, rounds=30_000).facts
    assert facts["links"] <= 0.92 * facts["links_before"]
    assert facts["degree"] <= facts["degree_before"] / 2
    assert facts["rounds"] == 30_000
    assert 0 < facts["accepted"] < 30_000


def test_a_watch_stops_it_at_once():
    interest = random_fleet(7)
    source, target = ends(interest)
    watch = Watch()
    watch.stop()
    for limit in ({"rounds": 10**9}, {"seconds": 1e6}):
        found = searched(interest, source, target, watch=watch, **limit)
        assert found.facts["rounds"] == 0
        assert links(*found[:2]) == sorted(links(source, target))


def test_progress_tells_links_degree_gap_and_pace():
    interest = random_fleet(7)
    source, target = ends(interest)
    watch = Watch()
    now = iter(range(1000))
    clock = {"clock": lambda: float(next(now))}
    found = search_links(interest, source, target, SearchRules(), rounds=12_000, watch=watch, lower_bound=50, **clock)
    links = len(found.source)
    gap = f"{links / 50 - 1:.1%} above the bound"
    assert re.fullmatch(rf"{links} links, max degree \d+, {gap}, [+-]\d+ a minute", watch.note)


def test_it_takes_the_seconds_that_it_is_given():
    interest = random_fleet(8)
    now = iter(np.arange(0, 100, 0.25))
    found = searched(interest, *ends(interest), seconds=2, clock=lambda: float(next(now)))
    assert 0 < found.facts["rounds"] < 1000


@pytest.mark.parametrize(
    "limit", [{"seconds": 0}, {"seconds": -1.0}, {"rounds": -1}, {"aim": "none"}, {"aim": "price"}]
)
def test_bad_parameters_are_refused(limit):
    interest = random_fleet(8)
    with pytest.raises(InputError, match=next(iter(limit))):
        searched(interest, *ends(interest), **limit)


def test_too_little_memory_is_refused_before_work(monkeypatch):
    interest = random_fleet(8)
    source, target = ends(interest)
    needed = search_bytes(interest, source, target)
    monkeypatch.setattr("topicloom.designers.memory.available_bytes", lambda: needed - 1)
    with pytest.raises(InputError, match="search would take about"):
        searched(interest, source, target, rounds=1)


@pytest.mark.parametrize(
    ("start", "text"),
    [("gpm", "without a budget"), ("search", "without a budget"), ("none", "known are"), ("gm", "exclude each other")],
)
def test_a_wrong_start_is_refused_before_work(monkeypatch, start, text):
    monkeypatch.setattr("topicloom.designers.search.bound", lambda *_, **__: pytest.fail("the bound was worked out"))
    interest = random_fleet(8)
    begin = design(interest, "gm") if start == "gm" else None
    with pytest.raises(InputError, match=text):
        search.build(DesignProblem.of(interest, begin=begin), start=start)


def test_it_begins_with_no_more_links_than_gm_if_the_trees_left_pairs_out():
    interest = synthetic(120, 200, sizes="power-law", min_topics=8, max_topics=120, seed=1)
    facts = design(interest, "search", rounds=1).provenance.facts
    assert facts["start_links"] <= len(design(interest, "gm"))


HUBS = synthetic(60, 30, min_topics=4, popularity="zipf", seed=5)


@pytest.mark.parametrize("begin", [None, design(HUBS, "gm")])
@pytest.mark.parametrize("max_degree", [2, 3, 4])
def test_a_start_with_too_many_links_at_a_node_comes_down_to_the_degree(begin, max_degree):
    found = design(HUBS, "search", begin=begin, max_degree=max_degree, rounds=5000)
    assert found.degrees.max() <= max_degree
    assert measure(HUBS, found, diameters=False).topic_connected == (max_degree > 2)
    assert len(found) >= bound(HUBS).links or max_degree == 2


def test_an_overlay_to_begin_with_is_brought_within_the_limits():
    begin = design(HUBS, "gm")
    forbidden = next(iter(begin))
    required = next(pair for pair in combinations(HUBS.node_names, 2) if pair not in set(begin))
    limits = Constraints(others=NodeRule(max_links=5), forbid=(forbidden,), require=(required,))
    for rounds in (1, 5000):
        found = design(HUBS, "search", begin=begin, constraints=limits, rounds=rounds)
        assert found.degrees.max() <= 5
        assert forbidden not in set(found)
        assert required in set(found)
    assert measure(HUBS, found, diameters=False).topic_connected


def test_the_bound_takes_no_more_memory_than_stated():
    interest = random_fleet(1, nodes=400, topics=60, each=10)
    certificate = bound(interest).trees.certificate
    kept = sum(map(array_bytes, (certificate.pairs, certificate.topics, certificate.price, certificate.used)))
    assert kept <= tree_bound_bytes(np.diff(interest.topic_start))
    assert search.memory(interest, {}) >= search_bytes(interest, *np.zeros((2, 0), np.int32)) + kept


def test_memory_is_not_more_than_stated():
    for interest in (random_fleet(1), random_fleet(1, nodes=3000, topics=500, each=20)):
        source, target = ends(interest)
        search = begun(interest, source, target)
        assert sum(map(array_bytes, search)) <= search_bytes(interest, source, target)


def array_bytes(value) -> int:
    return (
        value.nbytes
        if isinstance(value, np.ndarray)
        else sum(map(array_bytes, value))
        if isinstance(value, tuple)
        else 0
    )


def test_rounds_that_do_not_fit_their_space_change_nothing():
    """Hubs with many topics, and topics with long paths: rounds are given up, and links and forests are as before."""
    nodes, topics = 300, 1300
    dice = np.random.default_rng(0)
    rows = [
        (f"n{u:04}", f"t{t:04}") for u in range(nodes) for t in dice.choice(topics, 900 if u < 6 else 5, replace=False)
    ]
    rows += [(f"n{u:04}", "all") for u in range(nodes)]
    interest = Interest.from_pairs(rows)
    source, target = ends(interest)
    found = searched(interest, source, target, rounds=3000)
    assert len(found.source) <= len(source)
    assert merges(interest, found.source, found.target) == merges(interest, source, target)


def test_topics_are_found_in_lists_as_in_bits():
    interest = random_fleet(3, each=14)
    arrays = interest.node_start, interest.node_topics, interest.topic_start, interest.topic_nodes
    lists = new_subscriptions(*arrays)._replace(bits=np.zeros(0, np.uint64))
    for u in range(interest.node_count):
        wanted = set(interest.topics_of(u).tolist())
        assert [wants.py_func(lists, u, t) for t in range(interest.topic_count)] == [
            t in wanted for t in range(interest.topic_count)
        ]


def test_links_are_the_same_without_bits(monkeypatch):
    interest = random_fleet(3, each=14)
    source, target = ends(interest)
    found = [links(*searched(interest, source, target, rounds=500)[:2])]
    monkeypatch.setattr("topicloom.kernels.subscriptions._MOST_BIT_BYTES", 0)
    found.append(links(*searched(interest, source, target, rounds=500)[:2]))
    assert found[0] == found[1]


def test_nearest_nodes_have_most_topics_in_common():
    interest = random_fleet(3)
    search = begun(interest, *ends(interest))
    for u, row in enumerate(search.instance.nearest.tolist()):
        common = [len(np.intersect1d(interest.topics_of(u), interest.topics_of(v))) for v in range(interest.node_count)]
        taken = [common[v] for v in row if v >= 0]
        left = [common[v] for v in range(interest.node_count) if v not in row and v != u]
        assert u not in row
        assert min(taken, default=0) >= max(left, default=0) or (len(taken) < len(row) and not any(left))


def test_topics_that_are_not_wanted_do_not_hide_the_bound():
    rows = 1, 2, 3, 3
    nodes, topics = zip(*[(u, t) for u, row in enumerate(rows) for t in range(2) if row >> t & 1], strict=True)
    interest = Interest.from_ids(tuple("abcd"), ("t0", "t1", "unwanted"), np.array(nodes), np.array(topics))
    facts = design(interest, "search", rounds=10).provenance.facts
    assert (facts["lower_bound"], facts["optimal"]) == (3, True)


@pytest.mark.parametrize("rows", [[1], [1, 2], [3, 3], [0, 1, 1]])
def test_tiny_interests(rows):
    interest = named(rows)
    source, target = ends(interest)
    found = searched(interest, source, target, rounds=50)
    assert links(*found[:2]) == links(source, target)


def test_no_round_removes_more_links_than_there_are_labels():
    assert splits.MOST_REMOVED < 2**splits.PLANES
    assert recreating.new_ruin().u.shape[0] == splits.MOST_REMOVED
