"""Curves, counts of sizes and ranked bars.

Lines over links and events, thinned to what a page can show.

How many things have which size: bars where sizes are few, otherwise which share has at least each size.

Values of many things, the largest first: bars where things are few, areas where they are many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.views.figures import COLOURS, count_axis, draw_ccdfs, name_ticks, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Column = npt.NDArray[np.float64]

# How many points a line gets at most: more than a screen could show would only make the page heavy.
_POINTS = 300


class Binned(NamedTuple):
    """Values in so few groups that they can be drawn: where each group ends, its mean, lowest and highest."""

    at: Column
    mean: Column
    low: Column
    high: Column


def thinned(values: Column) -> tuple[npt.NDArray[np.int64], Column]:
    """Positions spread evenly from the first to the last value, and the values there."""
    at = np.linspace(0, len(values) - 1, min(len(values), _POINTS)).round().astype(np.int64)
    return at, values[at]


def binned(at: Column, values: Column) -> Binned:
    """Values in groups of neighbours of about equal size; as they are where they are few."""
    begins = np.unique(np.arange(min(_POINTS, len(values))) * len(values) // max(1, min(_POINTS, len(values))))
    sizes = np.diff([*begins, len(values)])
    ends = begins + sizes - 1
    return Binned(
        at[ends],
        np.add.reduceat(values, begins) / sizes,
        np.minimum.reduceat(values, begins),
        np.maximum.reduceat(values, begins),
    )


def first_reaching(curve: Column, share: float) -> int | None:
    """How many links it takes until the support is at least `share`; None where all of them are too few."""
    reached = np.flatnonzero(curve >= share)
    return int(reached[0]) if len(reached) else None


# Up to which size each gets a bar. Beyond, a few large things would squeeze all others into the first bars.
_BARS = 80


def sizes_figure(sizes: npt.NDArray[np.integer], *, size: str, things: str, colour: str) -> tuple[Figure, str]:
    """Draw the sizes of things; `size` and `things` name them. With it, a sentence on how it is drawn, if need be."""
    with styled():
        figure, (axes,) = new_figure(5.4, 3.4)
        axes.set_xlabel(size)
        if sizes.max(initial=0) <= _BARS:
            counted = np.bincount(sizes, minlength=1)
            axes.bar(np.arange(len(counted)), counted, width=0.85, color=colour)
            axes.set_ylabel(things)
            count_axis(axes, "x")
            count_axis(axes, "y")
            return figure, ""
        draw_ccdfs(axes, {things: ccdf(sizes)}, colours=(colour,))
        axes.set_ylabel(f"share of {things} with at least as many")
    return figure, " Both axes are logarithmic."


def ccdf(sizes: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Different sizes above 0, rising, and the share of things at least that large; thinned to what can be shown."""
    different, counts = np.unique(sizes, return_counts=True)
    shares = np.cumsum(counts[::-1])[::-1] / max(1, len(sizes))
    at, shown = thinned(shares[different > 0])
    return different[different > 0][at], shown


# Up to how many things each gets a bar and a name.
_NAMED = 24
# How many letters fit below a bar without being turned.
_SHORT = 3


def ranked_figure(
    names: Sequence[str],
    stacked: Mapping[str, Column],
    *,
    things: str,
    unit: str,
    limit: tuple[str, Column] | None = None,
) -> Figure:
    """Draw values of named things, one upon the other, by falling sum; `limit` is what they should not pass."""
    order = np.argsort(-np.sum(list(stacked.values()), axis=0), kind="stable")
    with styled():
        figure, (axes,) = new_figure(5.4, 3.4)
        axes.set(xlabel=things, ylabel=unit)
        if len(names) <= _NAMED:
            _bars(axes, [names[at] for at in order], {label: values[order] for label, values in stacked.items()})
        else:
            at = thinned(order.astype(np.float64))[0]
            axes.stackplot(at + 1, *(values[order][at] for values in stacked.values()), colors=COLOURS, labels=stacked)
            axes.set_xlabel(f"{things}, by falling {unit}")
            count_axis(axes, "x")
        if limit:
            at, most = thinned(limit[1][order])
            many = len(names) > _NAMED
            axes.plot(at + many, most, "-" if many else "_", color="black", markersize=9, label=limit[0])
        axes.set_ylim(0, None)
        if all((values == values.round()).all() for values in stacked.values()):
            count_axis(axes, "y")
        else:
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        if len(stacked) + bool(limit) > 1:
            axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderpad=0)
    return figure


def _bars(axes: Axes, names: Sequence[str], stacked: Mapping[str, Column]) -> None:
    below = np.zeros(len(names))
    for colour, (label, values) in zip(COLOURS, stacked.items(), strict=False):
        axes.bar(np.arange(len(names)), values, bottom=below, width=0.75, color=colour, label=label)
        below += values
    name_ticks(axes, "x", names)
    if max(map(len, names), default=0) > _SHORT:
        for text in axes.get_xticklabels():
            text.set(rotation=40, horizontalalignment="right", rotation_mode="anchor")
