"""Views of designers, and of how good an overlay is: measures, costs, bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from topicloom.errors import printable
from topicloom.metrics.summary import COSTS
from topicloom.views.numbers import count, mean, share, yes_no
from topicloom.views.view import Column, Entry, Fact, Note, On, Show, Table, View

if TYPE_CHECKING:
    from topicloom.designers import Designer
    from topicloom.metrics import Bounds, Measures
    from topicloom.registry import Parameter

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
_BOUNDED = {"links": "links", "max_degree": "max degree"}


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
        ]
    return View("measures", "Measures", (*facts, *written(topics, "topics")))


def bounds(found: Bounds) -> View:
    """Lower bounds with the arguments that prove them."""
    data = found.to_dict()
    columns = [Column(key) for key in ("of", "value", "name", "because")]
    entries = [
        Entry(f"{_BOUNDED[each.of]} >= {each.value:,}, by {each.name}", (("", each.because),))
        for each in found.arguments
    ]
    left_out = [Note(f"without {found.left_out:,} topics that have too many nodes to compare in pairs")]
    return View(
        "bounds",
        "Bounds",
        (
            Fact("links", found.links, count, "links, at least"),
            Fact("max_degree", found.max_degree, count, "max degree, at least"),
            Table.of("arguments", columns, data["arguments"], on=On.DATA),
            Fact("left_out", found.left_out, on=On.DATA),
            *entries,
            *(left_out if found.left_out else []),
        ),
    )


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
