"""One session of looking: what there is, what was worked out of it so far, and the views that show it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from topicloom.explore.background_work import Jobs
from topicloom.explore.collection import Explored, NamedOverlay
from topicloom.explore.what_if import Question

T = TypeVar("T")

# The commands that do the same as a question, spelt as the command line wants them.
Spell = Callable[[Question, NamedOverlay], list[str]]

# How many pictures, measures and answers are kept.
_KEPT = 60


@dataclass(eq=False)
class Explorer:
    """What views share."""

    collection: Explored
    spell: Spell
    title: str = "Topicloom"
    live_url: str | None = None
    jobs: Jobs = field(default_factory=Jobs)
    _known: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made under that key, or is now; what was not asked for longest is forgotten."""
        with self._lock:
            if key not in self._known:
                self._known[key] = make()
            self._known.move_to_end(key)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
            made: T = self._known[key]
            return made
