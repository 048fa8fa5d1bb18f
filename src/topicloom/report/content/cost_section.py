"""The section of what content-based plans cost."""

from __future__ import annotations

import numpy as np

from topicloom.present.html import Cell
from topicloom.present.numbers import amount, count, count_of, mean, percent
from topicloom.report.content.cost_results import COST, BrokerCost, Costs, PlanCost, read_costs
from topicloom.report.page.kind import Kind
from topicloom.report.page.ranked import Column, ranked_figure
from topicloom.report.page.section import Section, beside, figure, paragraph, table, tiles

# How many brokers are listed.
_ROWS = 200


def costs_section(costs: Costs) -> Section:
    """One plan; or several side by side, and each of them inside."""
    if len(costs.plans) == 1:
        return Section(f"Cost: {costs.name}", _plan(costs.plans[0]))
    first = costs.plans[0]
    about = (
        f"What {len(costs.plans)} plans cost: {count_of(first.users, 'user')}, "
        f"{count_of(len(first.brokers), 'broker')}, {count_of(first.channels, 'channel')}."
    )
    drawn = ranked_figure(
        [plan.name for plan in costs.plans],
        {
            "access": np.array([plan.access for plan in costs.plans]),
            "core": np.array([plan.core for plan in costs.plans]),
        },
        things="plan",
        unit="cost",
    )
    bars = figure(drawn, f"costs {costs.name}", "Total cost", "Links of users, and between brokers.")
    inside = tuple(Section(plan.name, _plan(plan)) for plan in costs.plans)
    return Section(f"Costs: {len(costs.plans)} plans", (paragraph(about), _compared(costs), bars), inside)


def _compared(costs: Costs) -> str:
    rows: list[list[Cell]] = [
        [
            plan.name,
            amount(plan.total),
            amount(plan.access),
            amount(plan.core),
            mean(plan.ratio),
            count(plan.overloaded),
            amount(plan.one_tree),
            amount(plan.relays),
        ]
        for plan in costs.plans
    ]
    headers = ["plan", "total", "access", "core", "random / this", "overloaded brokers"]
    return table("All plans", [*headers, "core on one tree", "core with relays"], rows)


def _plan(plan: PlanCost) -> tuple[str, ...]:
    about = (
        f"What the plan of {plan.name} costs: access is the links of users, core the trees between brokers. "
        "A broker's core cost is that of the trees that begin there."
    )
    facts = [
        ("users", count(plan.users)),
        ("brokers", count(len(plan.brokers))),
        ("channels", count(plan.channels)),
        ("total cost", amount(plan.total)),
        ("access", amount(plan.access)),
        ("core", amount(plan.core)),
        ("random / this", mean(plan.ratio)),
        ("overloaded brokers", count(plan.overloaded)),
        ("delivered unwanted", percent(plan.unwanted_share)),
    ]
    others = (("core on one tree", plan.one_tree), ("core with relays", plan.relays))
    facts += [(name, amount(cost)) for name, cost in others if cost is not None]
    return paragraph(about), tiles(facts), beside([_load(plan), _cost(plan)]), _brokers(plan)


def _load(plan: PlanCost) -> str:
    load, capacity = _column(plan, "load"), _column(plan, "capacity")
    drawn = ranked_figure(
        [each.broker for each in plan.brokers],
        {"load": load},
        things="broker",
        unit="load",
        limit=("capacity", capacity),
    )
    used = percent(float(load.sum() / capacity.sum()) if capacity.any() else None).text
    fullest = max(plan.brokers, key=_used)
    note = (
        f"What each broker's users send and are delivered, against its capacity. All brokers together use {used}, "
        f"the fullest {percent(_used(fullest)).text}."
    )
    return figure(drawn, f"cost {plan.name} load", "Load of brokers", note)


def _cost(plan: PlanCost) -> str:
    drawn = ranked_figure(
        [each.broker for each in plan.brokers],
        {"access": _column(plan, "access"), "core": _column(plan, "core")},
        things="broker",
        unit="cost",
    )
    share = percent(plan.core / plan.total if plan.total else None).text
    return figure(drawn, f"cost {plan.name} brokers", "Cost by broker", f"Core is {share} of the whole.")


def _brokers(plan: PlanCost) -> str:
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
        for each in sorted(plan.brokers, key=lambda each: -(each.access + each.core))[:_ROWS]
    ]
    headers = ["broker", "users", "load", "capacity", "used", "access cost", "core cost", "access price of a unit"]
    more = f"; these are {_ROWS:,} of {len(plan.brokers):,}" if len(plan.brokers) > _ROWS else ""
    return table("Brokers", headers, rows, note=f"The dearest come first{more}.")


def _used(broker: BrokerCost) -> float:
    """The share of its capacity that a broker uses; all of it where it has none and is used."""
    return broker.load / broker.capacity if broker.capacity else float(broker.load > 0)


def _column(plan: PlanCost, field: str) -> Column:
    return np.array([getattr(each, field) for each in plan.brokers], np.float64)


KIND = Kind(
    name="costs",
    forms=(COST,),
    read=read_costs,
    section=costs_section,
    facts=lambda costs: [plan.name for plan in costs.plans],
    line=lambda costs: f"cost {', '.join(plan.name for plan in costs.plans)}",
)
