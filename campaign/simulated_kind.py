"""A kind of broker that is simulated: Mosquitto's files, and everything else from a world without machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Protocol
from unittest import mock

from topicloom.brokers.kind import Driver, LinkState, SourceForm
from topicloom.brokers.kinds import KINDS
from topicloom.brokers.kinds.mosquitto import Mosquitto
from topicloom.brokers.plan import Plan
from topicloom.brokers.rows import BrokerRows
from topicloom.model.filters import MQTT
from topicloom.model.fleet import Broker, Delivery, Source

NAME = "simulated"


class Machines(Protocol):
    """What a world says of its brokers."""

    def driver(self, broker: str) -> Driver:
        """Return the way to a broker."""

    def answers(self, broker: Broker) -> bool:
        """Whether a broker answers."""

    def tells(self, source: Source, name: str, before: BrokerRows, now_us: int) -> BrokerRows:
        """Return who a broker says subscribes and publishes."""


class SimulatedKind(Mosquitto):
    """Mosquitto in a world."""

    name = NAME
    keeps_messages = False
    sources = MappingProxyType({NAME: SourceForm(MQTT)})
    # With a URL no port is tried.
    ways = MappingProxyType({NAME: (("url",), ())})

    def __init__(self, world: Machines) -> None:
        self._world = world

    def known(self) -> AbstractContextManager[object]:
        """Let it be one of the kinds, as the entry point of an installed package does."""
        return mock.patch.dict(KINDS._all, {NAME: self})

    def require_library(self) -> None:
        """Its links need no client."""

    def driver(self, broker: Broker, delivery: Delivery) -> Driver:
        """Return the way to a broker."""
        return self._world.driver(broker.name)

    def links(self, plan: Plan, broker: Broker, delivery: Delivery) -> LinkState:
        """Return that all links are up: what a cut does to them is not what is tried."""
        count = len(plan.links_of.get(broker.name, ()))
        return LinkState(count, count)

    def answers(self, broker: Broker, management: str | None, deadline: float) -> bool:
        """Whether a broker answers."""
        return self._world.answers(broker)

    def collect(self, source: Source, broker: str, before: BrokerRows, now_us: int) -> Iterator[BrokerRows]:
        """Yield what a broker tells."""
        yield self._world.tells(source, broker, before, now_us)
