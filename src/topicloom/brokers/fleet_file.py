"""The fleet file: brokers, logins, delivery and sources, read into a `Fleet`; and secrets looked up.

See docs/brokers.md for the file, docs/control.md for delivery and docs/collect.md for sources. It is checked by hand:
with pydantic it would be longer, as defaults are merged first, errors list the keys that are known, and no error may
show a value that could be a secret. Passwords are looked up at the moment a configuration is written.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from topicloom.brokers.kinds import KINDS, sources
from topicloom.brokers.logins import LINE, is_line, read_credentials
from topicloom.brokers.names import quoted
from topicloom.errors import InputError
from topicloom.io.settings import read_toml
from topicloom.model.constraints import Constraints, NodeRule
from topicloom.model.fleet import LINKS, NOTHING, PORT, Broker, Delivery, Fleet, Source, Tls

FOLDER, SSH, COMMAND = "folder", "ssh", "command"
# What each way needs, and what it takes besides; kinds of brokers may have further ways.
_WAYS = {
    FOLDER: (("path",), ("reload", "owner", "mode", "monitor")),
    SSH: (("path",), ("reload", "owner", "mode", "monitor", "destination")),
    COMMAND: (("put",), ("get", "reload", "monitor")),
}
_ALWAYS = ("seconds", "check")
_CHECKS = (LINKS, PORT, NOTHING)
PLACEHOLDERS = ("broker", "host", "port", "file")
_PLACEHOLDER = re.compile(r"\{(\w*)\}")


def delivery_from(table: Mapping[str, Any], where: str, *, accepts: bool = True) -> Delivery:
    """A delivery from a table of a fleet file; `where` names it in errors, `accepts` is the broker's."""
    via = table.get("via")
    ways = _WAYS | {name: keys for kind in KINDS.values() for name, keys in kind.ways.items()}
    if not isinstance(via, str) or via not in ways:
        raise InputError(f"{where}: via must be {', '.join(ways)}, and says how a file gets to the broker")
    needed, others = ways[via]
    known = ("via", *needed, *others, *_ALWAYS)
    for key in table:
        if key not in known:
            raise InputError(f"{where}: unknown key '{key}' for {via}; known are {', '.join(known)}")
    for key in needed:
        if key not in table:
            raise InputError(f"{where}: has no {key}, which {via} needs")
    fields = dict(table)
    for key in ("path", "destination", "put", "get", "reload", "url", "owner", "monitor"):
        if key in fields and not is_line(fields[key]):
            raise InputError(f"{where}: {key} must be {LINE}")
    for key in ("path", "put", "get", "reload", "monitor"):
        if key in fields:
            _require_placeholders(fields[key], f"{where}: {key}", file=key == "put")
    for key in ("put", "get", "reload"):
        if key in fields and not (via == SSH and key == "reload"):
            _require_words(fields[key], f"{where}: {key}")
    if str(fields.get("destination", "")).startswith("-"):
        raise InputError(f"{where}: destination must be HOST or USER@HOST")
    for key in ("url", "monitor"):
        if key in fields and not re.match(r"https?://[^@\s]+$", fields[key]):
            raise InputError(f"{where}: {key} must be http:// or https://, with no login in it")
    if "credentials" in fields:
        fields["credentials"] = read_credentials(fields["credentials"], f"{where}: credentials")
    if "mode" in fields:
        fields["mode"] = _mode(fields["mode"], where)
    seconds = fields.get("seconds", 1)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 86_400:
        raise InputError(f"{where}: seconds must be a number above 0, at most 86400")
    if fields.setdefault("check", LINKS if accepts else NOTHING) not in _CHECKS:
        raise InputError(f"{where}: check must be {', '.join(_CHECKS)}")
    return Delivery(**fields)


def _mode(value: Any, where: str) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"0?[0-7]{3}", value):
        raise InputError(f"{where}: mode must be text of three octal digits, such as '640'")
    return int(value, 8)


def _require_placeholders(text: str, where: str, *, file: bool) -> None:
    known = PLACEHOLDERS if file else PLACEHOLDERS[:-1]
    for name in _PLACEHOLDER.findall(text):
        if name not in known:
            raise InputError(f"{where}: knows no {{{name}}}; known are {', '.join(f'{{{one}}}' for one in known)}")
    if file and "{file}" not in text:
        raise InputError(f"{where}: has no {{file}}, which stands for the file to put")


