"""The files of figures: what they come to, and that every one of them is whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_up import FIGURES

from topicloom.designers import DESIGNERS
from topicloom.experiments.catalogue import find_figures
from topicloom.experiments.figure import Figure, read_figure
from topicloom.experiments.runs import RUNS
from topicloom.model import InputError

TEXT = """
paper = "P"
place = "figure 1"
title = "t"
about = "a"
run = "design"
seed = [1, 2]
quick = { seed = [7] }

[[workload]]
nodes = [10, 20]
topics = 5
quick = { nodes = 3 }

[[workload]]
nodes = 50
topics = 6

[[try]]
designer = ["gm", "low-oda"]
[[try]]
designer = "gpm"
max_degree = 2

[plot]
draw = "lines"
x = "nodes"
y = ["max_degree", "support"]
lines = "designer"

[[claim]]
place = "1"
says = "s"
rule = "always"
query = "SELECT 1 AS value"
[[claim]]
place = "2"
says = "s"
rule = "equal"
published = 2
query = "SELECT 1 AS value"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "p" / "fig-1.toml"
    file.parent.mkdir()
    file.write_text(TEXT)
    return file


def test_a_seed_that_no_table_can_hold(path: Path) -> None:
    path.write_text(TEXT.replace("seed = [1, 2]", f"seed = [1, {2**63}]"))
    with pytest.raises(InputError, match=f"^seed is {2**63}; give a whole number of at most {2**63 - 1}"):
        read_figure(path, quick=False)


def test_lists_are_all_combinations(path: Path) -> None:
    figure = read_figure(path, quick=False)
    assert (figure.id, figure.repetitions, len(figure.cells)) == ("p-fig-1", 2, 3 * 3 * 2)
    assert figure.cells[0] == (("designer", "gm"), ("nodes", 10), ("seed", 1), ("topics", 5))
    assert figure.cells[-1] == (("designer", "gpm"), ("max_degree", 2), ("nodes", 50), ("seed", 2), ("topics", 6))
    assert (figure.plot.y, figure.plot.lines) == (("max_degree", "support"), ("designer",))
    assert [claim.id for claim in figure.claims] == ["p-fig-1.1", "p-fig-1.2"]


def test_quick_values_replace_the_others(path: Path) -> None:
    cells = [dict(cell) for cell in read_figure(path, quick=True).cells]
    assert {cell["seed"] for cell in cells} == {7}
    assert {cell["nodes"] for cell in cells} == {3, 50}


READINGS = """
[[reading]]
name = "as printed"
source = "Section 1: so."
chosen_after = false

[[reading]]
name = "other"
source = "Section 2: or so."
chosen_after = true
[[reading.set]]
topics = 7
[[reading.set]]
where = { designer = ["low-oda", "gpm"], nodes = 10 }
k = 2
"""


def test_readings_set_parameters_of_the_cells_that_they_are_about(path: Path) -> None:
    path.write_text(TEXT + READINGS)
    figure = read_figure(path, quick=False)
    first, other = figure.readings
    assert [(each.name, each.source, each.chosen_after) for each in figure.readings] == [
        ("as printed", "Section 1: so.", False),
        ("other", "Section 2: or so.", True),
    ]
    path.write_text(TEXT)
    assert first.cells == read_figure(path, quick=False).cells
    assert {dict(cell)["topics"] for cell in other.cells} == {7}
    assert {tuple(dict(cell)[name] for name in ("designer", "nodes")) for cell in other.cells if "k" in dict(cell)} == {
        ("low-oda", 10),
        ("gpm", 10),
    }
    assert len(figure.cells) == 2 * len(first.cells)
    assert figure.parameters == {"designer", "k", "max_degree", "nodes", "seed", "topics"}


def test_a_reading_may_be_left_out_of_quick_runs(path: Path) -> None:
    path.write_text(TEXT + READINGS.replace("chosen_after = true", "chosen_after = true\nquick = false"))
    assert [reading.name for reading in read_figure(path, quick=True).readings] == ["as printed"]
    assert len(read_figure(path, quick=False).readings) == 2


def test_cells_that_no_reading_sets_are_shared(path: Path) -> None:
    path.write_text(TEXT + READINGS.replace("topics = 7", "topics = 5"))
    figure = read_figure(path, quick=False)
    assert len(figure.cells) < 2 * len(figure.readings[0].cells)


def test_without_readings_there_is_one_that_has_no_name(path: Path) -> None:
    (only,) = read_figure(path, quick=False).readings
    assert (only.name, only.source, only.chosen_after) == ("", "", False)


def test_a_key_that_means_nothing_is_noticed(path: Path) -> None:
    path.write_text(TEXT.replace('lines = "designer"', 'line = "designer"'))
    with pytest.raises(TypeError, match="line"):
        read_figure(path, quick=False)


@pytest.mark.slow
def test_figures_are_found_by_id_paper_or_all() -> None:
    everything = [figure.id for figure in find_figures(["all"])]
    assert everything == list(FIGURES)
    assert [figure.id for figure in find_figures(["gm-2007-fig-4a", "gm-2007-fig-2"])] == [
        "gm-2007-fig-2",
        "gm-2007-fig-4a",
    ]
    assert {figure.paper for figure in find_figures(["gm-2007"])} == {"GM 2007"}
    assert len(find_figures(["gm-2007", "gm-2007-fig-2"])) == 4
    for wrong in ("gm-2007-fig-9", "gm", "list", ""):
        with pytest.raises(InputError, match=f"unknown figure '{wrong}'"):
            find_figures([wrong])


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_every_file_is_whole(figure: Figure) -> None:
    assert figure.run in RUNS
    assert figure.claims
    told = [text for reading in figure.readings if len(figure.readings) > 1 for text in (reading.name, reading.source)]
    told += [figure.paper, figure.place, figure.title, figure.about, *(claim.says for claim in figure.claims)]
    for text in told:
        assert text == text.strip() != ""
    assert figure.repetitions >= 3, "several repetitions, to see the spread"
    for cell in figure.cells:
        assert dict(cell).get("designer", "gm") in DESIGNERS
    plot = figure.plot
    assert set(plot.readings) <= {reading.name for reading in figure.readings}
    assert plot.draw in ("lines", "dots", "table")
    needed = (plot.rows, plot.columns, plot.value) if plot.draw == "table" else (plot.x, *plot.y, *plot.lines)
    assert all(needed)
    assert len(plot.y_label) in (0, len(plot.y))
