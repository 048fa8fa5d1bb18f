"""Ingest of roles and filters, and what commands on Spark make of the folder."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from reference.ingest import run
from topicloom.designers import DESIGNERS, design
from topicloom.metrics import measure
from topicloom.model import InputError, Interest
from topicloom.spark import evaluate, read_interest, sample
from topicloom.spark.design import design_links
from topicloom.spark.ingest import IngestOptions

Rows = Sequence[tuple[str, str, str]]


def random_rows(seed: int) -> Rows:
    rng = random.Random(seed)
    roles = ("sub", "pub", "both", "")
    return [(f"n{rng.randrange(12)}", f"t{rng.randrange(15)}", rng.choices(roles, (3, 6, 1, 1))[0]) for _ in range(150)]


def write_rows(file: Path, rows: Rows, header: str = "node,topic,role") -> Path:
    file.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    return file


def kept_rows(folder: Path) -> list[dict[str, object]]:
    return sorted(
        pq.read_table(folder / "subscriptions").to_pylist(), key=lambda row: (row["node_id"], row["topic_id"])
    )


def test_the_folder_holds_the_interest_of_the_file(spark: SparkSession, tmp_path: Path) -> None:
    raw = random_rows(3)
    file = write_rows(tmp_path / "raw.csv", raw)
    manifest = run(spark, [file], tmp_path / "out")
    expected, found = Interest.read(file), Interest.read(tmp_path / "out")
    assert found == expected
    assert found.to_arrow() == expected.to_arrow()
    assert manifest.fingerprint == expected.fingerprint
    wanted = {topic for _, topic, role in raw if role != "pub"}
    assert manifest.counts.unheard == sum(topic not in wanted for _, topic, _ in raw) > 0
    distinct = {(node, topic) for node, topic, _ in raw if topic in wanted}
    assert manifest.counts.repeats == len(raw) - manifest.counts.unheard - len(distinct)
    assert [row["role"] for row in kept_rows(tmp_path / "out")] == found.to_arrow()["role"].to_pylist()


def test_every_format_has_roles_and_rows_without_one_do_both(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("event,node,topic\npublish,a,x\n,b,x\n")
    (tmp_path / "b.jsonl").write_text('{"node":"c","topic":"x","event":"subscribe"}\n{"node":"d","topic":"x"}\n')
    run(spark, [tmp_path / "a.csv", tmp_path / "b.jsonl"], tmp_path / "out", IngestOptions(role_column="event"))
    roles = {row["node"]: row["role"] for row in kept_rows(tmp_path / "out")}
    assert roles == {"a": "pub", "b": "both", "c": "sub", "d": "both"}
    again = IngestOptions(header=False, role_column="3", where="_1 != 'd'")
    pq_rows = pq.read_table(tmp_path / "out" / "subscriptions")
    pq.write_table(pq_rows.select(["node", "topic", "role"]), tmp_path / "c.parquet")
    run(spark, [tmp_path / "c.parquet"], tmp_path / "second")
    assert kept_rows(tmp_path / "second") == kept_rows(tmp_path / "out")
    write_rows(tmp_path / "d.csv", [("c", "x", "sub"), ("d", "x", "pub")], "a,x,pub")
    run(spark, [tmp_path / "d.csv"], tmp_path / "third", again)
    assert [(row["node"], row["role"]) for row in kept_rows(tmp_path / "third")] == [("a", "pub"), ("c", "sub")]
    run(spark, [tmp_path / "c.parquet"], tmp_path / "fourth", IngestOptions(role_column=""))
    assert "role" not in kept_rows(tmp_path / "fourth")[0]


def test_bad_roles_and_filters_are_rejected(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("a", "p/#", "sub"), ("b", "p/#/x", "sub"), ("c", "p+", "sub"), ("d", "p/x", "reader"), ("e", "p/x", "pub")]
    file = write_rows(tmp_path / "raw.csv", rows)
    manifest = run(spark, [file], tmp_path / "out", IngestOptions(filters="mqtt", max_bad=0.9))
    assert manifest.counts.rejected_by_reason == {"malformed filter": 2, "unknown role": 1}
    assert manifest.counts.unheard == 0
    found = Interest.read(tmp_path / "out")
    assert found.topic_names == ("p/#",)
    assert [found.node_names[node] for node in found.nodes_of(0)] == ["a", "e"]
    with pytest.raises(
        InputError, match=r"says that topics have wildcards of mqtt, so filters cannot be nats; leave filters out$"
    ):
        Interest.read(tmp_path / "out", filters="nats")
    with pytest.raises(InputError, match="topics with wildcards are not for Spark"):
        evaluate(read_interest(spark, str(tmp_path / "out")), spark.createDataFrame([], "source string, target string"))


WILD = [("a", "p/#"), ("b", "p/1"), ("c", "p/2")]


def test_files_say_their_filters(spark: SparkSession, tmp_path: Path) -> None:
    text = "# filters=mqtt\nnode,topic\n" + "".join(f"{node},{topic}\n" for node, topic in WILD)
    (tmp_path / "a.csv").write_text("\ufeff" + text)
    (tmp_path / "b.tsv").write_text(text.replace(",", "\t").replace("p/", "q/"))
    Interest.from_pairs(WILD, filters="mqtt").write(tmp_path / "c.parquet")
    for name, topics in (("a.csv", ["p/#"]), ("b.tsv", ["q/#"]), ("c.parquet", ["p/#"]), ("", ["p/#", "q/#"])):
        manifest = run(spark, [tmp_path / name] if name else sorted(tmp_path.glob("?.*")), tmp_path / "out")
        assert manifest.options["filters"] == "mqtt"
        assert (manifest.counts.rejected, manifest.counts.nodes) == (0, 3)
        assert list(Interest.read(tmp_path / "out").topic_names) == topics
    with pytest.raises(InputError, match=r"a\.csv: says that topics have wildcards of mqtt, so filters cannot be nats"):
        run(spark, [tmp_path / "a.csv"], tmp_path / "out", IngestOptions(filters="nats"))
    run(spark, [tmp_path / "a.csv"], tmp_path / "out", IngestOptions(where="node != 'b'"))
    assert Interest.read(tmp_path / "out").node_names == ("a", "c")


def test_a_line_of_filters_that_comes_alone(spark: SparkSession, tmp_path: Path) -> None:
    """Batches of Spark may end anywhere, also between that line and the header."""
    lines = [f"n{number},t/{number}" for number in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["# filters=mqtt", "node,topic", *lines]) + "\n")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1)
    try:
        manifest = run(spark, [tmp_path / "a.csv"], tmp_path / "out")
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert (manifest.counts.rows, manifest.counts.rejected, manifest.counts.nodes) == (40, 0, 40)


def test_wildcards_that_nothing_is_said_of(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "raw.csv"
    file.write_text("node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in WILD))
    with pytest.raises(InputError) as refused:
        run(spark, [file], tmp_path / "out")
    problem = "topic 'p/#' has a wildcard of mqtt; give filters mqtt, or filters none for plain names"
    assert str(refused.value) == f"{file}: {problem}"
    assert not (tmp_path / "out").exists()
    run(spark, [file], tmp_path / "out", IngestOptions(filters="none"))
    found = Interest.read(tmp_path / "out")
    assert (found.topic_names, found.filters) == (("p/#", "p/1", "p/2"), None)
    part = sample(read_interest(spark, str(tmp_path / "out")), 3)
    assert Interest.from_spark(part, filters="none") == found


def test_users_of_a_graph_are_no_wildcards(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("a,#\nb,#\n")
    run(spark, [tmp_path / "edges.csv"], tmp_path / "out", IngestOptions(header=False, graph="directed"))
    assert Interest.read(tmp_path / "out").topic_names == ("#",)


def test_nobody_subscribes(spark: SparkSession, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "raw.csv", [("a", "x", "pub")])
    with pytest.raises(InputError, match="all rows publish, and nobody subscribes to anything"):
        run(spark, [file], tmp_path / "out")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"role_column": "topic"}, "column 'topic' cannot hold both names and roles"),
        ({"role_column": "kind"}, "no column 'kind'"),
        ({"filters": "kafka"}, "unknown filters 'kafka'; known are mqtt, nats, amqp"),
        ({"filters": "mqtt", "graph": "directed"}, "graphs have neither roles nor filters"),
    ],
)
def test_refused_options(spark: SparkSession, tmp_path: Path, options: dict[str, str], message: str) -> None:
    file = write_rows(tmp_path / "raw.csv", [("a", "x", "sub")])
    with pytest.raises(InputError, match=message):
        run(spark, [file], tmp_path / "out", IngestOptions(**options))  # type: ignore[arg-type]


def test_spark_sees_the_roles(spark: SparkSession, tmp_path: Path) -> None:
    """Design and evaluate on Spark give what one machine does; a sample keeps roles."""
    folder = tmp_path / "fleet"
    run(spark, [write_rows(tmp_path / "raw.csv", random_rows(5))], folder)
    interest = Interest.read(folder)
    interned = read_interest(spark, str(folder))
    overlay = design_links(interned, DESIGNERS.prepare("backbone", 0, {"core_size": 4})).overlay
    assert set(overlay) == set(design(interest, "backbone", core_size=4))
    assert evaluate(interned, overlay).measures == measure(interest, design(interest, "backbone", core_size=4))
    roles = {(row["node"], row["topic"]): row["role"] for row in kept_rows(folder)}
    sampled = sample(interned, 6, seeds=2).collect()
    assert sampled
    assert all(row["role"] == roles[row["node"], row["topic"]] for row in sampled)
