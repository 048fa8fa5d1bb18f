from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference.interests import SHAPES, nodes_by_topic, random_interest
from reference.rings import rings
from topicloom.designers.contract import DesignProblem, Links
from topicloom.designers.ring_per_topic import DESIGNER
from topicloom.model import Interest
from topicloom.registry.running import Watch


def build(interest: Interest) -> Links:
    watch = Watch()
    links = DESIGNER.build(DesignProblem.of(interest, watch=watch))
    assert watch.done == len(links.source)
    return links


@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES))
def test_equals_its_twin(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    links = build(interest)
    assert list(zip(links.source.tolist(), links.target.tolist(), strict=True)) == rings(interest)
    assert links.contribution.sum() == interest.subscription_count - interest.topic_count
    assert links.facts == {"ring_links": sum(len(nodes) for nodes in nodes_by_topic(interest) if len(nodes) > 1)}


def test_every_node_of_one_topic_has_two_links_but_no_link_twice() -> None:
    for nodes in range(2, 8):
        links = build(Interest.from_pairs([(f"n{i}", "t") for i in range(nodes)]))
        degrees = np.bincount(np.concatenate([links.source, links.target]), minlength=nodes)
        assert degrees.tolist() == [min(2, nodes - 1)] * nodes
        assert len(links.source) == (1 if nodes == 2 else nodes)


def test_links_come_along_the_ring_and_the_closing_one_last() -> None:
    links = build(Interest.from_pairs([(node, "t") for node in "abcd"]))
    assert list(zip(links.source.tolist(), links.target.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 3), (0, 3)]
    assert links.contribution.tolist() == [1, 1, 1, 0]
