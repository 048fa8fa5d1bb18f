"""The view of papers: their figures from our own runs, readings and claims beside them, and the data behind each."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
from markupsafe import Markup

from topicloom.errors import InputError
from topicloom.experiments.reproduction_index import PaperFigure
from topicloom.explore.explorer import Explorer
from topicloom.files.parquet import read_parquet
from topicloom.present.html import Cell, macro, table_html
from topicloom.present.numbers import amount
from topicloom.report.runs.reproduction_section import Reproduction, paper_blocks

# How many rows of data are shown.
_ROWS = 300


def papers(explorer: Explorer) -> list[tuple[Reproduction, str]]:
    """All papers of all reproductions."""
    return [(each, paper) for each in explorer.collection.results.reproductions for paper in each.papers]


def papers_html(explorer: Explorer, number: int, *, served: bool = True) -> Markup:
    """A paper with its figures; without a server the data come with it."""
    reproduction, paper = papers(explorer)[number]
    size = "a quick run, of smaller sizes" if reproduction.quick else "a full run"
    figures = [
        (
            figure.place,
            re.sub(r"[^\w-]", "-", figure.id),
            block,
            f"data?paper={number}&figure={at}" if served else "",
            Markup() if served else _rows(reproduction.folder, figure),
        )
        for at, (figure, block) in enumerate(paper_blocks(reproduction, paper))
    ]
    about = f"{paper}: its figures from {reproduction.name}, {size}, and what it says about them."
    return macro("topicloom.explore", "views.html", "papers", about, figures)


def data_html(explorer: Explorer, number: int, which: int) -> Markup:
    """The data behind a figure of a paper."""
    known = papers(explorer)
    if not 0 <= number < len(known):
        raise InputError(f"there is no paper {number}")
    reproduction, paper = known[number]
    figures = [figure for figure in reproduction.figures if figure.paper == paper]
    if not 0 <= which < len(figures):
        raise InputError(f"there is no figure {which}")
    return _rows(reproduction.folder, figures[which])


def _rows(folder: Path, figure: PaperFigure) -> Markup:
    """The first rows of a figure's data, which lie in the folder itself: its index may name no other place."""
    file = folder / figure.data
    if Path(figure.data).name != figure.data or file.resolve().parent != folder.resolve():
        return macro("topicloom.explore", "views.html", "problem", f"{figure.data} is no file of the reproduction")
    try:
        table = read_parquet(file)
    except (OSError, pa.ArrowException) as error:
        return macro("topicloom.explore", "views.html", "problem", f"{figure.data} cannot be read ({error})")
    shown = table.slice(0, _ROWS)
    rows = [[_cell(value) for value in row.values()] for row in shown.to_pylist()]
    return macro(
        "topicloom.explore",
        "views.html",
        "rows_of_data",
        table_html(table.column_names, rows),
        shown.num_rows,
        table.num_rows,
    )


def _cell(value: object) -> Cell:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return amount(value)
    return "" if value is None else str(value)
