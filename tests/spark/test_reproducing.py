"""Figures made on Spark: rows are those of direct calls, what is done is not done again, and folders grow."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from topicloom.designers import design
from topicloom.experiments.figure import Figure, read_figure
from topicloom.experiments.figure_grid import PlannedFigures, plan_figures, run_figures
from topicloom.experiments.graph_samples import Graphs
from topicloom.experiments.reproduction_folder import Made, require_folder, write_reproduction
from topicloom.metrics import measure
from topicloom.model import InputError
from topicloom.spark.cells import GridWatch
from topicloom.workloads import synthetic

TEXT = """
paper = "P"
place = "figure 1"
title = "Degrees"
about = "Tiny."
run = "design"
seed = [1, 2]
[[workload]]
nodes = [20, 30]
topics = 6
min_topics = 2
[[try]]
designer = ["gpa", "random-m"]
max_degree = 3
[[try]]
designer = "ring-per-topic"
diameters = true
[plot]
draw = "lines"
x = "nodes"
y = "max_degree"
lines = "designer"
[[claim]]
place = "section 1"
says = "Nobody has more than 3 links."
rule = "at most"
published = 3
unit = "links"
query = "SELECT repetition, max(max_degree) AS value FROM runs WHERE designer <> 'ring-per-topic' GROUP BY repetition"
[[claim]]
place = "section 1"
says = "Rings connect nothing."
rule = "always"
query = "SELECT repetition, 1 - topic_connected AS value FROM runs WHERE designer = 'ring-per-topic'"
differs = "They do."
"""
# gpa needs max_edges, so its cells fail.
GOOD = TEXT.replace('["gpa", "random-m"]', '"random-m"')


def figure(folder: Path, text: str = GOOD, name: str = "fig-1") -> Figure:
    file = folder / "p" / f"{name}.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return read_figure(file, quick=False)


def made(spark: SparkSession, out: Path, *figures: Figure) -> tuple[PlannedFigures, list[Made]]:
    plan = plan_figures(figures, out, Graphs(None, out))
    errors = run_figures(spark, plan, GridWatch())
    return plan, write_reproduction(plan, errors, quick=False)


@pytest.fixture(scope="module")
def first(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, tuple[PlannedFigures, list[Made]]]:
    """A folder with one figure, which tests that go on in it copy, and how it was made."""
    folder = tmp_path_factory.mktemp("first")
    return folder / "out", made(spark, folder / "out", figure(folder))


@pytest.fixture
def out(first: tuple[Path, object], tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(first[0], tmp_path / "out")


def test_rows_are_those_of_direct_calls(first: tuple[Path, tuple[PlannedFigures, list[Made]]]) -> None:
    out, (plan, [one]) = first
    assert len(plan.pending) == 8
    rows = pyarrow.parquet.read_table(out / "p-fig-1.parquet").to_pylist()
    assert len(rows) == 8
    for row in rows:
        interest = synthetic(row["parameter_nodes"], 6, min_topics=2, seed=row["repetition"])
        budget = {"max_degree": 3} if row["designer"] == "random-m" else {}
        overlay = design(interest, row["designer"], seed=row["repetition"], **budget)
        expected: dict[str, Any] = measure(interest, overlay, diameters=not budget).to_dict()
        assert {name: row[name] for name in expected} == expected
        assert row["parameter_max_degree"] == budget.get("max_degree")
    claims = json.loads((out / "claims.json").read_text())
    assert claims["claims"] == json.loads(json.dumps([verdict.to_dict() for verdict in one.verdicts]))
    assert [claim["holds"] for claim in claims["claims"]] == [True, False]
    assert claims["claims"][1]["sentence"] == "They do."
    assert one.figure.repetitions == 2
    assert "| fig-1; section 1 |" in (out / "results.md").read_text()
    assert "![Degrees](p-fig-1.svg)" in (out / "results.md").read_text()


def test_what_is_done_is_not_done_again_and_gives_the_same_bytes(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    files = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    plan, _ = made(spark, out, figure(tmp_path))
    assert not plan.pending
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == files
    lost, damaged = sorted((out / "cells").iterdir())[:2]
    lost.unlink()
    damaged.write_bytes(b"no")
    plan, _ = made(spark, out, figure(tmp_path))
    assert len(plan.pending) == 2


def test_the_same_seeds_give_the_same_data(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    made(spark, tmp_path / "other", figure(tmp_path))
    one, other = (
        pyarrow.parquet.read_table(folder / "p-fig-1.parquet").drop_columns("seconds")
        for folder in (out, tmp_path / "other")
    )
    assert one.equals(other)
    assert (out / "p-fig-1.svg").read_bytes() == (tmp_path / "other" / "p-fig-1.svg").read_bytes()


def test_figures_share_cells_and_a_folder(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    second = figure(tmp_path, GOOD.replace("[20, 30]", "[20, 40]"), "fig-2")
    plan, _ = made(spark, out, second)
    assert len(plan.pending) == 4
    entries = json.loads((out / "reproduction.json").read_text())["figures"]
    assert {entry["id"] for entry in entries} == {"p-fig-1", "p-fig-2"}
    assert len(json.loads((out / "claims.json").read_text())["claims"]) == 4


def test_runs_that_fail_are_counted_and_tried_again(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _, [one] = made(spark, out, figure(tmp_path, TEXT))
    assert (one.figure.runs, one.figure.failed) == (12, 4)
    assert "12 runs, 2 repetitions, 4 runs failed." in (out / "results.md").read_text()
    assert len(plan_figures([figure(tmp_path, TEXT)], out, Graphs(None, out)).pending) == 4
    nothing = TEXT.split('[[try]]\ndesigner = "ring-per-topic"')[0].replace(', "random-m"', "")
    empty = figure(tmp_path, nothing + TEXT[TEXT.index("[plot]") :], "fig-3")
    with pytest.raises(InputError, match=r"^no run gave a result; the first failed with: gpa needs max_edges"):
        made(spark, tmp_path / "none", empty)
    _, both = made(spark, out, figure(tmp_path), empty)
    assert [each.figure.id for each in both] == ["p-fig-1"], "a figure without a result stops no other"


def test_a_graph_that_is_too_small_stops_no_other_figure(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "ego_facebook.txt").write_text("a b\n")
    social = figure(tmp_path, GOOD.replace("topics = 6\nmin_topics = 2", 'graph = "ego-facebook"'), "fig-2")
    plan = plan_figures([figure(tmp_path), social], tmp_path / "out", Graphs(tmp_path, tmp_path / "out"))
    errors = run_figures(spark, plan, GridWatch())
    assert set(errors) == set(plan.cells["p-fig-2"])
    (message,) = {text.split("/")[-1].split(": ", 1)[1] for text in errors.values() if "cannot have 20" in text}
    assert message == "there are 2 nodes; a sample cannot have 20"
    assert all(text.startswith(f"{tmp_path / 'ego_facebook.txt'}: ") for text in errors.values())
    [one] = write_reproduction(plan, errors, quick=False)
    assert (one.figure.id, one.figure.failed) == ("p-fig-1", 0)


def test_folders_that_cannot_be_taken(out: Path, tmp_path: Path) -> None:
    require_folder(out, quick=False)
    other = tmp_path / "other"
    other.mkdir()
    require_folder(other, quick=True)
    (other / "mine.txt").write_text("mine")
    for folder, quick, message in (
        (out, True, "holds a full reproduction; give another folder for one with quick"),
        (other, True, "holds other files; give a new folder, or one that a reproduction wrote"),
        (other / "mine.txt", False, "is a file; give a folder to write to"),
        (tmp_path / "no" / "where", False, f"the folder {tmp_path / 'no'} does not exist"),
    ):
        with pytest.raises(InputError) as caught:
            require_folder(folder, quick=quick)
        assert str(caught.value) == f"{folder}: {message}"


@pytest.mark.parametrize("file", ["reproduction.json", "claims.json"])
@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "null", '"x"', '{"kind": 1}'),
        '{"kind": "topicloom KIND", "quick": false, "LIST": 5}',
        '{"kind": "topicloom KIND", "quick": false, "LIST": [1]}',
        '{"kind": "topicloom KIND", "quick": false, "LIST": [{"id": "p-fig-1", "figure": "p-fig-1"}]}',
        '{"kind": "topicloom KIND", "quick": 1, "LIST": []}',
    ],
)
def test_an_index_that_is_none_is_refused_before_any_work(tmp_path: Path, file: str, text: str) -> None:
    kind, entries = ("reproduction", "figures") if file == "reproduction.json" else ("claims", "claims")
    (tmp_path / "cells").mkdir()
    (tmp_path / file).write_text(text.replace("KIND", kind).replace("LIST", entries))
    with pytest.raises(InputError) as caught:
        require_folder(tmp_path, quick=False)
    advice = "remove it, and give all figures again (finished runs are kept)"
    assert str(caught.value) == f"{tmp_path / file}: is not as a reproduction wrote it; {advice}"


def test_a_lost_index_mixes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made(spark, out, figure(tmp_path), figure(tmp_path, GOOD.replace("[20, 30]", "20"), "fig-2"))
    (out / "reproduction.json").unlink()
    with pytest.raises(InputError, match="holds a full reproduction; give another folder for one with quick"):
        require_folder(out, quick=True)
    made(spark, out, figure(tmp_path))
    claims = json.loads((out / "claims.json").read_text())["claims"]
    assert {claim["figure"] for claim in claims} == {"p-fig-1"}, "no claims about figures that are not there"
