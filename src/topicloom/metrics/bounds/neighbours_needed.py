"""Nodes counted by their neighbours: what a node shares with others it must share with a neighbour."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topicloom.kernels.bounds.neighbour_covers import fewest_neighbours
from topicloom.metrics.bounds.compared_topics import ComparedTopics


def neighbours_needed(shared: ComparedTopics) -> npt.NDArray[np.int64]:
    """What each node cannot have fewer neighbours than, in any topic-connected overlay."""
    sizes = np.diff(shared.topic_start)
    rare_first = shared.node_topics[np.lexsort((sizes[shared.node_topics], shared.nodes))]
    needed: npt.NDArray[np.int64] = fewest_neighbours(
        shared.node_start, rare_first, shared.topic_start, shared.topic_nodes
    ).astype(np.int64)
    return needed
