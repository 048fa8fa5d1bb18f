"""The session: its settings, its silence, its end, and one line if there is none."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

from topicloom.model import InputError
from topicloom.spark import SparkOptions, spark_session
from topicloom.spark.session import configuration, require_reachable


def run_python(code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, **variables},
    )


def test_a_session_that_is_there_is_used_and_left(spark: SparkSession) -> None:
    with spark_session(SparkOptions(master="local[7]"), "another") as again:
        assert again is spark
    assert spark.range(3).count() == 3


@pytest.mark.parametrize("scheme", ["s3a", "nope"])
def test_a_scheme_without_a_file_system(spark: SparkSession, scheme: str) -> None:
    said = f"no file system for {scheme}:// on the class path of Spark; give its package by conf spark.jars.packages="
    with pytest.raises(InputError, match=said), spark_session(SparkOptions(), "again") as again:
        again.read.parquet(f"{scheme}://bucket/fleet")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without settings; gives the folder of spark-defaults."""
    for name in ("SPARK_MASTER", "SPARK_LOCAL_DIRS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    return tmp_path


def settings_of(options: SparkOptions) -> dict[str, str]:
    return configuration(options, "name", Path("/scratch"))


def master(options: SparkOptions) -> str:
    return settings_of(options)["spark.master"]


def test_what_chooses_the_master(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert master(SparkOptions()) == "local[*]"
    (bare / "spark-defaults.conf").write_text("# ours\nspark.master   spark://defaults:7077\n")
    assert master(SparkOptions()) == "spark://defaults:7077"
    monkeypatch.setenv("SPARK_MASTER", "spark://environment:7077")
    assert master(SparkOptions()) == "spark://environment:7077"
    assert master(SparkOptions(conf={"spark.master": "local[3]"})) == "local[3]"
    assert master(SparkOptions(master="local[2]")) == "local[2]"
    assert "spark.master" not in settings_of(SparkOptions(remote="local[2]"))
    with pytest.raises(InputError, match="master and remote: give one of them"):
        SparkOptions(master="local[2]", remote="sc://host")


def test_what_is_given_wins_over_ours_and_spark_defaults_too(bare: Path) -> None:
    (bare / "spark-defaults.conf").write_text("spark.ui.enabled=true\nspark.driver.memory 3g\n")
    settings = settings_of(SparkOptions(conf={"spark.sql.adaptive.enabled": "false"}))
    assert settings["spark.sql.adaptive.enabled"] == "false"
    assert settings["spark.ui.enabled"] == "true"
    assert settings["spark.driver.memory"] == "3g"
    assert settings_of(SparkOptions(conf={"a": "b"}, remote="sc://host:1")) == {"a": "b"}


def test_java_compiles_quickly_for_little_data_unless_told_otherwise(bare: Path) -> None:
    def java(**conf: str) -> str:
        return settings_of(SparkOptions(conf=conf, little_data=True))["spark.driver.extraJavaOptions"]

    assert "-XX:TieredStopAtLevel=1" in java()
    assert java(**{"spark.driver.extraJavaOptions": "-Xss2m"}) == "-Xss2m"


def test_no_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with (
        pytest.raises(InputError, match=r"needs Spark: pip install 'topicloom\[spark\]'"),
        spark_session(SparkOptions(), "none"),
    ):
        pass


def test_an_old_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.5.1")
    with (
        pytest.raises(InputError, match=r"needs Spark 4\.1 or newer and pyspark is 3\.5\.1"),
        spark_session(SparkOptions(), "old"),
    ):
        pass


# Give what a session says if there is none.
REFUSED = """
import sys
from topicloom.model import InputError
from topicloom.spark import SparkOptions, spark_session
kind, where = sys.argv[1:]
try:
    with spark_session(SparkOptions(**{kind: where}), "test"):
        pass
except InputError as error:
    print(error)
"""


def refused(kind: str, where: str, **variables: str) -> str:
    ended = run_python(REFUSED, kind, where, **variables)
    assert ended.stderr == ""
    assert ended.stdout.count("\n") == 1
    return ended.stdout


def test_no_java(tmp_path: Path) -> None:
    assert "none was found, neither in JAVA_HOME nor in PATH; install Java 17" in refused(
        "master", "local[1]", JAVA_HOME=str(tmp_path)
    )


def test_old_java(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\nexit 1\n")
    java.chmod(0o755)
    said = refused("master", "local[1]", JAVA_HOME=str(tmp_path))
    assert "Spark needs Java 17 or newer" in said
    assert "is Java 11" in said


@pytest.mark.spark
def test_a_master_that_makes_no_sense() -> None:
    said = refused("master", "nonsense")
    assert said.startswith("master nonsense: ")
    assert "Master must" in said or "parse master URL" in said


def test_a_master_or_remote_that_does_not_listen() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for address in (f"spark://127.0.0.1:{port}", f"k8s://https://127.0.0.1:{port}", f"sc://127.0.0.1:{port}/;token=x"):
        with pytest.raises(InputError, match="cannot be reached"):
            require_reachable(address)
    with pytest.raises(InputError, match="is not HOST:PORT"):
        require_reachable("spark://host:port")


def test_a_remote_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topicloom.spark.session._ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(InputError, match=r"does not answer as a Spark Connect server does within 0\.2 s"):
            require_reachable(f"sc://127.0.0.1:{port}")
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    monkeypatch.setattr("topicloom.spark.session._ANSWER_SECONDS", 20)
    require_reachable(f"sc://127.0.0.1:{port}")
    server.stop(None)
