"""Ingest of subscriptions against its plain-Python twin, whatever the format and the partitions."""

from __future__ import annotations

import bz2
import gzip
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession, functions

from effort import THOROUGH
from reference.ingest import Ingested, ingest_lines, interned, run
from topicloom.model import InputError, Interest
from topicloom.model.fingerprint import digest, name_hashes
from topicloom.spark.ingest import Ingest, IngestOptions, ingest
from topicloom.spark.places import require_inputs

SPACES = ("", " ", "\t", "\u00a0", "\u3000 ", "\u2003")
NAMES = (
    "alpha",
    "café",
    "cafe\u0301",
    "Ångström",
    "A\u030angstro\u0308m",
    "東京",
    "b/c",
    "ｎ",
    "zeta",
    "Z",
    "\U0001f40d",
)
TABLES = ("subscriptions", "nodes", "topics")


def messy_line(rng: random.Random) -> str:
    """A line as it may come, good or bad."""

    def name() -> str:
        text = rng.choice(SPACES) + rng.choice(NAMES) + str(rng.randrange(6)) + rng.choice(SPACES)
        kind = rng.randrange(12)
        if kind == 0:
            return '"' + text + ",x" + '"'
        if kind == 1:
            return '"' + text + '""' + '"'
        return f'"{text}"' if kind == 2 else text

    kind = rng.randrange(30)
    bad = {
        0: "",
        1: name(),
        2: f"{name()},",
        3: f" ,{name()}",
        4: f"{name()},{'x' * 1100}",
        5: f"{'é' * 600},{name()}",
        6: f"{name()},{name()},{name()}",
        7: f'{name()},"never closed',
    }
    return bad.get(kind) or f"{name()},{name()}" if kind else ""


def messy_files(seed: int, files: int = 3, lines: int = 200) -> dict[str, list[str]]:
    rng = random.Random(seed)
    return {f"raw-{i}.csv": ["node,topic", *(messy_line(rng) for _ in range(lines))] for i in range(files)}


