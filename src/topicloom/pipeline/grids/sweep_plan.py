"""What is left to do of a sweep: its cells, less those that are kept from earlier runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from topicloom.model import InputError, Interest
from topicloom.pipeline.grids.sweep_cells import FOLDER, cell_key, kept
from topicloom.pipeline.grids.sweep_spec import Cell, Spec, Workload

RESULTS = "results.parquet"


@dataclass(frozen=True)
class PlannedCell:
    """A cell, its key, the fingerprint of its interest where that is read from a file, and what it may cost.

    Cost is the square of the number of nodes: designers look at pairs.
    """

    cell: Cell
    key: str
    fingerprint: str | None
    cost: int


@dataclass(frozen=True)
class Plan:
    """A sweep before it runs: all cells in the order of the spec, and those still to run, the longest first."""

    spec: Spec
    out: Path
    cells: tuple[PlannedCell, ...]
    pending: tuple[PlannedCell, ...]


def plan_sweep(spec: Spec, out: Path) -> Plan:
    """Find which cells are still to run. Reads the subscriptions that the spec names; writes nothing.

    Cells that failed before are to run again.
    """
    _require_sweep_folder(out)
    known: dict[Workload, tuple[str | None, int]] = {}
    cells = []
    for cell in spec.cells:
        if cell.workload not in known:
            known[cell.workload] = _fingerprint_and_nodes(cell.workload)
        fingerprint, nodes = known[cell.workload]
        cells.append(PlannedCell(cell, cell_key(cell, fingerprint), fingerprint, nodes * nodes))
    unique = {planned.key: planned for planned in reversed(cells)}
    pending = [planned for planned in reversed(unique.values()) if not _is_finished(out, planned.key)]
    # So that no long one is left over when the others are done. Sorting keeps the order of equals.
    pending.sort(key=lambda planned: -planned.cost)
    return Plan(spec, out, tuple(cells), tuple(pending))


def read_workload(workload: Workload) -> Interest:
    """The interest of a workload that is a file or folder."""
    assert workload.path is not None
    return Interest.read(workload.path, node_column=workload.node_column, topic_column=workload.topic_column)


def _fingerprint_and_nodes(workload: Workload) -> tuple[str | None, int]:
    if workload.synthetic is not None:
        return None, int(dict(workload.synthetic)["nodes"])
    interest = read_workload(workload)
    return interest.fingerprint, interest.node_count


def _is_finished(out: Path, key: str) -> bool:
    outcome = kept(out, key)
    return outcome is not None and outcome.error is None


def _require_sweep_folder(out: Path) -> None:
    if out.is_dir():
        if any(out.iterdir()) and not (out / FOLDER).is_dir():
            raise InputError(f"{out}: holds other files; give a new folder, or one that a sweep wrote")
    elif out.exists():
        raise InputError(f"{out}: is a file; give a folder to write to")
    elif not out.parent.is_dir():
        raise InputError(f"{out}: the folder {out.parent} does not exist")
