"""Rows that sources of brokers return, and their errors.

The exception for a broker that does not tell what it is asked.

What one broker tells: who subscribes and publishes what there, since when, and how far it was read.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.brokers.logins import secret_of
from topicloom.errors import InputError
from topicloom.io.http import HttpClient, Login
from topicloom.model.fleet import Source


class SourceError(Exception):
    """One broker cannot be asked, or answers what cannot be used; the message is one line. Others may go on."""


def client_of(source: Source, broker: str) -> HttpClient:
    """Return a client of a broker's interface, with its login and certificates."""
    credentials = source.credentials

    def login() -> Login | None:
        if credentials is None:
            return None
        return credentials.username, secret_of(credentials, f"broker '{broker}': the password")

    try:
        context = None if source.ca_file is None else ssl.create_default_context(cafile=source.ca_file)
    except OSError as error:
        raise InputError(
            f"broker '{broker}': ca_file {source.ca_file} cannot be read ({error.strerror or error})"
        ) from None
    return HttpClient(source.places[0], seconds=source.timeout_seconds, login=login, context=context)


TIME = pa.timestamp("us", "UTC")
SCHEMA = pa.schema(
    [("topic", pa.string()), ("role", pa.string()), ("client", pa.string()), ("since", TIME), ("seen", TIME)]
)
KEYS = ("topic", "role", "client")

# How everything that Topicloom itself makes at a broker is called: bridges, and clients of the live proof.
OWN_PREFIX = "topicloom-"
# Who publishes a topic, where it is known that somebody does and not who.
PUBLISHERS = "publishers"


class Heard(NamedTuple):
    """That a client subscribes to a topic (`sub`) or publishes it (`pub`)."""

    topic: str
    role: str
    client: str


@dataclass(frozen=True)
class BrokerRows:
    """A row for each client, topic and role: `since` when it is known, and when it was last seen.

    - `position`: what the next look has to know to go on from here.
    - `notes`: one line each, for whoever looks.
    """

    rows: pa.Table = field(default_factory=SCHEMA.empty_table)
    position: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()

    @property
    def bridges(self) -> tuple[str, ...]:
        """Bridges that the broker told of and Topicloom did not make; they are links, not clients."""
        return tuple(name for name in self.position.get("bridges", ()) if not name.startswith(OWN_PREFIX))


def looked_at(before: BrokerRows, told: Iterable[Heard], now_us: int) -> BrokerRows:
    """Rows of what a broker tells now: what it told before keeps its time, and what it tells no more is gone."""
    found = pa.Table.from_pylist(
        [row._asdict() for row in sorted(set(told))], schema=pa.schema([SCHEMA.field(key) for key in KEYS])
    )
    earlier = before.rows.select([*KEYS, "since"])
    joined = found.join(earlier, list(KEYS), join_type="left outer").sort_by([(key, "ascending") for key in KEYS])
    now = pa.scalar(now_us, TIME)
    rows = joined.set_column(3, "since", pc.fill_null(joined["since"], now))
    rows = rows.append_column("seen", pa.repeat(now, len(rows)))
    return BrokerRows(rows.select(SCHEMA.names).cast(SCHEMA))


def asked(
    look: Callable[[Source, str, BrokerRows, int], BrokerRows],
    source: Source,
    broker: str,
    before: BrokerRows,
    now_us: int,
) -> BrokerRows:
    """Look at a broker by the clock of this machine, and note if that went back since it was last asked."""
    clock = int(before.position.get("clock", 0))
    try:
        found = look(source, broker, before, max(now_us, clock))
    except (TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        # Brokers and proxies may answer anything; what is where in an answer is not checked key by key.
        raise SourceError(f"{source.places[0]} answers with JSON of another form than expected") from None
    notes = found.notes
    if now_us < clock:
        notes = (*notes, f"the clock of this machine went back by {(clock - now_us) / 1_000_000:,.0f} s")
    return BrokerRows(found.rows, {**found.position, "clock": max(now_us, clock)}, notes)


def kept(told: Iterable[Heard], source: Source) -> list[Heard]:
    """Without what is not a client's: Topicloom's own, those to be ignored, and what a broker says about itself."""
    return [row for row in told if row.topic and is_client(row.client, source) and is_clients(row.topic)]


def is_client(name: str, source: Source) -> bool:
    """Whether a client counts."""
    return not name.startswith(OWN_PREFIX) and not any(fnmatchcase(name, each) for each in source.ignore_clients)


def is_clients(topic: str) -> bool:
    """Whether a topic is clients', and not what a broker says about itself."""
    return not topic.startswith("$SYS")
