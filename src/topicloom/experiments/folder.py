"""What a reproduction writes: data and a picture for each figure, and what became of the papers' claims.

A folder grows: figures that were made before stay, with their claims, until they are made again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet

from topicloom._version import __version__
from topicloom.experiments.catalogue import all_figures
from topicloom.experiments.cells import FOLDER, Cell
from topicloom.experiments.claims import Verdict, check
from topicloom.experiments.drawing import draw
from topicloom.experiments.figure import Figure
from topicloom.experiments.pages import results_page
from topicloom.experiments.queries import Runs
from topicloom.experiments.running import Plan, rows_of
from topicloom.model import InputError
from topicloom.model.figures import write_figure
from topicloom.model.files import replacing

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
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder to write to")
    if not folder.exists():
        if not folder.parent.is_dir():
            raise InputError(f"{folder}: the folder {folder.parent} does not exist")
        return
    if any(folder.iterdir()) and not (folder / FOLDER).is_dir():
        raise InputError(f"{folder}: holds other files; give a new folder, or one that a reproduction wrote")
    before = _read(folder / REPRODUCTION)
    if before and before["quick"] != quick:
        kind, other = ("a quick", "without") if before["quick"] else ("a full", "with")
        raise InputError(f"{folder}: holds {kind} reproduction; give another folder for one {other} --quick")


def write_reproduction(plan: Plan, errors: Mapping[Cell, str], *, quick: bool) -> list[Made]:
    """Write the data, pictures and claims of all figures of a plan, whose cells have run."""
    made = [_make(plan, figure, errors, quick=quick) for figure in plan.figures]
    figures = _merged(plan.folder / REPRODUCTION, "figures", "id", [each.entry for each in made])
    claims = _merged(
        plan.folder / CLAIMS, "claims", "figure", [verdict.to_dict() for each in made for verdict in each.verdicts]
    )
    about = {"version": __version__, "quick": quick}
    _write_json(plan.folder / CLAIMS, {"kind": "topicloom claims", **about, "claims": claims})
    with replacing(plan.folder / RESULTS) as temporary:
        temporary.write_text(results_page(figures, claims, quick=quick), encoding="utf-8")
    # Last, as it is what others recognise the folder by.
    _write_json(plan.folder / REPRODUCTION, {"kind": "topicloom reproduction", **about, "figures": figures})
    return made


def _make(plan: Plan, figure: Figure, errors: Mapping[Cell, str], *, quick: bool) -> Made:
    rows = rows_of(plan, figure)
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
    if not rows.num_rows:
        raise InputError(f"{figure.id}: no run gave a result; the first failed with: {failed[0]}")
    with replacing(plan.folder / entry["data"]) as temporary:
        pyarrow.parquet.write_table(rows, temporary)
    runs = Runs(rows)
    write_figure(draw(figure, runs), plan.folder / entry["picture"])
    verdicts = tuple(check(figure, claim, runs, quick=quick) for claim in figure.claims)
    runs.close()
    return Made(entry, verdicts)


def _merged(path: Path, what: str, key: str, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries, and those of the file that belong to other figures, in the order of the catalogue."""
    new = {entry[key] for entry in entries}
    old = [entry for entry in _read(path).get(what, []) if entry[key] not in new]
    order = {name: place for place, name in enumerate(all_figures())}
    return sorted([*old, *entries], key=lambda entry: order.get(entry[key], len(order)))


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); remove it and run again") from None
    return content


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
