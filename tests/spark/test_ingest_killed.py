"""An ingest that is killed while it writes over an interest: no reader takes what is there, and it can be repeated."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from reference.ingest import run
from topicloom.model import InputError, Interest
from topicloom.spark.ingest import ingest

# Kills itself as soon as the first rows of a table are there.
KILLED = """
import os, signal, sys, threading, time
from pathlib import Path
from topicloom.spark import SparkOptions, spark_session
from topicloom.spark.ingest import ingest

raw, out = sys.argv[1:]
before = set(Path(out).rglob("part-*"))

def watch():
    while not set(Path(out).rglob("part-*")) - before - set(Path(out, "manifest").rglob("*")):
        time.sleep(0.005)
    os.kill(os.getpid(), signal.SIGKILL)

threading.Thread(target=watch, daemon=True).start()
with spark_session(SparkOptions("local[1]", conf={"spark.driver.memory": "512m"}), "killed") as spark:
    ingest(spark, [raw], out, overwrite=True)
"""


def written(file: Path, seed: int) -> Interest:
    rng = random.Random(seed)
    pairs = [(f"node-{rng.randrange(500)}", f"topic-{rng.randrange(50)}") for _ in range(5000)]
    file.write_text("node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in pairs))
    return Interest.from_pairs(pairs)


@pytest.mark.slow
def test_a_killed_ingest_is_refused_by_readers_and_can_be_repeated(spark: SparkSession, tmp_path: Path) -> None:
    old, new = (written(tmp_path / f"{name}.csv", seed) for seed, name in enumerate(("old", "new")))
    out = tmp_path / "out"
    run(spark, [tmp_path / "old.csv"], out)
    assert Interest.read(out) == old
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "new.csv"), str(out)], check=False)
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(InputError, match="ingest the data again"):
        Interest.read(out)
    ingest(spark, [str(tmp_path / "new.csv")], str(out), overwrite=True)
    assert Interest.read(out) == new
