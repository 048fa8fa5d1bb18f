"""Pictures of a sweep: each measure of the designers against what varies between workloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from topicloom.present.figures import COLOURS, DASHES, LABEL, MARKERS, name_ticks, new_figure, percent_axis, styled
from topicloom.present.html import shortened
from topicloom.report.runs.sweep_results import MEASURES, ShownSweep, setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
