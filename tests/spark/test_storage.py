"""Every step on a file system that only Spark knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from topicloom import InputError, Interest, Overlay
from topicloom.designers import DESIGNERS
from topicloom.spark import clean, evaluate, intern, profile, read_interest, sample, sweep, write_interest
from topicloom.spark.design import design_links
from topicloom.spark.ingest import IngestOptions, ingest
from topicloom.spark.links import read_links
from topicloom.spark.stream import write_current


def test_the_pipeline(spark: SparkSession, mounted: Path) -> None:
    place = "viewfs://m/d"
    (mounted / "raw" / "day=1").mkdir(parents=True)
    (mounted / "raw" / "day=1" / "a.csv").write_text("node,topic\na,x\n b,x\n,x\n")
    (mounted / "raw" / "b.csv").write_text("topic,node\ny,a\nx,a\n")
    made = ingest(spark, [f"{place}/raw"], f"{place}/fleet", IngestOptions(max_bad=0.5))
    assert made.counts.rejected_by_reason == {"empty node": 1}
    fleet = read_interest(spark, f"{place}/fleet", verify=True)
    assert fleet.to_interest() == Interest.read(mounted / "fleet")
    assert profile(fleet).nodes == made.counts.nodes
    again = intern(clean(fleet.subscriptions.select("node", "topic")))
    assert again.totals == fleet.totals
    write_interest(again, f"{place}/again")
    with pytest.raises(InputError, match=f"^{place}/again: holds an interest already; give another place"):
        write_interest(again, f"{place}/again")
    write_interest(fleet, f"{place}/again", overwrite=True)
    assert read_interest(spark, f"{place}/again").totals == fleet.totals
    with pytest.raises(InputError, match=f"^{place}/none: holds no interest; give a place that"):
        read_interest(spark, f"{place}/none")
    designed = design_links(fleet, DESIGNERS.prepare("backbone", 0, {}))
    designed.write(f"{place}/overlay")
    assert Overlay.read(mounted / "overlay", fleet.to_interest()) == designed.overlay
    assert evaluate(fleet, read_links(fleet, f"{place}/overlay")).measures.topic_connected
    write_current(spark, Overlay.read(mounted / "overlay", fleet.to_interest()), f"{place}/now")
    assert Overlay.read(mounted / "now" / "overlay", fleet.to_interest()) == designed.overlay
    assert sample(fleet, 2).count() == fleet.totals.subscriptions
    spec = mounted / "grid.toml"
    spec.write_text('[[workload]]\nnodes = 5\ntopics = 3\nmin_topics = 2\n[[designer]]\nname = "ring-per-topic"\n')
    for _ in range(2):
        rows = sweep(spark, spec, f"{place}/results").collect()
        assert [(row["nodes"], row["error"]) for row in rows] == [(5, None)]
