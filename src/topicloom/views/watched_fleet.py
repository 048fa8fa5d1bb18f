"""The explorer's pages for a fleet under control, which its controller serves where it listens.

An address begins with the number of decisions that led to the network it shows: what a page asks for is about what
it shows, also while the fleet changes. Pages are made when somebody looks, one at a time, and once for each network.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from topicloom.model import Overlay
from topicloom.model.fleet import Fleet
from topicloom.views.explorer import Explored, Explorer
from topicloom.views.page import nothing_read
from topicloom.views.pages import answer_to, first_address
from topicloom.views.web_reply import Reply

_NOT_YET = b'<!DOCTYPE html><meta http-equiv="refresh" content="1"><p>Nothing was looked at yet.</p>'
# How many networks of the past can still be asked about.
_KEPT = 4


class WatchedFleet:
    """A fleet to look at: `decided` gives its links and after how many decisions, `status` all that is known of it."""

    def __init__(
        self, fleet: Fleet, decided: Callable[[], tuple[int, Overlay] | None], status: Callable[[], Mapping[str, Any]]
    ) -> None:
        self._fleet, self._decided, self._status = fleet, decided, status
        self._explorers: OrderedDict[int, Explorer] = OrderedDict()
        self._turn = threading.Lock()

    def answer(self, path: str, given: Mapping[str, str]) -> Reply | None:
        """What is sent to who asks for a path; None where there is nothing."""
        revision, _, name = path.strip("/").partition("/")
        with self._turn:
            if not revision:
                return self._present()
            if not revision.isdecimal() or len(revision) > 18:
                return None
            explorer = self._explorers.get(int(revision))
            if explorer is None:
                return Reply("text/html", b"", to="/")
            return answer_to(explorer, name, given)

    def _present(self) -> Reply:
        decided = self._decided()
        if decided is None:
            return Reply("text/html", _NOT_YET)
        revision, overlay = decided
        if revision not in self._explorers:
            self._explorers[revision] = self._explorer(revision, overlay)
            while len(self._explorers) > _KEPT:
                self._explorers.popitem(last=False)
        return Reply("text/html", b"", to=f"/{revision}/{first_address(self._explorers[revision])}")

    def _explorer(self, revision: int, overlay: Overlay) -> Explorer:
        collection = Explored(nothing_read(), self._fleet)
        collection.add(f"after {revision:,} decisions", overlay, None)
        return Explorer(
            collection,
            lambda question, named: [],
            title="Topicloom fleet",
            live=self._status,
            current=lambda: (self._decided() or (revision,))[0] == revision,
            asks=False,
        )
