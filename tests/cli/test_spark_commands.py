"""Commands that run on Spark, each on ordinary input."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import threading
import time
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from command_line import Cli

from topicloom import InputError, Interest

LOG = """broker,event,topic
a,sub,x
b,sub, x
a,sub,x
b,pub,z
c,sub,
c,sub,y
b,sub,y
d
e,sub,y
f,sub,y
"""
LENIENT = ["--node-column", "broker", "--where", "event = 'sub'", "--max-bad", 0.5]

SPEC = """
[[workload]]
file = "fleet"
[[designer]]
name = ["gm", "ring-per-topic"]
[[designer]]
name = "gpm"
max_degree = [1, 2]
"""


@pytest.fixture(scope="module")
def ingesting(on_one_session: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """What ingest made of the log, and what it printed."""
    folder = tmp_path_factory.mktemp("ingested")
    with gzip.open(folder / "log.csv.gz", "wt") as file:
        file.write(LOG)
    from topicloom.cli.main import run

    arguments = ["spark", "ingest", folder / "log.csv.gz", *LENIENT, "--out", folder / "fleet", "--json"]
    with redirect_stdout(io.StringIO()) as printed:
        assert run([str(argument) for argument in arguments]) == 0
    return folder / "fleet", printed.getvalue()


@pytest.fixture(scope="module")
def ingested(ingesting: tuple[Path, str]) -> Path:
    return ingesting[0]


def test_ingest(cli: Cli, ingesting: tuple[Path, str]) -> None:
    out, printed = ingesting
    told = json.loads(printed)
    counts = told["counts"]
    assert (counts["rows"], counts["filtered"], counts["rejected"], counts["repeats"]) == (10, 1, 2, 1)
    assert (counts["nodes"], counts["topics"], counts["subscriptions"]) == (5, 2, 6)
    assert told["out"] == str(out)
    again = cli("spark", "ingest", out.parent / "log.csv.gz", *LENIENT, "--out", out, "--overwrite")
    assert (again.status, again.err) == (0, "")
    assert again.out.splitlines()[0].split() == ["files", "1"]
    assert again.out.endswith(f"written to {out}\n")
    expected = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("e", "y"), ("f", "y")])
    assert Interest.read(out) == expected


def test_ingest_graphs_without_a_header(cli: Cli, ingested: Path, tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("u|v\nv|w\nw|w\n")
    how = ["--input-format", "csv", "--separator", "|", "--no-header", "--graph", "directed", "--include-self"]
    ended = cli("spark", "ingest", tmp_path / "edges.txt", *how, "--out", tmp_path / "follows")
    assert (ended.status, ended.err) == (0, "")
    assert ["self-loops", "1"] in [line.split() for line in ended.out.splitlines()]
    pairs = Interest.read(tmp_path / "follows").to_arrow().to_pydict()
    assert list(zip(pairs["node"], pairs["topic"], strict=True)) == [
        *(("u", "u"), ("u", "v"), ("v", "v"), ("v", "w"), ("w", "w")),
    ]


def test_every_command_takes_the_folder(cli: Cli, ingested: Path, tmp_path: Path) -> None:
    overlay, topics, same = (tmp_path / f"{name}.parquet" for name in ("overlay", "topics", "same"))
    assert cli("design", ingested, "--algorithm", "gm", "--out", overlay).status == 0
    measured = cli("measure", ingested, overlay, "--topics", topics, "--json")
    evaluated = cli("spark", "measure", ingested, overlay, "--topics", same, "--json")
    assert (evaluated.status, evaluated.err) == (0, "")
    assert evaluated.json == measured.json
    assert pyarrow.parquet.read_table(same).equals(pyarrow.parquet.read_table(topics))
    shown = cli("spark", "measure", ingested, overlay, "--no-diameters").out
    assert "support" in shown
    assert "diameter" not in shown
    assert cli("compare", ingested, "--algorithms", "gm", "--json").json[0]["nodes"] == 5


def test_sample(cli: Cli, ingested: Path, tmp_path: Path) -> None:
    ended = cli(
        "spark", "sample", ingested, "--nodes", 3, "--seeds", 2, "--seed", 7, "--out", tmp_path / "part", "--json"
    )
    assert (ended.status, ended.err) == (0, "")
    assert (ended.json["nodes"], ended.json["out"]) == (3, str(tmp_path / "part"))
    assert Interest.read(tmp_path / "part").node_count == 3
    ended = cli("spark", "sample", ingested, "--nodes", 2, "--uniform", "--out", tmp_path / "part", "--overwrite")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[0].split() == ["nodes", "2"]
    assert Interest.read(tmp_path / "part").node_count == 2


def test_profile(cli: Cli, ingested: Path, tmp_path: Path) -> None:
    ended = cli("spark", "profile", ingested)
    assert (ended.status, ended.err) == (0, "")
    assert "pairs of nodes share a topic" in ended.out
    out = tmp_path / "profile"
    ended = cli("spark", "profile", ingested, "--out", out, "--json")
    assert (ended.json["nodes"], ended.json["subscriptions"], ended.json["out"]) == (5, 6, str(out))
    assert (out / "ccdf.svg").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["profile"]


def test_sweep(cli: Cli, ingested: Path, tmp_path: Path) -> None:
    spec, out = tmp_path / "spec.toml", tmp_path / "out"
    spec.write_text(SPEC.replace('"fleet"', f'"{ingested}"'))
    ended = cli("spark", "sweep", spec, "--out", out, "--json")
    assert (ended.status, ended.err) == (0, "")
    assert ended.json == {"cells": 4, "ran": 4, "kept": 0, "failed": 0, "out": str(out)}
    rows = pyarrow.parquet.read_table(out / "results.parquet").to_pylist()
    assert [(row["designer"], row["parameter_max_degree"]) for row in rows] == [
        *(("gm", None), ("ring-per-topic", None), ("gpm", 1), ("gpm", 2)),
    ]
    (compared,) = cli("compare", ingested, "--algorithms", "gpm", "--max-degree", 2, "--json").json
    measured = {name: rows[-1][name] for name in compared if name in rows[-1]}
    assert {**measured, "seconds": 0} == {**{name: compared[name] for name in measured}, "seconds": 0}
    again = cli("spark", "sweep", spec, "--out", out)
    assert [line.split() for line in again.out.splitlines()[:4]] == [
        *(["cells", "4"], ["run", "now", "0"], ["done", "before", "4"], ["failed", "0"]),
    ]


def test_a_sweep_shows_what_failed(cli: Cli, ingested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unlucky(given: Any, interest: Any) -> None:
        raise InputError("no\nluck")

    monkeypatch.setattr(import_module("topicloom.spark.sweep"), "_design_task", unlucky)
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC.replace('"fleet"', f'"{ingested}"\nname = "mine"').replace("[1, 2]", "[1, 2, 3, 4]"))
    ended = cli("spark", "sweep", spec, "--out", tmp_path / "out")
    assert (ended.status, ended.err) == (0, "")
    assert "\nfailed: gm on mine: no luck\n" in ended.out
    assert "\nand 1 more; see the column error\n" in ended.out


@pytest.mark.spark
def test_ctrl_c_keeps_the_cells_that_are_done(cli: Cli, on_one_session: None, tmp_path: Path) -> None:
    spec, out = tmp_path / "spec.toml", tmp_path / "out"
    spec.write_text(
        "[[workload]]\nnodes = [20, 3000]\ntopics = 500\nmin_topics = 100\n"
        '[[designer]]\nname = "gm-fold"\nfolds = 5000\n'
    )

    def press_ctrl_c() -> None:
        while not list(out.glob("cells/part-*.parquet")):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press_ctrl_c, daemon=True).start()
    ended = cli("spark", "sweep", spec, "--out", out)
    kept = "stopped; 1 of 2 cells are done and kept, the same command goes on from there"
    assert (ended.status, ended.out, ended.err) == (130, "", f"topicloom: {kept}\n")
    assert [path.name for path in out.iterdir()] == ["cells"]


def test_ctrl_c_cancels_spark(cli: Cli, ingested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("topicloom.spark.links.read_links", interrupted)
    ended = cli("spark", "measure", ingested, "overlay.parquet")
    assert (ended.status, ended.out, ended.err) == (130, "", "topicloom: stopped; nothing was written\n")
