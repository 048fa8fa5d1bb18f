"""Reading a folder that ingest wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from topicloom.io.ingest_folder import IngestedManifest, TableCounts, write_manifest
from topicloom.model import InputError, Interest

INTEREST = Interest.from_pairs([("b", "x"), ("a", "x"), ("é", "y z"), ("a", "y z"), ("𐍈", "x")])


# As Arrow has it in memory, and Parquet on disk, though it is not UTF-8.
NOT_UTF8 = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"], pa.binary()).buffers())


def table_of_names(names: tuple[str, ...]) -> pa.Table:
    return pa.table({"id": np.arange(len(names)), "name": list(names)})


def write(folder: Path, interest: Interest = INTEREST) -> Path:
    """The folder as ingest writes it, the subscriptions in two files and out of order."""
    for part, names in (("nodes", interest.node_names), ("topics", interest.topic_names)):
        (folder / part).mkdir(parents=True)
        counted = "topics" if part == "nodes" else "nodes"
        table = table_of_names(names).append_column(counted, pa.array([1] * len(names)))
        pyarrow.parquet.write_table(table, folder / part / "part-0.parquet")
    (folder / "subscriptions").mkdir()
    nodes = np.repeat(np.arange(interest.node_count), np.diff(interest.node_start))
    table = pa.table({"node_id": nodes, "topic_id": interest.node_topics}).take([4, 2, 0, 1, 3])
    for name, names in (("node", interest.node_names), ("topic", interest.topic_names)):
        table = table.append_column(name, pa.array(names).take(table[f"{name}_id"]))
    for k, rows in enumerate((table.slice(0, 2), table.slice(2))):
        pyarrow.parquet.write_table(rows, folder / "subscriptions" / f"part-{k}.parquet")
    write_manifest(folder, IngestedManifest(interest.fingerprint, TableCounts(4, 2, 5)))
    return folder


def replace(part: str, table: pa.Table) -> Callable[[Path], None]:
    return lambda folder: pyarrow.parquet.write_table(table, folder / part / "part-0.parquet")


def test_it_is_the_same_interest(tmp_path: Path) -> None:
    assert Interest.read(write(tmp_path / "in")) == INTEREST


def test_names_may_come_in_several_files(tmp_path: Path) -> None:
    folder = write(tmp_path / "in")
    table = table_of_names(INTEREST.node_names)
    pyarrow.parquet.write_table(table.slice(2), folder / "nodes" / "part-0.parquet")
    pyarrow.parquet.write_table(table.slice(0, 2), folder / "nodes" / "part-1.parquet")
    assert Interest.read(folder) == INTEREST


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (replace("nodes", pa.table({"id": [0], "title": ["a"]})), "nodes: no column 'name'; it has 'id', 'title'"),
        (replace("nodes", table_of_names(("b", "a"))), "nodes: ids are not 0, 1, 2"),
        (replace("topics", pa.table({"id": [1, 2], "name": ["x", "y"]})), "topics: ids are not 0, 1, 2"),
        (replace("topics", pa.table({"id": [[0], [1]], "name": ["x", "y"]})), "topics: id holds others than whole"),
        (replace("nodes", table_of_names(("a", "b"))), "subscriptions: node_id is not below 2"),
        (
            replace("subscriptions", pa.table({"node_id": [0], "topic_id": [-1]})),
            "subscriptions: topic_id is not below 2",
        ),
        (
            replace("subscriptions", pa.table({"node_id": [0.5], "topic_id": [0]})),
            "subscriptions: node_id holds others than whole numbers; ingest the data again",
        ),
        (replace("nodes", pa.table({"id": [0], "name": [7]})), "nodes: has names that are no text"),
        (
            replace("nodes", pa.table({"id": [0, 1], "name": pa.array(["a", None])})),
            "nodes: has names that are no text",
        ),
        (
            lambda folder: write_manifest(folder, IngestedManifest("", TableCounts(4, 2, 9))),
            "subscriptions: has 5 rows and its manifest says 9; ingest the data again",
        ),
        (lambda folder: (folder / "topics" / "part-0.parquet").write_bytes(b"PAR1"), "topics: cannot be read ("),
        (replace("nodes", pa.table({"id": [0], "name": NOT_UTF8})), "nodes: has names that are no text"),
    ],
)
def test_a_spoilt_folder_is_refused(tmp_path: Path, spoil: Callable[[Path], object], message: str) -> None:
    folder = write(tmp_path / "in")
    spoil(folder)
    with pytest.raises(InputError) as caught:
        Interest.read(folder)
    assert str(caught.value).startswith(f"{folder}/{message}")
    assert "\n" not in str(caught.value)


def test_other_rows_than_it_was_written_with_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "in")
    assert Interest.read(folder) == INTEREST
    replace("subscriptions", pa.table({"node_id": [0, 1], "topic_id": [0, 1]}))(folder)
    with pytest.raises(InputError, match="its subscriptions are not those it was written with"):
        Interest.read(folder)


def test_the_newest_row_of_the_manifest_counts(tmp_path: Path) -> None:
    folder = write(tmp_path / "in")
    row = json.loads((folder / "manifest" / "part-00000.json").read_text())
    for number, state in ((2, "complete"), (1, "being written")):
        (folder / "manifest" / f"part-{number}.json").write_text(json.dumps(row | {"number": number, "state": state}))
    assert Interest.read(folder) == INTEREST
    (folder / "manifest" / "part-3.json").write_text(json.dumps(row | {"number": 3, "state": "being written"}))
    with pytest.raises(InputError, match="was not written to its end, or is being written; ingest the data again"):
        Interest.read(folder)
    for file in (folder / "manifest").iterdir():
        file.unlink()
    with pytest.raises(InputError, match="was not written to its end"):
        Interest.read(folder)
    (folder / "manifest").rmdir()
    with pytest.raises(InputError, match="has no manifest; give a folder that `topicloom spark ingest` wrote"):
        Interest.read(folder)


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "subs.parquet"
    pyarrow.parquet.write_table(pa.table({"node": NOT_UTF8, "topic": ["x"]}), file)
    with pytest.raises(InputError, match="column 'node' holds text that is not UTF-8"):
        Interest.read(file)
