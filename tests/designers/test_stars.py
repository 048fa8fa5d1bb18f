from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import stars as twin
from reference.interests import SHAPES, random_interest
from topicloom.designers import cd_oda, cd_oda_1, cd_oda_2
from topicloom.designers.contract import Designer, DesignProblem, Links
from topicloom.model import Interest
from topicloom.registry.running import Watch
from topicloom.workloads import synthetic

TWINS = {
    cd_oda.DESIGNER: twin.neighbours,
    cd_oda_1.DESIGNER: twin.weighted_neighbours,
    cd_oda_2.DESIGNER: twin.density,
}
designers = pytest.mark.parametrize("designer", TWINS, ids=lambda designer: designer.name)


def build(designer: Designer, interest: Interest, watch: Watch | None = None) -> Links:
    return designer.build(DesignProblem.of(interest, watch=watch))


def pairs(links: Links) -> list[tuple[int, int]]:
    return list(zip(links.source.tolist(), links.target.tolist(), strict=True))


@designers
@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES))
def test_equals_its_twin(designer: Designer, seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    assert pairs(build(designer, interest)) == twin.stars(interest, TWINS[designer])


@designers
@pytest.mark.parametrize("popularity", ["uniform", "zipf", "exponential"])
@pytest.mark.parametrize("seed", range(3))
def test_equals_its_twin_on_many_nodes(designer: Designer, popularity: str, seed: int) -> None:
    interest = synthetic(90, 60, popularity=popularity, sizes="power-law", min_topics=1, max_topics=30, seed=seed)
    assert pairs(build(designer, interest)) == twin.stars(interest, TWINS[designer])


@designers
@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES))
def test_no_topic_has_a_diameter_above_two(designer: Designer, seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    overlay = nx.Graph(pairs(build(designer, interest)))
    for t in range(interest.topic_count):
        nodes = interest.nodes_of(t).tolist()
        if len(nodes) > 1:
            assert nx.diameter(overlay.subgraph(nodes)) <= 2


@designers
def test_says_what_each_link_merges(designer: Designer) -> None:
    interest = random_interest(3, "mixed")
    watch = Watch()
    links = build(designer, interest, watch)
    assert links.contribution.sum() == interest.subscription_count - interest.topic_count
    assert watch.done == len(links.source) > 0
    assert {array.dtype for array in links[:3]} == {np.dtype(np.int32)}


@designers
def test_stops_when_asked(designer: Designer) -> None:
    watch = Watch()
    watch.stop()
    assert pairs(build(designer, random_interest(3, "mixed"), watch)) == []


def test_the_three_choose_different_centres() -> None:
    """x has most neighbours, y most weighted neighbours, z the highest density."""
    rows = [(node, f"x{k}") for k in range(9) for node in ("x", f"of x{k}")]
    rows += [(f"y{i}", f"y{k}") for i in range(8) for k in range(4)]
    rows += [(f"z{i}", f"z{k}") for i in range(3) for k in range(6)]
    interest = Interest.from_pairs(rows)
    first = {
        designer.name: {interest.node_names[node] for node in pairs(build(designer, interest))[0]} for designer in TWINS
    }
    assert "x" in first["cd-oda"]  # 10 neighbours: y has 8, z 3
    assert first["cd-oda-1"] == {"y0", "y1"}  # 32 weighted neighbours: x has 18, z 18
    assert first["cd-oda-2"] == {"z0", "z1"}  # 6 = 18/3: x has 18/10, y 32/8


def test_a_density_that_rises_is_seen() -> None:
    """Dropping the topic that everyone wants raises the density of those who share many small topics."""
    rows = [(f"n{i:02}", "all") for i in range(20)]
    rows += [(f"n{i:02}", f"hub{k}") for i in (0, 1, 2, 3, 4) for k in range(2)]
    rows += [(f"n{i:02}", f"pair{k}") for i in (18, 19) for k in range(5)]
    rows += [("n00", f"far{k}") for k in range(12)] + [("n17", f"far{k}") for k in range(12)]
    interest = Interest.from_pairs(rows)
    links = pairs(build(cd_oda_2.DESIGNER, interest))
    assert links == twin.stars(interest, twin.density)
