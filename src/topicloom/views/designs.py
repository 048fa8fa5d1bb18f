"""Views of designers, and of how good an overlay is: measures, costs, bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from topicloom.errors import printable
from topicloom.metrics.summary import COSTS
from topicloom.views.numbers import amount, count, mean, percent, seconds, share, text, yes_no
from topicloom.views.view import Column, Entry, Fact, Note, On, Show, Table, View

if TYPE_CHECKING:
    from topicloom.designers import Designer, DesignRun
    from topicloom.metrics import Bounds, Measures
    from topicloom.metrics.traffic import PriceMeasures
    from topicloom.model import Provenance
    from topicloom.registry import Parameter
    from topicloom.spark.design import SparkDesign

# Measures in order, with titles that differ from their names.
_MEASURES: tuple[tuple[str, Show, str], ...] = (
    ("nodes", count, ""),
    ("topics", count, ""),
    ("subscriptions", count, ""),
    ("links", count, ""),
    ("average_degree", mean, ""),
    ("max_degree", count, ""),
    ("components", count, ""),
    ("components_unlinked", count, "components without links"),
    ("components_connected", count, "components at best"),
    ("support", share, ""),
    ("topic_connected", yes_no, "topic-connected"),
    ("mean_topic_diameter", mean, ""),
    ("max_topic_diameter", count, ""),
    ("relays", count, ""),
    ("unreachable", count, ""),
)
# Facts of a design for people; those of roles only if they are not 0.
_DESIGNED: dict[str, tuple[Show, str]] = {
    "links": (count, ""),
    "average_degree": (mean, ""),
    "max_degree": (count, ""),
    "support": (share, ""),
    "price": (amount, ""),
    "lower_bound": (amount, ""),
    "gap": (percent, "above the lower bound"),
    "optimal": (yes_no, ""),
    "published_unheard": (count, "published, wanted by nobody"),
    "wanted_unpublished": (count, "wanted, subscribers taken to publish"),
    "of_brokers_alone": (count, "$SYS, left to each broker"),
    "seconds": (seconds, ""),
}
# Columns of a comparison for people.
_COMPARED: dict[str, tuple[Show, str]] = {
    "designer": (text, ""),
    "links": (count, ""),
    "average_degree": (mean, "avg\ndegree"),
    "max_degree": (count, "max\ndegree"),
    "support": (share, ""),
    "mean_topic_diameter": (mean, "mean\ndiam."),
    "max_topic_diameter": (count, "max\ndiam."),
    "relays": (count, ""),
    "unreachable": (count, "unreach-\nable"),
    "price": (mean, ""),
    "longest_way": (mean, "longest\nway"),
    "seconds": (seconds, ""),
}
# Changes that people see.
_SHOWN_STEPS = 20


def measures(
    found: Measures,
    costs: Mapping[str, float | None] | None = None,
    bounds: Bounds | None = None,
    topics: str | PathLike[str] | None = None,
) -> View:
    """Measures of an overlay; `topics` is the file with those of each topic."""
    facts = [_known(key, getattr(found, key), show, title) for key, show, title in _MEASURES]
    facts += [_known(key, value, mean, COSTS[key]) for key, value in (costs or {}).items()]
    if bounds is not None:
        facts += [
            Fact("links_bound", bounds.links, count, "links of any overlay, at least"),
            Fact("max_degree_bound", bounds.max_degree, count, "max degree of any overlay, at least"),
            _known("price_bound", bounds.price, amount, "price of any overlay, at least"),
        ]
    return View("measures", "Measures", (*facts, *written(topics, "topics")))


def bounds(found: Bounds) -> View:
    """Lower bounds with the arguments that prove them."""
    data = found.to_dict()
    columns = [Column(key) for key in ("of", "value", "name", "because")]
    entries = [
        Entry(f"{each.of.replace('_', ' ')} >= {amount(each.value)}, by {each.name}", (("", each.because),))
        for each in found.arguments
    ]
    left_out = [Note(f"without {found.left_out:,} topics that have too many nodes to compare in pairs")]
    return View(
        "bounds",
        "Bounds",
        (
            Fact("links", found.links, count, "links, at least"),
            _known("price", found.price, amount, "price, at least"),
            Fact("max_degree", found.max_degree, count, "max degree, at least"),
            Table.of("arguments", columns, data["arguments"], on=On.DATA),
            Fact("left_out", found.left_out, on=On.DATA),
            *entries,
            *(left_out if found.left_out else []),
        ),
    )


def design(made: DesignRun, out: str | PathLike[str]) -> View:
    """A new overlay, and the file that it was written to."""
    overlay = made.overlay
    interest, roles = overlay.interest, overlay.interest.roles
    assert overlay.provenance is not None
    of_roles = {}
    if roles is not None:
        of_roles = {
            "published_unheard": roles.unheard,
            "wanted_unpublished": roles.unspoken,
            "of_brokers_alone": roles.staying,
        }
    sizes = (interest.node_count, interest.topic_count, interest.subscription_count)
    links, max_degree = len(overlay), int(overlay.degrees.max())
    return _design(overlay.provenance, sizes, links, max_degree, made.support, of_roles, made.seconds, out)


def design_on_spark(made: SparkDesign, seconds: float, out: str | PathLike[str]) -> View:
    """A new overlay that was designed on Spark, and the file or folder that it was written to."""
    totals = made.interned.totals
    sizes = (totals.nodes, totals.topics, totals.subscriptions)
    return _design(made.provenance, sizes, len(made.links.source), made.max_degree, made.support, {}, seconds, out)


def _design(
    provenance: Provenance,
    sizes: tuple[int, int, int],
    links: int,
    max_degree: int,
    support: float,
    of_roles: Mapping[str, int],
    seconds_taken: float,
    out: str | PathLike[str],
) -> View:
    facts: dict[str, Any] = {
        **_made_by(provenance),
        **dict(zip(("nodes", "topics", "subscriptions"), sizes, strict=True)),
        "links": links,
        "average_degree": 2 * links / sizes[0],
        "max_degree": max_degree,
        "support": support,
        "topic_connected": support == 1,
        **provenance.facts,
        **of_roles,
        "seconds": seconds_taken,
        "out": str(out),
    }
    blocks = []
    for key, value in facts.items():
        shown = key in _DESIGNED and (bool(value) or key not in of_roles)
        show, title = _DESIGNED.get(key, (text, ""))
        blocks.append(Fact(key, value, show, title, On.ALL if shown else On.DATA))
    return View("design", "Design", (*blocks, *written(out)))


def improvement(
    steps: Sequence[Mapping[str, str]],
    mending: int,
    rows: Mapping[str, Mapping[str, Any]],
    out: str | PathLike[str] | None,
) -> View:
    """Changes of an overlay, and what it is before and after them."""
    shown = [
        Note(f"{'+' if each['action'] == 'add' else '-'} link {each['source']} - {each['target']}") for each in steps
    ]
    if len(steps) > _SHOWN_STEPS:
        shown[_SHOWN_STEPS:] = [Note(f"  and {count(len(steps) - _SHOWN_STEPS)} more, which JSON lists")]
    shown = [replace(note, text=printable(note.text)) for note in shown]
    records = [{"": name, **row} for name, row in rows.items()]
    show = {"support": share, "price": mean}
    columns = [Column(key, show.get(key, text if not key else count), key.replace("_", " ")) for key in records[0]]
    data = [Fact(name, dict(row), on=On.DATA) for name, row in rows.items()]
    return View(
        "improvement",
        "Improvement",
        (
            *data,
            Fact("changes", [dict(step) for step in steps], on=On.DATA),
            Fact("mending", mending, on=On.DATA),
            Fact("out", None if out is None else str(out), on=On.DATA),
            *shown,
            Table.of("", columns, records, on=On.PEOPLE),
            *written(out),
        ),
    )


def comparison(
    rows: Sequence[tuple[DesignRun, Measures, PriceMeasures | None]],
    bounds: Bounds | None = None,
    *,
    diameters: bool = True,
) -> View:
    """Overlays of several designers side by side."""
    records = []
    for made, measured, prices in rows:
        assert made.overlay.provenance is not None
        record = _made_by(made.overlay.provenance) | measured.to_dict()
        record |= ({} if prices is None else prices.to_dict()) | {"seconds": made.seconds}
        if bounds is not None:
            record |= {"links_bound": bounds.links, "max_degree_bound": bounds.max_degree, "price_bound": bounds.price}
        records.append(record)
    columns = [_compared(key, diameters=diameters) for key in records[0]]
    for title, key in (("links", "links"), ("max deg.", "max_degree"), ("price", "price")):
        if bounds is not None and key in records[0]:
            columns.append(Column(f"{key} / bound", mean, f"{title}\n/ bound", On.PEOPLE))
            for record in records:
                record[f"{key} / bound"] = _ratio(record, key)
    return View("comparison", "Comparison", (Table.of("", columns, records),))


def _compared(key: str, *, diameters: bool) -> Column:
    if key not in _COMPARED or ("diameter" in key and not diameters):
        return Column(key, on=On.DATA)
    return Column(key, *_COMPARED[key])


def _ratio(record: Mapping[str, Any], key: str) -> float | None:
    """How far from the best an overlay may be; None if it does not connect all topics."""
    bound = record[f"{key}_bound"]
    return record[key] / bound if record["topic_connected"] and bound else None


def _made_by(provenance: Provenance) -> dict[str, Any]:
    return {
        "designer": provenance.algorithm,
        "parameters": dict(provenance.parameters),
        "seed": provenance.seed,
    }


def designers(all_of_them: Iterable[Designer], *, spelt: Callable[[str], str] = str, note: str = "") -> View:
    """Designers with their parameters; `spelt` gives the names of parameters as people write them."""
    records, entries = [], []
    for designer in all_of_them:
        records.append(_designer(designer))
        lines = [("rule", designer.rule), ("guarantee", designer.guarantee), ("paper", designer.paper)]
        lines += [("" if i else "options", _parameter(p, spelt)) for i, p in enumerate(designer.parameters)]
        entries.append(Entry(designer.name, tuple(lines)))
    columns = [Column(key) for key in ("name", "paper", "rule", "parameters", "guarantee", "random")]
    return View(
        "designers",
        "Designers",
        (Table.of("", columns, records, on=On.DATA), *entries, *([Note(note)] if note else [])),
    )


def written(path: str | PathLike[str] | None, what: str = "") -> list[Note]:
    """A note that says where something was written, if it was."""
    return [] if path is None else [Note(f"{what} written to {printable(str(path))}".lstrip(), on=On.TEXT)]


def _known(key: str, value: Any, show: Show, title: str) -> Fact:
    """A fact that people see only if its value is known."""
    return Fact(key, value, show, title, on=On.DATA if value is None else On.ALL)


def _designer(designer: Designer) -> dict[str, Any]:
    parameters = [
        {"name": each.name, "kind": each.kind.__name__, "default": each.default, "meaning": each.meaning}
        for each in designer.parameters
    ]
    return {
        "name": designer.name,
        "paper": designer.paper,
        "rule": designer.rule,
        "parameters": parameters,
        "guarantee": designer.guarantee,
        "random": designer.random,
    }


def _parameter(parameter: Parameter, spelt: Callable[[str], str]) -> str:
    default = "required" if parameter.required else "may be left out"
    if parameter.default is not None:
        default = f"{parameter.default} unless given"
    return f"{spelt(parameter.name)}: {parameter.meaning} ({default})"
