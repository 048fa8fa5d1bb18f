"""One run, and keeping what came out.

A finished cell is one Parquet file, named after a hash of all that its numbers depend on, and written whole or not at
all. So a reproduction that was stopped goes on where it was, and figures that share cells share their rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from topicloom._version import __version__
from topicloom.experiments.figure import Parameters, Value
from topicloom.files.atomic import replacing

FOLDER = "cells"


@dataclass(frozen=True)
class Cell:
    """A run and its parameters; `fingerprint` is that of the interest where it comes from a social graph."""

    run: str
    parameters: Parameters
    fingerprint: str | None = None

    @property
    def key(self) -> str:
        """A hash of what the rows depend on. numpy is in it as its random numbers may change with its version."""
        described = {
            "run": self.run,
            "parameters": self.parameters,
            "fingerprint": self.fingerprint,
            "topicloom": __version__,
            "numpy": np.__version__,
        }
        return hashlib.blake2b(json.dumps(described).encode(), digest_size=16).hexdigest()

    @property
    def cost(self) -> int:
        """About what it costs: designers look at pairs of nodes, maintainers at all nodes in every round."""
        parameters: dict[str, Any] = dict(self.parameters)
        size = int(parameters.get("nodes") or parameters.get("users") or 1)
        return size * (size + 100 * int(parameters.get("rounds", 0)))


def keep(folder: Path, cell: Cell, rows: pa.Table) -> None:
    """Write the rows of a cell below `folder`."""
    with replacing(_file(folder, cell)) as temporary:
        pyarrow.parquet.write_table(rows, temporary)


def kept(folder: Path, cell: Cell) -> pa.Table | None:
    """The rows of a cell, where they are there and can be read."""
    try:
        return pyarrow.parquet.read_table(_file(folder, cell))
    except (OSError, pa.ArrowException):
        return None  # not there, or damaged: run it again


def with_parameters(cell: Cell, rows: pa.Table) -> pa.Table:
    """The rows with the parameters and `repetition` beside them."""
    for name, value in beside(cell, rows.column_names).items():
        rows = rows.append_column(name, pa.array([value] * len(rows)))
    return rows


def beside(cell: Cell, results: Collection[str]) -> dict[str, Value]:
    """What stands beside these results: the parameters, as `parameter_NAME` where a result has that name, and
    `repetition`. A result that has even that name stays."""
    named = {f"parameter_{name}" if name in results else name: value for name, value in cell.parameters}
    kept = {name: value for name, value in named.items() if name not in results}
    return {**kept, "repetition": dict(cell.parameters)["seed"]}


def _file(folder: Path, cell: Cell) -> Path:
    return folder / FOLDER / f"{cell.key}.parquet"
