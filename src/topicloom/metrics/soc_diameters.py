"""The topic diameters of the SOC problem: GM 2007, section 9.

There the diameter of a topic is "the maximum distance in G between any pair of nodes interested in t": paths may lead
through nodes that do not want it. `TopicMeasures.diameter` counts paths through subscribers alone, as messages go in a
topic-connected overlay, and so is never smaller where a topic is connected.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topicloom.errors import InputError
from topicloom.kernels.paths import diameters_through_any
from topicloom.model.graph import LinkGraph
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay


def soc_diameters(interest: Interest, overlay: Overlay) -> npt.NDArray[np.int64]:
    """The longest shortest path between two nodes that want a topic, through any nodes, for each topic.

    Of nodes that no path joins, the longest among those that one does. Costs a search of the whole overlay from every
    node: 10,000 nodes and 1,000 topics take seconds.
    """
    if overlay.interest is not interest and overlay.interest.node_names != interest.node_names:
        raise InputError("the overlay links other nodes than those of the interest; measure it against its own")
    graph = LinkGraph.from_links(interest.node_count, overlay.source, overlay.target)
    diameters: npt.NDArray[np.int64] = diameters_through_any(
        interest.node_start,
        interest.node_topics,
        interest.topic_start,
        interest.topic_nodes,
        graph.link_start,
        graph.link_nodes,
    )
    return diameters
