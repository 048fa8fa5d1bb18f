"""One session of looking: what there is, what was worked out of it so far, and the views that show it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from topicloom.explore.asking.background_work import Jobs
from topicloom.explore.asking.what_if import Question
from topicloom.explore.collection import Explored, NamedOverlay

T = TypeVar("T")

# The commands that do the same as a question, spelt as the command line wants them.
Spell = Callable[[Question, NamedOverlay], list[str]]

# How many pictures, measures and answers are kept.
_KEPT = 60


@dataclass(eq=False)
class Explorer:
    """What views share.

    `live` tells how a watched fleet is now, and `current` whether what is looked at is still as it was, where that may
    change. Questions that take work are answered where it `asks`.
    """

    collection: Explored
    spell: Spell
    title: str = "Topicloom"
    live: Callable[[], Mapping[str, Any]] | None = None
    current: Callable[[], bool] | None = None
    asks: bool = True
    jobs: Jobs = field(default_factory=Jobs)
    _known: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made under that key, or is now; what was not asked for longest is forgotten."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                known: T = self._known[key]
                return known
        # Others are answered meanwhile; should two make the same, it is the same.
        made = make()
        with self._lock:
            self._known[key] = made
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return made
