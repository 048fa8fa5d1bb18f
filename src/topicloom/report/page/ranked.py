"""Values of many things, the largest first: bars where things are few, areas where they are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from topicloom.present.figures import COLOURS, count_axis, name_ticks, new_figure, styled
from topicloom.report.page.curves import thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Column = npt.NDArray[np.float64]

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
