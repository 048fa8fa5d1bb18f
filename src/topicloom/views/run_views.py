"""Runs and papers in the explorer.

The view of a sweep: each measure of its designers against what varies, as curves to point at and to hide.

The view of time: what events did to an overlay, event by event.

The view of papers: their figures from our own runs, readings and claims beside them, and the data behind each.

The view of a content-based network: its brokers, near those that traffic is cheap to, their users and core links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from topicloom.content.tables import read_core
from topicloom.content.views import ShownNetwork, Trees
from topicloom.errors import InputError, printable
from topicloom.experiments.reproduction_index import PaperFigure
from topicloom.io.tables import read_parquet
from topicloom.views.explorer import Explorer
from topicloom.views.figures import COLOURS
from topicloom.views.html import Cell, facts_html, macro, shortened, table_html
from topicloom.views.interactive import Answer, Carried, chart_block, network_block, new_chart, script_json
from topicloom.views.network import DrawnNetwork, cheapest_tree, network_figure, places_by_distance
from topicloom.views.numbers import amount, count, percent
from topicloom.views.papers import Reproduction, paper_blocks
from topicloom.views.runs import (
    MEASURES,
    MOST_LINES,
    MOST_PANELS,
    Axis,
    ShownSweep,
    Trace,
    designers,
    is_numeric,
    panels,
    pictured,
    places_along,
    setting,
    sweep_axis,
)

_DASHES = ("solid", "dashed", "dotted", "dotdash")
_MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "hex", "plus", "x")
# Longer names would leave a chart no room.
_NAME = 24


def sweep_html(explorer: Explorer, number: int) -> Markup:
    """The curves of a sweep."""
    return curves_html(explorer.collection.results.sweeps[number])


def curves_html(sweep: ShownSweep) -> Markup:
    """A chart for each measure, and for each combination of what varies besides the x-axis."""
    if not sweep.cells:
        raise InputError(f"{sweep.name}: no run gave a result")
    shown = pictured(sweep)
    axis = sweep_axis(shown)
    about = (
        f"Designers of {sweep.name}; runs that differ only in their seeds are averaged. "
        "A click on a name hides its curve. The report has all numbers."
    )
    left = [
        f"the first {MOST_LINES} of {len(designers(shown))} designers" if len(designers(shown)) > MOST_LINES else "",
        f"the first {MOST_PANELS} of {len(panels(shown, axis))} charts"
        if len(panels(shown, axis)) > MOST_PANELS
        else "",
    ]
    only = " and ".join(part for part in left if part)
    charts = [
        (title, chart_block(made, title, height=340))
        for panel in panels(shown, axis)[:MOST_PANELS]
        for title, made in _charts(shown, axis, panel)
    ]
    return macro("views.html", "curves", f"{about}{f' Shown are {only}.' if only else ''}", charts)


def _charts(sweep: ShownSweep, axis: Axis, panel: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    named = [f"{sweep.varying[at]} {setting(value)}" for at, value in zip(axis.across, panel, strict=True)]
    for measure, title in MEASURES.items():
        yield shortened(", ".join([title, *named]), 5 * _NAME), _chart(sweep, axis, panel, measure)


def _chart(sweep: ShownSweep, axis: Axis, panel: tuple[Any, ...], measure: str) -> Any:
    from bokeh.models import ColumnDataSource

    cells = [cell for cell in sweep.cells if tuple(cell.workload[at] for at in axis.across) == panel]
    lines = designers(sweep)[:MOST_LINES]
    # Where nothing varies, designers stand side by side.
    along = axis.along
    values = lines if along is None else [cell.workload[along] for cell in sweep.cells]
    places = places_along(values)
    x = "designer" if along is None else sweep.varying[along]
    made = new_chart(x, MEASURES[measure], told=_told(x), percent=measure == "support")
    for order, designer in enumerate(lines):
        points = sorted(
            (places[designer if along is None else cell.workload[along]], cell.means[measure], cell.runs)
            for cell in cells
            if cell.designer == designer
        )
        source = ColumnDataSource(
            {
                "x": [point[0] for point in points],
                "y": [point[1] for point in points],
                "runs": [point[2] for point in points],
                "at": [setting(value) for value in _values(places, points)],
                "name": [shortened(designer)] * len(points),
            }
        )
        look = {"color": COLOURS[order % len(COLOURS)], "legend_label": shortened(designer, _NAME), "source": source}
        made.line("x", "y", line_dash=_DASHES[order % len(_DASHES)], line_width=2, **look)
        made.scatter("x", "y", marker=_MARKERS[order % len(_MARKERS)], size=7, **look)
    if not is_numeric([*places]):
        made.xaxis.ticker = list(places.values())
        made.xaxis.major_label_overrides = {at: shortened(setting(value), _NAME) for value, at in places.items()}
        made.xaxis.major_label_orientation = 0.6
    made.y_range.start = 0
    made.add_layout(made.legend[0], "below")
    made.legend.location, made.legend.orientation, made.legend.ncols = "left", "horizontal", 3
    made.legend.click_policy = "hide"
    return made


def _told(x: str) -> list[tuple[str, str]]:
    return [("", "@name"), (x, "@at"), ("", "@y"), ("runs", "@runs")]


def _values(places: dict[Any, float], points: list[tuple[float, float, int]]) -> list[Any]:
    value = {at: given for given, at in places.items()}
    return [value[at] for at, _, _ in points]


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
        return macro("views.html", "live")
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
    return macro("views.html", "over_time", about, charts, moments, len(events) - 1)


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


# How many rows of data are shown.
_ROWS = 300


def papers(explorer: Explorer) -> list[tuple[Reproduction, str]]:
    """All papers of all reproductions."""
    return [(each, paper) for each in explorer.collection.results.reproductions for paper in each.papers]


def papers_html(explorer: Explorer, number: int, *, served: bool = True) -> Markup:
    """A paper with its figures; without a server the data come with it."""
    reproduction, paper = papers(explorer)[number]
    size = "a quick run, of smaller sizes" if reproduction.quick else "a full run"
    figures = [
        (
            figure.place,
            re.sub(r"[^\w-]", "-", figure.id),
            block,
            f"data?paper={number}&figure={at}" if served else "",
            Markup() if served else _rows(reproduction.folder, figure),
        )
        for at, (figure, block) in enumerate(paper_blocks(reproduction, paper))
    ]
    about = f"{paper}: its figures from {reproduction.name}, {size}, and what it says about them."
    return macro("views.html", "papers", about, figures)


def data_html(explorer: Explorer, number: int, which: int) -> Markup:
    """The data behind a figure of a paper."""
    known = papers(explorer)
    if not 0 <= number < len(known):
        raise InputError(f"there is no paper {number}")
    reproduction, paper = known[number]
    figures = [figure for figure in reproduction.figures if figure.paper == paper]
    if not 0 <= which < len(figures):
        raise InputError(f"there is no figure {which}")
    return _rows(reproduction.folder, figures[which])


def _rows(folder: Path, figure: PaperFigure) -> Markup:
    """The first rows of a figure's data, which lie in the folder itself: its index may name no other place."""
    file = folder / figure.data
    if Path(figure.data).name != figure.data or file.resolve().parent != folder.resolve():
        return macro("views.html", "problem", f"{figure.data} is no file of the reproduction")
    try:
        table = read_parquet(file)
    except (OSError, pa.ArrowException) as error:
        return macro("views.html", "problem", f"{figure.data} cannot be read ({error})")
    shown = table.slice(0, _ROWS)
    rows = [[_cell(value) for value in row.values()] for row in shown.to_pylist()]
    return macro(
        "views.html",
        "rows_of_data",
        table_html(table.column_names, rows),
        shown.num_rows,
        table.num_rows,
    )


