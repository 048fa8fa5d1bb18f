"""Improving an overlay: few changes, the best first, and support never falls."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.interests import SHAPES, random_interest
from reference.measures import LINK_SHAPES, graph_of, random_links, topic_row
from topicloom import Constraints, InputError, Interest, Overlay, Prices, design, measure, synthetic
from topicloom.churn import Improvement, improve

AIMS = ("links", "max-degree", "price")


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
    """The pieces before the changes and after each of them, which must be possible."""
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


def value(overlay: Overlay, aim: str, prices: Prices) -> float:
    if aim == "price":
        return int(prices.over(overlay.interest).of(overlay.source, overlay.target).sum())
    return len(overlay) if aim == "links" else int(overlay.degrees.max(initial=0))


@given(
    st.integers(0, 10_000),
    st.sampled_from(sorted(SHAPES)),
    st.sampled_from(LINK_SHAPES),
    st.sampled_from(AIMS),
    st.integers(0, 12),
)
def test_support_never_falls(seed: int, shape: str, links: str, aim: str, changes: int) -> None:
    interest = random_interest(seed, shape)
    before = overlay_of(interest, seed, links)
    prices = prices_of(interest, seed)
    found = improve(before, changes, aim=aim, prices=prices)
    assert len(found.steps) <= changes
    pieces = happened(before, found)
    assert all(after <= earlier for earlier, after in pairwise(pieces))
    if pieces[0] == pieces[-1]:
        assert value(found.overlay, aim, prices) <= value(before, aim, prices)
    if changes == 0:
        assert list(found.overlay) == list(before)


@given(st.integers(0, 10_000), st.sampled_from(sorted(SHAPES)), st.sampled_from(LINK_SHAPES), st.sampled_from(AIMS))
def test_enough_changes_reach_a_fresh_design(seed: int, shape: str, links: str, aim: str) -> None:
    interest = random_interest(seed, shape)
    prices = prices_of(interest, seed)
    found = improve(overlay_of(interest, seed, links), 10_000, aim=aim, prices=prices)
    assert measure(interest, found.overlay).topic_connected
    assert value(found.overlay, aim, prices) <= value(found.fresh, aim, prices)


def overlay_of(interest: Interest, seed: int, shape: str) -> Overlay:
    names = interest.node_names
    return Overlay.from_links(interest, [(names[u], names[v]) for u, v in random_links(seed, shape, len(names))])


def test_best_comes_first() -> None:
    interest = synthetic(60, 20, sizes="uniform", min_topics=2, max_topics=6, seed=3)
    rings = design(interest, "ring-per-topic")
    lengths = [len(improve(rings, changes).overlay) for changes in (0, 10, 20, 40, 80, 10_000)]
    assert lengths[0] == len(rings)
    assert lengths[1] == len(rings) - 10, "links that nobody needs go first"
    assert sorted(lengths, reverse=True) == lengths
    assert lengths[-1] <= 1.05 * len(design(interest, "gm"))


def test_a_hub_is_relieved() -> None:
    interest = Interest.from_pairs([(f"n{i:02}", "t") for i in range(20)])
    star = Overlay.from_links(interest, [("n00", f"n{i:02}") for i in range(1, 20)])
    found = improve(star, 6, aim="max-degree")
    assert int(found.overlay.degrees.max()) < 19
    assert len(found.steps) <= 6
    assert int(improve(star, 1000, aim="max-degree").overlay.degrees.max()) == 2


def test_links_that_stay_stay() -> None:
    interest = Interest.from_pairs([(name, "t") for name in "abcd"])
    ring = Overlay.from_links(interest, [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    found = improve(ring, 10, constraints=Constraints(keep=(("c", "d"),), forbid=(("a", "b"),)))
    assert ("c", "d") in set(found.overlay)
    assert ("a", "b") not in set(found.overlay)
    assert len(found.overlay) == 3


def test_what_is_wrong() -> None:
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    overlay = design(interest, "gm")
    with pytest.raises(InputError, match="changes must be 0 or more, not -1"):
        improve(overlay, -1)
    with pytest.raises(InputError, match="the aim price needs prices"):
        improve(overlay, 1, aim="price")
