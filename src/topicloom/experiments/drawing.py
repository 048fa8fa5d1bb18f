"""The picture of a figure, arranged as in its paper: lines with their spread, dots, or a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from topicloom.experiments.figure import Figure, Plot
from topicloom.experiments.queries import Runs
from topicloom.views.figures import COLOURS, DASHES, MARKERS, add_legend, count_axis, log_axis, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture


Row = dict[str, Any]

_PANEL = (3.7, 2.9)
# More dots than this hide each other, and make a heavy file.
_DOTS = 2_000


def draw(figure: Figure, readings: Mapping[str, Runs]) -> Picture:
    """Draw a figure from the runs of each of its readings, which stand side by side."""
    plot = figure.plot
    drawn = {name: runs for name, runs in readings.items() if not plot.readings or name in plot.readings}
    rows = {name: _rows(plot, runs) for name, runs in drawn.items()}
    return _draw_tables(plot, rows) if plot.draw == "table" else _draw_panels(plot, rows)


def _rows(plot: Plot, runs: Runs) -> list[Row]:
    columns, found = runs.ask(plot.query)
    return [dict(zip(columns, row, strict=True)) for row in found]


def _draw_panels(plot: Plot, readings: Mapping[str, Sequence[Row]]) -> Picture:
    """Panels of one reading are a row; without panels, readings are."""
    everything = [row for rows in readings.values() for row in rows]
    panels = _distinct(everything, plot.panels) if plot.panels else [None]
    lines = list(dict.fromkeys(_line(plot, row) for row in everything))
    if plot.panels:
        places = [(y, reading, panel) for reading in readings for y in range(len(plot.y)) for panel in panels]
    else:
        places = [(y, reading, None) for y in range(len(plot.y)) for reading in readings]
    across = len(panels) if plot.panels else len(readings)
    width, height = _PANEL
    with styled():
        picture, axes = new_figure(
            width * max(across, 1.4), height * len(places) / across + 0.3, panels=len(places), columns=across
        )
        for place, (y, reading, panel) in zip(axes, places, strict=True):
            inside = [each for each in readings[reading] if panel is None or each[plot.panels] == panel]
            _draw_panel(place, plot, inside, lines, plot.y[y])
            place.set(xlabel=plot.x_label or plot.x, ylabel=(plot.y_label or plot.y)[y])
            title = [_named(plot, panel)] * (panel is not None) + [reading] * (len(readings) > 1)
            if title:
                place.set_title(", ".join(title))
        if len(lines) > 1:
            add_legend(axes[0], lines, below=picture)
    return picture


def _draw_panel(axes: Axes, plot: Plot, rows: Sequence[Row], lines: Sequence[str], y: str) -> None:
    for order, line in enumerate(lines):
        points = [
            (each[plot.x], each[y])
            for each in rows
            if _line(plot, each) == line and each[plot.x] is not None and each[y] is not None
        ]
        look: dict[str, Any] = {"color": COLOURS[order % len(COLOURS)], "marker": MARKERS[order % len(MARKERS)]}
        if plot.draw == "dots":
            every = points[:: -(-len(points) // _DOTS) or 1]
            # As pixels: a file of so many shapes is ten times as large.
            look |= {"linestyle": "", "markersize": 2.5, "markeredgewidth": 0, "alpha": 0.5, "rasterized": True}
            axes.plot(*_transposed(every), **look)
        else:
            _draw_line(axes, points, DASHES[order // len(COLOURS) % len(DASHES)], look)
    if "x" in plot.log:
        log_axis(axes, "x")
    elif all(float(each[plot.x]).is_integer() for each in rows if each[plot.x] is not None):
        count_axis(axes, "x")
    if "y" in plot.log:
        log_axis(axes, "y")
    else:
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))


def _draw_line(axes: Axes, points: Sequence[tuple[float, float]], dashes: str, look: dict[str, Any]) -> None:
    """The means at each x, and the span from the lowest to the highest."""
    at: dict[float, list[float]] = {}
    for x, y in points:
        at.setdefault(x, []).append(y)
    places = sorted(at)
    means = [sum(at[x]) / len(at[x]) for x in places]
    # Few points get markers; many are a line.
    marked = look if len(places) <= 30 else {"color": look["color"]}
    axes.plot(places, means, linestyle=dashes, markersize=4, markeredgewidth=0, **marked)
    low, high = [min(at[x]) for x in places], [max(at[x]) for x in places]
    axes.fill_between(places, low, high, color=look["color"], alpha=0.15, linewidth=0)


def _draw_tables(plot: Plot, readings: Mapping[str, Sequence[Row]]) -> Picture:
    """A table for each reading: means with the lowest and the highest below them."""
    everything = [row for rows in readings.values() for row in rows]
    down, across = _distinct(everything, plot.rows), _distinct(everything, plot.columns)
    with styled():
        height = (0.5 + 0.45 * len(down)) * len(readings)
        picture, axes = new_figure(1.6 + 1.35 * len(across), height, panels=len(readings), columns=1)
        for place, (reading, rows) in zip(axes, readings.items(), strict=True):
            place.axis("off")
            if len(readings) > 1:
                place.set_title(reading)
            _draw_table(place, plot, rows, down, across)
    return picture


def _draw_table(axes: Axes, plot: Plot, rows: Sequence[Row], down: Sequence[Any], across: Sequence[Any]) -> None:
    cells = [
        [_cell([r[plot.value] for r in rows if r[plot.rows] == one and r[plot.columns] == other]) for other in across]
        for one in down
    ]
    table = axes.table(
        cells,
        rowLabels=[_named(plot, one) for one in down],
        colLabels=[_named(plot, other) for other in across],
        loc="center",
        cellLoc="center",
    )
    table.auto_set_font_size(False)
    table.scale(1, 2.2)
    for place in table.get_celld().values():
        place.set(edgecolor="0.8", linewidth=0.6)


def _cell(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    mean, low, high = sum(known) / len(known), min(known), max(known)
    return f"{mean:.3g}" if low == high else f"{mean:.3g}\n{low:.3g} to {high:.3g}"


def _line(plot: Plot, row: Row) -> str:
    return ", ".join(_named(plot, row[column]) for column in plot.lines if row[column] is not None)


def _named(plot: Plot, value: Any) -> str:
    return plot.names.get(str(value), f"{value:,}" if isinstance(value, int) else str(value))


def _distinct(rows: Sequence[Row], column: str) -> list[Any]:
    """The values of a column in the order they appear."""
    return list(dict.fromkeys(row[column] for row in rows))


def _transposed(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]
