"""Bounds of all pairs: counted by several threads, each pair by what it has in common."""

from __future__ import annotations

import numpy as np

from topicloom.kernels.greedy.candidates import all_pairs
from topicloom.kernels.greedy.lanes import LANES
from topicloom.workloads import synthetic


def test_threads_count_every_pair() -> None:
    interest = synthetic(4_200, 40, popularity="zipf", sizes="uniform", min_topics=1, max_topics=9, seed=1)
    outer = np.arange(interest.node_count, dtype=np.int32)
    found = all_pairs(interest.node_start, interest.node_topics, interest.topic_count, 9, outer)
    wants = np.zeros((interest.node_count, interest.topic_count), np.float32)
    wants[np.repeat(outer, np.diff(interest.node_start)), interest.node_topics] = 1
    common = (wants @ wants.T).astype(np.uint8)
    for u in range(interest.node_count):
        row = found.bound[found.row_start[u] : found.row_start[u + 1]]
        place = (u + 1) // LANES * LANES
        assert not row[: u + 1 - place].any()
        assert (row[u + 1 - place : interest.node_count - place] == common[u, u + 1 :]).all()
    blocks = found.bound.reshape(-1, LANES).max(axis=1)
    assert (found.block_bound[: len(blocks)] == blocks).all()
