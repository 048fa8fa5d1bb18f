"""Kinds of brokers by name: our own, and those of other packages; see docs/extending.md.

Each module has one, and alone knows its name. `mosquitto_log` reads Mosquitto's log; `rabbitmq_nodes` and
`nats_servers` start brokers on loopback.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from topicloom.brokers.kind import BrokerKind, SourceForm
from topicloom.brokers.kinds import emqx, mosquitto, nats, rabbitmq
from topicloom.brokers.names import quoted
from topicloom.errors import InputError
from topicloom.model.filters import Protocol
from topicloom.model.fleet import Broker
from topicloom.registry import Plugins

KINDS: Plugins[BrokerKind] = Plugins(
    BrokerKind,  # type: ignore[type-abstract]
    (module.KIND for module in (mosquitto, rabbitmq, nats, emqx)),
    group="topicloom.broker_kinds",
    noun="kind of broker",
    one="kind",
)


DEFAULT = mosquitto.KIND.name


def kind_named(name: str | None) -> BrokerKind:
    """Return the kind of that name, the default without one."""
    return KINDS.find(name or DEFAULT)


def kind_of(broker: Broker, default: str = DEFAULT) -> BrokerKind:
    """Return the kind of a broker; the default if it names none."""
    return kind_named(broker.kind or default)


def placed(broker: Broker, default: str) -> Broker:
    """Return a broker with its kind, the default if it names none, and its port, the usual one if it names none."""
    return kind_of(broker, default).of_broker(broker)


def one_tree(brokers: Iterable[Broker], default: str = DEFAULT) -> bool:
    """Whether all topics of some brokers share one tree, as some of them refuse cycles of links."""
    return any(kind_of(broker, default).one_tree for broker in brokers)


def sources() -> dict[str, tuple[BrokerKind, SourceForm]]:
    """Return the keys of `collect` tables with the kinds that answer to them."""
    return {key: (kind, form) for kind in KINDS.values() for key, form in kind.sources.items()}


def name_problem(kinds: Iterable[BrokerKind], topic: str) -> str | None:
    """Return why some of these kinds cannot carry a topic, None if all can."""
    if not topic:
        return "is empty; every topic needs a name"
    return next((problem for kind in kinds if (problem := kind.name_problem(topic)) is not None), None)


def filter_problem(kinds: Iterable[BrokerKind], protocol: Protocol, pattern: str) -> str | None:
    """Return why some of these kinds cannot carry a filter, None if all can."""
    problem = protocol.problem(pattern)
    if problem is not None:
        return problem
    having = (kind for kind in kinds if kind.wildcards == protocol)
    return next((problem for kind in having if (problem := kind.pattern_problem(pattern)) is not None), None)


def require_names(kinds: Collection[BrokerKind], topics: Iterable[str]) -> None:
    """Raise InputError if some of these kinds cannot carry a topic."""
    for topic in topics:
        problem = name_problem(kinds, topic)
        if problem is not None:
            raise InputError(f"topic {quoted(topic)}: {problem}")


def require_filters(
    kinds: Collection[BrokerKind], protocol: Protocol, topics: Iterable[str], filters: Iterable[str]
) -> None:
    """Raise InputError if some of these kinds cannot carry the filters of topics, each called by one of them."""
    for kind in kinds:
        if kind.wildcards != protocol:
            known = [f"{one.name} with {one.wildcards.name}" for one in KINDS.values() if one.wildcards is not None]
            raise InputError(f"plans with filters are for {_listed(known)}, not for {kind.name} with {protocol.name}")
    for topic in topics:
        for kind in kinds:
            problem = kind.group_problem(topic)
            if problem is not None:
                raise InputError(f"topic {quoted(topic)}: {problem}")
    for filter_ in filters:
        protocol.require(filter_)
        problem = filter_problem(kinds, protocol, filter_)
        if problem is not None:
            raise InputError(f"topic {quoted(filter_)}: {problem}")


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
