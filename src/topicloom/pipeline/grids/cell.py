"""One run of a grid, and keeping the rows that it gave.

A cell that is done is one Arrow file, named after a hash of all that its rows depend on, and written whole or not at
all. So a grid that was stopped goes on where it was, and grids of one folder share cells.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from topicloom._version import __version__
from topicloom.errors import InputError
from topicloom.files.atomic import replacing

# The folder of kept cells, in the folder that a grid is written to.
FOLDER = "cells"
# What a column of whole numbers can hold.
_LARGEST = 2**63 - 1


@dataclass(frozen=True, eq=False)
class Cell:
    """A run by its name, and its parameters, as JSON can hold them. Cells of equal keys are equal.

    `fingerprint` is that of what is sent along with it, such as an interest from a file. `cost` is compared with that
    of others, to tell how long all will take.
    """

    run: str
    parameters: Mapping[str, Any]
    fingerprint: str | None = None
    cost: int = 1

    @cached_property
    def key(self) -> str:
        """A hash of what the rows depend on. numpy is in it as its random numbers may change with its version."""
        described = {
            "run": self.run,
            "parameters": self.parameters,
            "fingerprint": self.fingerprint,
            "topicloom": __version__,
            "numpy": np.__version__,
        }
        return hashlib.blake2b(json.dumps(described, sort_keys=True).encode(), digest_size=16).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def keep(folder: Path, cell: Cell, rows: pa.Table) -> None:
    """Write the rows of a cell to a folder."""
    with (
        replacing(cell_file(folder, cell)) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_file(sink, rows.schema) as writer,
    ):
        writer.write_table(rows)


def kept(folder: Path, cell: Cell) -> pa.Table | None:
    """The rows of a cell, where they are there and can be read."""
    try:
        with pa.OSFile(str(cell_file(folder, cell))) as source:
            return pa.ipc.open_file(source).read_all()
    except (OSError, pa.ArrowException):
        return None  # not there, or damaged: run it again


def cell_file(folder: Path, cell: Cell) -> Path:
    """Where a cell's rows are kept."""
    return folder / f"{cell.key}.arrow"


def require_64_bits(name: str, number: float) -> None:
    """An error where a whole number fits into no column of a table, which would be noticed after all cells have run."""
    if isinstance(number, int) and abs(number) > _LARGEST:
        raise InputError(f"{name} is {number}; give a whole number of at most {_LARGEST}", name)
