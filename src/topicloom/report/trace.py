"""The section of a churn trace: what events did to an overlay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.model.events import CHANGE, JOIN, LEAVE
from topicloom.model.figures import COLOURS, DASHES, add_legend, count_axis, log_axis, new_figure, percent_axis, styled
from topicloom.model.html import Cell
from topicloom.model.numbers import count, mean, milliseconds, percent
from topicloom.report.curves import binned
from topicloom.report.results import Trace
from topicloom.report.section import Section, beside, figure, paragraph, table, tiles

Column = npt.NDArray[np.float64]

# How many refused events are named.
_REFUSED_ROWS = 20

# What is averaged for each kind of event: its column, what it is called, and how it is shown.
_MEANS: dict[str, tuple[str, Any]] = {
    "links_added": ("links added", mean),
    "links_removed": ("links removed", mean),
    "repair_ratio": ("repair ratio", percent),
    "shadow": ("shadow set (nodes)", mean),
    "seconds": ("time", milliseconds),
    "upkeep_seconds": ("upkeep", milliseconds),
}


def trace_section(trace: Trace) -> Section:
    """What the events of a trace came to, and how the overlay changed under them."""
    refused = pc.is_valid(trace.table["error"])
    applied = trace.table.filter(pc.invert(refused))
    blocks = [paragraph(f"What each event did to the overlay, from {trace.name}.")]
    if applied.num_rows:
        blocks += [_tiles(applied), _means(applied), beside(_figures(applied, trace.name))]
    else:
        blocks.append(paragraph("No event was applied."))
    if applied.num_rows < trace.table.num_rows:
        blocks.append(_refused(trace.table.filter(refused)))
    return Section(f"Churn {trace.name}", tuple(blocks))


def _tiles(applied: pa.Table) -> str:
    last = applied.slice(applied.num_rows - 1).to_pylist()[0]
    changed = pc.add(applied["links_added"], applied["links_removed"])
    return tiles(
        [
            ("events applied", count(applied.num_rows)),
            ("nodes at the end", count(last["nodes"])),
            ("links at the end", count(last["links"])),
            ("average degree at the end", mean(last["average_degree"])),
            ("max degree at the end", count(last["max_degree"])),
            ("links changed an event, mean", mean(pc.mean(changed).as_py())),
            ("repair ratio, mean", percent(pc.mean(applied["repair_ratio"]).as_py())),
            ("time an event, mean", milliseconds(pc.mean(applied["seconds"]).as_py())),
        ]
    )


def _means(applied: pa.Table) -> str:
    rows: list[list[Cell]] = []
    for kind in (JOIN, LEAVE, CHANGE):
        events = applied.filter(pc.equal(applied["kind"], kind))
        if events.num_rows:
            means = {name: pc.mean(events[name]).as_py() for name in _MEANS}
            row = [show(means[name]) for name, (_, show) in _MEANS.items()]
            rows.append([kind, count(events.num_rows), *row])
    headers = ["event", "number", *(title for title, _ in _MEANS.values())]
    return table("Means by kind of event", headers, rows)


_RATIO = "Links that came and went at an event, against those that there were before."
_TIME = "Upkeep is what is done after an event to be ready for the next."
_SHADOW = "Nodes that took part in mending."
_GROUPED = " Lines are means of neighbouring events; shades reach from the lowest to the highest."


class _Plot(NamedTuple):
    """Lines in one picture: columns and their labels, what is counted, and how it is scaled."""

    title: str
    lines: Mapping[str, str]
    unit: str
    note: str = ""
    scale: str = "count"


_PLOTS = (
    _Plot("Degrees", {"max_degree": "max degree", "average_degree": "average degree"}, "links of a node"),
    _Plot("Size", {"links": "links", "nodes": "nodes"}, "number"),
    _Plot("Links changed", {"links_added": "added", "links_removed": "removed"}, "links an event"),
    _Plot("Repair ratio", {"repair_ratio": "repair ratio"}, "share of the links", _RATIO, "percent"),
    _Plot("Time an event", {"seconds": "mending", "upkeep_seconds": "upkeep"}, "milliseconds", _TIME, "log"),
    _Plot("Shadow set", {"shadow": "shadow set"}, "nodes", _SHADOW),
)


def _figures(applied: pa.Table, name: str) -> list[str]:
    columns = {field: _column(applied, field) for plot in _PLOTS for field in plot.lines}
    events = _column(applied, "event")
    return [_drawn(plot, events, columns, name) for plot in _PLOTS]


def _column(applied: pa.Table, field: str) -> Column:
    values: Column = applied[field].to_numpy().astype(np.float64)
    return 1000 * values if field.endswith("seconds") else values


def _drawn(plot: _Plot, events: Column, columns: Mapping[str, Column], name: str) -> str:
    # Nothing at all cannot be shown on a logarithmic axis: maintainers without upkeep have none.
    lines = {field: label for field, label in plot.lines.items() if plot.scale != "log" or columns[field].any()}
    with styled():
        drawn, (axes,) = new_figure(5.4, 3.2)
        for (field, label), colour, dashes in zip(lines.items(), COLOURS, DASHES, strict=False):
            groups = binned(events, columns[field])
            axes.plot(groups.at, groups.mean, color=colour, label=label, linewidth=1.2, linestyle=dashes)
            axes.fill_between(groups.at, groups.low, groups.high, color=colour, alpha=0.2, linewidth=0)
        axes.set(xlabel="event", ylabel=plot.unit)
        count_axis(axes, "x")
        if plot.scale == "log":
            log_axis(axes, "y")
        else:
            axes.set_ylim(0, None)
        if plot.scale == "percent":
            percent_axis(axes, "y")
        if len(lines) > 1:
            add_legend(axes)
    note = plot.note + (_GROUPED if len(groups.at) < len(events) else "")
    return figure(drawn, f"trace {name} {plot.title}", plot.title, note.strip())


def _refused(events: pa.Table) -> str:
    rows: list[list[Cell]] = [
        [count(row["event"]), row["kind"], row["node"], row["error"]]
        for row in events.slice(0, _REFUSED_ROWS).to_pylist()
    ]
    note = f"{events.num_rows:,} events could not have happened and changed nothing."
    if events.num_rows > _REFUSED_ROWS:
        note += f" The first {_REFUSED_ROWS} of them:"
    return table("Refused events", ["event", "kind", "node", "why"], rows, note=note)
