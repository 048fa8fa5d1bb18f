"""What an ingest says about itself: where rows came from and what became of each."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from topicloom._version import __version__
from topicloom.pipeline.ingesting.ingest_options import IngestOptions


@dataclass(frozen=True)
class Counts:
    """What became of the rows.

    rows = filtered + bad + self_loops + unheard + repeats + those that are left. Unheard are those that publish what
    nobody wants. Each of these is a subscription; in an
    undirected graph it is two, and there may be one more for each user.
    """

    rows: int
    filtered: int
    bad: int
    bad_by_reason: Mapping[str, int]
    self_loops: int
    unheard: int
    repeats: int
    users: int | None
    nodes: int
    topics: int
    subscriptions: int


@dataclass(frozen=True)
class Manifest:
    """The inputs and options of an ingest, its counts, the fingerprint of the interest, and who made it."""

    inputs: tuple[str, ...]
    files: int
    options: IngestOptions
    counts: Counts
    fingerprint: str
    versions: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """As it is written."""
        return {"kind": "topicloom ingest", **asdict(self)}


def versions(spark: str) -> dict[str, str]:
    """Of all that may matter to what is written."""
    return {
        "topicloom": __version__,
        "spark": spark,
        "pyarrow": pa.__version__,
        "python": platform.python_version(),
    }
