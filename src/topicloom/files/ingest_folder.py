"""Subscriptions from a folder that `topicloom ingest` wrote, without Spark.

The folder holds `nodes/` and `topics/` (id, name) and `subscriptions/` (node_id, topic_id), each as one or more Parquet
files, with dense ids in the order of the names.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet

from topicloom.errors import InputError
from topicloom.files.name_tables import require_columns

Column = npt.NDArray[np.int64]


def is_ingested(folder: Path) -> bool:
    """Whether a folder has the parts of one that `topicloom ingest` wrote."""
    return all((folder / part).is_dir() for part in ("nodes", "topics", "subscriptions"))


def read_folder(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...], Column, Column]:
    """Names of the nodes and of the topics, and the two ids of each subscription."""
    node_names = _names(folder, "nodes")
    topic_names = _names(folder, "topics")
    table = _table(folder, "subscriptions", ["node_id", "topic_id"])
    nodes = _ids(folder, table, "node_id", len(node_names))
    topics = _ids(folder, table, "topic_id", len(topic_names))
    return node_names, topic_names, nodes, topics


def _table(folder: Path, part: str, columns: list[str]) -> pa.Table:
    if not (folder / part).is_dir():
        raise InputError(f"{folder}: is not a folder that 'topicloom ingest' wrote; it has no {part}/")
    try:
        table = pyarrow.parquet.read_table(folder / part)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{folder / part}: cannot be read ({' '.join(str(error).split())})") from None
    require_columns(table.column_names, columns, str(folder / part))
    return table.select(columns)


def _names(folder: Path, part: str) -> tuple[str, ...]:
    table = _table(folder, part, ["id", "name"]).sort_by("id")
    names = tuple(table["name"].to_pylist())
    dense = np.array_equal(table["id"].to_numpy(), np.arange(len(names)))
    if not dense or any(a >= b for a, b in pairwise(names)):
        raise InputError(f"{folder / part}: ids are not 0, 1, 2 … in the order of the names; ingest the data again")
    return names


def _ids(folder: Path, table: pa.Table, column: str, count: int) -> Column:
    ids: Column = table[column].to_numpy().astype(np.int64)
    if len(ids) and not (ids.min() >= 0 and ids.max() < count):
        raise InputError(f"{folder / 'subscriptions'}: {column} is not below {count}; ingest the data again")
    return ids
