"""How many things have which size, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from topicloom.model.figures import count_axis, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Up to how many sizes each gets a bar of its own; more of them share one.
_BARS = 40


def bars(sizes: npt.NDArray[np.integer], *, size: str, things: str, colour: str) -> tuple[Figure, str]:
    """Draw the sizes of things; `size` and `things` label the axes. With it, a sentence on how it is drawn."""
    width = max(1, -(-(int(sizes.max(initial=0)) + 1) // _BARS))
    counted = np.bincount(sizes // width, minlength=1)
    with styled():
        figure, (axes,) = new_figure(5.4, 3.4)
        axes.bar(np.arange(len(counted)) * width + (width - 1) / 2, counted, width=0.85 * width, color=colour)
        axes.set(xlabel=size, ylabel=things)
        if width > 1:
            # A few large ones among thousands would not be seen.
            axes.set_yscale("symlog", linthresh=1)
            axes.yaxis.set_major_formatter("{x:,.0f}")
            axes.set_ylim(0, None)
        else:
            count_axis(axes, "y")
        count_axis(axes, "x")
    return figure, f" A bar stands for {width:,} sizes; the vertical axis is logarithmic." if width > 1 else ""
