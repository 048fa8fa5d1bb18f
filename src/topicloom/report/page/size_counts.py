"""How many things have which size: bars where sizes are few, otherwise which share has at least each size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from topicloom.present.figures import count_axis, draw_ccdfs, new_figure, styled
from topicloom.report.page.curves import thinned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
