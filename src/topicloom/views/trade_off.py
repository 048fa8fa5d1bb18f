"""Trade-offs between designers on the same subscriptions, with the lower bounds.

Each designer is a point to choose from: its links against its max degree, its support and its topic diameters. `search`
has two, one for each of the aims that come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from topicloom.designers import DESIGNERS, Designer, DesignProblem, run
from topicloom.designers.contract import BUDGET_RATIO, asked_for
from topicloom.designers.search import SEARCHED_NODES
from topicloom.errors import InputError
from topicloom.metrics import Bounds, Measures, bound, measure
from topicloom.metrics.summary import COMPARED
from topicloom.model import Constraints, Interest, Overlay, Prices
from topicloom.registry import Value
from topicloom.views.explorer import Explorer, Job, Wanted
from topicloom.views.figures import COLOURS
from topicloom.views.html import macro, name_html
from topicloom.views.interactive import chart_block, new_chart
from topicloom.views.numbers import seconds

# Beyond so many nodes only designers run that take seconds.
_MANY_NODES = 20_000
_QUICK = ("gm", "backbone", "cd-oda-2", "ring-per-topic")
_EXACT_NODES = 12
# What `search` lowers first, and the name of its point.
_SEARCHED = {"links": "search", "degree-links": "search, degree first"}
# Budgets, as shares of what minmax-oda needs.
_SHARES = (0.25, 0.5, 0.75)
# Beyond so many subscriptions diameters would take longer than designing.
_DIAMETERS = 500_000


@dataclass(frozen=True, eq=False)
class Tried:
    """The overlay of a designer."""

    name: str
    algorithm: str
    overlay: Overlay
    measures: Measures
    seconds: float


@dataclass(frozen=True, eq=False)
class TradeOff:
    """The overlays of all designers, the designers that failed with the reason, and the lower bounds."""

    tried: tuple[Tried, ...]
    left_out: tuple[tuple[str, str], ...]
    bounds: Bounds


def trade_off(
    interest: Interest, job: Job, *, constraints: Constraints | None = None, prices: Prices | None = None
) -> TradeOff:
    """Run all designers; the job shows which one is running."""
    tried: list[Tried] = []
    left_out: list[tuple[str, str]] = []
    candidates = list(_candidates(interest, constraints, prices))
    for at, (designer, parameters, name) in enumerate(candidates, start=1):
        job.doing = f"{name}, {at} of {len(candidates)}"
        job.watch.ticks[0] = 0
        try:
            problem = DesignProblem.of(interest, constraints=constraints, prices=prices, watch=job.watch)
            made = run(problem, designer.name, **parameters)
        except InputError as error:
            left_out.append((name, str(error)))
            continue
        quick = interest.subscription_count <= _DIAMETERS
        measures = measure(interest, made.overlay, diameters=quick)
        tried.append(Tried(name, designer.name, made.overlay, measures, made.seconds))
    job.doing = "proving bounds"
    return TradeOff(tuple(tried), tuple(left_out), bound(interest, prices=prices))


def _candidates(
    interest: Interest, constraints: Constraints | None, prices: Prices | None
) -> Iterator[tuple[Designer, Mapping[str, Value], str]]:
    for designer in DESIGNERS.values():
        if interest.node_count > _MANY_NODES and designer.name not in _QUICK:
            continue
        if designer.name == "exact" and interest.node_count > _EXACT_NODES:
            continue
        if not asked_for(constraints, prices) <= designer.honours:
            continue
        if designer.name == "search":
            if interest.node_count <= SEARCHED_NODES:
                yield from ((designer, {"aim": aim}, name) for aim, name in _SEARCHED.items())
        elif designer.budget is None:
            yield designer, {}, designer.name
        else:
            for share in _SHARES:
                yield designer, {BUDGET_RATIO.name: share}, f"{designer.name} at {share:.0%}"


# What is drawn against the links: what it is called, its field, and the field of its bound.
_PANELS = (
    ("max degree", "max_degree", "max_degree"),
    ("support", "support", None),
    ("mean topic diameter (links)", "mean_topic_diameter", None),
)
# Families of designers have a colour and a marker each.
_FAMILIES = {
    "greedy": ("gm", "minmax-oda", "low-oda", "gm-fold"),
    "search, exact": ("search", "exact"),
    "with a budget": ("gpa", "gpm"),
    "stars and rings": ("cd-oda", "cd-oda-1", "cd-oda-2", "ring-per-topic"),
    "random": ("spidercast", "spidercast-m", "random-a", "random-m"),
    "backbone, tree": ("backbone", "tree"),
}
_OTHERS = "of other packages"
_MARKERS = ("circle", "star", "square", "triangle", "diamond", "inverted_triangle", "hex")


class ToldTradeOff(NamedTuple):
    """A trade-off and the page that shows it."""

    found: TradeOff
    wanted: Wanted
    html: Markup


def answer_trade_off(explorer: Explorer, number: int, job: Job) -> ToldTradeOff:
    """Run all designers on subscriptions, and show their overlays as points."""
    collection = explorer.collection
    wanted = collection.wanted[number]
    found = trade_off(wanted.interest, job, constraints=collection.constraints, prices=collection.prices)
    return ToldTradeOff(
        found, wanted, trade_off_html(found, [f"load?job={job.number}&point={at}" for at in range(len(found.tried))])
    )


def load_point(explorer: Explorer, told: ToldTradeOff, point: int) -> int:
    """Add the overlay of a point to the collection; return its number."""
    if not 0 <= point < len(told.found.tried):
        raise InputError(f"there is no point {point}")
    tried = told.found.tried[point]
    return explorer.collection.add(tried.name, tried.overlay, told.wanted)


def trade_off_html(found: TradeOff, addresses: Sequence[str]) -> Markup:
    """Charts and a table; points are links if there are addresses."""
    charts = [
        (
            title,
            chart_block(_chart(found, addresses, title, field, bound), f"{title} against links", kind="chart points"),
        )
        for title, field, bound in _PANELS
        if all(getattr(tried.measures, field) is not None for tried in found.tried)
    ]
    headers = ["designer", *(title for title, _, _ in COMPARED), "seconds"]
    rows = [
        (
            addresses[at] if addresses else "",
            name_html(tried.name),
            [*(show(getattr(tried.measures, field)) for _, field, show in COMPARED), seconds(tried.seconds)],
        )
        for at, tried in enumerate(found.tried)
    ]
    return macro("views.html", "trade_off", charts, headers, rows, found.left_out, found.bounds)


def _chart(found: TradeOff, addresses: Sequence[str], title: str, field: str, bound: str | None) -> Any:
    from bokeh.models import ColumnDataSource
    from bokeh.models.annotations import Span

    told = [("", "@name"), ("links", "@links"), ("max degree", "@degree"), ("support", "@support")]
    made = new_chart("links", title, told=told, percent=field == "support")
    data: dict[str, list[Any]] = {
        "x": [tried.measures.links for tried in found.tried],
        "y": [getattr(tried.measures, field) for tried in found.tried],
        "name": [tried.name for tried in found.tried],
        "links": [f"{tried.measures.links:,}" for tried in found.tried],
        "degree": [f"{tried.measures.max_degree:,}" for tried in found.tried],
        "support": [f"{tried.measures.support:.1%}" for tried in found.tried],
        "address": list(addresses),
        "family": [_family(tried) for tried in found.tried],
    }
    if not addresses:
        del data["address"]
    order = [*_FAMILIES, _OTHERS]
    data["colour"] = [COLOURS[order.index(each)] for each in data["family"]]
    data["marker"] = [_MARKERS[order.index(each)] for each in data["family"]]
    drawn = made.scatter(
        "x",
        "y",
        size=13,
        color="colour",
        marker="marker",
        alpha=0.85,
        legend_group="family",
        source=ColumnDataSource(data, name="points"),
    )
    drawn.nonselection_glyph = None
    grey: dict[str, Any] = {"line_color": "#8c959f", "line_dash": "dashed", "line_width": 1.5}
    made.add_layout(Span(location=found.bounds.links, dimension="height", **grey))
    if bound is not None:
        made.add_layout(Span(location=getattr(found.bounds, bound), dimension="width", **grey))
    made.add_layout(made.legend[0], "below")
    made.legend.location = "left"
    made.legend.orientation = "horizontal"
    made.legend.ncols = 3
    made.x_range.only_visible = made.y_range.only_visible = False
    made.y_range.start = 0
    return made


def _family(tried: Tried) -> str:
    return next((family for family, names in _FAMILIES.items() if tried.algorithm in names), _OTHERS)
