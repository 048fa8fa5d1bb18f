"""The section of what content-based plans cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from topicloom.content.cost_summary import BrokerCost, CostSummary
from topicloom.present.html import Cell
from topicloom.present.numbers import amount, count, count_of, mean, percent
from topicloom.report.page.kind import Form, Kind, Reading
from topicloom.report.page.ranked import Column, ranked_figure
from topicloom.report.page.section import Section, beside, figure, paragraph, table, tiles

COST = Form("cost", keys=("total", "access", "core", "by_broker"))

# How many brokers are listed.
_ROWS = 200


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
        for each in sorted(plan.cost.by_broker, key=lambda each: -(each.access + each.core))[:_ROWS]
    ]
    headers = ["broker", "users", "load", "capacity", "used", "access cost", "core cost", "access price of a unit"]
    more = f"; these are {_ROWS:,} of {len(plan.cost.by_broker):,}" if len(plan.cost.by_broker) > _ROWS else ""
    return table("Brokers", headers, rows, note=f"The dearest come first{more}.")


def _used(broker: BrokerCost) -> float:
    """The share of its capacity that a broker uses; all of it where it has none and is used."""
    return broker.load / broker.capacity if broker.capacity else float(broker.load > 0)


def _column(cost: CostSummary, field: str) -> Column:
    return np.array([getattr(each, field) for each in cost.by_broker], np.float64)


KIND = Kind(
    name="costs",
    forms=(COST,),
    read=read_costs,
    section=costs_section,
    facts=lambda costs: [plan.name for plan in costs.plans],
    line=lambda costs: f"cost {', '.join(plan.name for plan in costs.plans)}",
)
