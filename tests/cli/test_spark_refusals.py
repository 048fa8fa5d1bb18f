"""Wrong input to commands that run on Spark: one line, status 2, nothing written; before Spark starts where it can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from command_line import Cli, Ended

from topicloom.io.ingest_folder import IngestedManifest, TableCounts, write_manifest


@pytest.fixture
def refused(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command that must be refused; give its one line. Spark must not start, unless the test allows it."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> str:
        before = sorted(tmp_path.rglob("*"))
        ended: Ended = cli(*arguments)
        assert (ended.status, ended.out) == (2, ""), ended
        assert ended.err.count("\n") == 1, ended.err
        assert sorted(tmp_path.rglob("*")) == before
        return ended.err.removeprefix("topicloom: ").rstrip("\n")

    return call


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*arguments: Any) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("topicloom.cli.spark_work._Holder.__init__", started)


@pytest.mark.usefixtures("no_spark")
def test_ingest(refused: Any, tmp_path: Path) -> None:
    (tmp_path / "subs.csv").write_text("node,topic\na,x\n")
    out = ["--out", "fleet"]
    assert "none.csv" in refused("spark", "ingest", "none.csv", *out)
    assert refused("spark", "ingest", *out).startswith("INPUT... is missing: files, folders or patterns")
    assert refused("spark", "ingest", "subs.csv").startswith("--out is missing")
    assert refused("spark", "ingest", "subs.csv", *out, "--max-bad", 2) == "--max-bad 2.0: expected a share from 0 to 1"
    assert refused("spark", "ingest", "subs.csv", *out, "--include-self").startswith("--include-self: only for graphs")
    assert refused("spark", "ingest", "subs.csv", *out, "--graph", "both").startswith(
        "--graph: 'both' is not one of 'directed'"
    )
    assert "expected one character" in refused("spark", "ingest", "subs.csv", *out, "--separator", "ab")
    assert "is a file" in refused("spark", "ingest", "subs.csv", "--out", "subs.csv")


@pytest.mark.usefixtures("no_spark")
def test_folders_that_are_none(refused: Any, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    overlay = tmp_path / "overlay.parquet"
    pyarrow.parquet.write_table(pa.table({"source": ["a"], "target": ["b"]}), overlay)
    for command in (
        ["spark", "measure", "{}", overlay],
        ["spark", "profile", "{}"],
        ["spark", "sample", "{}", "--nodes", 3, "--out", "part"],
    ):
        for folder, wrong in (("none", "none: no such folder; give one that"), ("folder", "folder: has no ")):
            assert refused(*(folder if one == "{}" else one for one in command)).startswith(wrong)


@pytest.mark.usefixtures("no_spark")
def test_sweep(refused: Any, tmp_path: Path) -> None:
    assert refused("spark", "sweep", "none.toml", "--out", "out") == "none.toml: no such file"
    (tmp_path / "spec.toml").write_text("[[workload]]\nnodes = 3\n")
    assert refused("spark", "sweep", "spec.toml", "--out", "out") == (
        'spec.toml: has no designer; add a table that begins with [[designer]], for instance name = "gm"'
    )
    good = '[[workload]]\nnodes = 3\ntopics = 2\nmin_topics = 1\n[[designer]]\nname = "gm"\n'
    (tmp_path / "spec.toml").write_text(good)
    assert refused("spark", "sweep", "spec.toml", "--out", ".").startswith(".: holds other files")
    (tmp_path / "spec.toml").write_text(good.replace("nodes = 3\ntopics = 2\nmin_topics = 1", 'file = "spec.toml"'))
    assert refused("spark", "sweep", "spec.toml", "--out", "out").startswith("spec.toml: unknown kind of file .toml")


@pytest.mark.usefixtures("no_spark")
def test_sample_and_profile(refused: Any, tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    for part in ("subscriptions", "nodes", "topics"):
        (fleet / part).mkdir(parents=True)
    write_manifest(fleet, IngestedManifest("1-2", TableCounts(0, 0, 0)))
    sample = ["spark", "sample", "fleet", "--nodes", 3]
    assert refused(*sample).startswith("--out is missing")
    assert "is read by this command" in refused(*sample, "--out", "fleet")
    assert refused(*sample, "--uniform", "--seeds", 2, "--out", "part").startswith(
        "--seeds are of no use with --uniform"
    )
    assert refused("spark", "profile", "fleet", "--out", "fleet") == "fleet: is there already; give a new folder"
    assert refused("spark", "profile", "fleet", "--out", "none/p") == "none/p: the folder none does not exist"


@pytest.mark.usefixtures("no_spark")
def test_settings(refused: Any, tmp_path: Path) -> None:
    (tmp_path / "subs.csv").write_text("node,topic\na,x\n")
    line = refused("spark", "ingest", "subs.csv", "--out", "fleet", "--conf", "spark.executor.memory")
    assert line == "--conf 'spark.executor.memory': expected KEY=VALUE, such as spark.executor.memory=4g"


def test_what_spark_lacks(refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The session of other tests would be used.
    monkeypatch.setattr("topicloom.spark.session._active_session", lambda: None)
    (tmp_path / "subs.csv").write_text("node,topic\na,x\n")
    ingest = ["spark", "ingest", "subs.csv", "--out", "fleet"]
    line = refused(*ingest, "--master", "spark://127.0.0.1:9")
    assert line.startswith("master spark://127.0.0.1:9 cannot be reached (127.0.0.1:9: Connection refused)")
    line = refused(*ingest, "--remote", "sc://127.0.0.1:9")
    assert line.startswith("remote sc://127.0.0.1:9 cannot be reached (127.0.0.1:9: Connection refused)")
    line = refused(*ingest, "--remote", "sc://127.0.0.1:9", "--master", "local[2]")
    assert line == "--master and --remote: give one of them"


@pytest.mark.usefixtures("no_spark")
def test_designs_on_spark(refused: Any, tmp_path: Path) -> None:
    assert "the folder none does not exist" in refused("spark", "design", "fleet", "--out", "none/overlay.parquet")
    assert refused("spark", "design", "fleet", "--core", "no", "--out", "overlay").startswith("--core")


@pytest.mark.parametrize("uri", ["ftp://host/subs.csv", "viewfs://m/fleet"])
def test_file_systems_that_arrow_cannot_read(refused: Any, uri: str) -> None:
    assert refused("design", uri, "--algorithm", "gm", "--out", "overlay.parquet").startswith(
        f"{uri}: cannot be read ("
    )
