"""Sections about profiles, sweeps and traces.

The section of a profile, from the folder that `topicloom spark profile` wrote.

Results of sweeps from files: runs that differ in nothing but their seeds, put together.

Pictures of a sweep: each measure of the designers against what varies between workloads.

The section of a sweep: designers on many workloads.

The section of a churn trace: what events did to an overlay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from topicloom.churn.trace import NEEDED, read_trace
from topicloom.io.tables import numbers
from topicloom.io.whole import MANIFEST
from topicloom.model.events import CHANGE, JOIN, LEAVE
from topicloom.spark.profile import CCDF, COMMON_TOPICS, PROFILE, ProfileFigures, read_profile_figures
from topicloom.spark.sweep_spec import PARAMETER, RESULTS, WORKLOAD, read_sweep_table
from topicloom.views.curves import Binned, binned
from topicloom.views.figures import (
    COLOURS,
    DASHES,
    LABEL,
    MARKERS,
    add_legend,
    count_axis,
    log_axis,
    name_ticks,
    new_figure,
    percent_axis,
    read_svg,
    styled,
)
from topicloom.views.html import Cell, Sentence, shortened
from topicloom.views.numbers import Number, amount, count, count_of, mean, milliseconds, percent
from topicloom.views.section import Form, Kind, Reading, Section, beside, figure, paragraph, picture, table, tiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PROFILED = Form("profile", parts=(MANIFEST, PROFILE))

_QUANTILES = ("0.1", "0.5", "0.9", "0.99")
_POPULAR = ("0.01", "0.1", "0.2")


@dataclass(frozen=True)
class ShownProfile:
    """What subscriptions look like, which version found it, and the two pictures of it."""

    name: str
    version: str
    figures: ProfileFigures
    ccdf: bytes
    common_topics: bytes


def read_profiles(reading: Reading) -> list[ShownProfile]:
    """Read all profiles."""
    return [replace(profile, name=name) for name, profile in reading.named(PROFILED, _profile)]


def _profile(folder: Path) -> ShownProfile:
    manifest, figures = read_profile_figures(folder)
    return ShownProfile(folder.name, manifest.version, figures, read_svg(folder, CCDF), read_svg(folder, COMMON_TOPICS))


def profile_section(profile: ShownProfile) -> Section:
    """Sizes and how they are distributed, and what designing would take."""
    found = profile.figures
    shared, popular = found.common_topics, found.subscriptions_in_most_popular
    facts = [
        ("nodes", count(found.nodes)),
        ("topics", count(found.topics)),
        ("subscriptions", count(found.subscriptions)),
        *((f"of them in the top {float(share):.0%} of topics", percent(popular.get(share))) for share in _POPULAR),
        ("pairs of nodes that share a topic", count(shared.pairs)),
    ]
    rows: list[list[Cell]] = [
        [
            things,
            count(sizes.min),
            *(count(sizes.quantiles.get(share)) for share in _QUANTILES),
            count(sizes.max),
            mean(sizes.mean),
        ]
        for things, sizes in (
            ("topics per node", found.topics_per_node),
            ("nodes per topic", found.nodes_per_topic),
            ("topics that pairs of nodes share", shared.common_topics),
        )
    ]
    headers = ["what", "least", *(f"{float(share):.0%}" for share in _QUANTILES), "most", "mean"]
    estimated = " What pairs share is estimated from a sample." if not shared.exact else ""
    pictures = [
        picture(profile.ccdf, "Topics per node, nodes per topic", "Which share has at least that size."),
        picture(profile.common_topics, "Topics that pairs share", f"Pairs that share one or more.{estimated}"),
    ]
    memory: list[list[Cell]] = [[need.designer, _megabytes(need.bytes)] for need in found.designer_memory]
    return Section(
        f"Profile: {profile.name}",
        (
            paragraph(f"How subscriptions are distributed, from {profile.name} (topicloom {profile.version})."),
            tiles(facts),
            beside(pictures),
            table("Sizes", headers, rows, note=f"Below 50% stands the size that half of them do not pass.{estimated}"),
            table("Memory that designing would take", ["designer", "memory"], memory),
        ),
    )


def _megabytes(need: int) -> Number:
    return Number(need, f"{amount(need / 1e6).text} MB")


PROFILE_KIND = Kind(
    name="profiles",
    forms=(PROFILED,),
    read=read_profiles,
    section=profile_section,
    facts=lambda profile: profile.name,
    line=lambda profile: f"profile {profile.name}",
)


# What is shown of each run: its column, and what it is called.
MEASURES: Mapping[str, str] = {
    "support": "support",
    "average_degree": "average degree",
    "max_degree": "max degree",
    "links": "links",
    "seconds": "seconds",
}
SWEEP = Form("sweep", columns=("workload", "designer", *MEASURES, "error"), parts=(RESULTS, "cells"))

# What a budget ratio came to, which differs from seed to seed.
_BUDGETS = ("max_edges", "max_degree")


@dataclass(frozen=True)
class Averaged:
    """Runs of a designer on a workload with different seeds: how many there were, and the mean of each measure."""

    workload: tuple[Any, ...]
    designer: str
    runs: int
    means: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class ShownSweep:
    """Averaged runs. `varying` names what differs between workloads, in the order of `Averaged.workload`."""

    name: str
    varying: tuple[str, ...]
    cells: tuple[Averaged, ...]
    errors: tuple[tuple[str, str], ...]


def read_sweeps(reading: Reading) -> list[ShownSweep]:
    """Read all results of sweeps."""
    return [ShownSweep(name, *read) for name, read in reading.named(SWEEP, _sweep)]


def _sweep(path: Path) -> tuple[tuple[str, ...], tuple[Averaged, ...], tuple[tuple[str, str], ...]]:
    where, table = str(path / RESULTS if path.is_dir() else path), read_sweep_table(path, tuple(MEASURES))
    rows = table.to_pylist()
    done = table.filter(pa.array([row["error"] is None for row in rows], pa.bool_()))
    measured = {column: numbers(done, column, where).tolist() for column in MEASURES}
    workload = [name for name in table.column_names if name.startswith("workload") and name != f"{WORKLOAD}seed"]
    varying = [name for name in workload if len({row[name] for row in rows}) > 1]
    groups: dict[tuple[tuple[Any, ...], str], list[int]] = {}
    for at, row in enumerate(done.to_pylist()):
        groups.setdefault((tuple(row[name] for name in varying), _designer(row)), []).append(at)
    cells = tuple(
        Averaged(*key, len(at), {name: sum(values[i] for i in at) / len(at) for name, values in measured.items()})
        for key, at in groups.items()
    )
    errors = tuple((_designer(row), str(row["error"])) for row in rows if row["error"] is not None)
    return tuple(name.removeprefix(WORKLOAD) for name in varying), cells, errors


def setting(value: Any) -> str:
    """A setting of a workload or a designer as text."""
    if value is None:
        return "–"
    return f"{value:,g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _designer(row: Mapping[str, Any]) -> str:
    """The designer with its parameters; of a budget ratio, not the budget that it came to."""
    given = {
        name.removeprefix(PARAMETER): value
        for name, value in row.items()
        if name.startswith(PARAMETER) and value is not None
    }
    if "budget_ratio" in given:
        given = {name: value for name, value in given.items() if name not in _BUDGETS}
    told = ", ".join(f"{name} {setting(value)}" for name, value in given.items())
    return f"{row['designer']} ({told})" if told else str(row["designer"])


# How many panels and lines a picture has at most; the table has all.
MOST_PANELS = 6
MOST_LINES = 12


class Axis(NamedTuple):
    """What a picture has along its x-axis, and what differs from panel to panel, as places in `Averaged.workload`."""

    along: int | None
    across: tuple[int, ...]


def pictured(sweep: ShownSweep) -> ShownSweep:
    """The sweep without files where there are made-up workloads too: files have no place on their axes."""
    if "file" not in sweep.varying:
        return sweep
    at = sweep.varying.index("file")
    made_up = tuple(cell for cell in sweep.cells if cell.workload[at] is None)
    return replace(sweep, cells=made_up) if made_up else sweep


def sweep_axis(sweep: ShownSweep) -> Axis:
    """Along the x-axis the number with most values, else the text with most; what follows from others is left out."""
    columns = [[cell.workload[at] for cell in sweep.cells] for at in range(len(sweep.varying))]
    order = sorted(range(len(columns)), key=lambda at: (not is_numeric(columns[at]), -len(set(columns[at])), at))
    chosen: list[int] = []
    for at in order:
        before = len({tuple(cell.workload[k] for k in chosen) for cell in sweep.cells})
        after = len({tuple(cell.workload[k] for k in (*chosen, at)) for cell in sweep.cells})
        if after > before:
            chosen.append(at)
    return Axis(chosen[0] if chosen else None, tuple(sorted(chosen[1:])))


def panels(sweep: ShownSweep, axis: Axis) -> list[tuple[Any, ...]]:
    """What differs from panel to panel, a tuple a panel, in the order of the cells."""
    return list(dict.fromkeys(tuple(cell.workload[at] for at in axis.across) for cell in sweep.cells))


def designers(sweep: ShownSweep) -> list[str]:
    """All designers, in the order of the cells."""
    return list(dict.fromkeys(cell.designer for cell in sweep.cells))


def measure_figure(sweep: ShownSweep, axis: Axis, measure: str) -> Figure:
    """A line a designer, a panel for each combination of what else varies."""
    shown = panels(sweep, axis)[:MOST_PANELS]
    lines = designers(sweep)[:MOST_LINES]
    columns = min(len(shown), 2)
    with styled():
        figure, drawn = new_figure(5.4 * columns, 3.4 * -(-len(shown) // columns), panels=len(shown), columns=columns)
        for axes, panel in zip(drawn, shown, strict=True):
            _draw(axes, sweep, axis, panel, lines, measure)
            named = (f"{sweep.varying[at]} {setting(value)}" for at, value in zip(axis.across, panel, strict=True))
            axes.set_title(shortened(", ".join(named), 3 * LABEL), parse_math=False)
        if axis.along is not None and len(lines) > 1:
            _legend(figure, drawn[0], lines)
    return figure


def _draw(
    axes: Axes, sweep: ShownSweep, axis: Axis, panel: tuple[Any, ...], lines: Sequence[str], measure: str
) -> None:
    cells = [cell for cell in sweep.cells if tuple(cell.workload[at] for at in axis.across) == panel]
    if axis.along is None:
        _draw_bars(axes, [(cell.designer, cell.means[measure]) for cell in cells][:MOST_LINES])
        axes.set_xlabel(MEASURES[measure])
        return
    along = axis.along
    places = places_along([cell.workload[along] for cell in sweep.cells])
    for order, designer in enumerate(lines):
        points = sorted(
            (places[cell.workload[along]], cell.means[measure]) for cell in cells if cell.designer == designer
        )
        axes.plot(
            [place for place, _ in points],
            [value for _, value in points],
            color=COLOURS[order % len(COLOURS)],
            marker=MARKERS[order % len(MARKERS)],
            linestyle=DASHES[order % len(DASHES)],
            markersize=4,
        )
    axes.set(xlabel=sweep.varying[along], ylabel=MEASURES[measure])
    # Panels are to be compared, so all have one scale.
    axes.set_ylim(0, 1.05 * max(cell.means[measure] for cell in sweep.cells) or 1)
    if measure == "support":
        percent_axis(axes, "y")
    else:
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    if not is_numeric([*places]):
        name_ticks(axes, "x", [setting(value) for value in places])
    else:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")


def _draw_bars(axes: Axes, values: Sequence[tuple[str, float]]) -> None:
    axes.barh(range(len(values)), [value for _, value in values], color=COLOURS[0], height=0.65)
    name_ticks(axes, "y", [designer for designer, _ in values])
    axes.invert_yaxis()


def places_along(values: Sequence[Any]) -> dict[Any, float]:
    """Where each value is on the x-axis: numbers at themselves, text at 0, 1, 2 … in the order of the cells."""
    different = list(dict.fromkeys(values))
    if is_numeric(different):
        return {value: float(value) for value in different}
    return {value: float(place) for place, value in enumerate(different)}


def is_numeric(values: Sequence[Any]) -> bool:
    """Whether all of them are numbers."""
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _legend(figure: Figure, axes: Axes, names: Sequence[str]) -> None:
    legend = figure.legend(axes.lines, ["name"] * len(names), loc="outside lower center", ncols=min(3, len(names)))
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=shortened(name, 2 * LABEL), parse_math=False)


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


SWEEP_KIND = Kind(
    name="sweeps",
    forms=(SWEEP,),
    read=read_sweeps,
    section=sweep_section,
    facts=lambda sweep: sweep.name,
    line=lambda sweep: f"sweep {sweep.name}",
)


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
            _draw_binned(axes, binned(events, sign * columns[field]), order, dots=plot.drawn != "lines")
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


def _draw_binned(axes: Axes, groups: Binned, order: int, *, dots: bool) -> None:
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


TRACE_KIND = Kind(
    name="traces",
    forms=(TRACE,),
    read=read_traces,
    section=trace_section,
    facts=lambda trace: trace.name,
    line=lambda trace: f"churn {trace.name}",
)
