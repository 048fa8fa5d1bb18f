"""Where the real data are, for tests that need them: beside the checkout, or where TOPICLOOM_DATA says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("TOPICLOOM_DATA") or Path(__file__).parents[2] / "shared" / "data")

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no real data: {DATA} is absent; set TOPICLOOM_DATA to the folder that holds them"
)
