"""Log-log plots of distributions, as in figure 3 of Partial 2016."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from topicloom.pipeline.analysis.distribution import Distribution
from topicloom.present.figures import draw_ccdfs, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ccdf_figure(distributions: Mapping[str, Distribution], *, size: str, share: str) -> Figure:
    """Draw which share of the things has at least each size; `size` and `share` label the axes."""
    with styled():
        figure, (axes,) = new_figure(6, 4)
        draw_ccdfs(axes, {label: (each.sizes, each.ccdf) for label, each in distributions.items()})
        axes.set(xlabel=size, ylabel=share)
    return figure
