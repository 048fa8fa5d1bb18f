"""Mosquitto: bridge sections, written and read.

Which files a fleet's configurations are, and whose each of them is.

Reading the bridges in Mosquitto configurations as people write them, and as we do.

Ours begin with a heading that tells whose they are; Mosquitto takes it for a comment.

Bridge configurations for Mosquitto.

A link is a `connection` section at the broker that opens it, with a line for each topic, or filter, that goes over the
link: `both`, or `in` or `out` where all who publish are on one side. So every topic's bridges form a tree, and a
message reaches each broker once.

What the options are for:

- `try_private` tells the other broker that this is a bridge, so that it sends nothing back over the same link.
- `cleansession false` keeps what is on its way while a link is down. The other broker then keeps the subscriptions of
  that session too, also of topics that a later plan takes off the link, which would make loops. So the names of
  sessions end in a hash of the link's topics: a link with other topics begins sessions of its own, which can be made
  ready before the old ones end (`proof/bridge_sessions.py`).
- `max_inflight_messages`, where a topic has QoS 1 or 2: with its default of 20 Mosquitto 2.0.11 loses some of what a
  sender of QoS 2 has under way beyond it (of 3,000 messages, published as fast as possible at four brokers, 49 to 60
  did not arrive somewhere), and where 20 messages come for a bridge while it connects, it may keep them and all that
  follow for ever, though it says that it is up. So it is more than can wait for a link (`max_queued_messages`, 1,000).
- `notifications_local_only` says at this broker, under `$SYS/broker/connection/`, whether the link is up.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from topicloom.brokers.fleet_file import password_of
from topicloom.brokers.names import identifier
from topicloom.brokers.plan import Line, Pair, Plan
from topicloom.errors import InputError
from topicloom.model.fleet import Broker


def configured_files(path: Path, ending: str, main: str) -> Iterator[tuple[str, Path]]:
    """Names of brokers and their files.

    A file is a broker of that name. A folder with a file called `main` is one broker of the folder's name; in any other
    folder every file with the ending and every folder with such a file is one.
    """
    if path.is_file():
        yield (path.absolute().parent.name if path.name == main else path.stem), path
    elif (path / main).is_file():
        yield path.absolute().name, path / main
    elif path.is_dir():
        for entry in sorted(path.iterdir()):
            if entry.suffix == ending and entry.is_file():
                yield entry.stem, entry
            elif (entry / main).is_file():
                yield entry.name, entry / main
    else:
        raise InputError(f"{path}: no such file or folder")


_DEFAULT_PORT = 1883
_MAIN = "mosquitto.conf"
_HEADING = re.compile(r"# Topicloom: bridges of broker (\S+) at (\S+):(\d+)$")
_DIRECTIONS = ("out", "in", "both")
_EMPTY = '""'


@dataclass(frozen=True)
class Rule:
    """A `topic` line: its pattern, direction, and what is put before names on this side and on the other."""

    pattern: str
    direction: str
    local_prefix: str
    remote_prefix: str
    where: str

    @property
    def local_pattern(self) -> str:
        """What it matches on this side."""
        return self.local_prefix + self.pattern

    @property
    def remote_pattern(self) -> str:
        """What it matches on the other side."""
        return self.remote_prefix + self.pattern


@dataclass(frozen=True)
class Bridge:
    """A `connection` section; private if the other broker is told not to send back what came from here."""

    name: str
    host: str
    port: int
    rules: tuple[Rule, ...]
    private: bool
    where: str


@dataclass(frozen=True)
class Configured:
    """A broker as its files describe it: the addresses it is known by, and the bridges it opens."""

    name: str
    addresses: tuple[tuple[str, int], ...]
    bridges: tuple[Bridge, ...]


@dataclass
class _Section:
    name: str
    where: str
    options: dict[str, str] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)


def heading(broker: Broker) -> str:
    """The line that begins what we write for a broker."""
    return f"# Topicloom: bridges of broker {identifier(broker.name)} at {broker.host}:{broker.port}"


def refuse(problem: InputError) -> None:
    """Raise a problem of a configuration; in its place a list may collect them."""
    raise problem


def read_brokers(paths: Sequence[Path], unreadable: Callable[[InputError], None] = refuse) -> tuple[Configured, ...]:
    """The brokers of files and folders.

    A file is a broker of that name. A folder with a `mosquitto.conf` is one broker of the folder's name; in any other
    folder every `.conf` file and every folder with a `mosquitto.conf` is one. `unreadable` is called with the problem
    of each line, file or included folder that cannot be read; if it returns, that part is left out.
    """
    files = [found for path in paths for found in configured_files(path, ".conf", _MAIN)]
    brokers = [_read_broker(name, file, unreadable) for name, file in files]
    if not brokers:
        raise InputError(f"{', '.join(map(str, paths))}: has no .conf files; give configurations of Mosquitto")
    names = [broker.name for broker in brokers]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two configurations are both of broker '{name}'; give each file or folder its own name")
    return tuple(brokers)


def _read_broker(name: str, file: Path, unreadable: Callable[[InputError], None]) -> Configured:
    return configured_by(name, _lines(file, (), unreadable), unreadable)


def configured_by(
    name: str, lines: Iterable[tuple[str, str]], unreadable: Callable[[InputError], None] = refuse
) -> Configured:
    """The broker that lines describe, each given with its place; a heading says its name."""
    addresses: list[tuple[str, int]] = []
    sections: list[_Section] = []
    for where, line in lines:
        headed = _HEADING.match(line)
        if headed:
            name = unquote(headed[1])
            addresses.append((headed[2], int(headed[3])))
        if line.startswith("#") or not line:
            continue
        try:
            _read_line(_words(line), where, addresses, sections)
        except InputError as problem:
            unreadable(problem)
    bridges = []
    for section in sections:
        try:
            bridges.append(_bridge(section))
        except InputError as problem:
            unreadable(problem)
    return Configured(name, tuple(addresses) or (("", _DEFAULT_PORT),), tuple(bridges))


def _read_line(words: list[str], where: str, addresses: list[tuple[str, int]], sections: list[_Section]) -> None:
    """Add what a line says to the addresses of a broker, or to its sections."""
    word, *values = words
    if word in ("listener", "port"):
        addresses.append((values[1] if len(values) > 1 else "", _port(values[:1], where)))
    elif word == "connection":
        sections.append(_Section(" ".join(values) or "unnamed", where))
    elif word == "topic":
        _section(sections, word, where).rules.append(_rule(values, where))
    elif word in ("address", "addresses"):
        _section(sections, word, where).options["address"] = values[0] if values else ""
    elif word in ("try_private", "bridge_protocol_version"):
        _section(sections, word, where).options[word] = " ".join(values)


def _words(line: str) -> list[str]:
    """The words of a line; newer releases of Mosquitto take a pattern in quotes for one word."""
    quoted = re.match(r'topic +"([^"]+)"( |$)', line)
    if quoted:
        return ["topic", quoted[1], *line[quoted.end() :].split()]
    return [word for word in line.split(" ") if word]


def _lines(
    file: Path, including: tuple[Path, ...], unreadable: Callable[[InputError], None]
) -> Iterator[tuple[str, str]]:
    """Every line with the file and number it has, those of included folders in their place."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        unreadable(InputError(f"cannot be read ({error.strerror})", file=file))
        return
    for number, raw in enumerate(lines, 1):
        where = f"{file}:{number}"
        try:
            line = raw.decode().strip()
        except UnicodeDecodeError:
            unreadable(InputError("cannot be read (it is not UTF-8)", file=where))
            continue
        if not line.startswith("include_dir "):
            yield where, line
            continue
        try:
            included = _included(file, line.removeprefix("include_dir ").strip(), where)
        except InputError as problem:
            unreadable(problem)
            continue
        for path in included:
            if path.resolve() in (*including, file.resolve()):
                unreadable(InputError(f"includes {path}, which includes this file", file=where))
            else:
                yield from _lines(path, (*including, file.resolve()), unreadable)


