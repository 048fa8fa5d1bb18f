"""Where the real data are, for tests that need them: beside the checkout, or where TOPICLOOM_DATA says."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from topicloom import Interest

DATA = Path(os.environ.get("TOPICLOOM_DATA") or Path(__file__).parents[2] / "shared" / "data")

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no real data: {DATA} is absent; set TOPICLOOM_DATA to the folder that holds them"
)


def viewers() -> Interest:
    """All YouTube users and the groups they belong to."""
    with gzip.open(DATA / "subscriptions" / "youtube_groups.tsv.gz", "rt", encoding="utf-8") as text:
        return Interest.from_pairs((user, group) for user, group in (line.rstrip("\n").split("\t") for line in text))
