"""Who wants each topic as a row of bits, one for each node, where topics are large enough for it to pay."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
import numpy.typing as npt

from topicloom.kernels.baselines.coverage_by_bits import row_words
from topicloom.kernels.jit import kernel
from topicloom.kernels.living.growing_rows import GrowingRows

# There are rows if one node in so many wants a topic, on average. Choosing backups by bits takes 0.4 to 0.5 of the time
# that it takes by members where that is one in 8, and 0.3 to 1 where it is one in 67; rows take 8 bytes a subscription.
NODES_A_MEMBER = 64


class BitRoom(TypedDict):
    """Room to work in by bits."""

    weight: npt.NDArray[np.int32]
    owed: npt.NDArray[np.uint64]
    candidates: npt.NDArray[np.uint64]


def wanting_rows(topics_of_nodes: GrowingRows, nodes: int, topics: int) -> npt.NDArray[np.uint64]:
    """A row for each of so many topics, with a bit for each of so many nodes; no rows where topics are small."""
    large = int(topics_of_nodes.used[1]) * NODES_A_MEMBER >= nodes * topics
    wanting = np.zeros((topics if large else 0, row_words(nodes)), np.uint64)
    if large:
        write_rows(topics_of_nodes, wanting)
    return wanting


@kernel()
def write_rows(topics, wanting):
    """Set the bits of all nodes in the rows of their topics, which are empty."""
    for u in range(topics.start.shape[0]):
        for k in range(topics.start[u], topics.start[u] + topics.length[u]):
            wanting[topics.items[k], u >> 6] |= np.uint64(1) << np.uint64(u & 63)


def room_for_bits(nodes: int) -> BitRoom:
    """Room for what so many nodes bear: at most links with all others, and standing in for all of them."""
    words = row_words(nodes)
    return {
        "weight": np.zeros(64 * words, np.int32),
        "owed": np.zeros((2, (2 * nodes).bit_length() + 1, words), np.uint64),
        "candidates": np.zeros((3, words), np.uint64),
    }
