"""Drawings of networks.

Where to draw the nodes of a network, and which of them belong together where they are too many to draw.

A network to point at: nodes and links as a Bokeh figure, the same for pages, notebooks and the explorer.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import InputError, printable
from topicloom.views.figures import COLOURS, fitting_labels
from topicloom.views.html import shortened

if TYPE_CHECKING:
    import igraph


Ids = npt.NDArray[np.integer]
Places = npt.NDArray[np.float64]

# Up to how many nodes distances in the picture follow those in the network, which takes the cube of the nodes.
_BY_DISTANCE = 150
# From how many nodes on those far away are not asked: 1,000 nodes then take 0.2 s instead of 2.
_BY_NEIGHBOURS = 300
_ROUNDS = 400
# Links with weights, such as those of groups, draw most nodes into one clump; how far these are spread then.
_EVENNESS = 0.6


def require_explorer() -> None:
    """An error in one line where the libraries that draw networks are missing."""
    try:
        import bokeh  # noqa: F401
        import igraph  # noqa: F401
    except ImportError:
        raise InputError("looking at networks needs bokeh and igraph: pip install 'topicloom[explore]'") from None


def places(nodes: int, source: Ids, target: Ids, weights: npt.NDArray[np.float64] | None = None) -> Places:
    """Where each node is drawn, between -1 and 1 both ways: near those that it is linked with; never random."""
    if nodes < 2:
        return np.zeros((nodes, 2))
    graph = _graph(nodes, source, target)
    held = _held(graph)
    # Pieces would drift apart for ever: a node that is not drawn, in the middle, holds each by its largest node.
    graph.add_vertices(1)
    graph.add_edges([(nodes, node) for node in held])
    pull = np.concatenate([np.ones(len(source)) if weights is None else weights, np.full(len(held), 0.3)]).tolist()
    angles = 2 * np.pi * np.arange(nodes + 1) / nodes
    begin = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    begin[nodes] = 0
    if nodes <= _BY_DISTANCE and weights is None:
        drawn = graph.layout_kamada_kawai(seed=begin.tolist())
    else:
        grid = "grid" if nodes >= _BY_NEIGHBOURS else "nogrid"
        drawn = graph.layout_fruchterman_reingold(
            weights=pull, niter=_ROUNDS, seed=(begin * np.sqrt(nodes)).tolist(), grid=grid
        )
    at = np.array(drawn.coords)[:nodes]
    return _scaled(at) if weights is None else _scaled(at) * (1 - _EVENNESS) + _ranked(at) * _EVENNESS


def places_by_distance(distances: npt.NDArray[np.float64]) -> Places:
    """Where each node is drawn, between -1 and 1 both ways: as far from each other as they are, as far as that goes."""
    require_explorer()
    import igraph

    if len(distances) < 3:
        return np.stack([np.linspace(-1, 1, len(distances)), np.zeros(len(distances))], axis=1)
    # Whose nodes are not linked, igraph would place one by one.
    linked = igraph.Graph.Ring(len(distances))
    return _scaled(np.array(linked.layout_mds(dist=distances.tolist()).coords))


def cheapest_tree(prices: npt.NDArray[np.float64]) -> tuple[Ids, Ids]:
    """The ends of the links that join all nodes for the lowest sum of prices."""
    require_explorer()
    import igraph

    first, second = np.triu_indices(len(prices), 1)
    graph = igraph.Graph(n=len(prices), edges=np.stack([first, second], axis=1).tolist())
    chosen = np.array(graph.spanning_tree(weights=prices[first, second].tolist(), return_tree=False), np.int64)
    return first[chosen], second[chosen]


def communities(nodes: int, source: Ids, target: Ids, most: int) -> Ids:
    """The number of the community of each node: linked more among themselves than with others; the largest is 0.

    There are at most so many; smaller ones share the last number.
    """
    # Leiden's method: 94,000 nodes take 0.4 s, where Louvain's takes 3 for less. Once is enough: a second round takes
    # as long again and raises modularity there from 0.753 to 0.759.
    parted = _graph(nodes, source, target).community_leiden(objective_function="modularity", n_iterations=1)
    found = np.array(parted.membership, np.int64)
    sizes = np.bincount(found)
    rank = np.empty(len(sizes), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.minimum(rank[found], most - 1)


def islands(nodes: int, source: Ids, target: Ids) -> Ids:
    """The number of the island of each node, the largest being 0: nodes that links join, however many links apart."""
    found = np.array(_graph(nodes, source, target).connected_components().membership, np.int64)
    sizes = np.bincount(found, minlength=1)
    rank = np.empty(len(sizes), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return rank[found]


def _graph(nodes: int, source: Ids, target: Ids) -> igraph.Graph:
    require_explorer()
    import igraph

    igraph.set_random_number_generator(random.Random(0))
    return igraph.Graph(n=nodes, edges=np.stack([source, target], axis=1).tolist())


def _held(graph: Any) -> list[int]:
    degrees = graph.degree()
    return [min(piece, key=lambda node: (-degrees[node], node)) for piece in graph.connected_components()]


def _ranked(drawn: Places) -> Places:
    """From -1 to 1 both ways, everywhere equally many."""
    order = drawn.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return 2 * order / max(1, len(drawn) - 1) - 1


def _scaled(drawn: Places) -> Places:
    """From -1 to 1 both ways; the few that lie far outside come to the edge."""
    low, high = np.quantile(drawn, 0.01, axis=0), np.quantile(drawn, 0.99, axis=0)
    scaled = 2 * (drawn - low) / np.maximum(high - low, 1e-9) - 1
    beyond = np.abs(scaled) > 1
    return np.where(beyond, np.sign(scaled) * (1 + 0.1 * np.tanh(np.abs(scaled) - 1)), scaled)


Numbers = npt.NDArray[Any]

# From pale to strong, told apart by people with any colour vision, on light and on dark: cividis without its ends.
_SCALE = ("#3b496c", "#575d6d", "#707173", "#8a8779", "#a69d75", "#c4b56c", "#d9b92b")
_LINKS = "#8c959f"
# How large a picture is taken to be when names are placed, in pixels; and how large letters are.
_WIDTH, _HEIGHT, _LETTER, _LINE = 800, 560, 6.4, 13
_LABEL = 22
# Of how many nodes names are tried, and how many where nodes are so many that names would hide them.
_LABELS, _CROWDED = 60, 150
_LABELS_OF_A_CROWD = 24


@dataclass(frozen=True)
class DrawnNetwork:
    """What is drawn: places of nodes and their links, by rows.

    `told` are what pointing at a node tells, by title; `colourings` the numbers that colours follow, by title, those
    that are only names for groups among `groups`. `link_told` and `link_colours` are the same for links.
    """

    names: tuple[str, ...]
    places: npt.NDArray[np.float64]
    source: Numbers
    target: Numbers
    sizes: Numbers
    told: Mapping[str, Numbers]
    colourings: Mapping[str, Numbers]
    groups: frozenset[str] = frozenset()
    widths: Numbers | None = None
    link_told: Mapping[str, Numbers] = field(default_factory=dict)
    link_colours: list[str] | None = None
    link_dashes: list[str] | None = None


def network_figure(drawn: DrawnNetwork, name: str) -> Any:
    """A Bokeh figure; its parts are found by name: `nodes`, `links` and `labels`."""
    from bokeh.models import ColumnDataSource, HoverTool, Range1d, TapTool
    from bokeh.plotting import figure

    made: Any = figure(
        name=name,
        sizing_mode="stretch_both",
        tools="pan,wheel_zoom,box_zoom,reset,save",
        active_scroll="wheel_zoom",
        toolbar_location="above",
        output_backend="canvas",
        x_range=Range1d(start=-1.2, end=1.2),
        y_range=Range1d(start=-1.2, end=1.2),
    )
    made.toolbar.logo = None
    made.axis.visible = False
    made.grid.visible = False
    clear_background(made)
    links = made.segment(
        "x0",
        "y0",
        "x1",
        "y1",
        source=ColumnDataSource(_link_columns(drawn), name="links"),
        line_color="colour",
        line_width="width",
        line_alpha="alpha",
        line_dash="dash",
    )
    nodes = made.scatter(
        "x",
        "y",
        size="size",
        source=ColumnDataSource(_node_columns(drawn), name="nodes"),
        fill_color="colour",
        fill_alpha="alpha",
        line_color="edge",
        line_width=1.5,
        line_alpha="alpha",
    )
    for renderer in (links, nodes):
        renderer.nonselection_glyph = renderer.selection_glyph = None
    made.text(
        "x",
        "y",
        text="name",
        x_offset="dx",
        y_offset="dy",
        source=ColumnDataSource(_label_columns(drawn), name="labels"),
        text_align="center",
        text_baseline="middle",
        text_font_size="11px",
        text_alpha="alpha",
    )
    node_told = [("", "@name"), *((title, f"@{{told {title}}}") for title in drawn.told)]
    link_told = [("", "@from – @to"), *((title, f"@{{told {title}}}") for title in drawn.link_told)]
    made.add_tools(
        HoverTool(renderers=[nodes], tooltips=node_told),
        HoverTool(renderers=[links], tooltips=link_told, line_policy="interp"),
        TapTool(renderers=[nodes, links]),
    )
    return made


def clear_background(made: Any) -> None:
    """Let what is behind a figure be seen, so that it suits light pages and dark ones."""
    made.background_fill_alpha = 0
    made.border_fill_alpha = 0
    made.outline_line_alpha = 0


def _node_columns(drawn: DrawnNetwork) -> dict[str, Any]:
    count = len(drawn.names)
    coloured = {
        f"by {title}": group_colours(numbers) if title in drawn.groups else scale_colours(numbers)
        for title, numbers in drawn.colourings.items()
    }
    first = next(iter(coloured.values()), [COLOURS[0]] * count)
    return {
        "x": drawn.places[:, 0],
        "y": drawn.places[:, 1],
        "name": [shortened(name) for name in drawn.names],
        "size": drawn.sizes.astype(np.float64),
        "colour": list(first),
        "alpha": np.ones(count),
        "edge": ["#ffffff"] * count,
        **coloured,
        **{f"told {title}": values for title, values in drawn.told.items()},
    }


def _link_columns(drawn: DrawnNetwork) -> dict[str, Any]:
    count = len(drawn.source)
    at = drawn.places
    names = [shortened(name) for name in drawn.names]
    return {
        "x0": at[drawn.source, 0],
        "y0": at[drawn.source, 1],
        "x1": at[drawn.target, 0],
        "y1": at[drawn.target, 1],
        "from": [names[end] for end in drawn.source.tolist()],
        "to": [names[end] for end in drawn.target.tolist()],
        "width": np.ones(count) if drawn.widths is None else drawn.widths.astype(np.float64),
        "colour": drawn.link_colours or [_LINKS] * count,
        "dash": drawn.link_dashes or ["solid"] * count,
        "alpha": np.full(count, 0.75 if count < 2000 else 0.4),
        **{f"told {title}": values for title, values in drawn.link_told.items()},
    }


def _label_columns(drawn: DrawnNetwork) -> dict[str, Any]:
    """Names that fit, those of large nodes first; the row of each, so that it can follow its node."""
    texts = [shortened(printable(name), _LABEL) for name in drawn.names]
    points = (drawn.places + 1.2) / 2.4 * np.array([_WIDTH, _HEIGHT])
    tried = _LABELS if len(texts) <= _CROWDED else _LABELS_OF_A_CROWD
    order = np.argsort(-drawn.sizes, kind="stable")[:tried].tolist()
    sizes = [(_LETTER * len(text), float(_LINE)) for text in texts]
    fits = fitting_labels(points, drawn.sizes / 2, sizes, order)
    rows = list(fits)
    return {
        "row": rows,
        "x": drawn.places[rows, 0] if rows else [],
        "y": drawn.places[rows, 1] if rows else [],
        "dx": [fits[row][0] for row in rows],
        "dy": [-fits[row][1] for row in rows],
        "name": [texts[row] for row in rows],
        "alpha": np.ones(len(rows)),
    }


def scale_colours(numbers: Numbers) -> list[str]:
    """A colour for each number, from the lowest to the highest; steps are logarithmic, as few have many links."""
    values = np.log1p(np.maximum(np.asarray(numbers, np.float64), 0))
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    steps = np.zeros(len(values)) if high <= low else (values - low) / (high - low) * (len(_SCALE) - 1)
    return [_SCALE[step] for step in steps.round().astype(int).tolist()]


def group_colours(numbers: Numbers) -> list[str]:
    """A colour for each group; the large ones differ, all others are grey."""
    known = COLOURS[:-1]
    return [known[group] if group < len(known) else _LINKS for group in np.asarray(numbers, int).tolist()]
