"""A fleet: its brokers, who wants what, its links and limits, as plain immutable values by name.

`brokers/fleet_file.py` reads and checks them. Constructors check nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from topicloom.errors import InputError
from topicloom.model.constraints import Constraints
from topicloom.model.demand import Demand
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay

# What is checked after a broker got its file: its links, its port, or nothing.
LINKS, PORT, NOTHING = "links", "port", "nothing"


@dataclass(frozen=True)
class Credentials:
    """A username, and the variable or the file that holds the password; the password itself is never held."""

    username: str
    password_env: str | None = None
    password_file: str | None = None


@dataclass(frozen=True)
class Tls:
    """How others connect to a broker by TLS: files on their own machines; the system's without a `ca_file`."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


@dataclass(frozen=True)
class Broker:
    """Where a broker is, and how others connect to it.

    Args:
        name: the name of its node.
        host: a host name or address.
        port: None for the usual port of its kind.
        tls: None for plain connections. credentials: the login, None without one.
        accepts: whether others can connect to it. If not, for instance behind a firewall, it opens its links itself.
        vhost: the virtual host of its topics, if it is a RabbitMQ.
        kind: the kind of broker; None for that of the plan.
        addresses: further hosts and ports, tried in turn after the first, such as the others of a cluster.
    """

    name: str
    host: str
    port: int | None = None
    tls: Tls | None = None
    credentials: Credentials | None = None
    accepts: bool = True
    vhost: str | None = None
    kind: str | None = None
    addresses: tuple[tuple[str, int | None], ...] = ()


@dataclass(frozen=True)
class Delivery:
    """How a file gets to a broker: `via` a local folder, ssh, commands, or RabbitMQ's management interface at `url`.

    `path` and commands may hold {broker}, {host} and {port}, and `put` {file}; `get` is a command that prints the
    file. `seconds` is how long each command and each wait may take, `check` what is checked afterwards; `monitor` is
    where a NATS server tells of its links.
    """

    via: str
    path: str | None = None
    destination: str | None = None
    put: str | None = None
    get: str | None = None
    reload: str | None = None
    url: str | None = None
    credentials: Credentials | None = None
    owner: str | None = None
    mode: int = 0o600
    monitor: str | None = None
    seconds: float = 60.0
    check: str = LINKS


@dataclass(frozen=True)
class Source:
    """Where a broker tells who subscribes: files of a log, oldest first, a file of definitions, or a URL to ask.

    Args:
        kind: what is read. places: the files, or the URL.
        credentials: for a URL. ca_file: for a URL with TLS.
        ignore_clients: names of clients to leave out, with `*` for anything.
        timeout_seconds: the deadline of a request.
        vhost: the virtual host of a RabbitMQ.
        options: settings of the kind. `persistence`: whether the sessions in a log outlive a restart of the broker;
            `leafs`: whether what leaf nodes want counts as wanted at the server they lead to.
    """

    kind: str
    places: tuple[str, ...]
    credentials: Credentials | None = None
    ca_file: str | None = None
    ignore_clients: tuple[str, ...] = ()
    timeout_seconds: float = 10.0
    vhost: str = "/"
    options: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))

    def option(self, name: str) -> bool:
        """Whether an option is set."""
        return self.options.get(name, False)


@dataclass(frozen=True)
class Fleet:
    """Brokers by node name, their links and limits, and who wants what.

    Args:
        brokers: by the names of their nodes.
        qos: the quality of service of topics. topic_qos: that of single topics.
        where: the file, for errors.
        constraints: which links there may be.
        sources: how a broker is asked who subscribes. deliveries: how a file gets to it.
        demand: who wants and publishes what, whether served or not.
        away: brokers that count as gone.
        overlay: the links among those that are there; its interest is who wants what among them.
        revision: the number of the decision that led here, 0 for a fleet from files.
    """

    brokers: Mapping[str, Broker]
    qos: int = 1
    topic_qos: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    where: str = "fleet"
    constraints: Constraints = field(default_factory=Constraints)
    sources: Mapping[str, Source] = field(default_factory=lambda: MappingProxyType({}))
    deliveries: Mapping[str, Delivery] = field(default_factory=lambda: MappingProxyType({}))
    demand: Demand | None = None
    away: frozenset[str] = frozenset()
    overlay: Overlay | None = None
    revision: int = 0

    @cached_property
    def there(self) -> tuple[str, ...]:
        """The nodes that want or publish something, have a broker and are not away; in the order of their names."""
        wishes = {} if self.demand is None else self.demand.by_node
        return tuple(sorted(node for node in wishes if node in self.brokers and node not in self.away))

    @cached_property
    def interest(self) -> Interest:
        """Who wants and publishes what among the nodes that are there."""
        if self.demand is None:
            raise InputError("has no subscriptions", file=self.where)
        return self.demand.among(self.there)

    def over(self, overlay: Overlay) -> Fleet:
        """Return the fleet with other links."""
        return replace(self, overlay=overlay)

    def looks_at(self, name: str) -> bool:
        """Whether a broker may be connected to: not if its `check` is `nothing`, or would be without a delivery."""
        delivery = self.deliveries.get(name)
        return self.brokers[name].accepts if delivery is None else delivery.check != NOTHING

    def require_brokers(self, names: Iterable[str]) -> None:
        """Raise InputError if a node has no broker."""
        for name in names:
            if name not in self.brokers:
                raise InputError(f"{self.where}: has no broker '{name}'; every node of the subscriptions needs one")
