"""How often a proof by repetition is repeated: as often as it says in `./dev test --thorough`, else a quarter of it."""

from __future__ import annotations

import os

import pytest

THOROUGH = os.environ.get("TOPICLOOM_TESTS") == "thorough"

# For proofs by heavy means of what lighter tests show too.
thorough = pytest.mark.skipif(not THOROUGH, reason="only in ./dev test --thorough")


def times(count: int) -> int:
    return count if THOROUGH else max(1, count // 4)
