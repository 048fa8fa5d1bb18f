"""The view of a sweep: each measure of its designers against what varies, as curves to point at and to hide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from topicloom.errors import InputError
from topicloom.explore.explorer import Explorer
from topicloom.present.charts import new_chart
from topicloom.present.figures import COLOURS
from topicloom.present.html import macro, shortened
from topicloom.present.interactive import chart_block
from topicloom.report.runs.sweep_pictures import (
    MOST_LINES,
    MOST_PANELS,
    Axis,
    designers,
    is_numeric,
    panels,
    pictured,
    places_along,
    sweep_axis,
)
from topicloom.report.runs.sweep_results import MEASURES, ShownSweep, setting

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
    return macro("topicloom.explore", "views.html", "curves", f"{about}{f' Shown are {only}.' if only else ''}", charts)


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
