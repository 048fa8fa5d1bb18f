"""The view of time: what events did to an overlay, event by event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from markupsafe import Markup

from topicloom.errors import InputError
from topicloom.explore.explorer import Explorer
from topicloom.present.charts import new_chart
from topicloom.present.figures import COLOURS
from topicloom.present.html import macro
from topicloom.present.interactive import chart_block, script_json
from topicloom.present.numbers import percent
from topicloom.report.runs.trace_section import Trace

# How many events a line has at most: a screen shows no more.
_POINTS = 1000
# What is drawn: a title, its columns by label, and whether they are shares.
_CHARTS: tuple[tuple[str, Mapping[str, str], bool], ...] = (
    ("Degrees", {"max_degree": "max degree", "average_degree": "average degree"}, False),
    ("Nodes and links", {"links": "links", "nodes": "nodes"}, False),
    ("Links changed by an event", {"links_added": "added", "links_removed": "removed"}, False),
    ("Repair ratio", {"repair_ratio": "repair ratio"}, True),
    ("Support", {"support": "support"}, True),
)


def time_html(explorer: Explorer, number: int) -> Markup:
    """A trace, or the watched fleet, which comes after all traces."""
    traces = explorer.collection.results.traces
    if number == len(traces) and explorer.live is not None:
        return macro("topicloom.explore", "views.html", "live")
    return trace_html(traces[number])


def trace_html(trace: Trace) -> Markup:
    """What each event did, as lines with a marker that moves along them."""
    table = trace.table.filter(pc.is_null(trace.table["error"]))
    if not table.num_rows:
        raise InputError(f"{trace.name}: no event was applied")
    at = np.unique(np.linspace(0, table.num_rows - 1, min(_POINTS, table.num_rows)).round().astype(np.int64))
    rows = table.take(at)
    events = rows["event"].to_pylist()
    charts = [
        (title, chart_block(_lines(rows, events, columns, shares), title, height=260, kind="chart over-time"))
        for title, columns, shares in _CHARTS
        if columns.keys() <= set(rows.column_names)
    ]
    moments = script_json({"at": events, "said": [_said(row) for row in rows.to_pylist()]})
    about = f"{table.num_rows:,} events of {trace.name}; the slider goes through them, and Play does it by itself."
    return macro("topicloom.explore", "views.html", "over_time", about, charts, moments, len(events) - 1)


def _lines(rows: Any, events: Sequence[int], columns: Mapping[str, str], shares: bool) -> Any:
    from bokeh.models import ColumnDataSource
    from bokeh.models.annotations import Span

    told = [("event", "@event"), *((label, f"@{{{field}}}") for field, label in columns.items())]
    made = new_chart("event", "", told=told, percent=shares)
    source = ColumnDataSource({"event": events, **{field: rows[field].to_numpy() for field in columns}})
    for colour, dash, (field, label) in zip(COLOURS, ("solid", "dashed"), columns.items(), strict=False):
        named = {"legend_label": label} if len(columns) > 1 else {}
        made.line("event", field, source=source, color=colour, line_dash=dash, line_width=2, **named)
    made.y_range.start = 0
    if len(columns) > 1:
        made.add_layout(made.legend[0], "below")
        made.legend.location, made.legend.orientation = "left", "horizontal"
    made.add_layout(
        Span(
            name="now", location=events[-1], dimension="height", line_color=COLOURS[3], line_width=2, line_dash="dotted"
        )
    )
    return made


def _said(row: Mapping[str, Any]) -> str:
    support = f", support {percent(row['support']).text}" if "support" in row else ""
    return (
        f"Event {row['event']:,}: {row['kind']} of {row['node'][:80]}. {row['links_added']:,} links came, "
        f"{row['links_removed']:,} went: {row['links']:,} links over {row['nodes']:,} nodes, "
        f"max degree {row['max_degree']:,}, repair ratio {percent(row['repair_ratio']).text}{support}."
    )