def _included(file: Path, folder: str, where: str) -> list[Path]:
    """Files of the folder as it is named, or of one of that name beside the file: both are often copied together."""
    for candidate in (file.parent / Path(folder).name, file.parent / folder):
        try:
            if candidate.is_dir():
                return sorted(path for path in candidate.iterdir() if path.name.endswith(".conf"))
        except OSError as error:
            raise InputError(f"the folder {candidate} cannot be read ({error.strerror})", file=where) from None
    raise InputError(f"the folder {folder} is neither there nor beside the file; copy it beside the file", file=where)


def _section(sections: list[_Section], word: str, where: str) -> _Section:
    if not sections:
        raise InputError(f"'{word}' comes before any 'connection'; begin the bridge with 'connection NAME'", file=where)
    return sections[-1]


def _rule(values: list[str], where: str) -> Rule:
    if not values:
        raise InputError("'topic' has no pattern; give one, such as 'topic sensors/# out 1'", file=where)
    pattern, direction, qos, local, remote, *more = [*values, *["out", "0", _EMPTY, _EMPTY][len(values) - 1 :]]
    if direction not in _DIRECTIONS:
        raise InputError(f"direction '{direction}' is none of {', '.join(_DIRECTIONS)}", file=where)
    if qos not in ("0", "1", "2"):
        raise InputError(f"QoS '{qos}' is none of 0, 1, 2", file=where)
    if more:
        raise InputError(f"'{more[0]}' is too much; a topic has a pattern, direction, QoS and two prefixes", file=where)
    pattern, local, remote = ("" if text == _EMPTY else text for text in (pattern, local, remote))
    for full in (local + pattern, remote + pattern):
        levels = full.split("/")
        if not full or "#" in levels[:-1] or any(len(level) > 1 and set(level) & set("+#") for level in levels):
            raise InputError(
                f"'{full}' is no pattern; '+' stands for a whole level, '#' for all that follow", file=where
            )
    return Rule(pattern, direction, local, remote, where)


