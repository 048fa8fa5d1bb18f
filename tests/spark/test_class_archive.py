"""The archive of Spark's classes: used where it is there, and in nobody's way."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from topicloom.cli import prepare
from topicloom.cli.main import run
from topicloom.spark.session import (
    archive_file,
    conf_folder,
    making,
    require_java,
    seconds_to_end,
    spark_home,
    with_archive,
)

OPTIONS = "spark.driver.extraJavaOptions"


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "java").touch()
    return str(tmp_path / "java")


def test_an_archive_is_used_where_it_is_there(java: str) -> None:
    settings = {OPTIONS: "-XX:+UseSerialGC"}
    assert with_archive(settings, "spark", java) == settings
    archive = archive_file("spark", java)
    archive.parent.mkdir(parents=True)
    archive.touch()
    assert with_archive(settings, "spark", java) == {OPTIONS: f"-XX:+UseSerialGC -XX:SharedArchiveFile={archive}"}
    assert with_archive(settings, "other spark", java) == settings
    assert with_archive(settings, "spark", None) == settings
    for told in ("-XX:SharedArchiveFile=mine.jsa", "-XX:ArchiveClassesAtExit=mine.jsa"):
        assert with_archive({OPTIONS: told}, "spark", java) == {OPTIONS: told}


def test_another_java_has_another_archive(java: str) -> None:
    before = archive_file("spark", java)
    assert archive_file("spark", java) == before
    Path(java).write_text("new")
    assert archive_file("spark", java) != before


def test_java_may_take_longer_to_end_where_it_writes_one(tmp_path: Path) -> None:
    assert seconds_to_end(making(tmp_path / "classes.jsa")) > seconds_to_end({OPTIONS: "-XX:+UseSerialGC"})


def test_only_settings_that_java_is_given_anyway_are_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-defaults.conf").touch()
    assert conf_folder("/spark") == {"SPARK_CONF_DIR": "/spark/conf"}
    (tmp_path / "log4j2.properties").touch()
    assert conf_folder("/spark") == {}
    monkeypatch.delenv("SPARK_CONF_DIR")
    assert conf_folder("/spark") == {}


def test_without_java_prepare_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prepare, "_compile", lambda working: None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert run(["prepare"]) == 0
    told = "Spark starts as before: Spark needs Java and none was found, neither in JAVA_HOME nor in PATH; install "
    assert capsys.readouterr().out.splitlines()[-1].startswith(told)


def test_a_session_uses_it_where_it_was_made(spark: SparkSession) -> None:
    """As `./dev test` does before it starts; without it, sessions start without."""
    arguments = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
    used = any("SharedArchiveFile" in argument for argument in arguments)
    assert used == archive_file(spark_home(), require_java()).is_file()