def _require_words(command: str, where: str) -> None:
    try:
        shlex.split(command)
    except ValueError:
        raise InputError(f"{where}: has a quote that is not closed") from None


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its placeholders replaced."""
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)


SHARED = ("ignore_clients", "timeout_seconds", "credentials", "ca_file")


def source_from(
    common: Mapping[str, Any], own: Mapping[str, Any], broker: str, table: Mapping[str, Any], where: str
) -> Source | None:
    """Settings from what is said for all brokers and for one, of its `table`; None where neither says how to ask it.

    `{broker}` and `{host}` in them are filled in.
    """
    forms = {key: form for key, (_, form) in sources().items()}
    if own.keys() & forms.keys():
        common = {key: value for key, value in common.items() if key not in forms}
    given = {**common, **own}
    keys = (*forms, *dict.fromkeys(key for form in forms.values() for key in form.options), *SHARED)
    for key in given:
        if key not in keys:
            raise InputError(f"{where}: unknown key '{key}'; known are {', '.join(keys)}")
    kinds = [kind for kind in forms if kind in given]
    if not kinds and not own:
        return None
    if len(kinds) != 1:
        raise InputError(f"{where}: needs one of {', '.join(forms)}, and has {' and '.join(kinds) or 'none'}")
    credentials = read_credentials(given.get("credentials"), f"{where}: credentials")
    kind, form = kinds[0], forms[kinds[0]]
    for other, its in forms.items():
        for key in its.options:
            if key not in form.options and key in given:
                raise InputError(f"{where}: {key} goes with {other}, not with {kind}")
    if not form.over_http and (credentials is not None or "ca_file" in given):
        raise InputError(f"{where}: {kind} is a file, which needs no credentials and no ca_file")
    places = given[kind] if isinstance(given[kind], list) and form.several else [given[kind]]
    if not places or not all(isinstance(place, str) and place.strip() for place in places):
        raise InputError(f"{where}: {kind} must be {'a URL' if form.over_http else 'the path of a file'}")
    host = str(table.get("host", ""))
    places = [place.replace("{broker}", broker).replace("{host}", host) for place in places]
    if form.over_http:
        places = [_url(places[0], kind, where)]
    return Source(
        kind,
        tuple(places),
        credentials,
        _checked(given, "ca_file", None, "the path of a file", lambda value: isinstance(value, str), where),
        tuple(_checked(given, "ignore_clients", [], "a list of names, with * for anything", _is_names, where)),
        _checked(given, "timeout_seconds", 10.0, "a number above 0", _is_seconds, where),
        str(table.get("vhost") or "/"),
        MappingProxyType(
            {
                key: _checked(given, key, False, "true or false", lambda value: isinstance(value, bool), where)
                for key in form.options
            }
        ),
    )


def _checked(
    given: Mapping[str, Any], key: str, default: Any, needed: str, right: Callable[[Any], bool], where: str
) -> Any:
    value = given.get(key, default)
    if key in given and not right(value):
        raise InputError(f"{where}: {key} must be {needed}")
    return value


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


def _url(text: str, kind: str, where: str) -> str:
    """The URL without a slash at its end. It is not shown where it is wrong, as it may hold a login."""
    try:
        parts = urlsplit(text)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        right = False
    if not right or parts.query or parts.fragment:
        raise InputError(f"{where}: {kind} must be a URL such as http://HOST:PORT")
    if parts.username is not None or parts.password is not None:
        raise InputError(f"{where}: a login does not belong into the URL of {kind}; give credentials beside it")
    return text.rstrip("/")


_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")

_VHOST_BYTES = 255
# The virtual host of RabbitMQ unless another is given.
_VHOST = "/"

# How much of a wrong value is shown.
_SHOWN = 80

_LINK_KEYS = ("max_links", "region")
_BROKER_KEYS = ("host", "port", "kind", "tls", "credentials", "accepts", "vhost", *_LINK_KEYS)
_DEFAULT_KEYS = ("port", "kind", "tls", "credentials", "accepts", "vhost", *_LINK_KEYS, "qos")
_PAIR_TABLES = ("forbid", "keep", "require")
_TLS_KEYS = ("ca_file", "cert_file", "key_file")
# How brokers are asked who subscribes, and how files get to them, which plans do not hold.
_SOURCE = "collect"
_DELIVERY = "apply"


def read_fleet(path: Path) -> Fleet:
    """Read a fleet file."""
    return fleet_from_tables(read_toml(path)[1], str(path))


def fleet_from_tables(tables: Mapping[str, Any], where: str = "fleet") -> Fleet:
    """Return the fleet in the tables of a fleet file; `where` names the file in errors."""
    _known(tables, ("defaults", "brokers", "topics", *_PAIR_TABLES), where)
    defaults = _table(tables.get("defaults", {}), f"{where}: defaults")
    _known(defaults, (*_DEFAULT_KEYS, _SOURCE, _DELIVERY), f"{where}: defaults")
    brokers = _table(tables.get("brokers", {}), f"{where}: brokers")
    if not brokers:
        raise InputError(f"{where}: names no brokers; give a table [brokers.NAME] for each, with its host")
    shared = {key: value for key, value in defaults.items() if key not in ("qos", _SOURCE, _DELIVERY)}
    read_sources = _sources(defaults, brokers, where)
    deliveries = _deliveries(defaults, brokers, where)
    brokers = {name: _for_plans(table) for name, table in brokers.items()}
    topics = _table(tables.get("topics", {}), f"{where}: topics")
    read = {name: _broker(name, shared, table, f"{where}: broker {quoted(name)}") for name, table in brokers.items()}
    require_distinct_addresses(read.values(), where)
    return Fleet(
        brokers=MappingProxyType(read),
        qos=_qos(defaults.get("qos", 1), f"{where}: defaults"),
        topic_qos=MappingProxyType(
            {name: _topic_qos(table, f"{where}: topic {quoted(name)}") for name, table in topics.items()}
        ),
        where=where,
        constraints=_constraints(tables, brokers, shared, where),
        sources=read_sources,
        deliveries=deliveries,
    )


def require_distinct_addresses(brokers: Iterable[Broker], where: str) -> None:
    """Refuse two brokers at the same host, port and virtual host."""
    known: dict[tuple[str, int | str, str], str] = {}
    for broker in brokers:
        # The usual ports depend on the kind, and differ with TLS.
        port = broker.port or f"usual of {broker.kind}{'' if broker.tls is None else ' with TLS'}"
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


def _sources(defaults: Mapping[str, Any], brokers: Mapping[str, Any], where: str) -> Mapping[str, Source]:
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
    return Broker(name, host, port, tls, credentials, _accepts(given, where), vhost, _kind(given, where))


def _kind(given: Mapping[str, Any], where: str) -> str | None:
    kind = given.get("kind")
    if kind is not None and (not isinstance(kind, str) or kind not in KINDS):
        raise InputError(f"{where}: kind must be {', '.join(KINDS)}, not {_shown(kind)}")
    return kind


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
