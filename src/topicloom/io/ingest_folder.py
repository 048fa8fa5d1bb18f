"""The folder that `topicloom spark ingest` and `sample` write: its tables, their columns, and its manifest.

`nodes/` and `topics/` hold names with dense ids in the order of the names, and how many topics a node and how many
nodes a topic has; `subscriptions/` holds a row for each, by name and by id, and its role where roles are known. Each is
one or more Parquet files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet

from topicloom.errors import InputError
from topicloom.io.settings import Count
from topicloom.io.tables import read_parquet, require_columns, text_column

Column = npt.NDArray[np.int64]

NODES, TOPICS, SUBSCRIPTIONS = TABLES = ("nodes", "topics", "subscriptions")
REJECTED, MANIFEST_FOLDER = "rejected", "manifest"
# What a row of a manifest is about, and its states.
INTEREST, OVERLAY = "interest", "overlay"
WRITING, COMPLETE = "being written", "complete"
ROLE = "role"
_COLUMNS = {
    NODES: ("id", "name", "topics"),
    TOPICS: ("id", "name", "nodes"),
    SUBSCRIPTIONS: ("node", "topic", "node_id", "topic_id"),
}


@dataclass(frozen=True)
class TableCounts:
    """Numbers of rows of the tables."""

    nodes: Count
    topics: Count
    subscriptions: Count


@dataclass(frozen=True)
class IngestedOptions:
    """Options that readers need.

    - `graph`: `directed` or `undirected` where the topics are users too; None where topics are just topics.
    - `filters`: the protocol whose wildcards the topics have; `none` if they are plain names, None if it is not said.
    """

    graph: str | None = None
    filters: str | None = None


@dataclass(frozen=True)
class IngestedManifest:
    """The part of the manifest that readers need: fingerprint and counts of the interest, and options."""

    fingerprint: str
    counts: TableCounts
    options: IngestedOptions = IngestedOptions()


def write_manifest(folder: Path, manifest: IngestedManifest) -> None:
    """Write the manifest as Spark does; last, as it says that the folder is whole."""
    about = json.dumps({"options": asdict(manifest.options)})
    row = {
        "number": 0,
        "kind": INTEREST,
        "state": COMPLETE,
        "fingerprint": manifest.fingerprint,
        **asdict(manifest.counts),
        "about": about,
    }
    (folder / MANIFEST_FOLDER).mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST_FOLDER / "part-00000.json").write_text(json.dumps(row) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> IngestedManifest:
    """Check that the folder has all its parts, and read its manifest."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give one that `topicloom spark ingest` wrote")
    missing = [name for name in (SUBSCRIPTIONS, NODES, TOPICS, MANIFEST_FOLDER) if not (folder / name).exists()]
    if missing:
        raise InputError(f"{folder}: has no {missing[0]}; give a folder that `topicloom spark ingest` wrote")
    return _newest(folder)


def newest_row(folder: Path, kind: str, again: str) -> dict[str, Any]:
    """The newest row of a manifest that Spark wrote, which must be of that kind; `again` says what else to do."""
    try:
        texts = [file.read_text(encoding="utf-8") for file in (folder / MANIFEST_FOLDER).glob("part-*.json")]
        rows: list[dict[str, Any]] = [json.loads(line) for text in texts for line in text.splitlines()]
        row = max(rows, key=lambda row: int(row["number"]), default={"kind": kind, "state": WRITING})
        if row["kind"] == kind and row["state"] == COMPLETE:
            return row | {"about": json.loads(row["about"])}
        problem = f"was not written to its end, or is being written; {again}"
        if row["kind"] != kind:
            problem = f"holds an {row['kind']}, not an {kind}"
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{folder / MANIFEST_FOLDER}: is not the manifest of an {kind}") from None
    raise InputError(problem, file=folder)


