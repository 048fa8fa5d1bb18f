"""The fleet file: where each broker is, how to log in there, and which links there may be. See docs/brokers.md.

Checked by hand: with pydantic it would be longer, as defaults are merged first, errors list the keys that are known,
and none may show a value that could be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from topicloom.deploy.planning.broker_names import quoted
from topicloom.deploy.planning.delivery import NOTHING, Delivery, delivery_from
from topicloom.deploy.planning.logins import LINE, Credentials, is_line, read_credentials
from topicloom.deploy.planning.source_settings import SourceSettings, source_from
from topicloom.errors import InputError
from topicloom.files.toml_files import read_toml
from topicloom.model.constraints import Constraints, NodeRule

_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")

_VHOST_BYTES = 255
# The virtual host of RabbitMQ unless another is given.
_VHOST = "/"

# How much of a wrong value is shown.
_SHOWN = 80

_LINK_KEYS = ("max_links", "region")
_BROKER_KEYS = ("host", "port", "tls", "credentials", "accepts", "vhost", *_LINK_KEYS)
_DEFAULT_KEYS = ("port", "tls", "credentials", "accepts", "vhost", *_LINK_KEYS, "qos")
_PAIR_TABLES = ("forbid", "keep", "require")
_TLS_KEYS = ("ca_file", "cert_file", "key_file")
# How brokers are asked who subscribes, and how files get to them, which plans do not hold.
_SOURCE = "collect"
_DELIVERY = "apply"


@dataclass(frozen=True)
class Tls:
    """How others connect to a broker by TLS: files on their own machines; without a `ca_file` the system's."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


@dataclass(frozen=True)
class Broker:
    """Where a broker is. One that accepts no connections, behind a firewall for instance, opens them itself.

    A port of None is the usual one of the target. `vhost` is the virtual host of its topics, where it is a RabbitMQ.
    """

    name: str
    host: str
    port: int | None = None
    tls: Tls | None = None
    credentials: Credentials | None = None
    accepts: bool = True
    vhost: str | None = None


@dataclass(frozen=True)
class Fleet:
    """Brokers by node name, and the quality of service of topics: `qos` unless `topic_qos` says otherwise.

    `constraints` say which links there may be, `sources` how a broker is asked who subscribes and `deliveries` how a
    file gets to it, where that is said.
    """

    brokers: Mapping[str, Broker]
    qos: int = 1
    topic_qos: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    where: str = "fleet"
    constraints: Constraints = field(default_factory=Constraints)
    sources: Mapping[str, SourceSettings] = field(default_factory=lambda: MappingProxyType({}))
    deliveries: Mapping[str, Delivery] = field(default_factory=lambda: MappingProxyType({}))

    def looks_at(self, name: str) -> bool:
        """Whether a broker may be connected to: not if its `check` is `nothing`, or would be without a delivery."""
        delivery = self.deliveries.get(name)
        return self.brokers[name].accepts if delivery is None else delivery.check != NOTHING

    @classmethod
    def read(cls, path: Path) -> Fleet:
        """From a TOML file."""
        return cls.from_tables(read_toml(path)[1], str(path))

    @classmethod
    def from_tables(cls, tables: Mapping[str, Any], where: str = "fleet") -> Fleet:
        """From the tables of a fleet file; `where` names them in errors."""
        _known(tables, ("defaults", "brokers", "topics", *_PAIR_TABLES), where)
        defaults = _table(tables.get("defaults", {}), f"{where}: defaults")
        _known(defaults, (*_DEFAULT_KEYS, _SOURCE, _DELIVERY), f"{where}: defaults")
        brokers = _table(tables.get("brokers", {}), f"{where}: brokers")
        if not brokers:
            raise InputError(f"{where}: names no brokers; give a table [brokers.NAME] for each, with its host")
        shared = {key: value for key, value in defaults.items() if key not in ("qos", _SOURCE, _DELIVERY)}
        sources = _sources(defaults, brokers, where)
        deliveries = _deliveries(defaults, brokers, where)
        brokers = {name: _for_plans(table) for name, table in brokers.items()}
        topics = _table(tables.get("topics", {}), f"{where}: topics")
        read = {
            name: _broker(name, shared, table, f"{where}: broker {quoted(name)}") for name, table in brokers.items()
        }
        require_distinct_addresses(read.values(), where)
        return cls(
            MappingProxyType(read),
            _qos(defaults.get("qos", 1), f"{where}: defaults"),
            MappingProxyType(
                {name: _topic_qos(table, f"{where}: topic {quoted(name)}") for name, table in topics.items()}
            ),
            where,
            _constraints(tables, brokers, shared, where),
            sources,
            deliveries,
        )

    def require_brokers(self, names: Iterable[str]) -> None:
        """An error where a node has no broker."""
        for name in names:
            if name not in self.brokers:
                raise InputError(
                    f"{self.where}: has no broker {quoted(name)}; every node of the subscriptions needs one"
                )


