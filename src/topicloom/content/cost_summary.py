"""What an assignment costs in figures: what `topicloom content cost` prints as JSON, and pages show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from topicloom.content.assignment import Assignment
from topicloom.content.cost import Cost
from topicloom.errors import InputError
from topicloom.files.json_files import Amount, Count, read_json


@dataclass(frozen=True)
class BrokerCost:
    """A broker: its users, their traffic against its capacity, and what it costs.

    `access` is the cost of its users' links, `core` that of the trees for what is published at it.
    """

    broker: str
    users: Count
    load: Amount
    capacity: Amount
    access: Amount
    core: Amount


@dataclass(frozen=True)
class CostSummary:
    """What an assignment costs; the fields are the keys of its JSON, without the last two where they are None.

    `cost_reduction_ratio` is how many times as much the random assignment costs; None where none fits.
    `core_on_one_tree` and `core_with_relays` are the core cost in other ways, where those were asked for.
    """

    users: Count
    brokers: Count
    channels: Count
    total: Amount
    access: Amount
    core: Amount
    cost_reduction_ratio: float | None
    demand: Amount
    capacity: Amount
    overloaded_brokers: Count
    unwanted_share: Amount
    by_broker: tuple[BrokerCost, ...]
    core_on_one_tree: Amount | None = None
    core_with_relays: Amount | None = None

    @classmethod
    def read(cls, path: Path) -> CostSummary:
        """From a JSON file."""
        read = read_json(path, cls)
        if not read.by_broker:
            raise InputError(f"{path}: 'by_broker' is empty; it should name every broker")
        return read

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        asked_for = {"core_on_one_tree": self.core_on_one_tree, "core_with_relays": self.core_with_relays}
        left_out = [name for name, cost in asked_for.items() if cost is None]
        return {name: value for name, value in asdict(self).items() if name not in left_out}


def reduction_ratio(priced: Cost, random: Cost | None) -> float | None:
    """How many times as much the random assignment costs; None where there is none, or nothing costs anything."""
    return None if random is None or priced.total == 0 else random.total / priced.total


def cost_summary(
    assignment: Assignment,
    priced: Cost,
    random: Cost | None,
    *,
    one_tree: float | None = None,
    relays: float | None = None,
) -> CostSummary:
    """Put together what an assignment costs, beside the random one."""
    network = assignment.network
    columns = (
        network.broker_names,
        *(
            column.tolist()
            for column in (
                priced.users,
                priced.load,
                network.capacity,
                priced.access_by_broker,
                priced.core_by_broker,
            )
        ),
    )
    return CostSummary(
        users=network.user_count,
        brokers=network.broker_count,
        channels=network.channel_count,
        total=priced.total,
        access=priced.access,
        core=priced.core,
        cost_reduction_ratio=reduction_ratio(priced, random),
        demand=float(network.traffic.demand.sum()),
        capacity=float(network.capacity.sum()),
        # Sums may pass what they are equal to by rounding.
        overloaded_brokers=int((priced.load > network.capacity * (1 + 1e-9)).sum()),
        unwanted_share=network.traffic.unwanted_share,
        by_broker=tuple(BrokerCost(*row) for row in zip(*columns, strict=True)),
        core_on_one_tree=one_tree,
        core_with_relays=relays,
    )
