"""The section of a sweep: designers on many workloads."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from topicloom.present.html import Cell, Sentence
from topicloom.present.numbers import Number, amount, count, count_of, mean, percent
from topicloom.report.page.kind import Kind
from topicloom.report.page.section import Section, beside, figure, paragraph, table, tiles
from topicloom.report.runs.sweep_pictures import (
    MOST_LINES,
    MOST_PANELS,
    Axis,
    designers,
    measure_figure,
    panels,
    pictured,
    sweep_axis,
)
from topicloom.report.runs.sweep_results import MEASURES, SWEEP, ShownSweep, read_sweeps, setting

# How many rows the tables have at most.
_CELLS = 1000
_ERRORS = 20


def sweep_section(sweep: ShownSweep) -> Section:
    """Each measure of the designers against what varies, and all numbers."""
    runs = sum(cell.runs for cell in sweep.cells)
    facts = [
        ("designers", count(len(designers(sweep)))),
        ("workloads", count(len({cell.workload for cell in sweep.cells}))),
        ("runs", count(runs)),
        ("failed", count(len(sweep.errors))),
    ]
    about = f"Designers on many workloads, from {sweep.name}; runs that differ only in their seeds are averaged."
    blocks = [paragraph(about), tiles(facts)]
    if sweep.cells:
        shown = pictured(sweep)
        left = len({cell.workload for cell in sweep.cells} - {cell.workload for cell in shown.cells})
        blocks += [_pictures(shown, sweep_axis(shown)), *_left_out(left), _table(sweep)]
    else:
        blocks.append(paragraph("No run gave a result."))
    if sweep.errors:
        blocks.append(_errors(sweep))
    return Section(f"Sweep: {sweep.name}", tuple(blocks))


def _left_out(workloads: int) -> list[Markup]:
    if not workloads:
        return []
    files = count_of(workloads, "file")
    return [
        paragraph(f"The pictures leave out {files}, which have none of what made-up workloads vary; see the table.")
    ]


def _pictures(sweep: ShownSweep, axis: Axis) -> Markup:
    against = "" if axis.along is None else f" against {sweep.varying[axis.along]}"
    left = [
        f"{MOST_LINES} of {len(designers(sweep))} designers" if len(designers(sweep)) > MOST_LINES else "",
        f"{MOST_PANELS} of {len(panels(sweep, axis))} panels" if len(panels(sweep, axis)) > MOST_PANELS else "",
    ]
    shown = " and ".join(part for part in left if part)
    note = f"The mean over the seeds.{f' These are the first {shown}; the table has all.' if shown else ''}"
    drawn = [
        figure(
            measure_figure(sweep, axis, measure),
            f"sweep {sweep.name} {measure}",
            f"{title.capitalize()}{against}",
            note,
        )
        for measure, title in MEASURES.items()
    ]
    return beside(drawn) if len(panels(sweep, axis)) == 1 else Markup().join(drawn)


def _table(sweep: ShownSweep) -> Markup:
    numeric = [
        all(isinstance(cell.workload[at], int | float) for cell in sweep.cells) for at in range(len(sweep.varying))
    ]
    rows: list[list[Cell]] = [
        [
            *(
                Number(value, setting(value)) if is_number else setting(value)
                for value, is_number in zip(cell.workload, numeric, strict=True)
            ),
            cell.designer,
            count(cell.runs),
            percent(cell.means["support"]),
            mean(cell.means["average_degree"]),
            mean(cell.means["max_degree"]),
            mean(cell.means["links"]),
            amount(cell.means["seconds"]),
        ]
        for cell in sweep.cells[:_CELLS]
    ]
    note = f"These are the first {_CELLS:,} of {len(sweep.cells):,} rows." if len(sweep.cells) > _CELLS else ""
    return table("All results", [*sweep.varying, "designer", "runs", *MEASURES.values()], rows, note=note)


def _errors(sweep: ShownSweep) -> Markup:
    counted = Counter(sweep.errors).most_common(_ERRORS)
    rows: list[list[Cell]] = [[designer, Sentence(error), count(number)] for (designer, error), number in counted]
    return table("Runs that failed", ["designer", "why", "runs"], rows)


KIND = Kind(
    name="sweeps",
    forms=(SWEEP,),
    read=read_sweeps,
    section=sweep_section,
    facts=lambda sweep: sweep.name,
    line=lambda sweep: f"sweep {sweep.name}",
)
