"""What a reproduction writes: data and a picture for each figure, and what became of the papers' claims.

A folder grows: figures that were made before stay, with their claims, until they are made again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet

from topicloom._version import __version__
from topicloom.experiments.catalogue import all_figures
from topicloom.experiments.claims import check
from topicloom.experiments.drawing import draw
from topicloom.experiments.figure import Figure
from topicloom.experiments.figure_grid import PlannedFigures, rows_of
from topicloom.experiments.queries import Runs
from topicloom.experiments.results_page import results_page
from topicloom.experiments.verdict import Verdict
from topicloom.files.atomic import replacing
from topicloom.model import InputError
from topicloom.pipeline.grids.cell import Cell
from topicloom.pipeline.grids.grid import require_grid_folder
from topicloom.present.figures import write_figure

REPRODUCTION = "reproduction.json"
CLAIMS = "claims.json"
RESULTS = "results.md"


@dataclass(frozen=True)
class Made:
    """A figure that was made: its entry in `reproduction.json`, and the verdicts on its claims."""

    entry: dict[str, Any]
    verdicts: tuple[Verdict, ...]


def require_folder(folder: Path, *, quick: bool) -> None:
    """An error where the folder cannot take a reproduction of that kind."""
    require_grid_folder(folder, "a reproduction")
    for before in (_read(folder, _FIGURES), _read(folder, _CLAIMS)):
        if before["quick"] not in (None, quick):
            kind, other = ("a quick", "a full one") if before["quick"] else ("a full", "one with quick")
            raise InputError(f"holds {kind} reproduction; give another folder for {other}", "quick", file=folder)


def write_reproduction(plan: PlannedFigures, errors: Mapping[Cell, str], *, quick: bool) -> list[Made]:
    """Write the data, pictures and claims of a plan's figures, whose cells have run; not of those without a row."""
    made = [each for figure in plan.figures if (each := _make(plan, figure, errors, quick=quick)) is not None]
    if not made:
        raise InputError(f"no run gave a result; the first failed with: {next(iter(errors.values()))}")
    figures = _merged(plan.folder, _FIGURES, [each.entry for each in made])
    claims = _merged(plan.folder, _CLAIMS, [verdict.to_dict() for each in made for verdict in each.verdicts])
    known = {figure["id"] for figure in figures}
    claims = [claim for claim in claims if claim["figure"] in known]
    about = {"version": __version__, "quick": quick}
    _write_json(plan.folder / CLAIMS, {"kind": _CLAIMS.kind, **about, "claims": claims})
    with replacing(plan.folder / RESULTS) as temporary:
        temporary.write_text(results_page(figures, claims, quick=quick), encoding="utf-8")
    # Last, as it is what others recognise the folder by.
    _write_json(plan.folder / REPRODUCTION, {"kind": _FIGURES.kind, **about, "figures": figures})
    return made


def _make(plan: PlannedFigures, figure: Figure, errors: Mapping[Cell, str], *, quick: bool) -> Made | None:
    rows = rows_of(plan, figure)
    if not rows.num_rows:
        return None
    failed = [errors[cell] for cell in plan.cells[figure.id] if cell in errors]
    entry: dict[str, Any] = {
        "id": figure.id,
        "paper": figure.paper,
        "place": figure.place,
        "title": figure.title,
        "about": figure.about,
        "picture": f"{figure.id}.svg",
        "data": f"{figure.id}.parquet",
        "runs": len(plan.cells[figure.id]),
        "failed": len(failed),
        "repetitions": figure.repetitions,
    }
    with replacing(plan.folder / entry["data"]) as temporary:
        pyarrow.parquet.write_table(rows, temporary)
    runs = Runs(rows)
    write_figure(draw(figure, runs), plan.folder / entry["picture"])
    # Some figures are as small in full.
    smaller = quick and figure.cells != all_figures()[figure.id].cells
    verdicts = tuple(check(figure, claim, runs, quick=smaller) for claim in figure.claims)
    runs.close()
    return Made(entry, verdicts)


class _Index(NamedTuple):
    """A file that lists what a folder holds: its kind, the list in it, and what each entry has, its figure by name."""

    file: str
    kind: str
    entries: str
    has: frozenset[str]
    figure: str


_ENTRY = frozenset(
    ("id", "paper", "place", "title", "about", "picture", "data", "runs", "failed", "repetitions"),
)
_FIGURES = _Index(REPRODUCTION, "topicloom reproduction", "figures", _ENTRY, "id")
_CLAIMS = _Index(CLAIMS, "topicloom claims", "claims", frozenset(field.name for field in fields(Verdict)), "figure")


def _merged(folder: Path, index: _Index, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries, and those of the file that belong to other figures, in the order of the catalogue."""
    new = {entry[index.figure] for entry in entries}
    old = [entry for entry in _read(folder, index)[index.entries] if entry[index.figure] not in new]
    order = {name: place for place, name in enumerate(all_figures())}
    return sorted([*old, *entries], key=lambda entry: order.get(entry[index.figure], len(order)))


def _read(folder: Path, index: _Index) -> dict[str, Any]:
    """What an index holds; nothing where there is none. An error where it is not what a reproduction wrote."""
    path = folder / index.file
    if not path.exists():
        return {"quick": None, index.entries: []}
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        sound = content["kind"] == index.kind and isinstance(content["quick"], bool)
        sound = sound and all(index.has == set(entry) for entry in content[index.entries])
    except (OSError, ValueError, KeyError, TypeError):
        sound = False
    if not sound:
        raise InputError(
            f"{path}: is not as a reproduction wrote it; remove it, and give all figures again (finished runs are kept)"
        )
    return content


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
