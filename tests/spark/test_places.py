"""Places: what is written, what is refused, and what a session is like afterwards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

import topicloom.spark
from reference.ingest import run
from reference.sessions import persisted
from topicloom import InputError, Interest, Overlay
from topicloom.designers import DESIGNERS
from topicloom.spark import Interned, clean, intern, profile, read_interest, sweep, write_interest
from topicloom.spark.design import design_links
from topicloom.spark.ingest import IngestOptions
from topicloom.spark.intern import keeping
from topicloom.spark.links import read_links

SPEC = '[[workload]]\nnodes = 5\ntopics = 3\nmin_topics = 2\n[[designer]]\nname = ["gm", "ring-per-topic"]\n'
INTEREST = Interest.from_pairs([("b", "x"), ("a", "x"), ("é", "y"), ("a", "y")])


def test_tables_of_the_catalog(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE DATABASE places LOCATION '{tmp_path.as_uri()}/places'")
    try:
        write_interest(Interned.of(spark, INTEREST), "table:places.fleet")
        assert read_interest(spark, "table:places.fleet", verify=True).to_interest() == INTEREST
        with pytest.raises(InputError, match=r"table:places\.fleet: holds an interest already"):
            write_interest(Interned.of(spark, INTEREST), "table:places.fleet")
        with pytest.raises(InputError, match="holds no interest"):
            read_interest(spark, "table:places.none")
        fleet = read_interest(spark, "table:places.fleet")
        designed = design_links(fleet, DESIGNERS.prepare("backbone", 0, {}))
        for at in range(2):
            designed.write("table:places.overlay", overwrite=at > 0)
        with pytest.raises(InputError, match=r"table:places\.overlay: holds an overlay already"):
            designed.write("table:places.overlay")
        with pytest.raises(InputError, match=r"table:places\.fleet: holds an interest; give another place"):
            designed.write("table:places.fleet", overwrite=True)
        with pytest.raises(InputError, match=r"table:places\.overlay: holds an overlay, not an interest"):
            read_interest(spark, "table:places.overlay")
        for place in ("table:places.overlay", "table:places.overlay_links"):
            links = read_links(fleet, place)
            assert Overlay.from_arrow(INTEREST, links.toArrow()) == designed.overlay
        for place, says in (("table:places.no", "no such file, folder or table"), ("table:", "names no table")):
            with pytest.raises(InputError, match=f"^{place}: {says}"):
                read_links(fleet, place)
        (tmp_path / "spec.toml").write_text(SPEC)
        first, again = (sweep(spark, tmp_path / "spec.toml", "table:places.swept").collect() for _ in range(2))
        assert first == again == spark.table("places.swept_results").collect()
        assert spark.table("places.swept_cells").count() == 2
    finally:
        spark.sql("DROP DATABASE places CASCADE")


def test_a_run_that_ended_between_tables_and_manifest(spark: SparkSession, tmp_path: Path) -> None:
    place = str(tmp_path / "fleet")
    write_interest(Interned.of(spark, INTEREST), place)

    half = Interned.of(spark, INTEREST)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("topicloom.spark.places.Place.write", _failing_after(2))
        with pytest.raises(KeyboardInterrupt):
            write_interest(half, place, overwrite=True)
    for read in (lambda: read_interest(spark, place), lambda: Interest.read(place)):
        with pytest.raises(InputError, match="was not written to its end, or is being written; ingest the data again"):
            read()
    write_interest(half, place, overwrite=True)
    assert Interest.read(place) == read_interest(spark, place, verify=True).to_interest() == INTEREST


def _failing_after(tables: int):  # type: ignore[no-untyped-def]
    from topicloom.spark.places import Place

    write = Place.write
    written: list[object] = []

    def failing(self: Place, *arguments: object) -> None:
        if len(written) == tables:
            raise KeyboardInterrupt
        written.append(arguments)
        write(self, *arguments)  # type: ignore[arg-type]

    return failing


def test_lost_rows_are_missed(spark: SparkSession, tmp_path: Path) -> None:
    write_interest(Interned.of(spark, INTEREST), str(tmp_path / "fleet"))
    fewer = Interned.of(spark, Interest.from_pairs([("a", "x")]))
    fewer.subscriptions.write.mode("overwrite").parquet(str(tmp_path / "fleet" / "subscriptions"))
    with pytest.raises(InputError, match="subscriptions: has 1 rows and its manifest says 4; ingest the data again"):
        read_interest(spark, str(tmp_path / "fleet"))


def test_files_beside_folders_that_name_columns_are_read_too(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads what lies at other depths of such folders as nothing, without a word."""
    raw = tmp_path / "raw"
    files = {"day=1/a": "n1", "day=2/hour=3/b": "n2", "c": "n3", "other/d": "n4", "day=4/other/e": "n5"}
    for name, node in files.items():
        (raw / name).parent.mkdir(parents=True, exist_ok=True)
        (raw / f"{name}.csv").write_text(f"node,topic\n{node},x\n")
    made = run(spark, [raw], tmp_path / "out")
    assert (made.files, made.counts.rows, made.counts.nodes) == (5, 5, 5)


