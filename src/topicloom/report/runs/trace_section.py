"""The section of a churn trace: what events did to an overlay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from topicloom.churn.trace import NEEDED, read_trace
from topicloom.model.events import CHANGE, JOIN, LEAVE
from topicloom.present.figures import (
    COLOURS,
    DASHES,
    MARKERS,
    add_legend,
    count_axis,
    log_axis,
    new_figure,
    percent_axis,
    styled,
)
from topicloom.present.html import Cell
from topicloom.present.numbers import count, mean, milliseconds, percent
from topicloom.report.page.curves import Binned, binned
from topicloom.report.page.kind import Form, Kind, Reading
from topicloom.report.page.section import Section, beside, figure, paragraph, table, tiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Column = npt.NDArray[np.float64]

TRACE = Form("trace", columns=NEEDED)

# How many refused events are named.
_REFUSED_ROWS = 20

# What is averaged for each kind of event: its column, what it is called, and how it is shown.
_MEANS: dict[str, tuple[str, Any]] = {
    "links_added": ("links added", mean),
    "links_removed": ("links removed", mean),
    "repair_ratio": ("repair ratio", percent),
    "shadow": ("shadow set (nodes)", mean),
    "seconds": ("time, mean", milliseconds),
    "upkeep_seconds": ("upkeep, mean", milliseconds),
}


@dataclass(frozen=True, eq=False)
class Trace:
    """What events did to an overlay, one a row."""

    name: str
    table: pa.Table


def read_traces(reading: Reading) -> list[Trace]:
    """Read all traces."""
    return [Trace(name, table) for name, table in reading.named(TRACE, read_trace)]


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
    return Section(f"Churn: {trace.name}", tuple(blocks))


def _tiles(applied: pa.Table) -> Markup:
    last = applied.slice(applied.num_rows - 1).to_pylist()[0]
    changed = pc.add(applied["links_added"], applied["links_removed"])
    supported = "support" in applied.column_names
    return tiles(
        [
            ("events applied", count(applied.num_rows)),
            ("nodes at the end", count(last["nodes"])),
            ("links at the end", count(last["links"])),
            ("average degree at the end", mean(last["average_degree"])),
            ("max degree at the end", count(last["max_degree"])),
            ("links changed an event, mean", mean(pc.mean(changed).as_py())),
            ("repair ratio, mean", percent(pc.mean(applied["repair_ratio"]).as_py())),
            ("time an event, median", milliseconds(_median(applied["seconds"]))),
            *([("support, lowest", percent(pc.min(applied["support"]).as_py()))] if supported else []),
        ]
    )


def _means(applied: pa.Table) -> Markup:
    rows: list[list[Cell]] = []
    for kind in (JOIN, LEAVE, CHANGE):
        events = applied.filter(pc.equal(applied["kind"], kind))
        if events.num_rows:
            means = {name: pc.mean(events[name]).as_py() for name in _MEANS}
            row = [show(means[name]) for name, (_, show) in _MEANS.items()]
            rows.append([kind, count(events.num_rows), *row, milliseconds(_median(events["seconds"]))])
    headers = ["event", "number", *(title for title, _ in _MEANS.values()), "time, median"]
    return table("Means by kind of event", headers, rows)


def _median(values: pa.ChunkedArray) -> float:
    """The median, which a few slow events do not move: the first ones may include compiling."""
    return float(np.median(values.to_numpy()))


_DEGREES = "The most links that a node has, and how many it has on average, after each event."
_SIZE = "Nodes and links after each event."
_CHANGED = "Links that an event brought, upwards, and took away, downwards."
_RATIO = "Links that came and went at an event, against those that there were before."
_TIME = "What an event took while it was waited for; upkeep comes after it, to be ready for the next. Logarithmic."
_SHADOW = "Nodes that took part in mending."
_SUPPORT = "Share of the possible merging that is done after each event, where constraints keep topics in pieces."
_GROUPED = " Neighbouring events are averaged; shades reach from the lowest to the highest."


class _Plot(NamedTuple):
    """Columns and their labels in one picture, what they count, and how they are drawn."""

    title: str
    columns: Mapping[str, str]
    unit: str
    note: str
    drawn: str = "lines"


_PLOTS = (
    _Plot("Degrees", {"max_degree": "max degree", "average_degree": "average degree"}, "links of a node", _DEGREES),
    _Plot("Size", {"links": "links", "nodes": "nodes"}, "number", _SIZE),
    _Plot(
        "Links changed", {"links_added": "added", "links_removed": "removed"}, "links an event", _CHANGED, "mirrored"
    ),
    _Plot("Repair ratio", {"repair_ratio": "repair ratio"}, "share of the links", _RATIO, "percent"),
    _Plot("Time an event", {"seconds": "mending", "upkeep_seconds": "upkeep"}, "milliseconds", _TIME, "log"),
    _Plot("Shadow set", {"shadow": "shadow set"}, "nodes", _SHADOW, "dots"),
    _Plot("Support", {"support": "support"}, "share of the merging", _SUPPORT, "percent"),
)


def _figures(applied: pa.Table, name: str) -> list[Markup]:
    plots = [plot for plot in _PLOTS if "support" not in plot.columns or _falls_apart(applied)]
    columns = {field: _column(applied, field) for plot in plots for field in plot.columns}
    events = _column(applied, "event")
    grouped = _GROUPED if len(binned(events, events).at) < len(events) else ""
    return [
        figure(_drawn(plot, events, columns), f"trace {name} {plot.title}", plot.title, plot.note + grouped)
        for plot in plots
    ]


def _falls_apart(applied: pa.Table) -> bool:
    return "support" in applied.column_names and pc.min(applied["support"]).as_py() < 1


def _column(applied: pa.Table, field: str) -> Column:
    values: Column = applied[field].to_numpy().astype(np.float64)
    return 1000 * values if field.endswith("seconds") else values


def _drawn(plot: _Plot, events: Column, columns: Mapping[str, Column]) -> Figure:
    # Zeros cannot be shown on a logarithmic axis, and maintainers without upkeep have nothing else.
    shown = {field: label for field, label in plot.columns.items() if plot.drawn != "log" or columns[field].any()}
    with styled():
        figure, (axes,) = new_figure(5.4, 3.2)
        for order, field in enumerate(shown):
            sign = -1 if plot.drawn == "mirrored" and order else 1
            _draw(axes, binned(events, sign * columns[field]), order, dots=plot.drawn != "lines")
        axes.set(xlabel="event", ylabel=plot.unit)
        count_axis(axes, "x")
        if plot.drawn == "log":
            log_axis(axes, "y")
        elif plot.drawn == "mirrored":
            axes.axhline(0, color="0.4", linewidth=0.8)
            count_axis(axes, "y")
            axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):,.0f}")
        else:
            axes.set_ylim(0, None)
        if plot.drawn == "percent":
            percent_axis(axes, "y")
        if len(shown) > 1:
            add_legend(axes, list(shown.values()))
    return figure


def _draw(axes: Axes, groups: Binned, order: int, *, dots: bool) -> None:
    """Lines for what an overlay is like, dots for what single events did."""
    colour = COLOURS[order]
    if dots:
        look: dict[str, Any] = {"marker": MARKERS[order], "markersize": 3, "linestyle": "", "alpha": 0.8}
    else:
        look = {"linestyle": DASHES[order]}
    axes.plot(groups.at, groups.mean, color=colour, markeredgewidth=0, **look)
    axes.fill_between(groups.at, groups.low, groups.high, color=colour, alpha=0.2, linewidth=0)


def _refused(events: pa.Table) -> Markup:
    rows: list[list[Cell]] = [
        [count(row["event"]), row["kind"], row["node"], row["error"]]
        for row in events.slice(0, _REFUSED_ROWS).to_pylist()
    ]
    note = "What could not have happened, such as the leave of a node that is not there, changed nothing."
    if events.num_rows > _REFUSED_ROWS:
        note += f" These are the first {_REFUSED_ROWS} of {events.num_rows:,}."
    return table("Refused events", ["event", "kind", "node", "why"], rows, note=note)


KIND = Kind(
    name="traces",
    forms=(TRACE,),
    read=read_traces,
    section=trace_section,
    facts=lambda trace: trace.name,
    line=lambda trace: f"churn {trace.name}",
)
