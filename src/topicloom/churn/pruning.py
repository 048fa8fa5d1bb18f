"""Dropping links that no topic needs any more, oldest first.

A link is needed where in some topic that both its ends want it is the only way between them. One such topic is
remembered for each link, its reason. Links that are taken away make others more needed, never less; so after an event
only links whose reason is a topic that gained a link, gained a node or lost one must be looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from topicloom.churn.live import Link, LiveOverlay
from topicloom.kernels import needed
from topicloom.model.interest import Ids


class Pruner:
    """Remembers why each link is needed."""

    def __init__(self) -> None:
        # By link; where there is none, nobody has looked.
        self._reason: dict[tuple[int, int], int] = {}

    def prune(self, live: LiveOverlay, topics: Ids, added: Iterable[Link]) -> list[Link]:
        """Drop links after an event that concerned these topics and added these links; give what was dropped."""
        changed = set(topics.tolist())
        for link in added:
            ends = live.numbers[link.source], live.numbers[link.target]
            changed.update(needed.common_topics(live.fleet, live.scratch, *ends).tolist())
        doubtful = [link for link in live.links if self._reason.get(link, -1) in changed or link not in self._reason]
        reasons = needed.prune(live.fleet, live.scratch, np.array(doubtful, np.int64).reshape(-1, 2)).tolist()
        self._reason.update(zip(doubtful, reasons, strict=True))
        dropped = [live.strike(link) for link, reason in zip(doubtful, reasons, strict=True) if reason < 0]
        self._reason = {link: self._reason[link] for link in live.links}
        return dropped
