"""Two pictures of an overlay, before and after something changed: every node at the same place in both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.model import Overlay
from topicloom.present.network_figure import DrawnNetwork
from topicloom.report.networks.overlay_drawing import DEGREE, Drawing, SeenOverlay, node_sizes

# Colour and dashes tell; a link that went is dashed before, one that came is thick after.
_SAME, _GONE, _NEW = "#8c959f", "#D55E00", "#0072B2"


def before_and_after(drawing: Drawing, after: SeenOverlay) -> tuple[DrawnNetwork, DrawnNetwork]:
    """Both pictures, from the drawing of all of the overlay as it was."""
    before = drawing.seen.overlay
    if drawing.grouped:
        return _groups(drawing, after.overlay)
    kept = {frozenset(link) for link in before} & {frozenset(link) for link in after.overlay}
    return replace(drawing.drawn, **_look(before, kept, _GONE, "dashed")), _after(drawing, after, kept)


def _look(overlay: Overlay, kept: set[frozenset[str]], changed: str, dash: str) -> dict[str, Any]:
    same = [frozenset(link) in kept for link in overlay]
    return {
        "link_colours": [_SAME if each else changed for each in same],
        "link_dashes": ["solid" if each else dash for each in same],
        "widths": np.where(same, 1.0, 2.5),
    }


def _after(drawing: Drawing, after: SeenOverlay, kept: set[frozenset[str]]) -> DrawnNetwork:
    overlay, known = after.overlay, drawing.seen.overlay.interest.node_ids
    degrees = overlay.degrees
    return DrawnNetwork(
        names=overlay.interest.node_names,
        places=_places(drawing, overlay),
        source=overlay.source,
        target=overlay.target,
        sizes=node_sizes(degrees),
        told={"links": degrees, "topics it has to do with": np.diff(overlay.interest.node_start)},
        colourings={
            DEGREE: degrees,
            "new": np.array([0 if name in known else 1 for name in overlay.interest.node_names]),
        },
        groups=frozenset(["new"]),
        **_look(overlay, kept, _NEW, "solid"),
    )


def _places(drawing: Drawing, overlay: Overlay) -> npt.NDArray[np.float64]:
    """Where nodes were; a new one is beside those that it is linked with."""
    known, places = drawing.seen.overlay.interest.node_ids, drawing.drawn.places
    names = overlay.interest.node_names
    at = np.array([places[known[name]] if name in known else (np.nan, np.nan) for name in names])
    for node in np.flatnonzero(np.isnan(at[:, 0])).tolist():
        linked = np.concatenate([overlay.target[overlay.source == node], overlay.source[overlay.target == node]])
        around = at[linked][~np.isnan(at[linked, 0])]
        at[node] = (around.mean(axis=0) if len(around) else (0.0, 1.1)) + (0.05, 0.05)
    return at


def _groups(drawing: Drawing, after: Overlay) -> tuple[DrawnNetwork, DrawnNetwork]:
    """Groups as they were; links between two of them are coloured where their number changed."""
    before, count = drawing.seen.overlay, len(drawing.drawn.names)
    known = before.interest.node_ids
    group = np.array(
        [drawing.row[known[name]] if name in known else count - 1 for name in after.interest.node_names], np.int64
    )
    numbers = [_between(drawing.row, before, count), _between(group, after, count)]
    drawn = []
    for mine, other, colour in ((numbers[0], numbers[1], _GONE), (numbers[1], numbers[0], _NEW)):
        pairs = np.flatnonzero(mine)
        drawn.append(
            replace(
                drawing.drawn,
                source=pairs // count,
                target=pairs % count,
                widths=0.5 + np.log10(mine[pairs]),
                link_told={"links": mine[pairs], "before or after": other[pairs]},
                link_colours=[colour if mine[pair] > other[pair] else _SAME for pair in pairs],
            )
        )
    return drawn[0], drawn[1]


def _between(group: npt.NDArray[np.int64], overlay: Overlay, count: int) -> npt.NDArray[np.int64]:
    """How many links there are between each two groups, by the lower one times the number of groups plus the other."""
    first, second = group[overlay.source], group[overlay.target]
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.bincount((low * count + high)[low != high], minlength=count * count)
