"""The view of time: what events did to an overlay, event by event, and a watched fleet as it is now."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from markupsafe import Markup

from topicloom.errors import InputError
from topicloom.explore.explorer import Explorer
from topicloom.present.charts import new_chart
from topicloom.present.figures import COLOURS
from topicloom.present.html import Cell, facts_html, macro
from topicloom.present.interactive import chart_block, network_block, script_json
from topicloom.present.network_figure import DrawnNetwork, network_figure
from topicloom.present.network_layout import places
from topicloom.present.numbers import count, percent
from topicloom.report.runs.trace_section import Trace

# How many events a line has at most: a screen shows no more.
_POINTS = 1000
# What is drawn: a title, its columns by label, and whether they are shares.
_CHARTS: tuple[tuple[str, Mapping[str, str], bool], ...] = (
    ("Degrees", {"max_degree": "max degree", "average_degree": "average degree"}, False),
    ("Nodes and links", {"links": "links", "nodes": "nodes"}, False),
    ("Links changed by an event", {"links_added": "added", "links_removed": "removed"}, False),
    ("Repair ratio", {"repair_ratio": "repair ratio"}, True),
)
_ASKING_SECONDS = 3
_DOWN, _UP = "#D55E00", "#8c959f"


def time_html(explorer: Explorer, number: int) -> Markup:
    """A trace, or the watched fleet, which comes after all traces."""
    traces = explorer.collection.results.traces
    if number == len(traces) and explorer.live_url is not None:
        return macro("topicloom.explore", "views.html", "live", explorer.live_url)
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
        made.line("event", field, source=source, color=colour, line_dash=dash, line_width=2, legend_label=label)
    made.y_range.start = 0
    made.add_layout(made.legend[0], "below")
    made.legend.location, made.legend.orientation = "left", "horizontal"
    made.add_layout(
        Span(
            name="now", location=events[-1], dimension="height", line_color=COLOURS[3], line_width=2, line_dash="dotted"
        )
    )
    return made


def _said(row: Mapping[str, Any]) -> str:
    return (
        f"Event {row['event']:,}: {row['kind']} of {row['node'][:80]}. {row['links_added']:,} links came, "
        f"{row['links_removed']:,} went: {row['links']:,} links over {row['nodes']:,} nodes, "
        f"max degree {row['max_degree']:,}, repair ratio {percent(row['repair_ratio']).text}."
    )


def live_html(explorer: Explorer) -> Markup:
    """The watched fleet now, as its controller tells it."""
    if explorer.live_url is None:
        raise InputError("no fleet is watched; start again with the address of a watch")
    return status_html(_status(explorer.live_url))


def _status(address: str) -> Mapping[str, Any]:
    try:
        with urllib.request.urlopen(f"{address.rstrip('/')}/status.json", timeout=_ASKING_SECONDS) as answered:
            status = json.loads(answered.read(50_000_000))
    except (OSError, ValueError) as error:
        raise InputError(f"{address}: does not answer ({error})") from None
    if not isinstance(status, dict) or not {"brokers", "links", "support", "links_down", "away"} <= status.keys():
        raise InputError(f"{address}: tells of no fleet yet")
    return status


def status_html(status: Mapping[str, Any]) -> Markup:
    """A fleet under control: who is away, support over the last looks, and its links."""
    facts: list[tuple[str, Cell]] = [
        ("brokers", count(len(status["brokers"]))),
        ("gone", ", ".join(status["away"]) or "none"),
        ("silent", ", ".join(status.get("silent", ())) or "none"),
        ("links", count(len(status["links"]))),
        ("links down", count(len(status["links_down"]))),
        ("support", percent(status["support"][-1][1]) if status["support"] else "–"),
        ("waiting", str(status.get("waiting") or "nothing")),
        ("latest", str((status.get("latest") or ["nothing"])[-1])),
    ]
    seen = [moment for moment, _ in status["support"]]
    chart = new_chart("seconds ago", "support", told=[("support", "@y")], percent=True)
    now = time.time()
    chart.line(
        [moment - now for moment in seen], [share for _, share in status["support"]], line_width=2, color=COLOURS[0]
    )
    chart.y_range.start, chart.y_range.end = 0, 1.05
    drawn = _drawn(status)
    network = network_block(network_figure(drawn, "fleet"), "The fleet", list(drawn.colourings))
    charts = [("Support", chart_block(chart, "Support over time", height=240))]
    return macro("topicloom.explore", "views.html", "live_now", facts_html(facts), charts, network)


def _drawn(status: Mapping[str, Any]) -> DrawnNetwork:
    names = sorted({*status["brokers"], *status["away"], *(end for link in status["links"] for end in link)})
    number = {name: at for at, name in enumerate(names)}
    ends = np.array([[number[first], number[second]] for first, second in status["links"]], np.int64).reshape(-1, 2)
    down = {frozenset(link) for link in status["links_down"]}
    is_down = [frozenset(link) in down for link in status["links"]]
    away = np.array([name in {*status["away"], *status.get("silent", ())} for name in names], np.int64)
    degrees = np.bincount(ends.ravel(), minlength=len(names))
    return DrawnNetwork(
        names=tuple(names),
        places=places(len(names), ends[:, 0], ends[:, 1]),
        source=ends[:, 0],
        target=ends[:, 1],
        sizes=10 + 3 * np.sqrt(degrees),
        told={"links": degrees},
        colourings={"gone or silent": away, "links": degrees},
        groups=frozenset(["gone or silent"]),
        link_colours=[_DOWN if each else _UP for each in is_down],
        link_dashes=["dashed" if each else "solid" for each in is_down],
    )
