"""The same code on Spark Connect, on a file system that only Spark knows, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ON_CONNECT = """
import json
import sys
from pathlib import Path
from topicloom import InputError, Interest
from topicloom.spark import SparkOptions, clean, design, evaluate, intern, profile, read_interest, sample
from topicloom.spark import spark_session, sweep, write_interest
from topicloom.spark.ingest import IngestOptions, ingest

folder = Path(sys.argv[1])
conf = {"spark.hadoop.fs.viewfs.mounttable.m.link./d": folder.as_uri(), "spark.driver.memory": "1g"}
place = "viewfs://m/d"
with spark_session(SparkOptions(remote="local[2]", conf=conf), "connect") as spark:
    assert "connect" in type(spark).__module__
    made = ingest(spark, [f"{place}/raw"], f"{place}/fleet", IngestOptions(max_bad=0.5))
    print(json.dumps({"fingerprint": made.fingerprint, "rejected": dict(made.counts.rejected_by_reason)}))
    fleet = read_interest(spark, f"{place}/fleet", verify=True)
    assert fleet.to_interest() == Interest.read(folder / "fleet")
    assert profile(fleet).nodes == made.counts.nodes
    cleaned = clean(fleet.subscriptions.select("node", "topic"))
    again = intern(cleaned)
    assert again.totals == fleet.totals
    write_interest(again, f"{place}/again")
    try:
        write_interest(again, f"{place}/again")
    except InputError as error:
        print(error)
    write_interest(fleet, f"{place}/again", overwrite=True)
    assert read_interest(spark, f"{place}/again").totals == fleet.totals
    try:
        read_interest(spark, f"{place}/none")
    except InputError as error:
        print(error)
    assert evaluate(fleet, design(fleet)).measures.topic_connected
    assert sample(fleet, 2).count() == fleet.totals.subscriptions
    for _ in range(2):
        rows = sweep(spark, folder / "grid.toml", f"{place}/results").collect()
        assert [(row["nodes"], row["error"]) for row in rows] == [(5, None)]
"""


@pytest.mark.spark
def test_the_pipeline_on_connect_and_a_file_system_of_spark(tmp_path: Path) -> None:
    (tmp_path / "raw" / "day=1").mkdir(parents=True)
    (tmp_path / "raw" / "day=1" / "a.csv").write_text("node,topic\na,x\n b,x\n,x\n")
    (tmp_path / "raw" / "b.csv").write_text("topic,node\ny,a\nx,a\n")
    workload = "[[workload]]\nnodes = 5\ntopics = 3\nmin_topics = 2\n"
    (tmp_path / "grid.toml").write_text(workload + '[[designer]]\nname = "ring-per-topic"\n')
    ended = subprocess.run(
        [sys.executable, "-c", ON_CONNECT, str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    made, refused, missing = ended.stdout.splitlines()
    assert '"rejected": {"empty node": 1}' in made
    assert refused == "viewfs://m/d/again: holds an interest already; give another place, or overwrite"
    assert missing.startswith("viewfs://m/d/none: holds no interest; give a place that")
