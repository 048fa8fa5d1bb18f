"""The links of a fleet from its configurations, of whatever kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from topicloom.deploy.existing.configured_files import configured_files
from topicloom.deploy.existing.nats_conf import read_server
from topicloom.deploy.existing.rabbitmq_definitions import read_node
from topicloom.deploy.linting.lint import connect
from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.targets.mosquitto_conf import Configured, read_brokers, refuse
from topicloom.errors import InputError

KINDS = ("mosquitto", "nats", "rabbitmq")
_NATS = ("nats-server.conf", ".conf", read_server)
_RABBITMQ = ("definitions.json", ".json", read_node)
# Words that a configuration of NATS has and one of Mosquitto has not.
_OF_NATS = re.compile(
    r"^\s*(leafnodes|remotes|server_name|cluster|jetstream|http_port|accounts)\b|^\s*port\s*[:=]", re.MULTILINE
)


@dataclass(frozen=True)
class ExistingLinks:
    """Brokers, how many bridges they have, the links these make, and bridges that lead to none of the brokers.

    A link is there once, however many bridges make it; the lower name comes first.
    """

    brokers: tuple[str, ...]
    bridges: int
    links: tuple[Pair, ...]
    outside: tuple[str, ...]


def existing_links(paths: Sequence[Path], kind: str | None = None) -> ExistingLinks:
    """The links that configurations make: of Mosquitto, NATS or RabbitMQ, which shows unless `kind` says it."""
    brokers = read_configured(paths, kind or kind_of(paths))
    names = [broker.name for broker in brokers]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two configurations are both of broker '{name}'; give each file or folder its own name")
    wires, outside = connect(brokers)
    links = {(min(wire.local, wire.remote), max(wire.local, wire.remote)) for wire in wires if wire.remote in names}
    inside = tuple(sorted(link for link in links if link[0] != link[1]))
    return ExistingLinks(tuple(sorted(names)), len(wires), inside, tuple(finding.text for finding in outside))


def read_configured(
    paths: Sequence[Path], kind: str, unreadable: Callable[[InputError], None] = refuse
) -> Sequence[Configured]:
    """The brokers of a kind in files and folders, as their configurations describe them.

    `unreadable` is called with the problem of each part that cannot be read; if it returns, that part is left out.
    """
    if kind == "mosquitto":
        return read_brokers(paths, unreadable)
    main, ending, read = _NATS if kind == "nats" else _RABBITMQ
    brokers = []
    for name, file in (found for path in paths for found in configured_files(path, ending, main)):
        try:
            brokers.append(read(name, file))
        except InputError as problem:
            unreadable(problem)
            brokers.append(Configured(name, (), ()))
    if not brokers:
        raise InputError(f"{', '.join(map(str, paths))}: has no {ending} files")
    return brokers


def kind_of(paths: Sequence[Path]) -> str:
    """What configurations are for, by their endings and words; a fleet of several kinds is an error."""
    found: dict[bool, Path] = {}
    for path in paths:
        if any(configured_files(path, _RABBITMQ[1], _RABBITMQ[0])) and path.suffix != ".conf":
            return "rabbitmq"
        for _, file in configured_files(path, _NATS[1], _NATS[0]):
            try:
                is_nats = _OF_NATS.search(file.read_text(encoding="utf-8", errors="replace")) is not None
                found.setdefault(is_nats, file)
            except OSError:
                continue  # an error when it is read
    if len(found) == 2:
        raise InputError(f"{found[True]} is for NATS and {found[False]} is not; give brokers of one kind at a time")
    return "nats" if True in found else "mosquitto"
