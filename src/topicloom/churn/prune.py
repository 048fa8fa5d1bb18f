"""Dropping links that no topic needs any more, oldest first.

A link is needed where in some topic that both its ends want it is the only way between them. One such topic is
remembered for each link, its reason. Links that are taken away make others more needed, never less; so after an event
only links whose reason is a topic that gained a link, gained a node or lost one must be looked at again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from topicloom.churn.live_overlay import Link, LiveOverlay
from topicloom.kernels import needed_links
from topicloom.model.interest import Ids

_Ends = tuple[int, int]


class Pruner:
    """Remembers why each link is needed; links of the names in `staying` are never dropped."""

    def __init__(self, staying: Iterable[tuple[str, str]] = ()) -> None:
        self._staying = frozenset(staying)
        self._reason: dict[_Ends, int] = {}
        # The reverse; links that are gone, or have another reason by now, may still be in it.
        self._needing: defaultdict[int, set[_Ends]] = defaultdict(set)
        self._age: dict[_Ends, int] = {}
        self._youngest = 0

    def prune(self, live: LiveOverlay, topics: Ids, added: Iterable[Link]) -> list[Link]:
        """Drop links after an event that concerned these topics and added these links; give what was dropped."""
        changed = set(topics.tolist())
        fresh: list[_Ends] = []
        for link in added:
            u, v = sorted((live.numbers[link.source], live.numbers[link.target]))
            fresh.append((u, v))
            self._reason.pop((u, v), None)
            changed.update(needed_links.common_topics(live.population, live.scratch, u, v).tolist())
        self._meet(live, fresh)
        found = [ends for ends in self._unfounded(live, changed) + fresh if live.link(*ends) not in self._staying]
        doubtful = sorted(found, key=self._age.__getitem__)
        reasons = needed_links.prune(live.population, live.scratch, _table(doubtful)).tolist()
        dropped = []
        for ends, reason in zip(doubtful, reasons, strict=True):
            if reason < 0:
                dropped.append(live.note_removed(ends))
            else:
                self._reason[ends] = reason
                self._needing[reason].add(ends)
        return dropped

    def _meet(self, live: LiveOverlay, fresh: list[_Ends]) -> None:
        """Note how old links are: of new ones, or of all where none was seen yet or many are gone."""
        if not self._age or len(self._age) > 2 * len(live.links) + len(fresh):
            self._reason = {link: self._reason[link] for link in live.links if link in self._reason}
            self._age = dict(zip(live.links, range(len(live.links)), strict=True))
            self._youngest = len(live.links)
            fresh[:] = [link for link in live.links if link not in self._reason]
        else:
            for link in fresh:
                self._youngest += 1
                self._age[link] = self._youngest

    def _unfounded(self, live: LiveOverlay, changed: Iterable[int]) -> list[_Ends]:
        """Links whose reason is one of the changed topics and holds no more."""
        concerned = []
        for topic in changed:
            here = [link for link in self._needing.pop(topic, ()) if self._reason.get(link) == topic]
            concerned += [(topic, link) for link in here if link in live.links]
        reasons = np.array([topic for topic, _ in concerned], np.int64)
        holding = needed_links.still_needed(
            live.population, live.scratch, reasons, _table([link for _, link in concerned])
        )
        unfounded = []
        for (topic, link), holds in zip(concerned, holding.tolist(), strict=True):
            if holds:
                self._needing[topic].add(link)
            else:
                del self._reason[link]
                unfounded.append(link)
        return unfounded


def _table(links: list[_Ends]) -> Ids:
    return np.array(links, np.int32).reshape(-1, 2)
