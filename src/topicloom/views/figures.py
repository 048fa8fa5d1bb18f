"""Static figures.

Figures in one look, and files of them that are the same bytes for the same figure.

Everybody who draws does it with these, so that a table in a notebook, a profile and a page look alike. matplotlib is
optional and slow to import, so it is imported when something is drawn.

Names beside points, as many as fit without covering one another.
"""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from topicloom.errors import InputError
from topicloom.io.whole import replacing
from topicloom.views.html import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Okabe and Ito's colours, which people with any colour vision can tell apart; markers and dashes differ too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
# How long names in figures may be.
LABEL = 24
_SVG = "{http://www.w3.org/2000/svg}svg"
_LEGEND_COLUMNS = 5

_STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "0.4",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.6,
    # Text stays text: it can be searched and read aloud, and any character that the reader's fonts have is shown.
    "svg.fonttype": "none",
}


def require_matplotlib() -> None:
    """An error in one line where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("plots need matplotlib: pip install 'topicloom[plots]'") from None


@contextmanager
def styled(**more: Any) -> Iterator[None]:
    """Draw in our look inside this context."""
    require_matplotlib()
    import matplotlib

    with matplotlib.rc_context({**_STYLE, **more}), warnings.catch_warnings():
        # Names may hold anything; whoever shows the text has other fonts than those that measure it.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        warnings.filterwarnings("ignore", "Matplotlib currently does not support")
        yield


def new_figure(width: float, height: float, *, panels: int = 1, columns: int = 0) -> tuple[Figure, list[Axes]]:
    """A figure of so many inches with panels, `columns` of them beside each other, all unless given."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    columns = columns or panels
    rows = -(-panels // columns)
    return figure, [figure.add_subplot(rows, columns, panel + 1) for panel in range(panels)]


def count_axis(axes: Axes, which: str) -> None:
    """Let an axis ("x" or "y") count: whole numbers only, thousands apart."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def log_axis(axes: Axes, which: str) -> None:
    """Make an axis ("x" or "y") logarithmic after all is drawn; numbers are written out, few or powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    low, high = axis.get_data_interval()
    if high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def percent_axis(axes: Axes, which: str) -> None:
    """Show the shares on an axis ("x" or "y") as percentages."""
    from matplotlib.ticker import PercentFormatter

    getattr(axes, f"{which}axis").set_major_formatter(PercentFormatter(1.0))


def draw_ccdfs(
    axes: Axes,
    lines: Mapping[str, tuple[npt.NDArray[Any], npt.NDArray[Any]]],
    colours: Sequence[str] = COLOURS,
) -> None:
    """Draw which share of the things has at least each size, from rising sizes and these shares; both logarithmic."""
    for order, (sizes, shares) in enumerate(lines.values()):
        colour, marker = colours[order % len(colours)], MARKERS[order % len(MARKERS)]
        dashes = DASHES[order // len(colours) % len(DASHES)]
        look: dict[str, Any] = {
            "marker": marker,
            "markersize": 3.5,
            "markeredgewidth": 0,
            "linewidth": 1,
            "alpha": 0.85,
        }
        axes.plot(sizes, shares, color=colour, linestyle=dashes, **look)
    if any(len(sizes) for sizes, _ in lines.values()):
        log_axis(axes, "x")
        log_axis(axes, "y")
    if len(lines) > 1:
        add_legend(axes, list(lines))


def add_legend(axes: Axes, names: Sequence[str], *, below: Figure | None = None) -> None:
    """Add a legend that names the lines in the order they were drawn; below all panels of a figure where one is given.

    Names are taken literally: dollar signs make no formula, and a leading underscore hides nothing.
    """
    lines, labels = axes.lines[: len(names)], ["name"] * len(names)
    if below is None:
        legend = axes.legend(lines, labels)
    else:
        legend = below.legend(lines, labels, loc="outside lower center", ncols=min(len(names), _LEGEND_COLUMNS))
    for handle in legend.get_lines():
        # Dots are small and pale where they are many.
        handle.set(alpha=1, markersize=max(4.0, handle.get_markersize()))
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=shortened(name, LABEL), parse_math=False)


def name_ticks(axes: Axes, which: str, names: Sequence[str]) -> None:
    """Put names at 0, 1, 2 … of an axis ("x" or "y"), taken literally."""
    labels = [shortened(name, LABEL) for name in names]
    getattr(axes, f"set_{which}ticks")(np.arange(len(names)), labels, parse_math=False)


def to_svg(figure: Figure, name: str) -> str:
    """The figure as an SVG element for a page; `name` must differ from those of the page's other figures."""
    stream = io.StringIO()
    with styled(**{"svg.hashsalt": f"topicloom {name}"}):
        figure.savefig(stream, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    drawn = stream.getvalue()
    # What precedes the element is for files. Groups are named alike in all figures and nothing refers to them.
    return re.sub(r'<g id="[^"]*"', "<g", drawn[drawn.index("<svg") :])


def write_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write the figure to a file whose ending says which kind of picture: .svg, .png, .pdf."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in figure.canvas.get_supported_filetypes():
        raise InputError(f"{os.fspath(path)}: unknown kind of picture; give a name that ends in .svg, .png or .pdf")
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    # Files may be looked at where our fonts are not, so letters become outlines.
    with styled(**{"svg.hashsalt": "topicloom", "svg.fonttype": "path"}), replacing(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=150, metadata=dates.get(kind))


def read_svg(folder: Path, name: str) -> bytes:
    """The bytes of a picture that lies in a folder."""
    file = folder / name
    if Path(name).name != name:
        raise InputError(f"{folder}: the picture '{name}' is not the name of a file in it")
    if not file.is_file():
        raise InputError(f"{folder}: has no {name}")
    try:
        svg = file.read_bytes()
        root = ElementTree.fromstring(svg).tag
    except (OSError, ElementTree.ParseError, ValueError, LookupError) as error:
        raise InputError(f"{file}: cannot be read as SVG ({' '.join(str(error).split())})") from None
    if root != _SVG:
        raise InputError(f"{file}: is not an SVG picture")
    return svg


Box = tuple[float, float, float, float]


def fitting_labels(
    points: npt.NDArray[np.float64],
    radii: npt.NDArray[np.float64],
    sizes: Sequence[tuple[float, float]],
    order: Iterable[int],
) -> dict[int, tuple[float, float]]:
    """For each point whose name fits: where the name's middle goes, as an offset from the point.

    All lengths have one unit, such as pixels. Points have radii, names the widths and heights of `sizes`; those that
    come first in `order` are served first: above, below, right or left of their point. Names cover no other name; of
    the places that are free the one is taken that covers fewest points.
    """
    taken: list[Box] = []
    found: dict[int, tuple[float, float]] = {}
    for at in order:
        width, height = sizes[at]
        up, beside = radii[at] + height / 2 + 1, radii[at] + width / 2 + 2
        best: tuple[int, tuple[float, float], Box] | None = None
        for offset in ((0.0, up), (0.0, -up), (beside, 0.0), (-beside, 0.0)):
            x, y = points[at, 0] + offset[0], points[at, 1] + offset[1]
            box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
            if any(_meet(box, other) for other in taken):
                continue
            covered = _covered(box, points, radii)
            if best is None or covered < best[0]:
                best = (covered, (float(offset[0]), float(offset[1])), box)
        if best is not None:
            taken.append(best[2])
            found[at] = best[1]
    return found


def _meet(one: Box, two: Box) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def _covered(box: Box, points: npt.NDArray[np.float64], radii: npt.NDArray[np.float64]) -> int:
    inside = (
        (points[:, 0] + radii > box[0])
        & (points[:, 0] - radii < box[2])
        & (points[:, 1] + radii > box[1])
        & (points[:, 1] - radii < box[3])
    )
    return int(np.count_nonzero(inside))