def write_files(folder: Path, files: dict[str, list[str]], ending: str = "\n", start: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    for name, lines in files.items():
        (folder / name).write_bytes((start + ending.join(lines) + ending).encode())
    return folder


def rows(folder: Path, table: str) -> list[tuple[object, ...]]:
    """The rows of a table, in any order of files."""
    return sorted(tuple(row.values()) for row in pq.read_table(folder / table).to_pylist())


def check(folder: Path, made: Ingest, expected: Ingested) -> None:
    """The folder holds what the twin found."""
    for table, wanted in interned(expected.pairs).items():
        assert rows(folder, table) == sorted(wanted), table
        for file in (folder / table).glob("part-*"):
            found = [tuple(row.values()) for row in pq.read_table(file).to_pylist()]
            assert found == sorted(found), "rows are in order within files"
    assert made.fingerprint == Interest.from_pairs(expected.pairs).fingerprint
    counts = made.counts
    assert dict(counts.rejected_by_reason) == expected.reasons
    assert counts.rows == len(expected.pairs) + len(expected.bad) + counts.filtered
    assert counts.repeats == len(expected.pairs) - len(expected.subscriptions)


def rejected(folder: Path, raw: Path) -> list[tuple[str, str, str]]:
    """Rejected rows as the twin has them, without the numbers of their lines."""
    found = pq.read_table(folder / "rejected").to_pylist()
    return sorted((str(Path(row["file"]).relative_to(raw)), row["reason"], row["text"]) for row in found)


def as_rejected(expected: Ingested) -> list[tuple[str, str, str]]:
    return sorted((file, reason, text) for file, _, reason, text in expected.bad)


LENIENT = IngestOptions(max_bad=0.9)


@pytest.mark.parametrize("seed", range(2))
def test_messy_files_as_the_twin_reads_them(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    files = messy_files(seed)
    raw = write_files(tmp_path / "raw [1]", files, "\r\n" if seed else "\n", "\ufeff" if seed else "")
    manifest = run(spark, [raw], tmp_path / "out", LENIENT)
    expected = ingest_lines(files)
    check(tmp_path / "out", manifest, expected)
    assert rejected(tmp_path / "out", raw) == as_rejected(expected)
    assert Interest.read(tmp_path / "out") == Interest.from_pairs(expected.pairs)


@contextmanager
def configured(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield
    for key, old in before.items():
        spark.conf.unset(key) if old is None else spark.conf.set(key, old)


def test_partitions_do_not_matter(spark: SparkSession, tmp_path: Path) -> None:
    files = messy_files(7, lines=100)
    expected = ingest_lines(files)
    size = sum(len(line.encode()) + 1 for lines in files.values() for line in lines)
    raw = write_files(tmp_path / "raw", files)
    for partitions in (1, 2, 7, 32) if THOROUGH else (1, 7):
        settings = {
            "spark.sql.files.maxPartitionBytes": str(size // partitions + 1),
            "spark.sql.files.openCostInBytes": "0",
            "spark.sql.files.minPartitionNum": str(partitions),
            "spark.sql.shuffle.partitions": str(partitions),
            "spark.sql.adaptive.coalescePartitions.enabled": "false",
        }
        with configured(spark, settings):
            manifest = run(spark, [raw], tmp_path / "out", LENIENT)
        check(tmp_path / "out", manifest, expected)
        assert rejected(tmp_path / "out", raw) == as_rejected(expected)


def test_a_second_run_on_shuffled_rows_gives_the_same(spark: SparkSession, tmp_path: Path) -> None:
    files = messy_files(3)
    lines = [line for listed in files.values() for line in listed[1:]]
    random.Random(1).shuffle(lines)
    raw = write_files(tmp_path / "raw", files)
    shuffled = write_files(tmp_path / "shuffled", {"one.csv": ["node,topic", *lines]})
    first = run(spark, [raw], tmp_path / "out", LENIENT)
    written = [rows(tmp_path / "out", table) for table in TABLES]
    other = run(spark, [shuffled], tmp_path / "out", LENIENT)
    assert other.counts == first.counts
    assert other.fingerprint == first.fingerprint
    assert [rows(tmp_path / "out", table) for table in TABLES] == written


def test_formats(spark: SparkSession, tmp_path: Path) -> None:
    """One run reads files of all formats, each with nodes of its own."""

    def pairs(file: str) -> list[tuple[str, str]]:
        return [(f"{file} {i % 7}", f"t {i % 5}") for i in range(40)]

    def delimited(file: str, separator: str = ",") -> bytes:
        return "".join(f"{a}{separator}{b}\n" for a, b in [("node", "topic"), *pairs(file)]).encode()

    (tmp_path / "a.csv").write_bytes(delimited("csv"))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(delimited("gzip")))
    (tmp_path / "a.csv.bz2").write_bytes(bz2.compress(delimited("bzip2")))
    (tmp_path / "a.tsv").write_bytes(delimited("tsv", "\t"))
    objects = [json.dumps({"other": 1, "topic": b, "node": a}) for a, b in pairs("json")]
    (tmp_path / "a.jsonl").write_text("\n".join(objects) + "\n\n")
    nodes, topics = zip(*pairs("parquet"), strict=True)
    pq.write_table(pa.table({"topic": topics, "node": nodes}), tmp_path / "a.parquet")
    manifest = run(spark, [tmp_path / "a.*"], tmp_path / "out")
    assert (manifest.files, manifest.counts.rows, manifest.counts.rejected) == (6, 240, 0)
    files = ("csv", "gzip", "bzip2", "tsv", "json", "parquet")
    expected = Interest.from_pairs(pair for file in files for pair in pairs(file))
    assert manifest.fingerprint == expected.fingerprint


def test_json_and_parquet_rows_that_are_bad(spark: SparkSession, tmp_path: Path) -> None:
    lines = ['{"node": "a", "topic": 5}', "{oops", '{"node": "b"}', '{"node": " ", "topic": "t"}', "[1]"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    manifest = run(spark, [tmp_path / "a.jsonl"], tmp_path / "out", LENIENT)
    assert rows(tmp_path / "out", "subscriptions") == [("a", "5", 0, 0)]
    found = {(row["reason"], row["text"]) for row in pq.read_table(tmp_path / "out" / "rejected").to_pylist()}
    assert found == {
        ("not a JSON object", "{oops"),
        ("missing topic", lines[2]),
        ("empty node", lines[3]),
        ("not a JSON object", "[1]"),
    }
    table = pa.table({"node": ["a", None, "b"], "topic": [1, 2, 3]})
    pq.write_table(table, tmp_path / "a.parquet")
    manifest = run(spark, [tmp_path / "a.parquet"], tmp_path / "out", LENIENT)
    assert manifest.counts.rejected_by_reason == {"missing node": 1}
    assert rows(tmp_path / "out", "rejected") == [("missing node", '[null, "2"]', str(tmp_path / "a.parquet"))]


def test_columns_and_conditions(spark: SparkSession, tmp_path: Path) -> None:
    text = 'role,who,"what, then",value\nsub,a,x,10\npub,b,y,20\nsub,c,"z,z",30\nsub,d,w,9\nsub\n'
    (tmp_path / "a.csv").write_text(text)
    named = {"node_column": "who", "topic_column": "what, then", "max_bad": 0.5}
    where = "role = 'sub' AND value > 9"
    manifest = run(spark, [tmp_path / "a.csv"], tmp_path / "out", IngestOptions(**named, where=where))
    assert [row[:2] for row in rows(tmp_path / "out", "subscriptions")] == [("a", "x"), ("c", "z,z")]
    assert (manifest.counts.rows, manifest.counts.filtered, manifest.counts.rejected) == (5, 2, 1)
    (tmp_path / "bare.txt").write_text("1;a;x\n2;b;y\n")
    places = IngestOptions(node_column="2", topic_column="3", separator=";", header=False, where="_1 = '2'")
    run(spark, [tmp_path / "bare.txt"], tmp_path / "out", places)
    assert [row[:2] for row in rows(tmp_path / "out", "subscriptions")] == [("b", "y")]
    run(spark, [tmp_path / "bare.txt"], tmp_path / "out", IngestOptions(separator=";", header=False))
    assert [row[:2] for row in rows(tmp_path / "out", "subscriptions")] == [("1", "a"), ("2", "b")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": "role = "}, "where"),
        ({"where": "nobody = 1"}, "nobody"),
        ({"where": "node"}, "not a condition"),
        ({"node_column": "who"}, "no column 'who'"),
        ({"header": False, "node_column": "7"}, "no column 7"),
        ({"header": False, "node_column": "node"}, "the first being 1"),
        ({"separator": ";"}, "one column"),
    ],
)
def test_refusals(spark: SparkSession, tmp_path: Path, options: dict[str, object], message: str) -> None:
    (tmp_path / "a.csv").write_text("node,topic\na,b\n")
    with pytest.raises(InputError, match=message) as refused:
        run(spark, [tmp_path / "a.csv"], tmp_path / "out", IngestOptions(**options))  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv"]


def test_too_many_bad_rows(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("node,topic\na,b\n,c\nd,e\n")
    with pytest.raises(InputError, match=r"1 of 3 rows are bad.*1 empty node.*one is in .*a\.csv: ',c'"):
        run(spark, [tmp_path / "a.csv"], tmp_path / "out", IngestOptions(max_bad=0.3))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv"]
    assert run(spark, [tmp_path / "a.csv"], tmp_path / "out", IngestOptions(max_bad=0.4)).counts.rejected == 1
    (tmp_path / "b.csv").write_text("node,topic\n,b\n,c\n")
    with pytest.raises(InputError, match="2 of 2 rows are bad"):
        run(spark, [tmp_path / "b.csv"], tmp_path / "out", IngestOptions(max_bad=1))
    assert len(rows(tmp_path / "out", "subscriptions")) == 2, "the earlier output is still there"


def test_columns_in_another_order_and_of_another_number(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("node,topic\na,b\n")
    (tmp_path / "b.csv").write_text("\ufefftopic,more,node\nx,1,c\nx,d\n")
    (tmp_path / "c.csv").write_text("")
    made = run(spark, [tmp_path / "*.csv"], tmp_path / "out", LENIENT)
    assert [row[:2] for row in rows(tmp_path / "out", "subscriptions")] == [("a", "b"), ("c", "x")]
    assert (made.counts.rows, made.counts.rejected_by_reason) == (3, {"too few columns": 1})
    (tmp_path / "d.csv").write_text("node,what\na,b\n")
    with pytest.raises(InputError, match=r"d\.csv: no column 'topic'; it has 'node', 'what'"):
        run(spark, [tmp_path / "*.csv"], tmp_path / "out")
    with pytest.raises(InputError, match=r"d\.csv: its columns, node,what, are not those of the other files"):
        run(spark, [tmp_path / "[ad].csv"], tmp_path / "out", IngestOptions(graph="directed"))


def test_bytes_that_are_not_text(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"node,topic\na,b\ncaf\xe9,b\n")
    manifest = run(spark, [tmp_path / "a.csv"], tmp_path / "out", LENIENT)
    assert manifest.counts.rejected_by_reason == {"not UTF-8": 1}
    assert [row[:2] for row in rows(tmp_path / "out", "rejected")] == [("not UTF-8", "caf\ufffd,b")]


def test_places_that_cannot_be_read_or_written(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("node,topic\na,b\n")
    run(spark, [tmp_path / "a.csv"], tmp_path / "out")
    with pytest.raises(InputError, match="out: holds an interest already; give another place, or overwrite"):
        ingest(spark, [str(tmp_path / "a.csv")], str(tmp_path / "out"))
    (tmp_path / "a.csv.lz4").write_bytes(b"whatever")
    with pytest.raises(InputError, match=r"cannot read \.lz4"):
        run(spark, [tmp_path / "a.csv.lz4"], tmp_path / "new", IngestOptions(format="csv"))
    (tmp_path / "notes.doc").write_text("dear")
    with pytest.raises(InputError, match=r"notes\.doc: its name does not tell what it holds"):
        run(spark, [tmp_path / "notes.doc"], tmp_path / "new")
    for name, message in (("b.csv", "no such file"), ("*.tsv", "no file matches")):
        with pytest.raises(InputError, match=message):
            require_inputs([str(tmp_path / name)])
    assert not (tmp_path / "new").exists()


def test_the_fingerprint_is_what_spark_computes(spark: SparkSession) -> None:
    """Names of all lengths that xxHash treats in their own ways: parts of 32, 8, 4 and 1 bytes."""
    names = ["a", "é", "😀", *("x" * size + "ü" for size in range(40)), "long " * 50]
    pairs = [(node, topic) for i, node in enumerate(names) for topic in names[: i % 7]]
    frame = spark.createDataFrame(pairs, "node string, topic string")
    hashed = frame.select(functions.xxhash64("node"), functions.xxhash64("topic")).toDF("node", "topic")
    row = functions.xxhash64("node", "topic")
    halves = hashed.select(row.bitwiseAND(0xFFFFFFFF).alias("low"), functions.shiftrightunsigned(row, 32).alias("high"))
    low, high, count = (
        halves.groupBy()
        .agg({"low": "sum", "high": "sum", "*": "count"})
        .select("sum(low)", "sum(high)", "count(1)")
        .first()
    )
    assert digest(low + (high << 32), count) == Interest.from_pairs(pairs).fingerprint
    by_name = frame.select("node", functions.xxhash64("node").alias("hash")).distinct().collect()
    hashes = name_hashes([one["node"] for one in by_name]).view(np.int64)
    assert hashes.tolist() == [one["hash"] for one in by_name]
