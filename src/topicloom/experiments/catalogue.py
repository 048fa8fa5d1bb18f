"""All figures and tables, and finding some of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from topicloom.experiments.figure import Figure, read_figure
from topicloom.model import InputError

# The papers' folders, oldest first.
PAPERS = ("gm-2007", "low-2010", "shadows", "partial-2016", "content")
EVERYTHING = "all"


def all_figures(*, quick: bool = False) -> dict[str, Figure]:
    """Every figure and table by its id, paper by paper."""
    files = [file for paper in PAPERS for file in sorted((Path(__file__).parent / paper).glob("*.toml"), key=_order)]
    figures = (read_figure(file, quick=quick) for file in files)
    return {figure.id: figure for figure in figures}


def find_figures(names: Sequence[str], *, quick: bool = False) -> list[Figure]:
    """The figures of these ids, papers or `all`, each once, in the order of the catalogue."""
    known = all_figures(quick=quick)
    for name in names:
        if name not in known and name not in PAPERS and name != EVERYTHING:
            raise InputError(f"unknown figure '{name}'; `topicloom reproduce list` tells them, or give a paper or all")
    return [
        figure
        for figure in known.values()
        if EVERYTHING in names or figure.id in names or any(figure.id.startswith(f"{name}-") for name in names)
    ]


def _order(file: Path) -> tuple[str, int, str]:
    """Figures before tables, 10 after 9, 4b after 4a."""
    kind, number, letter = re.fullmatch(r"(fig|table)-(\d+)([a-z]?)", file.stem).groups()  # type: ignore[union-attr]
    return kind, int(number), letter
