"""Mosquitto: bridge sections, written and read.

Configurations are read as people write them, and as we do. Ours begin with a heading that tells whose they are;
Mosquitto takes it for a comment.

A link is a `connection` section at the broker that opens it, with a line for each topic, or filter, that goes over the
link: `both`, or `in` or `out` where all who publish are on one side. So every topic's bridges form a tree, and a
message reaches each broker once.

What the options are for:

- `try_private` tells the other broker that this is a bridge, so that it sends nothing back over the same link.
- `cleansession false` keeps what is on its way while a link is down. The other broker then keeps the subscriptions of
  that session too, also of topics that a later plan takes off the link, which would make loops. So the names of
  sessions end in a hash of the link's topics: a link with other topics begins sessions of its own, which can be made
  ready before the old ones end (`bridge_sessions.py`).
- `max_inflight_messages`: with its default of 20 Mosquitto 2.0.11 loses some of what a sender of QoS 2 has under way
  beyond it (of 3,000 messages, published as fast as possible at four brokers, 49 to 60 did not arrive somewhere), and
  if 20 messages of QoS 1 or 2 come for a bridge of its own while that connects, it may keep them and all that follow
  for ever, though it says that it is up. So it is more than can wait for a link (`max_queued_messages`, 1,000). A
  broker that opens no links needs it for QoS 2 alone: none of 289,000 messages of QoS 1 that waited there for the other
  end, which restarted 60 times, was lost without it.
- `notifications_local_only` says at this broker, under `$SYS/broker/connection/`, whether the link is up.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from topicloom.brokers.fingerprints import Hashes, mixed, opened_hashes
from topicloom.brokers.kind import (
    Bridge,
    BrokerKind,
    Configured,
    DeliveryFailed,
    LinkState,
    Pair,
    Rule,
    Secret,
    Session,
    SourceForm,
    mqtt_problem,
    one_name,
    refuse,
)
from topicloom.brokers.names import identifier
from topicloom.errors import InputError
from topicloom.model.filters import MQTT
from topicloom.model.fleet import Broker, Delivery, Source

if TYPE_CHECKING:
    from topicloom.brokers.local import Processes
    from topicloom.brokers.plan import Line, Plan
    from topicloom.brokers.rows import BrokerRows


_DEFAULT_PORT = 1883
_HEADING = re.compile(r"# Topicloom: bridges of broker (\S+) at (\S+):(\d+)$")
_DIRECTIONS = ("out", "in", "both")
_EMPTY = '""'


@dataclass
class _Section:
    name: str
    where: str
    options: dict[str, str] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)


def _heading(broker: Broker) -> str:
    """The line that begins what we write for a broker."""
    return f"# Topicloom: bridges of broker {identifier(broker.name)} at {broker.host}:{broker.port}"


def _configured_by(name: str, lines: Iterable[tuple[str, str]], unreadable: Callable[[InputError], None]) -> Configured:
    """The broker that lines describe, each given with its place; a heading says its name."""
    made_for: str | None = None
    addresses: list[tuple[str, int]] = []
    sections: list[_Section] = []
    for where, line in lines:
        headed = _HEADING.match(line)
        if headed:
            name = made_for = unquote(headed[1])
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
    return Configured(name, tuple(addresses) or (("", _DEFAULT_PORT),), tuple(bridges), made_for)


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


_BRIDGE_WORD = re.compile(
    r"connection|topic|address(es)?|(bridge|local|remote|notification)s?(_\w+)?|cleansession|clientid|username|password"
    r"|keepalive_interval|restart_timeout|round_robin|start_type|threshold|idle_timeout|try_private"
)


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


def _bridges_of(plan: Plan, broker: str, secret: Secret) -> str:
    """The bridge sections of one broker, to be put into its `conf.d`; a heading alone where others open its links."""
    lines = [
        _heading(plan.broker[broker]),
        "# Made from a plan: change the plan and render again, rather than this file.",
    ]
    if _holds_more(plan)[plan.interest.node_ids[broker]]:
        lines += ["", f"max_inflight_messages {_INFLIGHT_MESSAGES}"]
    for link in plan.links_of[broker]:
        if link[0] == broker:
            lines += ["", *_bridge_lines(plan, link, secret)]
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


def _bridge_lines(plan: Plan, link: Pair, secret: Secret) -> Iterator[str]:
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
    yield from _security(other, secret)
    for line in lines:
        yield f"topic {line.pattern} {line.direction} {line.qos}"


def _security(other: Broker, secret: Secret) -> Iterator[str]:
    if other.credentials is not None:
        yield f"remote_username {other.credentials.username}"
        yield f"remote_password {secret(other)}"
    if other.tls is not None:
        yield f"bridge_cafile {other.tls.ca_file}" if other.tls.ca_file else f"bridge_capath {_SYSTEM_CERTIFICATES}"
        if other.tls.cert_file is not None:
            yield f"bridge_certfile {other.tls.cert_file}"
            yield f"bridge_keyfile {other.tls.key_file}"


def _opens(plan: Plan) -> npt.NDArray[np.bool_]:
    """Whether each broker opens a link."""
    opens = np.zeros(len(plan.brokers), np.bool_)
    opens[plan.opener] = True
    return opens


def _holds_more(plan: Plan) -> npt.NDArray[np.bool_]:
    """Whether each broker needs `max_inflight_messages`: at QoS 1 if it opens links, at QoS 2 in any case."""
    holds: npt.NDArray[np.bool_] = (plan.highest_qos > 1) | ((plan.highest_qos > 0) & _opens(plan))
    return holds


_LEVELS = 200
# Brokers that are asked why a link to them is not up.
_ASKED = 3
_LOOK_SECONDS = 0.1


class Mosquitto(BrokerKind):
    """Mosquitto 2.0 and later."""

    name = "mosquitto"
    title = "Mosquitto"
    ports = (1883, 8883)
    ending = ".conf"
    main = "mosquitto.conf"
    wildcards = MQTT
    opens = frozenset({"mqtt"})
    speaks = frozenset({"mqtt"})
    keeps_messages = True
    lints = True
    sources = MappingProxyType({"log": SourceForm(MQTT, options=("persistence",), several=True)})

    def name_problem(self, name: str) -> str | None:
        """Return why Mosquitto cannot bridge a topic of this name, None if it can."""
        problem = mqtt_problem(name)
        if problem is None and " " in name:
            return (
                "has a space, at which Mosquitto splits the lines of its configuration; names without spaces are right"
            )
        if problem is None and name.startswith('"'):
            return "begins with a quote, which Mosquitto takes for its own, and releases differ in how"
        if problem is None and name.count("/") >= _LEVELS:
            return f"has more than {_LEVELS} levels, which Mosquitto refuses"
        return problem

    def pattern_problem(self, pattern: str) -> str | None:
        """Return why it cannot carry a filter: that of a name as long as the filter."""
        return self.name_problem(one_name(pattern))

    def render(self, plan: Plan, broker: str, secret: Secret) -> str:
        """Return the bridge sections of a broker, for its `conf.d`; a heading alone if others open its links."""
        return _bridges_of(plan, broker, secret)

    def fingerprints(self, plan: Plan) -> Hashes:
        """Return hashes of the links that brokers open, and of whether they hold more messages under way."""
        holds = _holds_more(plan)
        return np.where(_opens(plan) | holds, mixed(opened_hashes(plan, qos=True), holds), np.uint64(0))

    def more_than_bridges(self, text: str) -> str | None:
        """Return the first line that is of no bridge, None if there is none."""
        words = [line.split()[0] for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
        other = next((word for word in words if not _BRIDGE_WORD.fullmatch(word)), None)
        if words and words[0] != "connection":
            other = words[0]
        return None if other is None else f"has '{other}', which is of no bridge"

    def parse_file(self, name: str, file: Path, unreadable: Callable[[InputError], None] = refuse) -> Configured:
        """Return the broker in a file and in the folders that it includes."""
        return _configured_by(name, _lines(file, (), unreadable), unreadable)

    def parse(self, name: str, text: str, where: str, unreadable: Callable[[InputError], None] = refuse) -> Configured:
        """Return the broker that a configuration describes; folders that it includes are not read."""
        lines = [(f"{where}:{number}", line.strip()) for number, line in enumerate(text.split("\n"), 1)]
        return _configured_by(name, lines, unreadable)

    def collect(self, source: Source, broker: str, before: BrokerRows, now_us: int) -> Iterator[BrokerRows]:
        """Yield what the log says; its own times count."""
        from topicloom.brokers.kinds.mosquitto_log import read_log

        yield from read_log(source, before)

    def require_library(self) -> None:
        """Raise InputError if the MQTT client is missing."""
        from topicloom.brokers.local import mqtt_library

        mqtt_library()

    def links(self, plan: Plan, broker: Broker, delivery: Delivery) -> LinkState:
        """Return how many links a broker opens, once it says in time that their sessions are up."""
        from topicloom.brokers.check import login_refusal
        from topicloom.brokers.local import Clients

        expected = {session_name(link, plan.lines_of_link[link]): link for link in plan.opened_by(broker.name)}
        deadline = time.monotonic() + delivery.seconds
        with Clients({broker.name: broker}, lambda *_: None, f"check-{os.getpid()}") as clients:
            clients.open(broker.name, [])
            clients.wait_until_subscribed()
            while missing := expected.keys() - clients.links_up[broker.name]:
                if time.monotonic() > deadline:
                    others = sorted(expected[session][1] for session in missing)
                    reasons = [reason for name in others[:_ASKED] if (reason := login_refusal(plan.broker[name]))]
                    why = f" ({'; '.join(reasons)})" if reasons else ""
                    raise DeliveryFailed(f"its links are not up: to {', '.join(others)}{why}")
                clients.serve(_LOOK_SECONDS)
        return LinkState(len(expected), len(expected))

    def sessions(self, link: Pair, lines: Sequence[Line]) -> tuple[Session, ...]:
        """Return the sessions of a link, at the broker that opens it and at the other."""
        return (link[0], local_session_name(link, lines)), (link[1], session_name(link, lines))

    def prepare(self, ends: Mapping[str, Broker], link: Pair, lines: Sequence[Line]) -> None:
        """Make the sessions of a link at those ends that are given."""
        from topicloom.brokers.bridge_sessions import make_session

        here = [(line.pattern, line.qos) for line in lines if line.direction != "in"]
        there = [(line.pattern, line.qos) for line in lines if line.direction != "out"]
        for (broker, name), wanted in zip(self.sessions(link, lines), (here, there), strict=True):
            if wanted and broker in ends:
                make_session(ends[broker], name, wanted)

    def forget(self, broker: Broker, name: str) -> None:
        """End a session; what a broker keeps for a link that is gone would be sent when that comes back."""
        from topicloom.brokers.bridge_sessions import make_session

        make_session(broker, name, [])

    def local(self, names: Sequence[str], *, lasting: bool) -> Processes:
        """Return Mosquittos on loopback."""
        from topicloom.brokers.local import Processes, free_ports

        return Processes(free_ports(names), lasting=lasting)


KIND = Mosquitto()
