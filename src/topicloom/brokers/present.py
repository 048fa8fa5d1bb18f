"""What brokers have: the configuration files that they read, and how ours differ from what they should be."""

from __future__ import annotations

import json
from collections.abc import Collection, Hashable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from topicloom.brokers.deliver import driver_of
from topicloom.brokers.health import answers
from topicloom.brokers.kind import DeliveryFailed
from topicloom.brokers.kinds import DEFAULT, KINDS, kind_of, placed
from topicloom.brokers.plan import Plan
from topicloom.brokers.plan_file import configuration_of
from topicloom.errors import InputError
from topicloom.model.fleet import Broker, Fleet

_AT_ONCE = 32
# Of definitions: what can be read back.
_FEDERATED = ("parameters", "policies")


@dataclass(frozen=True)
class Present:
    """The configuration files at the brokers of a fleet.

    Args:
        own: by broker the text of our file, None if there is none.
        others: by broker the texts of the files beside it, by their places.
        unread: by broker why its files could not be read.
    """

    own: Mapping[str, str | None]
    others: Mapping[str, Mapping[str, str]]
    unread: Mapping[str, str]


@dataclass(frozen=True)
class Drift:
    """A broker whose file is not as it should be; `lost` if it has no links at all."""

    broker: str
    why: str
    lost: bool


def brokers_of(fleet: Fleet, plan: Plan) -> dict[str, Broker]:
    """The brokers of a fleet, and those of a plan as it has them."""
    target = plan.target if plan.target in KINDS else DEFAULT  # a mixed plan says the kind of each of its own
    others = {name: placed(broker, target) for name, broker in fleet.brokers.items() if name not in plan.broker}
    return others | {**plan.broker}


def silent_of(fleet: Fleet, brokers: Iterable[Broker]) -> frozenset[str]:
    """Brokers that are looked at and do not answer, asked at once."""
    asked = [broker for broker in brokers if broker.name in fleet.brokers and fleet.looks_at(broker.name)]

    def ask(broker: Broker) -> bool:
        delivery = fleet.deliveries.get(broker.name)
        return answers(broker, kind_of(broker).name, None if delivery is None else delivery.url)

    with ThreadPoolExecutor(_AT_ONCE) as asking:
        heard = zip(asked, asking.map(ask, asked), strict=True)
        return frozenset(broker.name for broker, answer in heard if not answer)


def read_present(
    fleet: Fleet, brokers: Iterable[Broker], state: Path, silent: Collection[str] = (), *, at_once: int = _AT_ONCE
) -> Present:
    """Read the files at brokers, several at once.

    Args:
        fleet: says how to get to its brokers; those without a delivery are left out.
        brokers: with their kinds.
        state: the folder of the fleet's state.
        silent: brokers that do not answer, which are left out, too.
    """
    asked = [broker for broker in brokers if broker.name in fleet.deliveries and broker.name not in silent]
    own: dict[str, str | None] = {}
    others: dict[str, Mapping[str, str]] = {}
    unread: dict[str, str] = {}

    def read(broker: Broker) -> tuple[str, Mapping[str, str]] | str:
        driver = driver_of(broker, fleet.deliveries[broker.name], state)
        try:
            return driver.place, driver.get()
        except (DeliveryFailed, InputError) as failure:
            return str(failure)

    with ThreadPoolExecutor(at_once) as reading:
        for broker, found in zip(asked, reading.map(read, asked), strict=True):
            if isinstance(found, str):
                unread[broker.name] = found
                continue
            place, texts = found
            own[broker.name] = texts.get(place)
            others[broker.name] = {where: text for where, text in texts.items() if where != place}
    return Present(own, others, unread)


def drift_of(plan: Plan, broker: Broker, text: str | None) -> Drift | None:
    """Return how the file of a broker differs from that of a plan, None if it does not.

    Comments do not count, and nothing does if neither says of links.

    Args:
        plan: if it does not have the broker, that should have no links.
        broker: with its kind.
        text: its file, None if it has none.
    """
    name = broker.name
    wanted = configuration_of(plan, name) if name in plan.broker else ""
    if _settings(wanted) == _settings(text or ""):
        return None
    try:
        has, count = (len(kind_of(broker).parse(name, one, name).bridges) if one else 0 for one in (text, wanted))
    except InputError:
        return Drift(name, "has a file that cannot be read", lost=False)
    if not has:
        return Drift(name, "has none of its links", lost=True) if count else None
    return Drift(name, "has other links" if has != count else "has other settings", lost=False)


def _settings(text: str) -> Hashable:
    """What a broker reads of a file."""
    if text.startswith("{"):
        try:
            found = json.loads(text)
            # Exchanges of ours stay, and virtual hosts are there.
            return tuple(sorted(json.dumps(row, sort_keys=True) for key in _FEDERATED for row in found.get(key, ())))
        except (ValueError, TypeError, RecursionError):
            return text
    return tuple(line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#"))