def _newest(folder: Path) -> IngestedManifest:
    row = newest_row(folder, INTEREST, "ingest the data again")
    try:
        options = row["about"].get("options", {})
        return IngestedManifest(
            row["fingerprint"],
            TableCounts(*(int(row[name]) for name in TABLES)),
            IngestedOptions(options.get("graph"), options.get("filters")),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{folder / MANIFEST_FOLDER}: is not the manifest of an {INTEREST}") from None


class FolderRows(NamedTuple):
    """Names of the nodes and of the topics; ids of each subscription, its role where roles are known; the filters.

    `fingerprint` is what the manifest says of the interest.
    """

    node_names: tuple[str, ...]
    topic_names: tuple[str, ...]
    nodes: Column
    topics: Column
    roles: pa.ChunkedArray | None
    filters: str | None
    graph: str | None
    fingerprint: str


def read_folder(folder: Path) -> FolderRows:
    """Read and check a folder; one that is being written is refused, also if that begins meanwhile."""
    before = _newest(folder) if (folder / MANIFEST_FOLDER).is_dir() else None
    node_names = _names(folder, NODES)
    topic_names = _names(folder, TOPICS)
    table = _table(folder, SUBSCRIPTIONS, ["node_id", "topic_id"], [ROLE])
    nodes = _ids(folder, table, "node_id", len(node_names))
    topics = _ids(folder, table, "topic_id", len(topic_names))
    roles = text_column(table, ROLE, str(folder / SUBSCRIPTIONS)) if ROLE in table.column_names else None
    manifest = read_manifest(folder)
    if manifest != before:
        raise InputError("was written over while it was read; read it again", file=folder)
    _require_whole(folder, manifest.counts, (len(node_names), len(topic_names), len(nodes)))
    options = manifest.options
    return FolderRows(
        node_names, topic_names, nodes, topics, roles, options.filters, options.graph, manifest.fingerprint
    )


def _require_whole(folder: Path, counts: TableCounts, rows: tuple[int, ...]) -> None:
    """Refuse a folder that has lost rows since it was written."""
    for part, has, wrote in zip(TABLES, rows, (counts.nodes, counts.topics, counts.subscriptions), strict=True):
        if has != wrote:
            raise InputError(
                f"{folder / part}: has {has:,} rows and its manifest says {wrote:,}; ingest the data again"
            )


def _table(folder: Path, part: str, columns: list[str], optional: Sequence[str] = ()) -> pa.Table:
    if not (folder / part).is_dir():
        raise InputError(f"{folder}: is not a folder that 'topicloom spark ingest' wrote; it has no {part}/")
    try:
        table = read_parquet(folder / part)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{folder / part}: cannot be read ({' '.join(str(error).split())})") from None
    require_columns(table.column_names, columns, str(folder / part))
    return table.select([*columns, *(name for name in optional if name in table.column_names)])


def _names(folder: Path, part: str) -> tuple[str, ...]:
    table = _table(folder, part, ["id", "name"])
    _require_whole_numbers(folder / part, table, "id")
    table = table.sort_by("id")
    kind = table.schema.field("name").type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)) or table["name"].null_count:
        raise InputError(f"{folder / part}: has names that are no text; ingest the data again")
    try:
        names = tuple(table["name"].to_pylist())
    except UnicodeDecodeError:
        raise InputError(f"{folder / part}: has names that are no text; ingest the data again") from None
    dense = np.array_equal(table["id"].to_numpy(), np.arange(len(names)))
    if not dense or any(a >= b for a, b in pairwise(names)):
        raise InputError(f"{folder / part}: ids are not 0, 1, 2 … in the order of the names; ingest the data again")
    return names


def _ids(folder: Path, table: pa.Table, column: str, count: int) -> Column:
    _require_whole_numbers(folder / SUBSCRIPTIONS, table, column)
    ids: Column = table[column].to_numpy().astype(np.int64)
    if len(ids) and not (ids.min() >= 0 and ids.max() < count):
        raise InputError(f"{folder / SUBSCRIPTIONS}: {column} is not below {count}; ingest the data again")
    return ids


def _require_whole_numbers(where: Path, table: pa.Table, column: str) -> None:
    if not pa.types.is_integer(table[column].type) or table[column].null_count:
        raise InputError(f"{where}: {column} holds others than whole numbers; ingest the data again")
