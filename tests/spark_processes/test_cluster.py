"""The pipeline on executors that are processes of their own, and are lost; then another session in the same process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from effort import THOROUGH

# With Spark's own settings, code generation among them, on executors in processes of their own. One is killed while it
# reads; then a task fails, and the Java of the process is used once more. With --thorough another one is killed when
# what was read is needed again, and overlays are measured and swept there.
ON_A_CLUSTER = """
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
import pyarrow.parquet
import topicloom
from topicloom.io.whole import clear_left_over
from topicloom.model import InputError, Interest
from topicloom.spark import SparkOptions, evaluate, read_interest, spark_session
from topicloom.spark.ingest import ingest
from topicloom.spark.sweep import sweep

def broken(batches):
    raise KeyError("broken on purpose")

EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"

def processes(name):
    # Those below this one with the name in their command, and their parents.
    parents, named = {}, set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            named |= {int(process.name)} if name in (process / "cmdline").read_text().split("\\0") else set()
        except OSError:
            pass
    family = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return {pid: parents[pid] for pid in family & named}

def kill_one_that_reads():
    while not (reading := set(processes("pyspark.daemon").values()) & set(processes(EXECUTOR))):
        time.sleep(0.01)
    killed.append(reading.pop())
    os.kill(killed[-1], signal.SIGKILL)

def lose_executors(step):
    if step == "reading and cleaning":
        threading.Thread(target=kill_one_that_reads, daemon=True).start()
    elif step == "interning" and thorough:
        killed.append(min(processes(EXECUTOR)))
        os.kill(killed[-1], signal.SIGKILL)

folder, killed, thorough = Path(sys.argv[1]), [], sys.argv[2] == "True"
pairs = [(f"n{i % 90}", f"t{i % 40}") for i in range(2000)]
(folder / "raw").mkdir()
for name in "abcd":
    lines = "".join(f"{a},{b}\\n" for a, b in pairs)
    (folder / "raw" / f"{name}.csv").write_text(f"node,topic\\n{lines},x\\n")
conf = {"spark.driver.memory": "512m"}
try:
    with spark_session(SparkOptions("local-cluster[2,1,1024]", conf), "test") as spark:
        counts = ingest(spark, [str(folder / "raw")], str(folder / "out"), progress=lose_executors).counts
        assert len(killed) == 1 + thorough
        assert (counts.rows, counts.rejected, counts.subscriptions) == (8004, 4, len(set(pairs)))
        assert counts.rows == counts.rejected + counts.repeats + counts.subscriptions
        interest = Interest.read(folder / "out")
        assert interest == Interest.from_pairs(pairs)
        if thorough:
            overlay = topicloom.design(interest, "gpm", max_degree=2)
            found = evaluate(read_interest(spark, str(folder / "out")), overlay)
            assert found.measures == topicloom.measure(interest, overlay)
            spec = '[[workload]]\\nfile = "out"\\n[[designer]]\\nname = ["gm", "low-oda"]\\n'
            (folder / "grid.toml").write_text(spec)
            sweep(spark, folder / "grid.toml", str(folder / "results"))
            table = pyarrow.parquet.read_table(folder / "results" / "results.parquet")
            links = [len(topicloom.design(interest, name)) for name in table["designer"].to_pylist()]
            assert table["links"].to_pylist() == links and len(links) == 2
        spark.range(3).mapInArrow(broken, "id long").collect()
except InputError as error:
    print(error)
with spark_session(SparkOptions("local[1]"), "again") as spark:
    # As every other run does.
    clear_left_over(Path(tempfile.gettempdir()))
    print(spark.createDataFrame([(1,)], "n long").count())
"""


@pytest.mark.spark
def test_the_pipeline_on_a_cluster_that_loses_executors_and_silence(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", ON_A_CLUSTER, str(tmp_path), str(THOROUGH)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "SPARK_CONF_DIR": str(tmp_path / "conf")},
    )
    assert ended.stderr == ""
    assert ended.stdout == "Spark: KeyError: 'broken on purpose' (verbose shows more)\n1\n"
    assert ended.returncode == 0
