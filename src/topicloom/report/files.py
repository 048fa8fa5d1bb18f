"""Which of the given files and folders hold what."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from topicloom.model.errors import InputError
from topicloom.model.folder import is_ingested
from topicloom.model.tables import column_names

SUBSCRIPTIONS = "subscriptions"
OVERLAY = "overlay"
TRACE = "trace"

# Columns of a trace that `topicloom maintain` wrote, as far as the page shows them.
TRACE_COLUMNS = (
    *("event", "kind", "node", "error", "seconds", "upkeep_seconds", "links_added", "links_removed"),
    *("repair_ratio", "shadow", "nodes", "links", "average_degree", "max_degree"),
)

# How many columns of a file that holds something else are named.
_SHOWN = 4
_TABLES = (".parquet", ".pq", ".csv", ".tsv", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True)
class Aside:
    """A file that the page does not show, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Found:
    """Files by what they hold. `named` are those given by name, not found in a folder: they must be shown."""

    paths: dict[str, list[Path]] = field(default_factory=lambda: {SUBSCRIPTIONS: [], OVERLAY: [], TRACE: []})
    named: set[Path] = field(default_factory=set)
    aside: list[Aside] = field(default_factory=list)


def find_files(
    given: Sequence[str | os.PathLike[str]], *, node_column: str = "node", topic_column: str = "topic"
) -> Found:
    """Sort files, and those that lie in folders, by their columns.

    In a folder, whatever is no result is put aside; a file that is given by name must be one. A folder inside a
    folder is looked at only where `topicloom ingest` wrote it.
    """
    columns = {TRACE: TRACE_COLUMNS, OVERLAY: ("source", "target"), SUBSCRIPTIONS: (node_column, topic_column)}
    found, seen = Found(), set()
    for path in map(Path, given):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        inside = path.is_dir() and not is_ingested(path)
        for file in sorted(path.iterdir()) if inside else [path]:
            if file.resolve() in seen or (inside and not _may_be_result(file)):
                continue
            seen.add(file.resolve())
            try:
                found.paths[_kind(file, columns)].append(file)
            except InputError as error:
                if not inside:
                    raise
                found.aside.append(Aside(file, str(error).removeprefix(f"{file}: ")))
            if not inside:
                found.named.add(file)
    if not any(found.paths.values()):
        places = ", ".join(os.fspath(path) for path in given)
        raise InputError(
            f"{places}: no results there; expected subscriptions (columns {node_column}, {topic_column}), "
            "overlays (source, target) or a trace that 'topicloom maintain' wrote"
        )
    return found


def _may_be_result(file: Path) -> bool:
    if file.name.startswith("."):
        return False
    return is_ingested(file) if file.is_dir() else file.name.lower().endswith(_TABLES)


def _kind(file: Path, columns: dict[str, tuple[str, ...]]) -> str:
    if file.is_dir():
        return SUBSCRIPTIONS
    present = column_names(file)
    for kind, needed in columns.items():
        if set(needed) <= set(present):
            return kind
    more = f" and {len(present) - _SHOWN} more" if len(present) > _SHOWN else ""
    has = f"{', '.join(map(repr, present[:_SHOWN]))}{more}" or "none"
    raise InputError(f"{file}: holds no kind of result that a page shows; its columns are {has}")