def _cell(value: object) -> Cell:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return amount(value)
    return "" if value is None else str(value)


_SMALLEST, _LARGEST = 12.0, 26.0

Numbers = npt.NDArray[Any]


class _Links(NamedTuple):
    """Links between brokers, what is told of each by title, and what they are."""

    source: Numbers
    target: Numbers
    told: dict[str, Numbers]
    about: str


def content_html(explorer: Explorer, number: int) -> Markup:
    """The brokers of a network."""
    return brokers_html(*networks_with_trees(explorer)[number])


def networks_with_trees(explorer: Explorer) -> list[tuple[ShownNetwork, list[Trees]]]:
    """All networks, each with the trees over its brokers and those of no other."""
    results = explorer.collection.results
    fitting = [
        (trees, [network for network in results.networks if _has_brokers(network, trees)]) for trees in results.trees
    ]
    return [(network, [trees for trees, fits in fitting if fits == [network]]) for network in results.networks]


def _has_brokers(network: ShownNetwork, trees: Trees) -> bool:
    named = {name for column in ("one", "other") for name in trees.links[column].to_pylist()}
    return named <= set(network.outline.broker_names)


def brokers_html(network: ShownNetwork, trees: Sequence[Trees]) -> Markup:
    """The brokers, with how many users each assignment gives them, and the links that the first of these trees use."""
    known = network.outline
    prices = read_core(network.folder / "core.parquet", known.broker_names, close=True)
    links = _links(network, trees, prices)
    columns = _columns(network)
    most = next(iter(columns.values()))
    drawn = DrawnNetwork(
        names=known.broker_names,
        places=places_by_distance(prices),
        source=links.source,
        target=links.target,
        sizes=_SMALLEST + _LARGEST * np.sqrt(most / max(1, most.max(initial=1))),
        told={title: _rounded(values) for title, values in columns.items()},
        colourings=columns,
        link_told=links.told,
    )
    about = (
        f"{len(known.broker_names):,} brokers of {network.name} and {len(known.user_names):,} users; brokers are near "
        "each other where traffic between them is cheap."
    )
    facts = facts_html(
        [("channels", count(len(known.channel_names))), ("capacity", amount(float(known.capacity.sum())))]
    )
    beside = macro("views.html", "brokers", [about, links.about, "Click a broker, or find one."], facts)
    answers = {f"node/{row}": _answer(drawn, row) for row in range(len(drawn.names))}
    answers |= {f"link/{row}": _link_answer(drawn, row) for row in range(len(drawn.source))}
    carried: Carried = {
        "answers": answers,
        "names": {"node": [(row, printable(name)) for row, name in enumerate(drawn.names)]},
    }
    return network_block(
        network_figure(drawn, "brokers"), about, list(columns), carried=carried, beside=beside, find="a broker"
    )


