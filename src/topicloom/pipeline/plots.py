"""Log-log plots of distributions, as in figure 3 of Partial 2016."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from topicloom.model.errors import InputError
from topicloom.pipeline.distribution import Distribution

# Okabe and Ito's colours, which people with any colour vision can tell apart; markers differ too.
_STYLES = (("#0072B2", "o"), ("#D55E00", "^"), ("#009E73", "s"))


def plot_ccdfs(path: Path, distributions: Mapping[str, Distribution], *, size: str, share: str) -> None:
    """Draw which share of the things has at least each size; `size` and `share` label the axes.

    The ending of the path says which kind of picture. The same distributions give the same bytes.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("plots need matplotlib: pip install 'topicloom[spark]'") from None

    with matplotlib.rc_context({"svg.hashsalt": "topicloom", "svg.fonttype": "path"}):
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.add_subplot()
        for (label, distribution), (colour, marker) in zip(distributions.items(), _STYLES, strict=False):
            axes.plot(
                distribution.sizes,
                distribution.ccdf,
                label=label,
                color=colour,
                marker=marker,
                markersize=3.5,
                markeredgewidth=0,
                linewidth=1,
                alpha=0.85,
            )
        if any(len(distribution.sizes) for distribution in distributions.values()):
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.set_xlabel(size)
        axes.set_ylabel(share)
        axes.grid(which="major", color="0.88", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        if len(distributions) > 1:
            axes.legend(frameon=False)
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
