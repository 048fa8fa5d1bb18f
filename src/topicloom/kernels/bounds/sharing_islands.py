"""Islands: nodes that share topics, directly or through others."""

from __future__ import annotations

import numpy as np

from topicloom.kernels.graphs.components import find_root, join
from topicloom.kernels.jit import kernel


@kernel()
def island_of_nodes(node_count, topic_start, topic_nodes):
    """The lowest node of each node's island."""
    parent = np.arange(node_count)
    for topic in range(topic_start.shape[0] - 1):
        for at in range(topic_start[topic] + 1, topic_start[topic + 1]):
            join(parent, topic_nodes[at - 1], topic_nodes[at])
    for node in range(node_count):
        parent[node] = find_root(parent, node)
    return parent
