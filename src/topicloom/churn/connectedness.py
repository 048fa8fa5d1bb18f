"""Whether every topic is in one piece, and how far those are that are not."""

from __future__ import annotations

import numpy as np

from topicloom.errors import InputError
from topicloom.kernels.graphs.components import topic_components
from topicloom.model.interest import Ids
from topicloom.model.overlay import Overlay


def broken_topics(overlay: Overlay) -> list[str]:
    """The topics that are in several pieces."""
    names = overlay.interest.topic_names
    return [names[topic] for topic in np.flatnonzero(_pieces(overlay) > 1).tolist()]


def support_of(overlay: Overlay) -> float:
    """Share of the possible merging that is done; 1 where every topic is in one piece."""
    sizes = np.diff(overlay.interest.topic_start)
    return share_merged(int((_pieces(overlay) - 1).sum()), int((sizes - 1).sum()))


def share_merged(missing: int, possible: int) -> float:
    """Support, from how many merges are missing and how many are possible."""
    return 1.0 - missing / possible if possible else 1.0


def _pieces(overlay: Overlay) -> Ids:
    """In how many pieces each topic is."""
    interest = overlay.interest
    order = np.argsort(overlay.source, kind="stable")
    start = np.zeros(interest.node_count + 1, np.int64)
    np.cumsum(np.bincount(overlay.source, minlength=interest.node_count), out=start[1:])
    pieces: Ids = topic_components(interest.topic_start, interest.topic_nodes, start, overlay.target[order])[1]
    return pieces


def require_connected(overlay: Overlay) -> None:
    """An error where a topic is in several pieces: maintainers mend what an event breaks, and nothing else."""
    broken = broken_topics(overlay)
    if broken:
        others = f" and {len(broken) - 1:,} more" if len(broken) > 1 else ""
        raise InputError(
            f"the overlay does not connect all nodes of topic '{broken[0]}'{others}; "
            "give one that does, such as the designer low-oda makes"
        )
