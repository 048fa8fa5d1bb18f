"""Reading the bridges in Mosquitto configurations as people write them, and as we do.

Ours begin with a heading that tells whose they are; Mosquitto takes it for a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from topicloom.deploy.existing.configured_files import configured_files
from topicloom.deploy.planning.broker_names import identifier
from topicloom.deploy.planning.fleet_file import Broker
from topicloom.errors import InputError

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


def read_brokers(paths: Sequence[Path]) -> tuple[Configured, ...]:
    """The brokers of files and folders.

    A file is a broker of that name. A folder with a `mosquitto.conf` is one broker of the folder's name; in any other
    folder every `.conf` file and every folder with a `mosquitto.conf` is one.
    """
    brokers = [_read_broker(name, file) for path in paths for name, file in configured_files(path, ".conf", _MAIN)]
    if not brokers:
        raise InputError(f"{', '.join(map(str, paths))}: has no .conf files; give configurations of Mosquitto")
    names = [broker.name for broker in brokers]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two configurations are both of broker '{name}'; give each file or folder its own name")
    return tuple(brokers)


def _read_broker(name: str, file: Path) -> Configured:
    return configured_by(name, _lines(file, ()))


def configured_by(name: str, lines: Iterable[tuple[str, str]]) -> Configured:
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
        word, *values = _words(line)
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
    bridges = tuple(_bridge(section) for section in sections)
    return Configured(name, tuple(addresses) or (("", _DEFAULT_PORT),), bridges)


def _words(line: str) -> list[str]:
    """The words of a line; newer releases of Mosquitto take a pattern in quotes for one word."""
    quoted = re.match(r'topic +"([^"]+)"( |$)', line)
    if quoted:
        return ["topic", quoted[1], *line[quoted.end() :].split()]
    return [word for word in line.split(" ") if word]


def _lines(file: Path, including: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    """Every line with the file and number it has, those of included folders in their place."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read ({getattr(error, 'strerror', None) or 'it is not UTF-8'})") from None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line.startswith("include_dir "):
            yield f"{file}:{number}", line
            continue
        folder = _included(file, line.removeprefix("include_dir ").strip(), f"{file}:{number}")
        for path in sorted(folder.glob("*.conf")):
            if path.resolve() in including:
                raise InputError(f"{file}:{number}: includes {path}, which includes this file")
            yield from _lines(path, (*including, file.resolve(), path.resolve()))


def _included(file: Path, folder: str, where: str) -> Path:
    """The folder as it is named, or one of that name beside the file: configurations are often copied together."""
    for candidate in (file.parent / Path(folder).name, file.parent / folder):
        if candidate.is_dir():
            return candidate
    raise InputError(f"{where}: the folder {folder} is neither there nor beside the file; copy it beside the file")


def _section(sections: list[_Section], word: str, where: str) -> _Section:
    if not sections:
        raise InputError(f"{where}: '{word}' comes before any 'connection'; begin the bridge with 'connection NAME'")
    return sections[-1]


def _rule(values: list[str], where: str) -> Rule:
    if not values:
        raise InputError(f"{where}: 'topic' has no pattern; give one, such as 'topic sensors/# out 1'")
    pattern, direction, qos, local, remote, *more = [*values, *["out", "0", _EMPTY, _EMPTY][len(values) - 1 :]]
    if direction not in _DIRECTIONS:
        raise InputError(f"{where}: direction '{direction}' is none of {', '.join(_DIRECTIONS)}")
    if qos not in ("0", "1", "2"):
        raise InputError(f"{where}: QoS '{qos}' is none of 0, 1, 2")
    if more:
        raise InputError(f"{where}: '{more[0]}' is too much; a topic has a pattern, direction, QoS and two prefixes")
    pattern, local, remote = ("" if text == _EMPTY else text for text in (pattern, local, remote))
    for full in (local + pattern, remote + pattern):
        levels = full.split("/")
        if not full or "#" in levels[:-1] or any(len(level) > 1 and set(level) & set("+#") for level in levels):
            raise InputError(f"{where}: '{full}' is no pattern; '+' stands for a whole level, '#' for all that follow")
    return Rule(pattern, direction, local, remote, where)


def _bridge(section: _Section) -> Bridge:
    address = section.options.get("address", "")
    if not address:
        raise InputError(f"{section.where}: connection '{section.name}' has no address; give 'address HOST:PORT'")
    host, _, port = address.rpartition(":") if ":" in address else (address, "", str(_DEFAULT_PORT))
    if not port.isdecimal():
        # Not shown: a URL in its place may have a login.
        raise InputError(f"{section.where}: the port of '{section.name}' is no whole number; give 'address HOST:PORT'")
    # With MQTT 5 a bridge asks not to get back what it sent; before, it says that it is a bridge, unless told not to.
    private = section.options.get("try_private", "true") != "false"
    private = private or section.options.get("bridge_protocol_version") == "mqttv50"
    return Bridge(section.name, host, int(port), tuple(section.rules), private, section.where)


def _port(values: list[str], where: str) -> int:
    if not values or not values[0].isdecimal():
        raise InputError(f"{where}: '{' '.join(values)}' is no port; give a whole number")
    return int(values[0])
