"""How a file gets to a broker, as a fleet file says it. See docs/control.md."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from topicloom.deploy.planning.logins import LINE, Credentials, is_line, read_credentials
from topicloom.errors import InputError

FOLDER, SSH, COMMAND, RABBITMQ = "folder", "ssh", "command", "rabbitmq"
# What each way needs, and what it takes besides.
_WAYS = {
    FOLDER: (("path",), ("reload", "owner", "mode", "monitor")),
    SSH: (("path",), ("reload", "owner", "mode", "monitor", "destination")),
    COMMAND: (("put",), ("reload", "monitor")),
    RABBITMQ: (("url",), ("credentials",)),
}
_ALWAYS = ("seconds", "check")
# What is looked at after a broker has got its file: its links, whether it listens, or nothing.
LINKS, PORT, NOTHING = "links", "port", "nothing"
_CHECKS = (LINKS, PORT, NOTHING)
PLACEHOLDERS = ("broker", "host", "port", "file")
_PLACEHOLDER = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True)
class Delivery:
    """A way to a broker: `via` a local folder, ssh, commands, or RabbitMQ's management interface at `url`.

    `path` and commands may hold {broker}, {host} and {port}, and `put` {file}. `seconds` is how long each command and
    each wait may take, `check` what is looked at afterwards; `monitor` is where a NATS server tells of its links.
    """

    via: str
    path: str | None = None
    destination: str | None = None
    put: str | None = None
    reload: str | None = None
    url: str | None = None
    credentials: Credentials | None = None
    owner: str | None = None
    mode: int = 0o600
    monitor: str | None = None
    seconds: float = 60.0
    check: str = LINKS


def delivery_from(table: Mapping[str, Any], where: str, *, accepts: bool = True) -> Delivery:
    """A delivery from a table of a fleet file; `where` names it in errors, `accepts` is the broker's."""
    via = table.get("via")
    if not isinstance(via, str) or via not in _WAYS:
        raise InputError(f"{where}: via must be {', '.join(_WAYS)}, and says how a file gets to the broker")
    needed, others = _WAYS[via]
    known = ("via", *needed, *others, *_ALWAYS)
    for key in table:
        if key not in known:
            raise InputError(f"{where}: unknown key '{key}' for {via}; known are {', '.join(known)}")
    for key in needed:
        if key not in table:
            raise InputError(f"{where}: has no {key}, which {via} needs")
    fields = dict(table)
    for key in ("path", "destination", "put", "reload", "url", "owner", "monitor"):
        if key in fields and not is_line(fields[key]):
            raise InputError(f"{where}: {key} must be {LINE}")
    for key in ("path", "put", "reload", "monitor"):
        if key in fields:
            _require_placeholders(fields[key], f"{where}: {key}", file=key == "put")
    for key in ("put", "reload"):
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