def require_distinct_addresses(brokers: Iterable[Broker], where: str) -> None:
    """Refuse two brokers at the same host, port and virtual host."""
    known: dict[tuple[str, int | str, str], str] = {}
    for broker in brokers:
        # The usual ports depend on the target, and differ with TLS.
        port = broker.port or ("usual" if broker.tls is None else "usual with TLS")
        other = known.setdefault((broker.host.lower(), port, broker.vhost or _VHOST), broker.name)
        if other != broker.name:
            place = f"{broker.host}:{broker.port}" if broker.port else broker.host
            raise InputError(
                f"{where}: brokers {quoted(other)} and {quoted(broker.name)} are both at {place}; "
                "give each its own host or port"
            )


def _for_plans(table: Any) -> Any:
    if not isinstance(table, Mapping):
        return table
    return {key: value for key, value in table.items() if key not in (_SOURCE, _DELIVERY)}


def _ways(
    key: str, defaults: Mapping[str, Any], brokers: Mapping[str, Any], where: str
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any], str]]:
    """For each broker what a table of ways to it says for all, what for it alone, and where that stands."""
    common = _table(defaults.get(key, {}), f"{where}: defaults: {key}")
    for name, table in brokers.items():
        place = f"{where}: broker {quoted(name)}: {key}"
        yield name, common, _table(table.get(key, {}) if isinstance(table, Mapping) else {}, place), place


def _sources(defaults: Mapping[str, Any], brokers: Mapping[str, Any], where: str) -> Mapping[str, SourceSettings]:
    """How brokers are asked who subscribes."""
    found = {}
    for name, common, own, place in _ways(_SOURCE, defaults, brokers, where):
        table = brokers[name] if isinstance(brokers[name], Mapping) else {}
        source = source_from(common, own, name, {**defaults, **table}, place)
        if source is not None:
            found[name] = source
    return MappingProxyType(found)


def _deliveries(defaults: Mapping[str, Any], brokers: Mapping[str, Any], where: str) -> Mapping[str, Delivery]:
    """How files get to brokers."""
    found = {}
    for name, common, own, place in _ways(_DELIVERY, defaults, brokers, where):
        if common or own:
            table = brokers[name] if isinstance(brokers[name], Mapping) else {}
            accepts = {**defaults, **table}.get("accepts") is not False
            found[name] = delivery_from({**common, **own}, place, accepts=accepts)
    return MappingProxyType(found)


def _constraints(
    tables: Mapping[str, Any], brokers: Mapping[str, Any], defaults: Mapping[str, Any], where: str
) -> Constraints:
    """Which links the tables allow; brokers that join later have the defaults."""
    rules = {name: _rule({**defaults, **table}, f"{where}: broker {quoted(name)}") for name, table in brokers.items()}
    pairs: dict[str, list[tuple[str, str]]] = {"forbid": [], "regions": [], "keep": [], "require": []}
    for word in _PAIR_TABLES:
        listed = tables.get(word, [])
        if not isinstance(listed, list):
            raise InputError(f"{where}: {word} must be tables [[{word}]], not {_shown(listed)}")
        for number, table in enumerate(listed, 1):
            key, pair = _pair(table, word, f"{where}: {word} {number}")
            pairs["regions" if key == "regions" else word].append(pair)
            for name in pair:
                if key == "between" and name not in brokers:
                    raise InputError(f"{where}: {word} {number}: there is no broker {quoted(name)}")
    try:
        return Constraints(
            MappingProxyType(rules),
            _rule(defaults, f"{where}: defaults"),
            tuple(pairs["forbid"]),
            tuple(pairs["regions"]),
            tuple(pairs["keep"]),
            tuple(pairs["require"]),
        )
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _rule(given: Mapping[str, Any], where: str) -> NodeRule:
    limit, region = given.get("max_links"), given.get("region")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise InputError(f"{where}: max_links must be a whole number, 1 or more, not {_shown(limit)}")
    if region is not None and not is_line(region):
        raise InputError(f"{where}: region must be {LINE}, not {_shown(region)}")
    return NodeRule(limit, _accepts(given, where), region)


