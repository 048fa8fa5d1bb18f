"""The steps of GM as listed: counted one by one, and by the formula of its lemma."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.gm_steps import contribution_updates
from reference.greedy import gm
from reference.interests import SHAPES, nodes_by_topic, random_interest, topics_by_node
from topicloom.experiments.runs import run_steps, steps
from topicloom.model import Interest
from topicloom.workloads import synthetic


@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES))
def test_steps_are_those_that_the_listing_takes(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    (row,) = run_steps({}, interest).to_pylist()
    links = len(gm(interest))
    assert row == {
        "steps": contribution_updates(interest),
        "steps_ratio": pytest.approx(row["steps"] / (interest.node_count**2 * interest.topic_count)),
        "links": links,
        "average_degree": pytest.approx(2 * links / interest.node_count),
    }


@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES))
def test_all_passes_are_the_topics_of_added_links_besides(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    topics = topics_by_node(interest)
    looked_at = sum(len(topics[u] & topics[v]) for u, v, _ in gm(interest))
    (row,) = run_steps({"count": "all passes"}, interest).to_pylist()
    assert row["steps"] == contribution_updates(interest) + looked_at


def test_every_two_nodes_of_a_topic_take_a_step() -> None:
    interest = synthetic(3000, 4, min_topics=3, seed=1)
    pairs = sum(len(nodes) * (len(nodes) - 1) // 2 for nodes in nodes_by_topic(interest))
    assert run_steps({}, interest)["steps"].to_pylist() == [pairs]


def test_one_topic_of_many_nodes_does_not_overflow() -> None:
    interest = Interest.from_pairs([(f"n{i}", "t") for i in range(70_000)])
    assert steps(interest) == 70_000 * 69_999 // 2
