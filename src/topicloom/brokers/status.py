"""What every broker of a fleet should have, and what it has: files read back, links as the brokers tell them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from topicloom.brokers.kind import DeliveryFailed
from topicloom.brokers.kinds import DEFAULT, kind_of
from topicloom.brokers.present import brokers_of, drift_of, read_present, silent_of
from topicloom.brokers.store import FleetState
from topicloom.errors import InputError
from topicloom.model.fleet import LINKS, Broker, Fleet

_AT_ONCE = 32
_LINK_SECONDS = 3.0
RIGHT, DRIFTED, OWED, CHANGING, UNREAD, SILENT = "right", "drifted", "owed", "changing", "not read", "does not answer"


@dataclass(frozen=True)
class BrokerStatus:
    """How a broker is.

    Args:
        broker: its name.
        state: `right`, `drifted`, `owed` a file since it did not answer, `changing` as a move is under way, `not read`
            or `does not answer`.
        links: how many links it should have.
        up: how many of those that it tells of are up; None if it tells of none, was not asked, or cannot tell.
        why: what is to be said.
    """

    broker: str
    state: str
    links: int
    up: int | None
    why: str

    @property
    def found(self) -> bool:
        """Whether there is something to do."""
        return self.state not in (RIGHT, UNREAD) or (self.up is None and self.why.startswith("its links"))


def fleet_status(state: FleetState, fleet: Fleet) -> list[BrokerStatus]:
    """Return how all brokers of a fleet are, in the order of their names."""
    plan = state.plan(state.has, DEFAULT)
    brokers = brokers_of(fleet, plan)
    silent = silent_of(fleet, brokers.values())
    present = read_present(fleet, brokers.values(), state.folder, silent)
    changing = set() if state.move is None else {step.broker for step in state.move.steps}

    def look(broker: Broker) -> BrokerStatus:
        name, links, up, why = broker.name, len(plan.links_of.get(broker.name, ())), None, ""
        if name in silent:
            return BrokerStatus(name, SILENT, links, up, why)
        drift = None
        if name in present.own:
            try:
                drift = drift_of(plan, broker, present.own[name])
            except InputError as error:
                return BrokerStatus(name, UNREAD, links, up, str(error))
        if name in changing:
            how, why = CHANGING, "a change that is under way has steps for it"
        elif drift is not None:
            how, why = DRIFTED, drift.why
        elif name in state.owed:
            how, why = OWED, "it did not answer when its file was to be put"
        elif name not in present.own:
            how, why = UNREAD, present.unread.get(name, f"{fleet.where} does not say how to get there")
        else:
            how = RIGHT
        if name in plan.broker and name in fleet.deliveries and fleet.deliveries[name].check == LINKS:
            try:
                delivery = replace(fleet.deliveries[name], seconds=_LINK_SECONDS)
                up, expected, needs = kind_of(broker).links(plan, broker, delivery)
                up = up if expected else None
                why = why or (f"links not looked at ({needs})" if needs else "")
            except (DeliveryFailed, InputError, OSError) as error:
                why = f"its links cannot be looked at: {error}" if "links" not in str(error) else str(error)
        return BrokerStatus(name, how, links, up, why)

    with ThreadPoolExecutor(_AT_ONCE) as looking:
        return list(looking.map(look, (brokers[name] for name in sorted(brokers))))
