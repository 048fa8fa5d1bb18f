"""How often a proof by repetition is repeated: as often as it says in `./dev test --thorough`, else a quarter of it."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("TOPICLOOM_TESTS") == "thorough"


def times(count: int) -> int:
    return count if THOROUGH else max(1, count // 4)