def test_options_of_readers_and_columns_of_partitions(spark: SparkSession, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    (raw / "site=oslo").mkdir(parents=True)
    (raw / "site=oslo" / "a.csv").write_text("node,topic\na,x\nb,x\n")
    by_site = IngestOptions(node_column="site", where="node = 'a'")
    made = run(spark, [raw], tmp_path / "sites", by_site)
    assert Interest.read(tmp_path / "sites").node_names == ("oslo",)
    assert (made.counts.rows, made.counts.filtered) == (2, 1)
    (tmp_path / "b.csv").write_text('other;topic;node\n1;"x\ny";a\n2;z;b\n3\n')
    lines = IngestOptions(separator=";", reader={"multiLine": "true"}, max_bad=0.5)
    made = run(spark, [tmp_path / "b.csv"], tmp_path / "lines", lines)
    assert Interest.read(tmp_path / "lines").topic_names == ("x\ny", "z")
    assert made.counts.rejected_by_reason == {"malformed row": 1}
    frame = spark.createDataFrame([("a", "x")], "node string, topic string")
    frame.write.orc(str(tmp_path / "orc"))
    run(spark, [tmp_path / "orc"], tmp_path / "from-orc")
    assert Interest.read(tmp_path / "from-orc") == Interest.from_pairs([("a", "x")])


def test_nothing_is_left_in_the_session(spark: SparkSession, tmp_path: Path) -> None:
    before, settings = persisted(spark), spark.conf.getAll
    (tmp_path / "a.csv").write_text("node,topic\na,x\n b,x\n,y\n")
    run(spark, [tmp_path / "a.csv"], tmp_path / "fleet", IngestOptions(max_bad=0.5))
    fleet = read_interest(spark, str(tmp_path / "fleet"))
    profile(fleet)
    with keeping() as keep:
        again = intern(clean(fleet.subscriptions, keep=keep), keep=keep)
        assertDataFrameEqual(again.subscriptions, fleet.subscriptions)
    assert persisted(spark) <= before
    assert spark.conf.getAll == settings


def test_names_that_hold_replaced_bytes_and_odd_spaces(spark: SparkSession) -> None:
    rows = [("\u00a0a\u3000", "cafe\u0301"), ("a", "café"), ("b\ufffd", "x"), ("c", None), ("x" * 1025, "x")]
    cleaned = clean(spark.createDataFrame(rows, "node string, topic string"))
    assert [tuple(row) for row in cleaned.pairs.collect()] == [("a", "café", 2)]
    assert cleaned.tally.rejected_by_reason == {"missing topic": 1, "not UTF-8": 1, "over-long node": 1}


PRIVATE = re.compile(r"\b_jvm\b|\b_jsc\b|\bsparkContext\b|\.rdd\b|\b_active_spark_context\b|\b_gateway\b")


def test_the_sources_use_what_connect_has_too() -> None:
    for file in sorted(Path(topicloom.spark.__file__).parent.glob("*.py")):
        assert not PRIVATE.findall(file.read_text(encoding="utf-8")), file
