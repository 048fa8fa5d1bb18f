"""Ingest folders written straight from an interest, so that what reads them is tested without ingest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from topicloom.io.ingest_folder import IngestedManifest, IngestedOptions, TableCounts, write_manifest
from topicloom.model import Interest


def write_folder(interest: Interest, path: Path, *, parts: int = 1, graph: str | None = None) -> Path:
    """The folder that `ingest` would write, each table in so many files; `graph` as its option."""
    nodes = np.repeat(np.arange(interest.node_count, dtype=np.int32), np.diff(interest.node_start))
    subscriptions = interest.to_arrow()
    subscriptions = subscriptions.append_column("node_id", pa.array(nodes))
    subscriptions = subscriptions.append_column("topic_id", pa.array(interest.node_topics))
    _write(subscriptions, path / "subscriptions", parts)
    _write(_names("topics", interest.node_names, np.diff(interest.node_start)), path / "nodes", parts)
    _write(_names("nodes", interest.topic_names, np.diff(interest.topic_start)), path / "topics", parts)
    counts = TableCounts(interest.node_count, interest.topic_count, interest.subscription_count)
    write_manifest(path, IngestedManifest(interest.fingerprint, counts, IngestedOptions(graph)))
    return path


def _names(counted: str, names: tuple[str, ...], sizes: np.ndarray) -> pa.Table:
    return pa.table({"id": np.arange(len(names), dtype=np.int32), "name": pa.array(names, pa.string()), counted: sizes})


def _write(table: pa.Table, folder: Path, parts: int) -> None:
    folder.mkdir(parents=True)
    bounds = np.linspace(0, table.num_rows, parts + 1).astype(int)
    for part in range(parts):
        slice_ = table.slice(bounds[part], bounds[part + 1] - bounds[part])
        pyarrow.parquet.write_table(slice_, folder / f"part-{part:05}.parquet")
