"""What a reproduction writes: data and a picture for each figure, and what became of the papers' claims.

A folder grows: figures that were made before stay, with their claims, until they are made again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from topicloom.experiments.catalogue import all_figures
from topicloom.experiments.claims import Verdict, check
from topicloom.experiments.drawing import draw
from topicloom.experiments.figure import Figure
from topicloom.experiments.figure_grid import PlannedFigures, rows_of
from topicloom.experiments.queries import Runs
from topicloom.experiments.reproduction_index import (
    CLAIMS,
    REPRODUCTION,
    PaperFigure,
    ReadingTold,
    read_claims,
    read_figures,
    write_claims,
    write_figures,
)
from topicloom.experiments.results_page import results_page
from topicloom.io.tables import write_parquet
from topicloom.io.whole import replacing, write_whole
from topicloom.model import InputError
from topicloom.spark import cells
from topicloom.spark.cells import Cell
from topicloom.views.figures import write_figure

RESULTS = "results.md"

T = TypeVar("T")


@dataclass(frozen=True)
class Made:
    """A figure that was made, and the verdicts on its claims."""

    figure: PaperFigure
    verdicts: tuple[Verdict, ...]


def require_folder(folder: Path, *, quick: bool) -> None:
    """An error where the folder cannot take a reproduction of that kind."""
    cells.require_folder(folder, "a reproduction")
    for before in (_read(folder / REPRODUCTION, read_figures), _read(folder / CLAIMS, read_claims)):
        if before is not None and before.quick != quick:
            kind, other = ("a quick", "a full one") if before.quick else ("a full", "one with quick")
            raise InputError(f"holds {kind} reproduction; give another folder for {other}", "quick", file=folder)


def write_reproduction(plan: PlannedFigures, errors: Mapping[Cell, str], *, quick: bool) -> list[Made]:
    """Write the data, pictures and claims of a plan's figures, whose cells have run; not of those without a row."""
    # Some figures are as small in full.
    full = all_figures() if quick else {}
    smaller = {figure.id for figure in plan.figures if quick and figure.cells != full[figure.id].cells}
    made = [each for figure in plan.figures if (each := _make(plan, figure, errors, smaller)) is not None]
    if not made:
        raise InputError(f"no run gave a result; the first failed with: {next(iter(errors.values()))}")
    figures, verdicts = _merged(plan, made)
    write_claims(plan.folder, verdicts, quick=quick)
    write_whole(plan.folder / RESULTS, results_page(figures, verdicts, quick=quick))
    write_figures(plan.folder, figures, quick=quick)
    return made


def _make(plan: PlannedFigures, figure: Figure, errors: Mapping[Cell, str], smaller: Collection[str]) -> Made | None:
    rows = {reading: table for reading, table in rows_of(plan, figure).items() if table.num_rows}
    if figure.readings[0].name not in rows:
        return None
    failed = [errors[cell] for cell in plan.cells[figure.id] if cell in errors]
    made = PaperFigure(
        id=figure.id,
        paper=figure.paper,
        place=figure.place,
        title=figure.title,
        about=figure.about,
        picture=f"{figure.id}.svg",
        data=f"{figure.id}.parquet",
        runs=len(plan.cells[figure.id]),
        failed=len(failed),
        repetitions=figure.repetitions,
        readings=tuple(
            ReadingTold(each.name, each.source, each.chosen_after) for each in figure.readings if each.name in rows
        )
        if len(figure.readings) > 1
        else (),
    )
    with replacing(plan.folder / made.data) as temporary:
        write_parquet(pa.concat_tables(rows.values(), promote_options="permissive"), temporary)
    runs = {reading: Runs(table, figure.parameters, figure.curve) for reading, table in rows.items()}
    write_figure(draw(figure, runs), plan.folder / made.picture)
    verdicts = tuple(check(figure, claim, runs, quick=figure.id in smaller) for claim in figure.claims)
    for each in runs.values():
        each.close()
    return Made(made, verdicts)


def _merged(plan: PlannedFigures, made: Sequence[Made]) -> tuple[list[PaperFigure], list[Verdict]]:
    """Figures and verdicts of this run, and those of the folder about other figures, in the order of the catalogue."""
    new = {each.figure.id for each in made}
    figures = [figure for figure in _figures(plan.folder) if figure.id not in new] + [each.figure for each in made]
    known = {figure.id for figure in figures}
    old = [verdict for verdict in _verdicts(plan.folder) if verdict.figure in known - new]
    order = {name: place for place, name in enumerate(all_figures())}
    figures.sort(key=lambda figure: order.get(figure.id, len(order)))
    verdicts = [*old, *(verdict for each in made for verdict in each.verdicts)]
    verdicts.sort(key=lambda verdict: order.get(verdict.figure, len(order)))
    return figures, verdicts


def _figures(folder: Path) -> tuple[PaperFigure, ...]:
    found = _read(folder / REPRODUCTION, read_figures)
    return found.figures if found else ()


def _verdicts(folder: Path) -> tuple[Verdict, ...]:
    found = _read(folder / CLAIMS, read_claims)
    return found.claims if found else ()


def _read(file: Path, read: Callable[[Path], T]) -> T | None:
    """What a file holds; nothing where there is none. An error where it is not what a reproduction wrote."""
    if not file.exists():
        return None
    try:
        return read(file.parent)
    except InputError:
        raise InputError(
            f"{file}: is not as a reproduction wrote it; remove it, and give all figures again (finished runs are kept)"
        ) from None
