"""What tests of the command line share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Ended]


def write_subscriptions(path: Path, pairs: list[tuple[Any, Any]]) -> Path:
    """A Parquet file of subscriptions, in the order given."""
    table = pa.table(
        {
            "node": pa.array([node for node, _ in pairs], pa.string()),
            "topic": pa.array([topic for _, topic in pairs], pa.string()),
        }
    )
    pyarrow.parquet.write_table(table, path)
    return path
