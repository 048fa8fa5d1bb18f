"""One cell of a sweep: running it, and keeping what came out.

A finished cell is one small JSON file, named after a hash of all that its numbers depend on, and written whole or
not at all. So a sweep that was stopped goes on where it was, and sweeps that share cells share their results.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topicloom._version import __version__
from topicloom.designers import run
from topicloom.files.atomic import replacing
from topicloom.metrics import measure
from topicloom.model import Interest
from topicloom.pipeline.grids.sweep_spec import Cell

FOLDER = "cells"


@dataclass(frozen=True)
class Outcome:
    """What a cell gave: parameters as they came to be, measures and seconds; or an error and none of these."""

    parameters: dict[str, int | float | bool | str]
    measures: dict[str, int | float | bool | None]
    seconds: float | None
    error: str | None


def run_cell(cell: Cell, interest: Interest) -> Outcome:
    """Design and measure."""
    parameters: dict[str, Any] = dict(cell.parameters)
    result = run(interest, cell.designer, seed=cell.seed or 0, **parameters)
    measures = measure(interest, result.overlay, diameters=cell.diameters)
    assert result.overlay.provenance is not None
    return Outcome(dict(result.overlay.provenance.parameters), measures.to_dict(), result.seconds, None)


def failed(error: str) -> Outcome:
    """The outcome of a cell that gave nothing but an error."""
    return Outcome({}, {}, None, " ".join(error.split()))


def cell_key(cell: Cell, fingerprint: str | None) -> str:
    """The name of a cell: a hash of what its numbers depend on.

    `fingerprint` is that of the interest where it is read from a file. Names of workloads and paths do not matter.
    numpy is in it as its random numbers may change with its version.
    """
    return hashlib.blake2b(json.dumps(_described(cell, fingerprint)).encode(), digest_size=16).hexdigest()


def _described(cell: Cell, fingerprint: str | None) -> dict[str, Any]:
    workload = {"fingerprint": fingerprint} if cell.workload.synthetic is None else dict(cell.workload.synthetic)
    return {
        "workload": workload,
        "designer": cell.designer,
        "parameters": dict(cell.parameters),
        "seed": cell.seed,
        "diameters": cell.diameters,
        "topicloom": __version__,
        "numpy": np.__version__,
    }


def keep(folder: Path, cell: Cell, fingerprint: str | None, outcome: Outcome) -> None:
    """Write the outcome of a cell below `folder`."""
    content = {"cell": _described(cell, fingerprint), "outcome": outcome.__dict__}
    with replacing(folder / FOLDER / f"{cell_key(cell, fingerprint)}.json") as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def kept(folder: Path, key: str) -> Outcome | None:
    """The outcome of a cell, where it is there and can be read."""
    try:
        content = json.loads((folder / FOLDER / f"{key}.json").read_text(encoding="utf-8"))
        return Outcome(**content["outcome"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # damaged: run it again
