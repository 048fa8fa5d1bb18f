"""What is left to do of a grid, and its results as one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa

from topicloom.errors import InputError
from topicloom.pipeline.grids.cell import FOLDER, Cell, cell_file, kept


@dataclass(frozen=True)
class Grid:
    """Cells, each once, the folder that keeps their rows, and the cells still to run, the longest first."""

    folder: Path
    cells: tuple[Cell, ...]
    pending: tuple[Cell, ...]

    def table(
        self, described: Iterable[tuple[Cell, Mapping[str, Any]]], errors: Mapping[Cell, str], schema: pa.Schema
    ) -> pa.Table:
        """A row for each cell and what describes it: that, and the one row that it gave, or its `error`."""
        rows = []
        for cell, columns in described:
            found = None if cell in errors else kept(self.folder, cell)
            if found is not None:
                (row,) = found.to_pylist()
                rows.append({**columns, **row})
            elif cell in errors:
                rows.append({**columns, "error": errors[cell]})
            else:
                raise InputError("is gone; run the same again", file=cell_file(self.folder, cell))
        return pa.Table.from_pylist(rows, schema)


def plan_grid(cells: Iterable[Cell], folder: Path) -> Grid:
    """Find which cells are still to run; those that failed before are among them. Writes nothing."""
    unique = tuple(dict.fromkeys(cells))
    # The longest first, so that none is left over when the others are done. Sorting keeps the order of equals.
    pending = sorted((cell for cell in unique if kept(folder, cell) is None), key=lambda cell: -cell.cost)
    return Grid(folder, unique, tuple(pending))


def combinations(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All combinations of values by their names, where a list means all of its values."""
    lists = [value if isinstance(value, list) else [value] for value in values.values()]
    return (dict(zip(values, chosen, strict=True)) for chosen in product(*lists))


def require_grid_folder(out: Path, writer: str) -> None:
    """An error where `out` is no place for a folder of results and cells, which `writer` wrote or may write."""
    if out.is_dir():
        if any(out.iterdir()) and not (out / FOLDER).is_dir():
            raise InputError(f"holds other files; give a new folder, or one that {writer} wrote", file=out)
    elif out.exists():
        raise InputError("is a file; give a folder to write to", file=out)
    elif not out.parent.is_dir():
        raise InputError(f"the folder {out.parent} does not exist", file=out)
