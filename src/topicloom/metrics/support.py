"""Support of an overlay and of its first links."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topicloom.kernels.components import merge_links
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay


def possible_merges(interest: Interest) -> int:
    """How many times components have to be merged until every topic is connected."""
    return interest.subscription_count - int(np.count_nonzero(np.diff(interest.topic_start)))


def support_curve(interest: Interest, overlay: Overlay) -> npt.NDArray[np.float64]:
    """Support after the first 0, 1, 2 … links, in the order of the overlay; the last one is that of all links.

    Contributions are counted anew, as those that an overlay carries may be unknown, or count within folds. Takes
    12 bytes a subscription and 12 a link.
    """
    contribution, _ = merge_links(interest.node_start, interest.node_topics, overlay.source, overlay.target)
    mergeable = possible_merges(interest)
    merged = np.concatenate([[0], np.cumsum(contribution, dtype=np.int64)])
    return merged / mergeable if mergeable else np.ones(len(merged))
