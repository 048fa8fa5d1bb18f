"""Fleets of each kind that go over to another plan broker by broker while clients use them, as `apply` changes them.

Mosquitto and NATS read their links when they start, so a step is a restart; RabbitMQ takes definitions while it runs.
Clients are as careful applications have them: they come back, and publish later what they could not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Plan
from topicloom.deploy.proof.bridge_sessions import first_needed, let_arrive, prepare_link
from topicloom.deploy.proof.clients import OnMessage
from topicloom.deploy.proof.lasting_clients import LastingClients
from topicloom.deploy.proof.nats_fleet import LastingNatsClients, NatsClients, NatsProcesses
from topicloom.deploy.proof.processes import Processes, on_ports
from topicloom.deploy.proof.rabbitmq_fleet import RabbitClients, RabbitProcesses
from topicloom.deploy.targets.mosquitto import session_name
from topicloom.deploy.targets.render import configuration_of


class ChangingFleet(ABC):
    """Brokers and clients on this machine; `most_a_second` is how many messages these take lightly."""

    processes: Processes
    clients: LastingClients | NatsClients | RabbitClients
    most_a_second = 1000

    def __init__(self, old: Plan, new: Plan) -> None:
        self.old, self.new = old, new

    @property
    def listening(self) -> list[str]:
        """The brokers that clients are at."""
        return sorted(self.old.broker.keys() | self.new.broker.keys())

    def begin(self, name: str) -> None:
        """Start a broker with what it has by the old plan."""
        self.processes.start(name, self._text(self.old, name))

    def take(self, name: str, plan: Plan | None) -> None:
        """Let a broker have what it has by a plan, or no links."""
        self.processes.let_go(name)
        self.processes.start(name, self._text(plan or self._without_links(name), name))

    @abstractmethod
    def is_linked(self, name: str, plan: Plan) -> bool:
        """Whether all links that a broker opens by a plan are up."""

    def make_ready(self, number: int) -> None:  # noqa: B027  not all can
        """Make ready what the step of this number needs."""

    def _text(self, plan: Plan, name: str) -> str:
        return configuration_of(plan if name in plan.broker else self._without_links(name), name)

    def _without_links(self, name: str) -> Plan:
        """A plan that has a broker, but no links."""
        return replace(self.old if name in self.old.broker else self.new, links=(), routes=())


class ChangingMosquittos(ChangingFleet):
    """Mosquittos; with `keep` sessions of new links are made ready before old links go."""

    def __init__(
        self,
        old: Plan,
        new: Plan,
        processes: Processes,
        on_message: OnMessage,
        steps: Sequence[tuple[str, bool]],
        keep: bool,
    ) -> None:
        super().__init__(old, new)
        self.processes = processes
        self._brokers = {**old.broker, **new.broker}
        self._needed: dict[int, list[Pair]] = first_needed(old, new, steps) if keep else {}
        self.clients: LastingClients = LastingClients(self._brokers, on_message)

    def make_ready(self, number: int) -> None:
        """Let brokers keep messages for the links that will take the place of others in this step."""
        for link in self._needed.get(number, []):
            prepare_link(self._brokers, link, self.new.lines_of_link[link])
        if number in self._needed:
            let_arrive()

    def is_linked(self, name: str, plan: Plan) -> bool:
        """Whether the broker says that its sessions at others are up."""
        up = self.clients.links_up[name]
        return all(session_name(link, plan.lines_of_link[link]) in up for link in _opened(plan, name))


class ChangingNats(ChangingFleet):
    """NATS servers."""

    def __init__(self, old: Plan, new: Plan, processes: NatsProcesses, on_message: OnMessage) -> None:
        super().__init__(old, new)
        self.processes: NatsProcesses = processes
        self.clients = LastingNatsClients(on_ports(processes.ports), on_message)

    def is_linked(self, name: str, plan: Plan) -> bool:
        """Whether the server says that it is a leafnode of the others."""
        return self.processes.linked(name) >= {link[1] for link in _opened(plan, name)}


class ChangingRabbits(ChangingFleet):
    """RabbitMQ nodes; messages go by their management interface, which takes fewer."""

    most_a_second = 60

    def __init__(self, old: Plan, new: Plan, processes: RabbitProcesses, on_message: OnMessage) -> None:
        super().__init__(old, new)
        self.processes: RabbitProcesses = processes
        self.clients: RabbitClients = RabbitClients(processes, on_message, old)

    @property
    def listening(self) -> list[str]:
        """The brokers of the old plan, as exchanges of others are not there yet."""
        return sorted(self.old.broker)

    def take(self, name: str, plan: Plan | None) -> None:
        """Put other definitions on a node, and bind its queue to what it wants by the new plan, too."""
        super().take(name, plan)
        if plan is not None and name in self.old.broker:
            self.clients.bind(name, plan)

    def is_linked(self, name: str, plan: Plan) -> bool:
        """Whether all federation links of the node run."""
        return not self.processes.links_down(name, self._text(plan, name))


def _opened(plan: Plan, name: str) -> list[Pair]:
    return [link for link in plan.links_of[name] if link[0] == name]
