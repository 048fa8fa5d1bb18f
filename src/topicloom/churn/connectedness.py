"""Whether every topic is in one piece."""

from __future__ import annotations

import numpy as np

from topicloom.errors import InputError
from topicloom.kernels.graphs.components import topic_components
from topicloom.model.overlay import Overlay


def broken_topics(overlay: Overlay) -> list[str]:
    """The topics that are in several pieces."""
    interest = overlay.interest
    order = np.argsort(overlay.source, kind="stable")
    start = np.zeros(interest.node_count + 1, np.int64)
    np.cumsum(np.bincount(overlay.source, minlength=interest.node_count), out=start[1:])
    _, pieces = topic_components(interest.topic_start, interest.topic_nodes, start, overlay.target[order])
    return [interest.topic_names[topic] for topic in np.flatnonzero(pieces > 1).tolist()]


def require_connected(overlay: Overlay) -> None:
    """An error where a topic is in several pieces: maintainers mend what an event breaks, and nothing else."""
    broken = broken_topics(overlay)
    if broken:
        others = f" and {len(broken) - 1:,} more" if len(broken) > 1 else ""
        raise InputError(
            f"the overlay does not connect all nodes of topic '{broken[0]}'{others}; "
            "give one that does, such as the designer low-oda makes"
        )
