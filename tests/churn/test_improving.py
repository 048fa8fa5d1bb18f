"""Improving an overlay: the best few changes, and topics stay connected on the way."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.interests import SHAPES, random_interest
from reference.measures import LINK_SHAPES, graph_of, random_links, topic_row
from topicloom import Constraints, InputError, Interest, Overlay, Prices, design, measure, synthetic
from topicloom.churn import Improvement, improve
from topicloom.designers.local_search import AIMS, Aim


def prices_of(interest: Interest, seed: int) -> Prices:
    dice = random.Random(seed)
    names = interest.node_names
    return Prices({(a, b): dice.randrange(1, 50) for a in names for b in names if a < b})


def components(interest: Interest, links: set[tuple[str, str]]) -> int:
    """Pieces of all topics together, by the slow twin."""
    ids = interest.node_ids
    graph = graph_of(interest.node_count, [(ids[a], ids[b]) for a, b in sorted(links)])
    return sum(topic_row(graph, interest.nodes_of(t).tolist())["components"] for t in range(interest.topic_count))


def happened(before: Overlay, found: Improvement) -> list[int]:
    """The components before the changes and after each of them, which must be possible."""
    links = set(before)
    pieces = [components(before.interest, links)]
    for action, link in found.steps:
        if action == "add":
            assert link not in links
            links.add(tuple(link))
        else:
            links.remove(tuple(link))
        pieces.append(components(before.interest, links))
    assert links == set(found.overlay)
    return pieces


def value(overlay: Overlay, aim: Aim, prices: Prices) -> float:
    if aim == "price":
        return int(prices.over(overlay.interest).of(overlay.source, overlay.target).sum())
    return int(overlay.degrees.max(initial=0)) if aim == "degree-links" else len(overlay)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(sorted(SHAPES)),
    st.sampled_from(LINK_SHAPES),
    st.sampled_from(AIMS),
    st.integers(0, 12),
)
def test_topics_stay_as_connected_as_they_were(seed: int, shape: str, links: str, aim: Aim, changes: int) -> None:
    interest = random_interest(seed, shape)
    before = overlay_of(interest, seed, links)
    prices = prices_of(interest, seed)
    found = improve(before, changes, aim=aim, prices=prices, rounds=400)
    assert len(found.steps) <= changes
    pieces = happened(before, found)
    assert max(pieces[1:], default=0) <= pieces[0]
    if not found.mending:
        assert value(found.overlay, aim, prices) <= value(before, aim, prices)
    if changes == 0:
        assert list(found.overlay) == list(before)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(SHAPES)), st.sampled_from(LINK_SHAPES))
def test_enough_changes_reach_what_search_reaches(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    before = overlay_of(interest, seed, links)
    found = improve(before, 10_000, rounds=400, seed=seed)
    assert measure(interest, found.overlay).topic_connected
    if measure(interest, before).topic_connected:
        assert found.overlay == design(interest, "search", begin=before, rounds=400, seed=seed)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_changes_are_found(seed: int) -> None:
    """By trying all sets of changes of a small overlay."""
    interest = synthetic(6, 4, sizes="uniform", min_topics=2, max_topics=3, seed=seed)
    names = interest.node_names
    before = design(interest, "ring-per-topic")
    pairs, there = list(combinations(names, 2)), set(before)
    for changes in range(5):
        least = min(
            len(after)
            for count in range(changes + 1)
            for changed in combinations(pairs, count)
            if components(interest, after := there ^ set(changed)) == interest.topic_count
        )
        assert len(improve(before, changes, rounds=3000).overlay) == least


def overlay_of(interest: Interest, seed: int, shape: str) -> Overlay:
    names = interest.node_names
    return Overlay.from_links(interest, [(names[u], names[v]) for u, v in random_links(seed, shape, len(names))])


def test_more_changes_are_better() -> None:
    interest = synthetic(60, 20, sizes="uniform", min_topics=2, max_topics=6, seed=3)
    rings = design(interest, "ring-per-topic")
    lengths = [len(improve(rings, changes, rounds=20_000).overlay) for changes in (0, 10, 40, 80, 10_000)]
    assert lengths[0] == len(rings)
    assert lengths[1] == len(rings) - 10, "links that no topic needs go first"
    assert sorted(lengths, reverse=True) == lengths
    assert lengths[-1] < len(design(interest, "gm"))


def test_a_hub_is_relieved() -> None:
    interest = Interest.from_pairs([(f"n{i:02}", "t") for i in range(20)])
    star = Overlay.from_links(interest, [("n00", f"n{i:02}") for i in range(1, 20)])
    found = improve(star, 6, aim="degree-links", rounds=5000)
    assert int(found.overlay.degrees.max()) == 16
    assert len(found.steps) == 6
    assert int(improve(star, 1000, aim="degree-links", rounds=20_000).overlay.degrees.max()) == 2


def test_a_node_above_all_others_gives_links_to_those_below() -> None:
    # All want two topics with the hub; each link of the ring could carry them as well.
    interest = Interest.from_pairs([(name, topic) for name in "abcdef" for topic in "xy"])
    star = Overlay.from_links(interest, [("a", name) for name in "bcdef"])
    better = improve(star, 100, aim="degree-links", rounds=5000).overlay
    assert better.degrees.max() == 2
    assert len(better) == 5


def test_a_few_links_mend_what_changed_subscriptions_lack(tmp_path: Path) -> None:
    interest = synthetic(60, 20, popularity="zipf", min_topics=5, seed=4)
    running = design(interest, "search", rounds=20_000)
    running.write(tmp_path / "running.parquet")
    names = interest.node_names
    rows = [(names[u], interest.topic_names[t]) for u in range(60) for t in interest.topics_of(u).tolist() if u != 7]
    wanted = {topic for node, topic in rows if node == names[0]}
    new = next(topic for topic in interest.topic_names if topic not in wanted)
    changed = Interest.from_pairs([*rows, (names[0], new), ("newcomer", new)])
    with pytest.raises(InputError, match="other subscriptions"):
        Overlay.read(tmp_path / "running.parquet", changed)
    before = Overlay.read(tmp_path / "running.parquet", changed, changed=True)
    assert len(before) == len(running) - int(running.degrees[7])
    for changes in (8, 30):
        found = improve(before, changes, rounds=20_000)
        assert measure(changed, found.overlay).topic_connected
        assert 1 <= found.mending <= len(found.steps) <= changes
        pieces = happened(before, found)
        assert all(action == "add" for action, _ in found.steps[: found.mending])
        assert max(pieces) == pieces[0] > pieces[-1]
    assert len(improve(before, 1, rounds=100).steps) == 1


def test_links_of_earlier_subscriptions_are_checked(tmp_path: Path) -> None:
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    path = tmp_path / "links.csv"
    path.write_text("source,target\na,gone\na,b\nb,a\n")
    with pytest.raises(InputError, match="row 3: repeats the link 'b' - 'a' of row 2"):
        Overlay.read(path, interest, changed=True)
    path.write_text("source,target\nx,gone\n")
    with pytest.raises(InputError, match="no link joins two nodes of the subscriptions"):
        Overlay.read(path, interest, changed=True)


def test_links_that_stay_stay() -> None:
    interest = Interest.from_pairs([(name, "t") for name in "abcd"])
    ring = Overlay.from_links(interest, [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    found = improve(ring, 10, constraints=Constraints(keep=(("c", "d"),), forbid=(("a", "b"),)), rounds=500)
    assert ("c", "d") in set(found.overlay)
    assert ("a", "b") not in set(found.overlay)
    assert len(found.overlay) == 3


def test_what_is_wrong() -> None:
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    overlay = design(interest, "gm")
    with pytest.raises(InputError, match="changes must be 0 or more, not -1"):
        improve(overlay, -1)
    with pytest.raises(InputError, match="aim price needs prices"):
        improve(overlay, 1, aim="price")
    with pytest.raises(InputError, match="rounds must be from 0 to 1,000,000,000,000, not -1"):
        improve(overlay, 1, rounds=-1)
    with pytest.raises(InputError, match="seconds must be above 0, not 0"):
        improve(overlay, 1, seconds=0)
