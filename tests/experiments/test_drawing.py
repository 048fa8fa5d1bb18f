"""Pictures of figures: what the lines and cells hold."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from matplotlib.figure import Figure as Picture

from topicloom.experiments.drawing import draw
from topicloom.experiments.figure import Figure, Plot
from topicloom.experiments.queries import Runs

ROWS = pa.table(
    {
        "nodes": [10, 10, 20, 20, 10, 20],
        "designer": ["gm", "gm", "gm", "gm", "gpm", "gpm"],
        "popularity": ["zipf"] * 6,
        "degree": [2.0, 4.0, 5.0, 7.0, 1.0, 1.5],
        "support": [1.0, 1.0, 1.0, 1.0, 0.5, 0.25],
    }
)


def drawn(table: pa.Table = ROWS, /, **plot: Any) -> Picture:
    figure = Figure("p-fig-1", "P", "figure 1", "t", "a", "design", (), Plot(**plot), ())
    return draw(figure, {"": Runs(table)})


def test_lines_are_means_with_the_spread() -> None:
    names = {"gm": "GM", "10": "ten"}
    picture = drawn(draw="lines", x="nodes", y=("degree",), lines=("designer",), names=names, y_label=("links",))
    (axes,) = picture.axes
    assert [line.get_xydata().tolist() for line in axes.lines] == [[[10, 3], [20, 6]], [[10, 1], [20, 1.5]]]
    low_and_high = {tuple(point) for point in axes.collections[0].get_paths()[0].vertices.tolist()}
    assert {(10, 2), (10, 4), (20, 5), (20, 7)} <= low_and_high
    assert [text.get_text() for text in picture.legends[0].get_texts()] == ["GM", "gpm"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("nodes", "links")
    assert axes.get_ylim()[0] == 0


def test_panels_are_values_and_rows_of_them_measures() -> None:
    both = pa.concat_tables([ROWS, ROWS.set_column(2, "popularity", pa.array(["uniform"] * 6))])
    picture = drawn(
        both, draw="lines", x="nodes", y=("degree", "support"), lines=("designer",), panels="popularity", names={}
    )
    assert [axes.get_title(loc="left") for axes in picture.axes] == ["zipf", "uniform", "zipf", "uniform"]
    assert [axes.get_ylabel() for axes in picture.axes] == ["degree", "degree", "support", "support"]


def test_readings_stand_side_by_side() -> None:
    other = ROWS.set_column(3, "degree", pa.array([1.0, 1.0, 2.0, 2.0, 3.0, 3.0]))
    lines = {"draw": "lines", "x": "nodes", "y": ("degree",), "lines": ("designer",), "names": {}}

    def titles(**plot: Any) -> list[str]:
        figure = Figure("p-fig-1", "P", "figure 1", "t", "a", "design", (), Plot(**plot), ())
        picture = draw(figure, {"printed": Runs(ROWS), "other": Runs(other)})
        return [axes.get_title(loc="left") for axes in picture.axes]

    assert titles(**lines) == ["printed", "other"]
    assert titles(**lines, panels="popularity") == ["zipf, printed", "zipf, other"]
    assert titles(**lines, readings=("other",)) == [""]
    assert titles(draw="table", rows="designer", columns="nodes", value="degree") == ["printed", "other"]


def test_dots_are_all_rows() -> None:
    picture = drawn(draw="dots", x="degree", y=("support",), lines=("designer",), log="xy")
    (axes,) = picture.axes
    assert [len(line.get_xdata()) for line in axes.lines] == [4, 2]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_a_query_says_what_is_drawn() -> None:
    query = "SELECT designer, nodes / 10 AS tens, max(degree) AS highest FROM runs GROUP BY designer, nodes"
    (axes,) = drawn(draw="lines", query=query, x="tens", y=("highest",), lines=("designer",)).axes
    assert axes.lines[0].get_xydata().tolist() == [[1, 4], [2, 7]]


def test_a_table_holds_means_and_spread() -> None:
    (axes,) = drawn(draw="table", rows="designer", columns="nodes", value="degree", names={"gm": "GM"}).axes
    cells = {place: cell.get_text().get_text() for place, cell in axes.tables[0].get_celld().items()}
    assert cells[1, 0] == "3\n2 to 4"
    assert cells[2, 1] == "1.5"
    assert (cells[1, -1], cells[2, -1], cells[0, 0]) == ("GM", "gpm", "10")


def test_rows_without_a_value_are_not_drawn() -> None:
    gaps = ROWS.set_column(3, "degree", pa.array([None, 4.0, None, None, 1.0, 1.5]))
    (axes,) = drawn(gaps, draw="lines", x="nodes", y=("degree",), lines=("designer",)).axes
    assert axes.lines[0].get_xydata().tolist() == [[10, 4]]


@pytest.mark.parametrize("kind", ["lines", "dots"])
def test_a_line_that_is_nowhere_keeps_its_colour(kind: str) -> None:
    """Colours mean the same in all panels."""
    rows = pa.concat_tables([ROWS, ROWS.slice(4).set_column(2, "popularity", pa.array(["uniform"] * 2))])
    first, second = drawn(rows, draw=kind, x="nodes", y=("degree",), lines=("designer",), panels="popularity").axes
    assert first.lines[1].get_color() == second.lines[1].get_color()
    assert first.lines[0].get_color() != first.lines[1].get_color()