def _bridge(section: _Section) -> Bridge:
    address = section.options.get("address", "")
    if not address:
        raise InputError(f"connection '{section.name}' has no address; give 'address HOST:PORT'", file=section.where)
    host, _, port = address.rpartition(":") if ":" in address else (address, "", str(_DEFAULT_PORT))
    if not _is_port(port):
        # Not shown: a URL in its place may have a login.
        raise InputError(
            f"the port of '{section.name}' is no whole number; give 'address HOST:PORT'", file=section.where
        )
    # With MQTT 5 a bridge asks not to get back what it sent; before, it says that it is a bridge, unless told not to.
    private = section.options.get("try_private", "true") != "false"
    private = private or section.options.get("bridge_protocol_version") == "mqttv50"
    return Bridge(section.name, host, int(port), tuple(section.rules), private, section.where)


def _port(values: list[str], where: str) -> int:
    if not values or not _is_port(values[0]):
        raise InputError(f"'{' '.join(values)}' is no port; give a whole number", file=where)
    return int(values[0])


def _is_port(text: str) -> bool:
    return text.isdecimal() and len(text) <= len("65535")


_SESSION_HASH_BYTES = 6
_INFLIGHT_MESSAGES = 2000
_SYSTEM_CERTIFICATES = "/etc/ssl/certs"


def bridges_of(plan: Plan, broker: str) -> str:
    """The bridge sections of one broker, to be put into its `conf.d`; a heading alone where others open its links."""
    lines = [
        heading(plan.broker[broker]),
        "# Made from a plan: change the plan and render again, rather than this file.",
    ]
    if any(route.qos > 0 and broker in route.neighbours for route in plan.routes):
        lines += ["", f"max_inflight_messages {_INFLIGHT_MESSAGES}"]
    for link in plan.links_of[broker]:
        if link[0] == broker:
            lines += ["", *_bridge_lines(plan, link)]
    return "\n".join(lines) + "\n"


def session_name(link: Pair, lines: Sequence[Line]) -> str:
    """The name under which a bridge is known at the other broker."""
    return f"topicloom-{_connection(link)}-{_digest(lines)}"


def local_session_name(link: Pair, lines: Sequence[Line]) -> str:
    """The name under which a bridge is known at its own broker."""
    return f"topicloom-local-{_connection(link)}-{_digest(lines)}"


def _digest(lines: Sequence[Line]) -> str:
    """A few letters that change with what a link carries."""
    digest = hashlib.blake2b(digest_size=_SESSION_HASH_BYTES)
    for line in lines:
        one_way = "" if line.direction == "both" else f" {line.direction}"
        digest.update(f"{line.pattern}{one_way}\n".encode())
    return digest.hexdigest()


def _connection(link: Pair) -> str:
    return f"{identifier(link[0])}-{identifier(link[1])}"


def _bridge_lines(plan: Plan, link: Pair) -> Iterator[str]:
    other, lines = plan.broker[link[1]], plan.lines_of_link[link]
    yield f"connection {_connection(link)}"
    yield f"address {other.host}:{other.port}"
    yield f"remote_clientid {session_name(link, lines)}"
    yield f"local_clientid {local_session_name(link, lines)}"
    yield "bridge_protocol_version mqttv311"
    yield "try_private true"
    yield "cleansession false"
    yield "start_type automatic"
    yield "restart_timeout 1 30"
    yield "keepalive_interval 30"
    yield "notifications true"
    yield "notifications_local_only true"
    yield from _security(other)
    for line in lines:
        yield f"topic {line.pattern} {line.direction} {line.qos}"


def _security(other: Broker) -> Iterator[str]:
    if other.credentials is not None:
        yield f"remote_username {other.credentials.username}"
        yield f"remote_password {password_of(other)}"
    if other.tls is not None:
        yield f"bridge_cafile {other.tls.ca_file}" if other.tls.ca_file else f"bridge_capath {_SYSTEM_CERTIFICATES}"
        if other.tls.cert_file is not None:
            yield f"bridge_certfile {other.tls.cert_file}"
            yield f"bridge_keyfile {other.tls.key_file}"