def _columns(network: ShownNetwork) -> dict[str, Numbers]:
    """What is known of brokers, by title; what sizes follow comes first."""
    known, brokers = network.outline, len(network.outline.broker_names)
    # Users do not know brokers whose price is infinite.
    knows = np.isfinite(known.access)
    return {
        **{
            f"users, {name}": np.bincount(assigned.brokers, minlength=brokers)
            for name, assigned in network.assignments.items()
        },
        "users that it is cheapest for": np.bincount(known.access.argmin(axis=1), minlength=brokers),
        "capacity": known.capacity,
        "users that know it": knows.sum(axis=0),
        "access price, mean": np.where(knows, known.access, 0.0).sum(axis=0) / np.maximum(1, knows.sum(axis=0)),
    }


def _links(network: ShownNetwork, trees: Sequence[Trees], prices: npt.NDArray[np.float64]) -> _Links:
    """The links of the first trees; without any, those that join all brokers most cheaply."""
    if trees:
        row = {name: at for at, name in enumerate(network.outline.broker_names)}
        used = trees[0].links
        source, target = (np.array([row[name] for name in used[end].to_pylist()], np.int64) for end in ("one", "other"))
        told = {title: _rounded(used[title].to_numpy()) for title in ("trees", "rate", "cost")}
        return _Links(source, target, told, f"Links are those that the trees of {trees[0].name} use.")
    ends_of_tree = cheapest_tree(prices)
    told = {"price": _rounded(prices[ends_of_tree])}
    return _Links(*ends_of_tree, told, "Links are those of the cheapest tree that joins all brokers.")


def _rounded(values: Numbers) -> Numbers:
    return values if values.dtype.kind in "iu" else values.round(3)


def _answer(drawn: DrawnNetwork, row: int) -> Answer:
    at = np.flatnonzero((drawn.source == row) | (drawn.target == row))
    others = np.where(drawn.source[at] == row, drawn.target[at], drawn.source[at])
    facts: list[tuple[str, Cell]] = [(title, amount(float(values[row]))) for title, values in drawn.told.items()]
    html = macro("views.html", "broker", drawn.names[row], facts_html([*facts, ("links", count(len(at)))]))
    return {"html": html, "nodes": {**dict.fromkeys(others.tolist(), "sub"), row: "chosen"}, "links": at.tolist()}


def _link_answer(drawn: DrawnNetwork, row: int) -> Answer:
    ends = [int(drawn.source[row]), int(drawn.target[row])]
    name = " – ".join(drawn.names[end] for end in ends)
    facts = facts_html([(title, amount(float(values[row]))) for title, values in drawn.link_told.items()])
    html = macro("views.html", "broker", name, facts)
    return {"html": html, "nodes": dict.fromkeys(ends, "chosen"), "links": [row]}
