"""How many steps `gm` takes as its paper lists it: GM 2007, figure 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from topicloom.designers import design
from topicloom.model import Interest, Overlay


def run_steps(parameters: Mapping[str, Any], interest: Interest | None) -> pa.Table:
    """Run `gm`; give the steps that its listing takes, also as a share of nodes squared times topics.

    With `count` "all passes", every topic that the ends of an added link share is a step, too: line 6 looks at it, also
    where both are in one component already.
    """
    assert interest is not None
    overlay = design(interest, "gm")
    taken = steps(interest)
    if parameters.get("count") == "all passes":
        taken += topics_looked_at(overlay)
    return pa.table(
        {
            "steps": [taken],
            "steps_ratio": [taken / (interest.node_count**2 * interest.topic_count)],
            "links": [len(overlay)],
            "average_degree": [float(overlay.degrees.mean())],
        }
    )


def topics_looked_at(overlay: Overlay) -> int:
    """How often algorithm 3, line 6 looks at a topic that both ends of an added link want."""
    topics = [set(overlay.interest.topics_of(node).tolist()) for node in range(overlay.interest.node_count)]
    links = zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
    return sum(len(topics[source] & topics[target]) for source, target in links)


def steps(interest: Interest) -> int:
    """How often algorithm 3 (lines 6 to 11) takes one from the contribution of a link; our own `gm` does not.

    A link that merges components of a and b nodes in a topic does so to the a times b links between them, its own
    among them. So every two nodes of a topic are met once, when their components merge, and a topic of n nodes takes
    n (n - 1) / 2 steps, whichever links are chosen (lemma 6.4).
    """
    sizes = np.diff(interest.topic_start).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())
