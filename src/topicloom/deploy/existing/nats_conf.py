"""The leaf nodes in configurations of NATS: each remote of a server is a link that it opens."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from topicloom.deploy.existing.nats_syntax import parse_nats
from topicloom.deploy.targets.mosquitto_conf import Bridge, Configured
from topicloom.deploy.targets.nats import HEADING
from topicloom.errors import InputError

_LEAF_PORT = 7422
_SECTIONS = ("leafnodes", "leaf")


def read_server(name: str, file: Path) -> Configured:
    """A server by its name, which a `server_name` may say, and its remotes."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(f"cannot be read ({why})", file=file) from None
    return server_in(name, text, str(file))


def server_in(name: str, text: str, where: str) -> Configured:
    """The server that a configuration describes; `where` names it in errors and places."""
    table = parse_nats(text, where)
    # A file that we made is the inside of the section.
    leafs: dict[str, Any] = next((table[key] for key in _SECTIONS if isinstance(table.get(key), dict)), table)
    own = str(table.get("server_name", name))
    headed = HEADING.search(text)
    if headed is not None:
        own = unquote(headed[1])
    remotes = leafs.get("remotes", [])
    bridges = [
        _bridge(url, f"{where}: remote {number}")
        for number, remote in enumerate(remotes if isinstance(remotes, list) else [remotes], 1)
        for url in _urls(remote)[:1]
    ]
    addresses = _addresses(leafs) if headed is None else ((headed[2], int(headed[3])),)
    return Configured(own, addresses, tuple(bridges))


def _urls(remote: Any) -> list[str]:
    """All are ways to the same server, or to servers of one cluster; the first stands for them."""
    urls = remote.get("urls", [remote.get("url")]) if isinstance(remote, dict) else [remote]
    return [str(url) for url in (urls if isinstance(urls, list) else [urls]) if url is not None]


def _bridge(url: str, where: str) -> Bridge:
    try:
        parts = urlsplit(url if "//" in url else f"//{url}")
        host, port = parts.hostname or "", parts.port or _LEAF_PORT
    except ValueError:
        raise InputError(f"its URL has no host and port, such as nats-leaf://HOST:{_LEAF_PORT}", file=where) from None
    return Bridge("leaf node", host, port, (), True, where)


def _addresses(leafs: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    """Where a server listens for leaf nodes."""
    listen = str(leafs.get("listen", ""))
    host, _, port = listen.rpartition(":") if listen else (str(leafs.get("host", "")), "", str(leafs.get("port", "")))
    if not port.isdecimal():
        return ()
    return (("" if host in ("0.0.0.0", "::") else host.strip("[]"), int(port)),)
