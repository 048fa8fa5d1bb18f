"""A picture of an overlay: drawn link by link where it is small, as a matrix of who is linked with whom where not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from topicloom.views.figures import COLOURS, fitting_labels, new_figure, styled
from topicloom.views.html import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from topicloom.model.overlay import Overlay


# Up to how many nodes names and links can still be told apart, and how many cells a side of a matrix has at most.
DRAWN_NODES = 60
_CELLS = 150
# How large letters are, and how far apart nodes lie at most, across and up, in points: the picture without margins.
_FONT = 7.5
_POINTS = np.array([545.0, 350.0])


def is_drawn(overlay: Overlay) -> bool:
    """Whether the overlay is small enough to be drawn link by link."""
    return overlay.interest.node_count <= DRAWN_NODES


def overlay_figure(overlay: Overlay) -> Figure:
    """The overlay's picture; the same overlay gives the same one."""
    with styled():
        if is_drawn(overlay):
            figure, (axes,) = new_figure(9, 6)
            _draw_links(axes, overlay)
        else:
            figure, (axes,) = new_figure(5.6, 5)
            _draw_matrix(figure, axes, overlay)
    return figure


def _draw_links(axes: Axes, overlay: Overlay) -> None:
    """Nodes near those they are linked with; the area of a node grows with its links."""
    axes.set_axis_off()
    if not overlay.interest.node_count:
        return
    place = _places(overlay)
    contribution = np.ones(len(overlay)) if overlay.contribution is None else overlay.contribution
    widths = 0.7 + 2.3 * contribution / max(1, contribution.max(initial=0))
    for u, v, width in zip(overlay.source.tolist(), overlay.target.tolist(), widths.tolist(), strict=True):
        axes.plot(*place[[u, v]].T, color="0.6", linewidth=width, solid_capstyle="round", zorder=1)
    degrees = overlay.degrees
    # Areas in points; hubs do not hide what is behind them.
    areas = 30 + 30 * degrees * min(1.0, 15 / max(1, degrees.max()))
    axes.scatter(place[:, 0], place[:, 1], s=areas, color=COLOURS[0], edgecolor="white", linewidth=1, zorder=2)
    axes.margins(0.08)
    names = [shortened(name, 20) for name in overlay.interest.node_names]
    # In points, as the offsets of names are; letters are half as wide as they are high.
    low, high = place.min(axis=0), place.max(axis=0)
    points = (place - low) / np.maximum(high - low, 1e-9) * _POINTS
    sizes = [(0.58 * _FONT * len(name), 1.25 * _FONT) for name in names]
    radii = 1 + np.sqrt(areas) / 2
    order = np.argsort(-degrees, kind="stable").tolist()
    for node, offset in fitting_labels(points, radii, sizes, order).items():
        text = axes.annotate(
            names[node], place[node], offset, textcoords="offset points", ha="center", va="center", zorder=3
        )
        text.set(fontsize=_FONT, parse_math=False)


def _places(overlay: Overlay) -> npt.NDArray[np.float64]:
    """Where each node is drawn: springs pull linked nodes together, from a circle on, so nothing is random."""
    import networkx

    nodes = overlay.interest.node_count
    graph = networkx.empty_graph(nodes)
    graph.add_edges_from(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))
    angles = 2 * np.pi * np.arange(nodes) / nodes
    begin = {node: (float(np.cos(angle)), float(np.sin(angle))) for node, angle in enumerate(angles)}
    pieces = [
        min(piece, key=lambda node: (-graph.degree[node], node)) for piece in networkx.connected_components(graph)
    ]
    if len(pieces) > 1:
        # Pieces would drift apart for ever: a node that is not drawn, in the middle, holds each by its largest node.
        graph.add_edges_from((nodes, node) for node in pieces)
        begin[nodes] = (0.0, 0.0)
    placed = networkx.spring_layout(graph, pos=begin, iterations=300, k=1.8 / np.sqrt(nodes), seed=0)
    return np.array([placed[node] for node in range(nodes)])


def _draw_matrix(figure: Figure, axes: Axes, overlay: Overlay) -> None:
    """Who is linked with whom, nodes with most links first; of large overlays a cell stands for many nodes."""
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.ticker import LogLocator

    nodes = overlay.interest.node_count
    rank = np.empty(nodes, np.int64)
    rank[np.argsort(-overlay.degrees, kind="stable")] = np.arange(nodes)
    cells = min(nodes, _CELLS)
    first, second = (rank[end] * cells // nodes for end in (overlay.source, overlay.target))
    one_way = np.bincount(first * cells + second, minlength=cells * cells).reshape(cells, cells)
    # A link inside a cell on the diagonal counts once.
    links = one_way + one_way.T - np.diag(np.diag(one_way))
    most = int(links.max())
    picture = axes.imshow(
        np.where(links, links, np.nan),
        extent=(0.5, nodes + 0.5, nodes + 0.5, 0.5),
        interpolation="nearest",
        cmap="cividis_r",
        norm=LogNorm(1, most) if most > 1 else Normalize(0, 1),
    )
    axes.set(xlabel="node, by its rank in links", ylabel="node, by its rank in links")
    axes.grid(visible=False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    if most > 1:
        steps = LogLocator(subs=(1, 2, 5))
        bar = figure.colorbar(picture, ax=axes, shrink=0.7, ticks=steps, format="{x:,.0f}")
        bar.minorticks_off()
        bar.set_label(f"links in a cell of about {nodes / cells:,.0f} x {nodes / cells:,.0f} nodes")
