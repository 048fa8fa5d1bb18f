"""How to ask a broker who subscribes and publishes what: the `collect` tables of a fleet file. See docs/collect.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from topicloom.deploy.planning.logins import Credentials, read_credentials
from topicloom.errors import InputError

# By kind of source: what its settings may hold besides those that all have.
KINDS: Mapping[str, tuple[str, ...]] = {
    "log": ("persistence",),
    "nats": ("leafs",),
    "rabbitmq": (),
    "definitions": (),
    "emqx": (),
}
_OVER_HTTP = ("nats", "rabbitmq", "emqx")
SHARED = ("ignore_clients", "timeout_seconds", "credentials", "ca_file")
KEYS = (*KINDS, *dict.fromkeys(key for keys in KINDS.values() for key in keys), *SHARED)


@dataclass(frozen=True)
class SourceSettings:
    """Where a broker tells who subscribes: files of a log, oldest first, a file of definitions, or a URL to ask.

    - `persistence`: whether the sessions that a log tells of outlive a restart of the broker.
    - `leafs`: whether what leaf nodes want counts as wanted at the server they lead to.
    - `ignore_clients`: names of clients to leave out, with `*` for anything.
    - `vhost`: the virtual host of a RabbitMQ that is looked at.
    """

    kind: str
    places: tuple[str, ...]
    credentials: Credentials | None = None
    ca_file: str | None = None
    persistence: bool = False
    leafs: bool = False
    ignore_clients: tuple[str, ...] = ()
    timeout_seconds: float = 10.0
    vhost: str = "/"


def source_from(
    common: Mapping[str, Any], own: Mapping[str, Any], broker: str, table: Mapping[str, Any], where: str
) -> SourceSettings | None:
    """Settings from what is said for all brokers and for one, of its `table`; None where neither says how to ask it.

    `{broker}` and `{host}` in them are filled in.
    """
    if own.keys() & KINDS.keys():
        common = {key: value for key, value in common.items() if key not in KINDS}
    given = {**common, **own}
    for key in given:
        if key not in KEYS:
            raise InputError(f"{where}: unknown key '{key}'; known are {', '.join(KEYS)}")
    kinds = [kind for kind in KINDS if kind in given]
    if not kinds and not own:
        return None
    if len(kinds) != 1:
        raise InputError(f"{where}: needs one of {', '.join(KINDS)}, and has {' and '.join(kinds) or 'none'}")
    credentials = read_credentials(given.get("credentials"), f"{where}: credentials")
    kind = kinds[0]
    for other, keys in KINDS.items():
        for key in keys:
            if other != kind and key in given:
                raise InputError(f"{where}: {key} goes with {other}, not with {kind}")
    if kind not in _OVER_HTTP and (credentials is not None or "ca_file" in given):
        raise InputError(f"{where}: {kind} is a file, which needs no credentials and no ca_file")
    places = given[kind] if isinstance(given[kind], list) and kind == "log" else [given[kind]]
    if not places or not all(isinstance(place, str) and place.strip() for place in places):
        raise InputError(f"{where}: {kind} must be {'a URL' if kind in _OVER_HTTP else 'the path of a file'}")
    host = str(table.get("host", ""))
    places = [place.replace("{broker}", broker).replace("{host}", host) for place in places]
    if kind in _OVER_HTTP:
        places = [_url(places[0], kind, where)]
    return SourceSettings(
        kind,
        tuple(places),
        credentials,
        _checked(given, "ca_file", None, "the path of a file", lambda value: isinstance(value, str), where),
        _checked(given, "persistence", False, "true or false", lambda value: isinstance(value, bool), where),
        _checked(given, "leafs", False, "true or false", lambda value: isinstance(value, bool), where),
        tuple(_checked(given, "ignore_clients", [], "a list of names, with * for anything", _is_names, where)),
        _checked(given, "timeout_seconds", 10.0, "a number above 0", _is_seconds, where),
        str(table.get("vhost") or "/"),
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
