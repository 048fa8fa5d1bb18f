from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference.interests import SHAPES, nodes_by_topic, random_interest
from reference.measures import LINK_SHAPES, graph_of, random_links
from topicloom.kernels.components import common_subscriptions, find_root, join, merge_links
from topicloom.model import Interest

seeds = st.integers(0, 10**6)


def ends(links: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(links, np.int32).reshape(-1, 2)
    source, target = both[:, 0].copy(), both[:, 1].copy()
    source.setflags(write=False)
    target.setflags(write=False)
    return source, target


@given(seed=seeds, shape=st.sampled_from(SHAPES), links=st.sampled_from(LINK_SHAPES))
def test_each_contribution_is_the_drop_in_components(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    chosen = random_links(seed, links, interest.node_count)
    contribution, _ = merge_links(interest.node_start, interest.node_topics, *ends(chosen))

    def components(count: int) -> int:
        overlay = graph_of(interest.node_count, chosen[:count])
        return sum(nx.number_connected_components(overlay.subgraph(nodes)) for nodes in nodes_by_topic(interest))

    drops = [components(i) - components(i + 1) for i in range(len(chosen))]
    assert contribution.tolist() == drops


@given(seed=seeds, shape=st.sampled_from(SHAPES), links=st.sampled_from(LINK_SHAPES))
def test_subscriptions_share_a_root_exactly_when_they_share_a_component(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    chosen = random_links(seed, links, interest.node_count)
    _, parent = merge_links(interest.node_start, interest.node_topics, *ends(chosen))
    overlay = graph_of(interest.node_count, chosen)
    found: dict[int, set[tuple[int, int]]] = {}
    for u in range(interest.node_count):
        for at in range(interest.node_start[u], interest.node_start[u + 1]):
            found.setdefault(find_root(parent, at), set()).add((int(interest.node_topics[at]), u))
    expected = [
        {(topic, u) for u in piece}
        for topic, nodes in enumerate(nodes_by_topic(interest))
        for piece in nx.connected_components(overlay.subgraph(nodes))
    ]
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, expected))


@given(seed=seeds)
def test_common_subscriptions_of_rows_of_very_different_lengths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [rng.choice(300, size, replace=False) for size in rng.integers(1, [4, 200])]
    pairs = [(node, f"{topic:03}") for node, row in zip("uv", rows, strict=True) for topic in row]
    interest = Interest.from_pairs(pairs)
    of_u, of_v = np.empty((2, 300), np.int64)
    for u, v in [(0, 1), (1, 0)]:
        count = common_subscriptions(interest.node_start, interest.node_topics, u, v, of_u, of_v)
        common = np.intersect1d(interest.topics_of(u), interest.topics_of(v))
        assert interest.node_topics[of_u[:count]].tolist() == common.tolist()
        assert interest.node_topics[of_v[:count]].tolist() == common.tolist()
        assert all(interest.node_start[u] <= at < interest.node_start[u + 1] for at in of_u[:count])
        assert all(interest.node_start[v] <= at < interest.node_start[v + 1] for at in of_v[:count])


def test_join_keeps_the_lowest_root_and_tells_whether_it_joined() -> None:
    parent = np.arange(5)
    assert join(parent, 4, 3)
    assert join(parent, 2, 4)
    assert not join(parent, 3, 2)
    assert [find_root(parent, i) for i in range(5)] == [0, 1, 2, 2, 2]
