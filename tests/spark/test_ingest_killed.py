"""Runs that end before they should: the output is the old one or the new one, whole."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from effort import THOROUGH
from topicloom.io.whole import replacing_folder
from topicloom.model import InputError, Interest
from topicloom.spark import IngestOptions
from topicloom.spark.ingest import ingest

# Kills itself at a moment: when a step begins, or as soon as a file like the one named is there.
KILLED = """
import os, signal, sys, threading, time
from pathlib import Path
from topicloom.spark.ingest import ingest
from topicloom.spark import IngestOptions, SparkOptions, spark_session

raw, out, moment = sys.argv[1:]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def watch():
    while not list(Path(out).parent.glob(f".{Path(out).name}.*.part/new/{moment}")):
        time.sleep(0.005)
    die()

threading.Thread(target=watch, daemon=True).start()
with spark_session(SparkOptions("local[1]", driver_memory="512m"), "killed") as spark:
    ingest(spark, [raw], out, IngestOptions(), lambda step: step == moment and die())
"""
MOMENTS = ("interning and writing", *(("staged/notes/*", "subscriptions/part-*") if THOROUGH else ()))


def write_rows(file: Path, seed: int) -> Interest:
    rng = random.Random(seed)
    pairs = [(f"node-{rng.randrange(500)}", f"topic-{rng.randrange(50)}") for _ in range(5000)]
    file.write_text("node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in pairs))
    return Interest.from_pairs(pairs)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_killed_runs_leave_the_old_output_and_can_be_repeated(spark: SparkSession, tmp_path: Path) -> None:
    old = write_rows(tmp_path / "old.csv", 1)
    new = write_rows(tmp_path / "new.csv", 2)
    ingest(spark, [tmp_path / "old.csv"], tmp_path / "out-0")
    outs = [tmp_path / f"out-{number}" for number, _ in enumerate(MOMENTS)]
    for out in outs[1:]:
        shutil.copytree(outs[0], out)
    runs = [
        subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "new.csv"), str(out), moment])
        for out, moment in zip(outs, MOMENTS, strict=True)
    ]
    assert [run.wait(300) for run in runs] == [-signal.SIGKILL] * len(MOMENTS)
    for out in outs:
        assert Interest.read(out) == old, "the old output is whole"
    assert list(tmp_path.glob(".out-*.part")), "killed runs leave something to clear"
    ingest(spark, [tmp_path / "new.csv"], tmp_path / "undisturbed")
    assert Interest.read(tmp_path / "undisturbed") == new
    for out in outs:
        ingest(spark, [tmp_path / "new.csv"], out)
        assert contents(out) == contents(tmp_path / "undisturbed")
    assert not list(tmp_path.glob(".out-*")), "what they left is cleared"


REPLACING = """
import os, signal, sys
from pathlib import Path
from topicloom.io import whole

place = whole._put_in_place
def dying(temporary, target):
    if sys.argv[2] == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    place(temporary, target)
    os.kill(os.getpid(), signal.SIGKILL)
whole._put_in_place = dying
with whole.replacing_folder(sys.argv[1]) as new:
    (new / "manifest.json").write_text('{"fingerprint": "new"}')
"""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_folder_is_replaced_at_once(tmp_path: Path, moment: str) -> None:
    out = tmp_path / "out"
    for text in ("old", "newer"):
        with replacing_folder(out) as folder:
            (folder / "manifest.json").write_text(f'{{"fingerprint": "{text}"}}')
    ended = subprocess.run([sys.executable, "-c", REPLACING, str(out), moment], check=False)
    assert ended.returncode == -signal.SIGKILL
    wanted = "newer" if moment == "before" else "new"
    assert wanted in (out / "manifest.json").read_text()
    assert len(list(tmp_path.iterdir())) == 2
    with replacing_folder(out) as folder:
        (folder / "manifest.json").write_text('{"fingerprint": "last"}')
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_errors_leave_nothing(spark: SparkSession, tmp_path: Path) -> None:
    write_rows(tmp_path / "raw.csv", 1)

    def stop(step: str) -> None:
        if step == "interning and writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(spark, [tmp_path / "raw.csv"], tmp_path / "out", IngestOptions(), stop)
    (tmp_path / "raw.csv.gz").write_bytes(b"this is not gzip")
    with pytest.raises(Exception, match=r"(?s).+"):
        ingest(spark, [tmp_path / "raw.csv.gz"], tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw.csv", "raw.csv.gz"]


def test_files_cannot_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(InputError, match="is a file"), replacing_folder(tmp_path / "out"):
        pass
