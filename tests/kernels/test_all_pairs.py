"""Bounds of all pairs: counted by several threads, each pair by what it has in common."""

from __future__ import annotations

import numpy as np
import pytest

from topicloom.kernels.pair_bounds import all_pairs
from topicloom.kernels.simd import LANES, WIDE
from topicloom.kernels.topic_bits import new_topic_bits
from topicloom.workloads import synthetic


@pytest.mark.parametrize("in_panels", [False, True])
def test_threads_count_every_pair(in_panels: bool) -> None:
    interest = synthetic(4_200, 40, popularity="zipf", sizes="uniform", min_topics=1, max_topics=9, seed=1)
    outer = np.arange(interest.node_count, dtype=np.int32)
    topics = new_topic_bits(interest.node_start, interest.node_topics, interest.topic_count)
    found = all_pairs(interest.node_start, interest.node_topics, topics.table, 9, outer, in_panels=in_panels)
    wants = np.zeros((interest.node_count, interest.topic_count), np.float32)
    wants[np.repeat(outer, np.diff(interest.node_start)), interest.node_topics] = 1
    common = (wants @ wants.T).astype(np.uint8)
    for u in range(interest.node_count):
        place = (u + 1) // WIDE * WIDE
        columns = np.arange(place, -(-interest.node_count // WIDE) * WIDE)
        row = found.bound[found.row_base[u] + found.panel_base[columns // WIDE] + columns % WIDE]
        assert not row[: u + 1 - place].any()
        assert (row[u + 1 - place : interest.node_count - place] == common[u, u + 1 :]).all()
    assert found.bound.astype(int).sum() == np.triu(common, 1).astype(int).sum()
    blocks = found.bound.reshape(-1, LANES).max(axis=1)
    assert (found.block_bound[: len(blocks)] == blocks).all()
