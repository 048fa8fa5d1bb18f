"""Federation in files of definitions of RabbitMQ: each upstream that a policy uses is a link."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from topicloom.deploy.targets.mosquitto_conf import Bridge, Configured
from topicloom.deploy.targets.rabbitmq import PREFIX
from topicloom.errors import InputError

_PORT = 5672
_UPSTREAM, _SET, _ALL = "federation-upstream", "federation-upstream-set", "all"

Table = dict[str, Any]


def read_node(name: str, file: Path) -> Configured:
    """A broker by its file's name, and the upstreams that its policies use."""
    definitions = _read(file)
    upstreams = {str(each.get("name")): each.get("value") for each in _parameters(definitions, _UPSTREAM)}
    sets = {str(each.get("name")): each.get("value") for each in _parameters(definitions, _SET)}
    used: dict[str, None] = {}
    for policy in _tables(definitions.get("policies")):
        means = policy.get("definition")
        if not isinstance(means, dict):
            continue
        if _UPSTREAM in means:
            used[str(means[_UPSTREAM])] = None
        elif _SET in means:
            named = (str(each.get("upstream")) for each in _tables(sets.get(str(means[_SET]))))
            used |= dict.fromkeys(upstreams if means[_SET] == _ALL else named)
    bridges = [_bridge(upstream, upstreams[upstream], file) for upstream in used if upstream in upstreams]
    return Configured(unquote(name), (), tuple(bridges))


def _read(file: Path) -> Table:
    try:
        definitions = json.loads(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        definitions = None
    if not isinstance(definitions, dict) or not {"parameters", "policies"} & definitions.keys():
        raise InputError(f"{file}: is no file of definitions; give one of rabbitmqctl export_definitions")
    return definitions


def _parameters(definitions: Table, component: str) -> Iterator[Table]:
    return (each for each in _tables(definitions.get("parameters")) if each.get("component") == component)


def _tables(value: Any) -> Iterable[Table]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _bridge(upstream: str, value: Any, file: Path) -> Bridge:
    """A link to the broker that an upstream names, where it is one of ours, else to the host of its first URI."""
    uri = value.get("uri", "") if isinstance(value, dict) else ""
    uri = str(uri[0] if isinstance(uri, list) and uri else uri)
    where = f"{file}: upstream {upstream}"
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname or "", parts.port or _PORT
    except ValueError:
        # It is not shown, as it may hold a login.
        raise InputError(f"{where}: its URI has no host and port") from None
    if upstream.startswith(f"{PREFIX}-"):
        host = unquote(upstream.removeprefix(f"{PREFIX}-"))
    return Bridge(upstream, host, port, (), True, where)
