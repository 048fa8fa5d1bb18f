"""The session: its settings, its silence, its end, and one line where it cannot be had."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from topicloom.model import InputError
from topicloom.spark import SparkOptions, spark_session
from topicloom.spark.session import configuration, find_java, require_reachable, spark_home, start_jvm, with_archive


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=300, check=False
    )


# The whole pipeline with an executor that is a process of its own, then fail in it. Its Java has the driver's archive.
ON_A_CLUSTER = """
import sys
from pathlib import Path
import pyarrow.parquet
import topicloom
from topicloom.model import InputError, Interest
from topicloom.spark import SparkOptions, ingest, spark_session
from topicloom.spark.evaluate import evaluate
from topicloom.spark.session import archive_file
from topicloom.spark.session import require_java, spark_home
from topicloom.spark.sweep import sweep

def broken(batches):
    raise KeyError("broken on purpose")

folder = Path(sys.argv[1])
pairs = [(f"n{i % 90}", f"t{i % 40}") for i in range(2000)]
(folder / "raw.csv").write_text("node,topic\\n" + "".join(f"{a},{b}\\n" for a, b in pairs))
archive = archive_file(spark_home(), require_java())
java = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:SharedArchiveFile={archive}"
conf = {"spark.executor.extraJavaOptions": java}
try:
    with spark_session(SparkOptions("local-cluster[1,1,1024]", conf, driver_memory="512m"), "test") as spark:
        ingest(spark, [folder / "raw.csv"], folder / "out")
        interest = Interest.read(folder / "out")
        assert interest == Interest.from_pairs(pairs)
        overlay = topicloom.design(interest, "gpm", max_degree=2)
        overlay.write(folder / "overlay.parquet")
        measures = evaluate(spark, folder / "out", folder / "overlay.parquet").measures
        assert measures == topicloom.measure(interest, overlay)
        (folder / "grid.toml").write_text('[[workload]]\\nfile = "out"\\n[[designer]]\\nname = ["gm", "low-oda"]\\n')
        sweep(spark, folder / "grid.toml", folder / "results")
        table = pyarrow.parquet.read_table(folder / "results" / "results.parquet")
        links = [len(topicloom.design(interest, name)) for name in table["designer"].to_pylist()]
        assert table["links"].to_pylist() == links and len(links) == 2
        spark.range(3).mapInArrow(broken, "id long").collect()
except InputError as error:
    print(error)
"""


@pytest.mark.spark
def test_the_pipeline_on_executors_in_processes_of_their_own_and_silence(tmp_path: Path) -> None:
    ended = run_python(ON_A_CLUSTER, str(tmp_path))
    assert ended.stderr == ""
    assert ended.stdout == "Spark: KeyError: 'broken on purpose' (verbose shows more)\n"
    assert ended.returncode == 0


def test_a_session_that_is_there_is_used_and_left(spark: SparkSession) -> None:
    with spark_session(SparkOptions(master="local[7]"), "another") as again:
        assert again.sparkContext is spark.sparkContext
    assert spark.range(3).count() == 3


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine where nothing is set; gives the folder of spark-defaults."""
    for name in ("SPARK_MASTER", "SPARK_LOCAL_DIRS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    return tmp_path


def master(options: SparkOptions) -> str:
    return configuration(options, "name", "/nowhere", Path("/scratch"))["spark.master"]


def test_who_chooses_the_master(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert master(SparkOptions()) == "local[*]"
    (bare / "spark-defaults.conf").write_text("# ours\nspark.master   spark://defaults:7077\n")
    assert master(SparkOptions()) == "spark://defaults:7077"
    monkeypatch.setenv("SPARK_MASTER", "spark://environment:7077")
    assert master(SparkOptions()) == "spark://environment:7077"
    assert master(SparkOptions(conf={"spark.master": "local[3]"})) == "local[3]"
    assert master(SparkOptions(master="local[2]")) == "local[2]"


def test_what_is_given_wins_over_ours_and_spark_defaults_too(bare: Path) -> None:
    (bare / "spark-defaults.conf").write_text("spark.ui.enabled=true\nspark.driver.memory 3g\n")
    settings = configuration(
        SparkOptions(conf={"spark.sql.adaptive.enabled": "false"}), "name", "/nowhere", Path("/scratch")
    )
    assert settings["spark.sql.adaptive.enabled"] == "false"
    assert settings["spark.ui.enabled"] == "true"
    assert settings["spark.driver.memory"] == "3g"
    settings = configuration(SparkOptions(driver_memory="5g"), "name", "/nowhere", Path("/scratch"))
    assert settings["spark.driver.memory"] == "5g"


def test_java_compiles_quickly_for_little_data_unless_told_otherwise(bare: Path) -> None:
    def java(**conf: str) -> str:
        options = SparkOptions(conf=conf, little_data=True)
        return configuration(options, "name", "/nowhere", Path("/scratch"))["spark.driver.extraJavaOptions"]

    assert "-XX:TieredStopAtLevel=1" in java()
    assert java(**{"spark.driver.extraJavaOptions": "-Xss2m"}) == "-Xss2m"


def test_a_session_has_the_settings_of_spark_defaults(spark: SparkSession) -> None:
    """As those of all tests do: tests/spark/conf."""
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert spark.conf.get("spark.sql.codegen.wholeStage") == "false"


def test_no_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with (
        pytest.raises(InputError, match=r"needs Spark: pip install 'topicloom\[spark\]'"),
        spark_session(SparkOptions(), "none"),
    ):
        pass


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with (tmp_path / "log").open("w") as log, pytest.raises(InputError, match=r"none was found.*openjdk-17-jre"):
        start_jvm({"spark.master": "local[1]"}, tmp_path, log)


def test_old_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with (tmp_path / "log").open("w") as log, pytest.raises(InputError, match=r"17 or newer.*is Java 11"):
        start_jvm({"spark.master": "local[1]"}, tmp_path, log)


@pytest.mark.spark
def test_a_master_that_makes_no_sense(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log, pytest.raises(InputError, match="Master must"):
        start_jvm(with_archive({"spark.master": "nonsense"}, spark_home(), find_java()), tmp_path, log)


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for address in (f"spark://127.0.0.1:{port}", f"k8s://https://127.0.0.1:{port}"):
        with pytest.raises(InputError, match="cannot be reached"):
            require_reachable(address)
    with pytest.raises(InputError, match="is not HOST:PORT"):
        require_reachable("spark://host:port")


SILENT_MASTER = """
import sys
from topicloom.model import InputError
from topicloom.spark import session
from topicloom.spark import SparkOptions
session._ANSWER_SECONDS = 3
try:
    with session.spark_session(SparkOptions(master=sys.argv[1], driver_memory="512m"), "test"):
        pass
except InputError as error:
    print(error)
"""


@pytest.mark.spark
def test_a_master_that_does_not_answer() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        began = time.monotonic()
        ended = run_python(SILENT_MASTER, f"spark://127.0.0.1:{listening.getsockname()[1]}")
    assert ended.stderr == ""
    assert "does not answer as a Spark master does" in ended.stdout
    assert time.monotonic() - began < 60