def _pair(table: Any, word: str, where: str) -> tuple[str, tuple[str, str]]:
    """Two names, of brokers or of regions, and the key that they were given with."""
    keys = ("between", "regions") if word == "forbid" else ("between",)
    _known(_table(table, where), keys, where)
    if len(table) != 1:
        raise InputError(f"{where}: give {' or '.join(keys)}, with two names")
    key, pair = next(iter(table.items()))
    if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
        raise InputError(f"{where}: {key} must be a list of two names, not {_shown(pair)}")
    return key, (pair[0], pair[1])


def broker_from(name: str, table: Mapping[str, Any], where: str) -> Broker:
    """A broker from a table with all its keys, as a plan holds it."""
    return _broker(name, {}, table, where)


def _broker(name: str, defaults: Mapping[str, Any], table: Any, where: str) -> Broker:
    _known(_table(table, where), _BROKER_KEYS, where)
    given = {**defaults, **table}
    if "host" not in given:
        raise InputError(f"{where}: has no host; give its name or address")
    host = given["host"]
    if not isinstance(host, str) or not _HOST.fullmatch(host):
        # A URL may hold a login, and so may anything else that is no text.
        shown = f" {_shown(host)}" if isinstance(host, str) and "@" not in host else ""
        raise InputError(f"{where}: host{shown} is no name or address of a machine")
    tls = _tls(given.get("tls"), where)
    port = given.get("port")
    if port is not None and (isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65_535):
        raise InputError(f"{where}: port must be a whole number from 1 to 65535, not {_shown(port)}")
    credentials = read_credentials(given.get("credentials"), f"{where}: credentials")
    vhost = given.get("vhost")
    if vhost is not None and (not is_line(vhost) or len(vhost.encode()) > _VHOST_BYTES):
        raise InputError(f"{where}: vhost must be {LINE}, of at most {_VHOST_BYTES} bytes, not {_shown(vhost)}")
    return Broker(name, host, port, tls, credentials, _accepts(given, where), vhost)


def _accepts(given: Mapping[str, Any], where: str) -> bool:
    accepts = given.get("accepts", True)
    if not isinstance(accepts, bool):
        raise InputError(f"{where}: accepts must be true or false, not {_shown(accepts)}")
    return accepts


def _tls(given: Any, where: str) -> Tls | None:
    if given is None or isinstance(given, bool):
        return Tls() if given else None
    where = f"{where}: tls"
    if not isinstance(given, Mapping):
        raise InputError(f"{where} must be true, false or a table with {', '.join(_TLS_KEYS)}")
    _known(given, _TLS_KEYS, where)
    for key, value in given.items():
        if not is_line(value):
            raise InputError(f"{where}: {key} must be {LINE}, not {_shown(value)}")
    tls = Tls(**given)
    if (tls.cert_file is None) != (tls.key_file is None):
        raise InputError(f"{where}: cert_file and key_file go together; one is missing")
    return tls


def _topic_qos(table: Any, where: str) -> int:
    _known(_table(table, where), ("qos",), where)
    if "qos" not in table:
        raise InputError(f"{where}: has no qos; give 0, 1 or 2")
    return _qos(table["qos"], where)


def _qos(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value not in (0, 1, 2):
        raise InputError(f"{where}: qos must be 0, 1 or 2, not {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} must be a table, not {_shown(value)}")
    return value


def _known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise InputError(f"{where}: unknown key '{key}'; known are {', '.join(keys)}")
