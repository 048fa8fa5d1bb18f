"""What names a broker can carry, and how names become identifiers.

Topics keep their names, as publishers and subscribers use them; a name that a target cannot carry is refused. Node
names appear in configurations and as file names only encoded, so that nothing in a name can end a line, leave a
folder or be taken for an option.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from topicloom.errors import InputError
from topicloom.model.filters import AMQP, MQTT, Protocol

# A name that is kept short ends in this and a hash; no encoded name holds it.
_CUT = "~"
_LONGEST = 80
_KEPT = 60
_HASH_BYTES = 8

MQTT_BYTES = 65_535
MOSQUITTO_LEVELS = 200
# The queue that federation makes for an exchange holds the name of the exchange twice, and may have 255 bytes.
RABBITMQ_BYTES = 80
# A line of NATS' protocol may have 4,096 bytes, and holds more than the subject.
NATS_BYTES = 3000
ROUTING_KEY_BYTES = 255

# The filters that each target has.
FILTERS = {"mosquitto": MQTT, "rabbitmq": AMQP}

_SHOWN = 60


def identifier(name: str) -> str:
    """A name as ASCII letters, digits, `-`, `_` and `.`; everything else percent-encoded as UTF-8.

    It never begins with a dot or a hyphen. Past 80 characters it is cut and ends in `~` and a hash. Different names
    have different identifiers.
    """
    encoded = "".join(
        chr(byte) if re.match(rb"[A-Za-z0-9_]", bytes([byte])) or (chr(byte) in ".-" and i) else f"%{byte:02X}"
        for i, byte in enumerate(name.encode())
    )
    if len(encoded) <= _LONGEST:
        return encoded
    return f"{encoded[:_KEPT]}{_CUT}{hashlib.blake2b(name.encode(), digest_size=_HASH_BYTES).hexdigest()}"


def require_names(target: str, topics: Iterable[str]) -> None:
    """An error where a target cannot carry a topic's name."""
    for topic in topics:
        problem = name_problem(target, topic)
        if problem is not None:
            raise InputError(f"topic {quoted(topic)}: {problem}")


def require_filters(target: str, protocol: Protocol, topics: Iterable[str], filters: Iterable[str]) -> None:
    """An error where a target cannot carry the filters of topics, each of which is called by one of them."""
    if FILTERS.get(target) != protocol:
        known = " and ".join(f"{name} with {one.name}" for name, one in FILTERS.items())
        raise InputError(f"plans with filters are for {known}, not for {target} with {protocol.name}")
    if target == "rabbitmq":
        # A topic is an exchange, and its filters are routing keys.
        require_names(target, topics)
    for filter_ in filters:
        protocol.require(filter_)
        problem = filter_problem(target, protocol, filter_)
        if problem is not None:
            raise InputError(f"topic {quoted(filter_)}: {problem}")


def filter_problem(target: str, protocol: Protocol, filter_: str) -> str | None:
    """Reason if a target cannot carry a filter."""
    problem = protocol.problem(filter_)
    if problem is not None or FILTERS.get(target) != protocol:
        return problem
    return routing_key_problem(filter_) if target == "rabbitmq" else mosquitto_problem(_one_name(filter_))


def _one_name(filter_: str) -> str:
    """A name that is as long as a filter of MQTT and matches it."""
    return "/".join("-" if level in ("+", "#") else level for level in filter_.split("/"))


def name_problem(target: str, topic: str) -> str | None:
    """Why a target cannot carry a topic of this name; None where it can."""
    if not topic:
        return "is empty; every topic needs a name"
    return {"mosquitto": mosquitto_problem, "rabbitmq": rabbitmq_problem, "nats": nats_problem}[target](topic)


def quoted(name: str) -> str:
    """A name in quotes, cut where it is long."""
    return f"'{name}'" if len(name) <= _SHOWN else f"'{name[:_SHOWN]}…' ({len(name):,} characters)"


def mosquitto_problem(topic: str) -> str | None:
    """Why Mosquitto cannot bridge a topic of this name; None where it can."""
    problem = mqtt_problem(topic)
    if problem is None and " " in topic:
        return "has a space, at which Mosquitto splits the lines of its configuration; names without spaces are right"
    if problem is None and topic.startswith('"'):
        return "begins with a quote, which Mosquitto takes for its own, and releases differ in how"
    if problem is None and topic.count("/") >= MOSQUITTO_LEVELS:
        return f"has more than {MOSQUITTO_LEVELS} levels, which Mosquitto refuses"
    return problem


def mqtt_problem(topic: str) -> str | None:
    """Why this is no name that an MQTT message can have; None where it is."""
    wildcard = next((character for character in topic if character in "+#"), None)
    if wildcard is not None:
        return f"has the wildcard '{wildcard}', which no message can have in its topic; give the names it stands for"
    if topic.startswith("$"):
        return "begins with '$', which is kept for what a broker says about itself"
    return _unreadable(topic) or _too_long(topic, MQTT_BYTES, "an MQTT topic")


def rabbitmq_problem(topic: str) -> str | None:
    """Why RabbitMQ cannot federate an exchange of this name; None where it can."""
    if topic.startswith("amq."):
        return "begins with 'amq.', which RabbitMQ keeps for its own exchanges"
    return _unreadable(topic) or _too_long(topic, RABBITMQ_BYTES, "a federated exchange")


def nats_problem(topic: str) -> str | None:
    """Why NATS cannot carry a subject of this name; None where it can."""
    if any(character.isspace() for character in topic):
        return "has a space, at which NATS splits the lines of its protocol; names without spaces are right"
    if topic.startswith("$"):
        return "begins with '$', which NATS keeps for itself"
    tokens = topic.split(".")
    if "" in tokens:
        return "has an empty part between dots, which NATS refuses"
    wildcard = next((token for token in tokens if token in ("*", ">")), None)
    if wildcard is not None:
        return f"has the wildcard '{wildcard}', which no message can have in its subject; give the names it stands for"
    return _unreadable(topic) or _too_long(topic, NATS_BYTES, "a subject of NATS")


def routing_key_problem(filter_: str) -> str | None:
    """Why RabbitMQ can bind nothing by this filter; None where it can."""
    return _unreadable(filter_) or _too_long(filter_, ROUTING_KEY_BYTES, "a routing key")


def _unreadable(topic: str) -> str | None:
    for character in topic:
        code = ord(character)
        # Brokers close the connection at control characters and at code points that stand for no character.
        if unicodedata.category(character) in ("Cc", "Cs") or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
            return f"has the character U+{code:04X}, which brokers refuse"
    return None


def _too_long(topic: str, most: int, what: str) -> str | None:
    size = len(topic.encode())
    return f"has {size:,} bytes; the name of {what} may have {most:,}" if size > most else None
