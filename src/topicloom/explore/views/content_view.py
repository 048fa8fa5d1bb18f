"""The view of a content-based network: its brokers, near those that traffic is cheap to, their users and core links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from topicloom.content.network.network_folder import read_core
from topicloom.explore.explorer import Explorer
from topicloom.present.html import Cell, facts_html, macro, printable
from topicloom.present.interactive import Answer, Carried, network_block
from topicloom.present.network_figure import DrawnNetwork, network_figure
from topicloom.present.network_layout import cheapest_tree, places_by_distance
from topicloom.present.numbers import amount, count
from topicloom.report.content.network_results import ShownNetwork
from topicloom.report.content.trees_section import Trees

_HERE = "topicloom.explore"
_SMALLEST, _LARGEST = 12.0, 26.0

Numbers = npt.NDArray[Any]


class _Links(NamedTuple):
    """Links between brokers, what is told of each by title, and what they are."""

    source: Numbers
    target: Numbers
    told: dict[str, Numbers]
    about: str


def content_html(explorer: Explorer, number: int) -> Markup:
    """The brokers of a network."""
    return brokers_html(*networks_with_trees(explorer)[number])


def networks_with_trees(explorer: Explorer) -> list[tuple[ShownNetwork, list[Trees]]]:
    """All networks, each with the trees over its brokers and those of no other."""
    results = explorer.collection.results
    fitting = [
        (trees, [network for network in results.networks if _has_brokers(network, trees)]) for trees in results.trees
    ]
    return [(network, [trees for trees, fits in fitting if fits == [network]]) for network in results.networks]


def _has_brokers(network: ShownNetwork, trees: Trees) -> bool:
    named = {name for column in ("one", "other") for name in trees.links[column].to_pylist()}
    return named <= set(network.outline.broker_names)


def brokers_html(network: ShownNetwork, trees: Sequence[Trees]) -> Markup:
    """The brokers, with how many users each assignment gives them, and the links that the first of these trees use."""
    known = network.outline
    prices = read_core(network.folder / "core.parquet", known.broker_names, close=True)
    links = _links(network, trees, prices)
    columns = _columns(network)
    most = next(iter(columns.values()))
    drawn = DrawnNetwork(
        names=known.broker_names,
        places=places_by_distance(prices),
        source=links.source,
        target=links.target,
        sizes=_SMALLEST + _LARGEST * np.sqrt(most / max(1, most.max(initial=1))),
        told={title: _rounded(values) for title, values in columns.items()},
        colourings=columns,
        link_told=links.told,
    )
    about = (
        f"{len(known.broker_names):,} brokers of {network.name} and {len(known.user_names):,} users; brokers are near "
        "each other where traffic between them is cheap."
    )
    facts = facts_html(
        [("channels", count(len(known.channel_names))), ("capacity", amount(float(known.capacity.sum())))]
    )
    beside = macro(_HERE, "views.html", "brokers", [about, links.about, "Click a broker, or find one."], facts)
    answers = {f"node/{row}": _answer(drawn, row) for row in range(len(drawn.names))}
    answers |= {f"link/{row}": _link_answer(drawn, row) for row in range(len(drawn.source))}
    carried: Carried = {
        "answers": answers,
        "names": {"node": [(row, printable(name)) for row, name in enumerate(drawn.names)]},
    }
    return network_block(
        network_figure(drawn, "brokers"), about, list(columns), carried=carried, beside=beside, find="a broker"
    )


def _columns(network: ShownNetwork) -> dict[str, Numbers]:
    """What is known of brokers, by title; what sizes follow comes first."""
    known, brokers = network.outline, len(network.outline.broker_names)
    # Users do not know brokers whose price is infinite.
    knows = np.isfinite(known.access)
    return {
        **{
            f"users, {name}": np.bincount(assigned.brokers, minlength=brokers)
            for name, assigned in network.assignments.items()
        },
        "users that it is cheapest for": np.bincount(known.access.argmin(axis=1), minlength=brokers),
        "capacity": known.capacity,
        "users that know it": knows.sum(axis=0),
        "access price, mean": np.where(knows, known.access, 0.0).sum(axis=0) / np.maximum(1, knows.sum(axis=0)),
    }


def _links(network: ShownNetwork, trees: Sequence[Trees], prices: npt.NDArray[np.float64]) -> _Links:
    """The links of the first trees; without any, those that join all brokers most cheaply."""
    if trees:
        row = {name: at for at, name in enumerate(network.outline.broker_names)}
        used = trees[0].links
        source, target = (np.array([row[name] for name in used[end].to_pylist()], np.int64) for end in ("one", "other"))
        told = {title: _rounded(used[title].to_numpy()) for title in ("trees", "rate", "cost")}
        return _Links(source, target, told, f"Links are those that the trees of {trees[0].name} use.")
    ends_of_tree = cheapest_tree(prices)
    told = {"price": _rounded(prices[ends_of_tree])}
    return _Links(*ends_of_tree, told, "Links are those of the cheapest tree that joins all brokers.")


def _rounded(values: Numbers) -> Numbers:
    return values if values.dtype.kind in "iu" else values.round(3)


def _answer(drawn: DrawnNetwork, row: int) -> Answer:
    at = np.flatnonzero((drawn.source == row) | (drawn.target == row))
    others = np.where(drawn.source[at] == row, drawn.target[at], drawn.source[at])
    facts: list[tuple[str, Cell]] = [(title, amount(float(values[row]))) for title, values in drawn.told.items()]
    html = macro(_HERE, "views.html", "broker", drawn.names[row], facts_html([*facts, ("links", count(len(at)))]))
    return {"html": html, "nodes": {**dict.fromkeys(others.tolist(), "sub"), row: "chosen"}, "links": at.tolist()}


def _link_answer(drawn: DrawnNetwork, row: int) -> Answer:
    ends = [int(drawn.source[row]), int(drawn.target[row])]
    name = " – ".join(drawn.names[end] for end in ends)
    facts = facts_html([(title, amount(float(values[row]))) for title, values in drawn.link_told.items()])
    html = macro(_HERE, "views.html", "broker", name, facts)
    return {"html": html, "nodes": dict.fromkeys(ends, "chosen"), "links": [row]}
