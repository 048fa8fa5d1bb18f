"""What pages show of content-based networks.

Content-based networks and the assignments for them, from files.

The section of what content-based plans cost.

The section of a content-based network and the assignments of its users to brokers.

The section of core trees, as `topicloom content cost` writes them when asked for trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from topicloom.content.assignment import ASSIGNMENT_COLUMNS, Assigned, read_assigned
from topicloom.content.cost import TREE_COLUMNS, BrokerCost, CostSummary, read_trees
from topicloom.content.network import Floats, Ids, OtherNetwork
from topicloom.content.tables import TABLES, NetworkOutline, read_outline
from topicloom.errors import InputError
from topicloom.model.provenance import Provenance
from topicloom.views.curves import Column, ranked_figure, thinned
from topicloom.views.figures import COLOURS, DASHES, add_legend, count_axis, new_figure, styled
from topicloom.views.html import Cell
from topicloom.views.numbers import Number, amount, count, count_of, mean, percent
from topicloom.views.section import Form, Kind, Reading, Section, beside, figure, paragraph, table, tiles

NETWORK = Form("network", parts=TABLES[:3], own=TABLES)
ASSIGNMENT = Form("assignment", columns=ASSIGNMENT_COLUMNS)


@dataclass(frozen=True, eq=False)
class ShownNetwork:
    """A network in a folder, and by name its assignments; `has_costs` where files of `content cost` are given too."""

    name: str
    folder: Path
    outline: NetworkOutline
    assignments: Mapping[str, Assigned]
    has_costs: bool = False


def read_networks(reading: Reading) -> list[ShownNetwork]:
    """Read all networks, and the assignments, each with the network whose users and brokers it names."""
    has_costs = bool(reading.found.paths.get("cost"))
    networks = [
        ShownNetwork(name, folder, outline, {}, has_costs)
        for name, (folder, outline) in reading.named(NETWORK, lambda path: (path, read_outline(path)))
    ]
    for name, (at, assigned) in reading.named(ASSIGNMENT, partial(_read_named, networks=networks)):
        networks[at] = replace(networks[at], assignments={**networks[at].assignments, name: assigned})
    return networks


def made_by(provenance: Provenance | None) -> str:
    """Who made an assignment; nothing where that is not known."""
    if provenance is None:
        return ""
    given = {**provenance.parameters, **({} if provenance.seed is None else {"seed": provenance.seed})}
    told = "".join(
        f", {name} = {value:g}" if isinstance(value, int | float) else f", {name} = {value}"
        for name, value in given.items()
    )
    return f"{provenance.algorithm}{told} (topicloom {provenance.version})"


def _read_named(path: Path, networks: list[ShownNetwork]) -> tuple[int, Assigned]:
    """An assignment, and the place of its network: the only one, or the only one that it fits."""
    if not networks:
        raise InputError(f"{path}: no network is given; give the folder that this assignment was made for too")
    if len(networks) == 1:
        return 0, _read(path, networks[0])
    fitting: dict[int, Assigned] = {}
    for at, network in enumerate(networks):
        try:
            fitting[at] = _read(path, network)
        except OtherNetwork:
            continue
    if len(fitting) != 1:
        known = ", ".join(networks[at].name for at in fitting or range(len(networks)))
        how = "fits more than one of the networks" if fitting else "fits none of the networks"
        raise InputError(f"{path}: {how} {known}; give it with only the one that it was made for")
    return next(iter(fitting.items()))


def _read(path: Path, network: ShownNetwork) -> Assigned:
    return read_assigned(path, network.outline.user_names, network.outline.broker_names)


COST = Form("cost", keys=("total", "access", "core", "by_broker"))

# How many brokers are listed.
_COST_ROWS = 200


@dataclass(frozen=True)
class NamedCost:
    """What one assignment costs, by the name of the file that says so."""

    name: str
    cost: CostSummary


@dataclass(frozen=True)
class Costs:
    """The costs of one or more assignments of as many users to the same brokers."""

    name: str
    plans: tuple[NamedCost, ...]


def read_costs(reading: Reading) -> list[Costs]:
    """Read all costs; those over the same brokers, users and channels stand together."""
    plans: dict[object, list[NamedCost]] = {}
    for name, cost in reading.named(COST, CostSummary.read):
        same = (cost.users, cost.channels, tuple((each.broker, each.capacity) for each in cost.by_broker))
        plans.setdefault(same, []).append(NamedCost(name, cost))
    return [Costs(group[0].name, tuple(group)) for group in plans.values()]


def costs_section(costs: Costs) -> Section:
    """One plan; or several side by side, and each of them inside."""
    if len(costs.plans) == 1:
        return Section(f"Cost: {costs.name}", _plan(costs.plans[0]))
    first = costs.plans[0].cost
    about = (
        f"What {len(costs.plans)} plans cost: {count_of(first.users, 'user')}, "
        f"{count_of(len(first.by_broker), 'broker')}, {count_of(first.channels, 'channel')}."
    )
    drawn = ranked_figure(
        [plan.name for plan in costs.plans],
        {
            "access": np.array([plan.cost.access for plan in costs.plans]),
            "core": np.array([plan.cost.core for plan in costs.plans]),
        },
        things="plan",
        unit="cost",
    )
    bars = figure(drawn, f"costs {costs.name}", "Total cost", "Links of users, and between brokers.")
    inside = tuple(Section(plan.name, _plan(plan)) for plan in costs.plans)
    return Section(f"Costs: {len(costs.plans)} plans", (paragraph(about), _compared(costs), bars), inside)


def _compared(costs: Costs) -> Markup:
    rows: list[list[Cell]] = [
        [
            plan.name,
            amount(plan.cost.total),
            amount(plan.cost.access),
            amount(plan.cost.core),
            mean(plan.cost.cost_reduction_ratio),
            count(plan.cost.overloaded_brokers),
            amount(plan.cost.core_on_one_tree),
            amount(plan.cost.core_with_relays),
        ]
        for plan in costs.plans
    ]
    headers = ["plan", "total", "access", "core", "random / this", "overloaded brokers"]
    return table("All plans", [*headers, "core on one tree", "core with relays"], rows)


def _plan(plan: NamedCost) -> tuple[Markup, ...]:
    cost = plan.cost
    about = (
        f"What the plan of {plan.name} costs: access is the links of users, core the trees between brokers. "
        "A broker's core cost is that of the trees that begin there."
    )
    facts = [
        ("users", count(cost.users)),
        ("brokers", count(len(cost.by_broker))),
        ("channels", count(cost.channels)),
        ("total cost", amount(cost.total)),
        ("access", amount(cost.access)),
        ("core", amount(cost.core)),
        ("random / this", mean(cost.cost_reduction_ratio)),
        ("overloaded brokers", count(cost.overloaded_brokers)),
        ("delivered unwanted", percent(cost.unwanted_share)),
    ]
    others = (("core on one tree", cost.core_on_one_tree), ("core with relays", cost.core_with_relays))
    facts += [(name, amount(other)) for name, other in others if other is not None]
    return paragraph(about), tiles(facts), beside([_load(plan), _cost(plan)]), _brokers(plan)


def _load(plan: NamedCost) -> Markup:
    load, capacity = _column(plan.cost, "load"), _column(plan.cost, "capacity")
    drawn = ranked_figure(
        [each.broker for each in plan.cost.by_broker],
        {"load": load},
        things="broker",
        unit="load",
        limit=("capacity", capacity),
    )
    used = percent(float(load.sum() / capacity.sum()) if capacity.any() else None).text
    fullest = max(plan.cost.by_broker, key=_used)
    note = (
        f"What each broker's users send and are delivered, against its capacity. All brokers together use {used}, "
        f"the fullest {percent(_used(fullest)).text}."
    )
    return figure(drawn, f"cost {plan.name} load", "Load of brokers", note)


def _cost(plan: NamedCost) -> Markup:
    drawn = ranked_figure(
        [each.broker for each in plan.cost.by_broker],
        {"access": _column(plan.cost, "access"), "core": _column(plan.cost, "core")},
        things="broker",
        unit="cost",
    )
    share = percent(plan.cost.core / plan.cost.total if plan.cost.total else None).text
    return figure(drawn, f"cost {plan.name} brokers", "Cost by broker", f"Core is {share} of the whole.")


def _brokers(plan: NamedCost) -> Markup:
    rows: list[list[Cell]] = [
        [
            each.broker,
            count(each.users),
            amount(each.load),
            amount(each.capacity),
            percent(_used(each)),
            amount(each.access),
            amount(each.core),
            amount(each.access / each.load if each.load else None),
        ]
        for each in sorted(plan.cost.by_broker, key=lambda each: -(each.access + each.core))[:_COST_ROWS]
    ]
    headers = ["broker", "users", "load", "capacity", "used", "access cost", "core cost", "access price of a unit"]
    more = (
        f"; these are {_COST_ROWS:,} of {len(plan.cost.by_broker):,}" if len(plan.cost.by_broker) > _COST_ROWS else ""
    )
    return table("Brokers", headers, rows, note=f"The dearest come first{more}.")


def _used(broker: BrokerCost) -> float:
    """The share of its capacity that a broker uses; all of it where it has none and is used."""
    return broker.load / broker.capacity if broker.capacity else float(broker.load > 0)


def _column(cost: CostSummary, field: str) -> Column:
    return np.array([getattr(each, field) for each in cost.by_broker], np.float64)


COST_KIND = Kind(
    name="costs",
    forms=(COST,),
    read=read_costs,
    section=costs_section,
    facts=lambda costs: [plan.name for plan in costs.plans],
    line=lambda costs: f"cost {', '.join(plan.name for plan in costs.plans)}",
)


_COSTS = (
    "Load and cost are not in these files: topicloom content cost NETWORK ASSIGNMENT --json > cost.json "
    "works them out, and the page shows that file too."
)

_COSTS_BELOW = "Load and cost are in files of their own, which have their sections below."


def network_section(network: ShownNetwork) -> Section:
    """Sizes of the network, its assignments side by side, and each of them inside."""
    known = network.outline
    facts = [
        ("users", count(len(known.user_names))),
        ("brokers", count(len(known.broker_names))),
        ("channels", count(len(known.channel_names))),
        ("capacity of all brokers", amount(float(known.capacity.sum()))),
        ("access price, mean", amount(float(known.access.mean()))),
        ("cheapest access price, mean", amount(float(known.access.min(axis=1).mean()))),
    ]
    blocks = [paragraph("Users that publish and subscribe by content, and brokers that carry it."), tiles(facts)]
    compared = {name: _facts(known, assigned.brokers) for name, assigned in network.assignments.items()}
    if len(compared) > 1:
        headers = ["assignment", *(title for title, _ in next(iter(compared.values())))]
        rows: list[list[Cell]] = [[name, *(number for _, number in facts)] for name, facts in compared.items()]
        blocks.append(table("All assignments", headers, rows))
    inside = tuple(Section(name, _assignment(network, name)) for name in network.assignments)
    costs = _COSTS_BELOW if network.has_costs else _COSTS
    return Section(f"Network: {network.name}", (*blocks, paragraph(costs)), inside)


def _facts(known: NetworkOutline, brokers: Ids) -> list[tuple[str, Number]]:
    users = np.bincount(brokers, minlength=len(known.broker_names))
    paid, least = _paid(known, brokers), known.access.min(axis=1)
    return [
        ("brokers in use", count(int(np.count_nonzero(users)))),
        ("most users of a broker", count(int(users.max()))),
        ("access price, mean", amount(float(paid.mean()))),
        ("access price, highest", amount(float(paid.max()))),
        ("users at their cheapest broker", percent(float(np.mean(paid == least)))),
    ]


def _paid(known: NetworkOutline, brokers: Ids) -> Floats:
    """What each user pays for a unit of traffic."""
    paid: Floats = known.access[np.arange(len(brokers)), brokers]
    return paid


def _assignment(network: ShownNetwork, name: str) -> tuple[Markup, ...]:
    brokers, provenance, _ = network.assignments[name]
    made = f"made by {made_by(provenance)}." if provenance else "which does not say who made it."
    figures = f"assignment {network.name} {name}"
    return (
        paragraph(f"Which broker each user connects to, from {name}, {made}"),
        tiles(_facts(network.outline, brokers)),
        beside([_users(network.outline, brokers, figures), _prices(network.outline, brokers, figures)]),
    )


def _users(known: NetworkOutline, brokers: Ids, name: str) -> Markup:
    users = np.bincount(brokers, minlength=len(known.broker_names)).astype(np.float64)
    drawn = ranked_figure(known.broker_names, {"users": users}, things="broker", unit="users")
    note = f"On average {users.mean():,.1f} users. Users differ in traffic, so this is not yet their load."
    return figure(drawn, f"{name} users", "Users of brokers", note)


def _prices(known: NetworkOutline, brokers: Ids, name: str) -> Markup:
    paid, least = (np.sort(prices)[::-1] for prices in (_paid(known, brokers), known.access.min(axis=1)))
    with styled():
        drawn, (axes,) = new_figure(5.4, 3.4)
        for order, prices in enumerate((paid, least)):
            at, shown = thinned(prices)
            axes.plot(at + 1, shown, color=COLOURS[order], linestyle=DASHES[order])
        axes.set(xlabel="users, by falling price", ylabel="price of a unit of traffic", ylim=(0, None))
        count_axis(axes, "x")
        add_legend(axes, ["to its broker", "to the cheapest broker"])
    note = "What a unit of traffic costs between users and their brokers; nothing can be below the lower line."
    return figure(drawn, f"{name} prices", "Access prices", note)


NETWORK_KIND = Kind(
    name="networks",
    forms=(NETWORK, ASSIGNMENT),
    read=read_networks,
    section=network_section,
    facts=lambda network: {"name": network.name, "assignments": list(network.assignments)},
    line=lambda network: f"network {network.name}: {', '.join(network.assignments) or 'no assignments'}",
)


TREES = Form("trees", columns=TREE_COLUMNS)

# How many links are listed.
_TREE_ROWS = 50


@dataclass(frozen=True, eq=False)
class Trees:
    """How many trees there are, and a row for each link between brokers, the dearest first.

    Its columns: `one`, `other`, `trees` that cross it, the `rate` of what does, and their `cost`.
    """

    name: str
    trees: int
    links: pa.Table


def read_all_trees(reading: Reading) -> list[Trees]:
    """Read all tables of trees."""
    return [Trees(name, *read) for name, read in reading.named(TREES, _trees)]


def _trees(path: Path) -> tuple[int, pa.Table]:
    read = read_trees(path)
    # A link is the same in both directions.
    rows = pa.table(
        {
            "one": pc.min_element_wise(read["broker"], read["other"]),
            "other": pc.max_element_wise(read["broker"], read["other"]),
            "rate": read["rate"],
            "cost": pc.multiply(read["price"], read["rate"]),
        }
    )
    # One thread, so that sums are added up in the order of the rows and are the same every time.
    links = rows.group_by(["one", "other"], use_threads=False).aggregate(
        [("rate", "count"), ("rate", "sum"), ("cost", "sum")]
    )
    links = links.select(["one", "other", "rate_count", "rate_sum", "cost_sum"])
    links = links.rename_columns(["one", "other", "trees", "rate", "cost"])
    links = links.sort_by([("cost", "descending"), ("one", "ascending"), ("other", "ascending")])
    return read.group_by(["channel", "source"]).aggregate([]).num_rows, links


def trees_section(trees: Trees) -> Section:
    """How many trees cross each link between brokers, and what that costs."""
    links = trees.links
    crossings = int(pc.sum(links["trees"]).as_py() or 0)
    facts = [
        ("trees", count(trees.trees)),
        ("links in use", count(links.num_rows)),
        ("links of a tree, mean", mean(crossings / trees.trees if trees.trees else None)),
        ("core cost", amount(float(pc.sum(links["cost"]).as_py() or 0))),
    ]
    about = (
        f"The trees on which messages pass between brokers, one for each channel and broker at which it is published, "
        f"from {trees.name}."
    )
    blocks = [paragraph(about), tiles(facts)]
    if links.num_rows:
        blocks += [_figure(trees), _links(links)]
    return Section(f"Core trees: {trees.name}", tuple(blocks))


def _figure(trees: Trees) -> Markup:
    links = trees.links.select(["one", "other"]).to_pylist()
    drawn = ranked_figure(
        [f"{link['one']} – {link['other']}" for link in links],
        {"cost": trees.links["cost"].to_numpy().astype(np.float64)},
        things="link",
        unit="cost",
    )
    return figure(drawn, f"trees {trees.name}", "Cost of links", "What crosses a link, times its price.")


def _links(links: pa.Table) -> Markup:
    rows: list[list[Cell]] = [
        [row["one"], row["other"], count(row["trees"]), amount(row["rate"]), amount(row["cost"])]
        for row in links.slice(0, _TREE_ROWS).to_pylist()
    ]
    more = f"; these are {_TREE_ROWS} of {links.num_rows:,}" if links.num_rows > _TREE_ROWS else ""
    headers = ["broker", "other broker", "trees", "rate", "cost"]
    return table("Links between brokers", headers, rows, note=f"The dearest come first{more}.")


TREES_KIND = Kind(
    name="trees",
    forms=(TREES,),
    read=read_all_trees,
    section=trees_section,
    facts=lambda trees: trees.name,
    line=lambda trees: f"core trees {trees.name}",
)
