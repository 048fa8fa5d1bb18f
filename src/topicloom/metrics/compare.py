"""Several overlays of the same nodes, measured side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from topicloom.errors import InputError
from topicloom.metrics.bounds import Bounds, bound
from topicloom.metrics.summary import COMPARED, Measures, measure
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.views.figures import COLOURS, name_ticks, new_figure, styled
from topicloom.views.html import Cell, table_html
from topicloom.views.numbers import mean

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Comparison:
    """The measures of several overlays, by name, and what no topic-connected one can be below, if asked for."""

    measures: Mapping[str, Measures]
    bounds: Bounds | None = None

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row an overlay, named after it, and a column a measure."""
        import pandas

        return pandas.DataFrame.from_dict(
            {name: each.to_dict() for name, each in self.measures.items()}, orient="index"
        )

    def plot(self) -> Figure:
        """A matplotlib figure: a panel a measure, a bar an overlay."""
        panels = [
            (title, [show(getattr(each, field)) for each in self.measures.values()])
            for title, field, show in COMPARED
            if all(getattr(each, field) is not None for each in self.measures.values())
        ]
        names = list(self.measures)
        columns = 4
        with styled():
            rows = -(-len(panels) // columns)
            height = rows * (0.75 + 0.24 * len(names))
            figure, drawn = new_figure(12, height, panels=len(panels), columns=columns)
            for place, (axes, (title, numbers)) in enumerate(zip(drawn, panels, strict=True)):
                values = [number.value or 0 for number in numbers]
                bars = axes.barh(range(len(names)), values, color=COLOURS[0], height=0.65)
                axes.bar_label(bars, [number.text for number in numbers], padding=3, fontsize=8)
                axes.set_title(title)
                axes.set_xlim(0, 1.35 * max([*values, 1e-9]))
                axes.set_xticks([])
                axes.grid(visible=False)
                axes.spines["bottom"].set_visible(False)
                axes.tick_params(axis="y", length=0)
                name_ticks(axes, "y", names if place % columns == 0 else [""] * len(names))
                axes.invert_yaxis()
        return figure

    def table(self) -> tuple[list[str], list[list[Cell]]]:
        """Headers and rows, ready to be shown."""
        rows: list[list[Cell]] = [
            [name, *(show(getattr(each, field)) for _, field, show in COMPARED)] for name, each in self.measures.items()
        ]
        headers = ["overlay", *(title for title, _, _ in COMPARED)]
        if self.bounds is None:
            return headers, rows
        for row, each in zip(rows, self.measures.values(), strict=True):
            row += [mean(ratio) for ratio in _ratios(each, self.bounds)]
        return [*headers, "links / bound", "max degree / bound"], rows

    def _repr_html_(self) -> str:
        return table_html(*self.table())


def compare(
    interest: Interest | str | PathLike[str],
    overlays: Overlay | Mapping[str, Overlay] | Sequence[Overlay],
    *,
    diameters: bool = True,
    bounds: bool = False,
) -> Comparison:
    """Measure overlays against an interest in the same nodes, side by side.

    Args:
        interest: who wants what, or the file or folder that it is in.
        overlays: one or several, by the names to show them under; without names they get those of their designers.
        diameters: whether to measure topic diameters, which may take most of the time.
        bounds: whether to prove how far from the best there is they may be, which takes some seconds.
    """
    interest = Interest.given(interest)
    listed = [overlays] if isinstance(overlays, Overlay) else overlays
    for overlay in listed.values() if isinstance(listed, Mapping) else listed:
        if not isinstance(overlay, Overlay):
            raise InputError(f"{overlay!r} is no overlay; compare takes overlays, as `design` makes them")
    named = listed if isinstance(listed, Mapping) else _named(listed)
    if not named:
        raise InputError("there is no overlay to compare; give one or more")
    measures = {name: measure(interest, overlay, diameters=diameters) for name, overlay in named.items()}
    return Comparison(measures, bound(interest) if bounds else None)


def _ratios(measures: Measures, bounds: Bounds) -> tuple[float | None, float | None]:
    """Links and max degree over their bounds; None where topics are in pieces, or nothing is to be linked."""
    if not measures.topic_connected or not bounds.links:
        return None, None
    return measures.links / bounds.links, measures.max_degree / bounds.max_degree


def _named(overlays: Sequence[Overlay]) -> dict[str, Overlay]:
    """Overlays by their designers' names, numbered where one has several."""
    named: dict[str, Overlay] = {}
    for overlay in overlays:
        name = overlay.provenance.algorithm if overlay.provenance else "overlay"
        again = 1 + sum(known == name or known.startswith(f"{name} (") for known in named)
        named[name if again == 1 else f"{name} ({again})"] = overlay
    return named
