"""What content-based plans cost, from what `topicloom content cost` printed as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from topicloom.errors import InputError
from topicloom.files.json_files import Fields
from topicloom.report.page.kind import Form, Reading

COST = Form("cost", keys=("total", "access", "core", "by_broker"))


@dataclass(frozen=True)
class BrokerCost:
    """A broker: its users, their traffic against its capacity, and what it costs.

    `access` is the cost of its users' links, `core` that of the trees for what is published at it.
    """

    broker: str
    users: int
    load: float
    capacity: float
    access: float
    core: float


@dataclass(frozen=True)
class PlanCost:
    """What one assignment costs; `one_tree` and `relays` are the core cost in other ways, if those were asked for."""

    name: str
    users: int
    channels: int
    total: float
    access: float
    core: float
    ratio: float | None
    overloaded: int
    unwanted_share: float
    one_tree: float | None
    relays: float | None
    brokers: tuple[BrokerCost, ...]


@dataclass(frozen=True)
class Costs:
    """The costs of one or more assignments of as many users to the same brokers."""

    name: str
    plans: tuple[PlanCost, ...]


def read_costs(reading: Reading) -> list[Costs]:
    """Read all costs; those over the same brokers, users and channels stand together."""
    plans: dict[object, list[PlanCost]] = {}
    for name, read in reading.named(COST, _plan):
        plan = replace(read, name=name)
        same = (plan.users, plan.channels, tuple((each.broker, each.capacity) for each in plan.brokers))
        plans.setdefault(same, []).append(plan)
    return [Costs(group[0].name, tuple(group)) for group in plans.values()]


def _plan(path: Path) -> PlanCost:
    fields = Fields.of_file(path)
    brokers = tuple(
        BrokerCost(
            broker=each.text("broker"),
            users=each.count("users"),
            load=each.positive("load"),
            capacity=each.positive("capacity"),
            access=each.positive("access"),
            core=each.positive("core"),
        )
        for each in fields.each("by_broker")
    )
    if not brokers:
        raise InputError(f"{path}: 'by_broker' is empty; it should name every broker")
    return PlanCost(
        name=path.name,
        users=fields.count("users"),
        channels=fields.count("channels"),
        total=fields.positive("total"),
        access=fields.positive("access"),
        core=fields.positive("core"),
        ratio=fields.number_or_none("cost_reduction_ratio"),
        overloaded=fields.count("overloaded_brokers"),
        unwanted_share=fields.positive("unwanted_share"),
        one_tree=fields.positive("core_on_one_tree") if "core_on_one_tree" in fields.values else None,
        relays=fields.positive("core_with_relays") if "core_with_relays" in fields.values else None,
        brokers=brokers,
    )
