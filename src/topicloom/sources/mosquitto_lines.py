"""What lines of Mosquitto's log say, many lines at once.

| line | says |
|---|---|
| `New client connected from ADDRESS as ID (p2, c1, k60).` | a connection begins; with `c0` its session may outlive it |
| `New bridge connected from ADDRESS as ID (p2, c0, k60).` | another broker connects by a bridge |
| `Received CONNACK on connection ID.` | a bridge of this broker is connected; ID is its local client (`debug`) |
| `ID 1 FILTER` | it subscribes (`log_type subscribe`) |
| `ID FILTER` | it unsubscribes (`log_type unsubscribe`); known by the subscription that it ends |
| `Client ID disconnected.` and the like | its connection ends |
| `Expiring client ID due to timeout.` | its session ends |
| `mosquitto version V starting` | the broker starts, and sessions that it did not keep are gone |
| `Received PUBLISH from ID (d0, q0, r0, m0, 'TOPIC', ...` | it publishes (`log_type debug`) |

Ids and filters may hold spaces and numbers; where a line can be cut in several ways, the id is the longest known one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.sources.log_text import LogText, Places, log_text

_CONNECTED = r"^New client connected from \S+ as (?P<client>.*) \(p\d+, c(?P<clean>[01]), k\d+.*\)\.$"
_BRIDGED = (
    r"^(?:New bridge connected from \S+ as (?P<accepted>.*) \(p\d+, c[01], k\d+.*\)\."
    r"|Received CONNACK on connection (?P<opened>.*)\.)$"
)
_ENDED = (
    r"^(?:Client (?P<client>.+?)(?: \[[^\]]*\])? (?:disconnected\.|closed its connection\.|disconnected due to .*|"
    r"disconnected: .*|has exceeded timeout, disconnecting\.|already connected, closing old connection\.)"
    r"|Socket error on client (?P<broken>.+), disconnecting\.)$"
)
_EXPIRED = r"^Expiring (?:persistent )?client (?P<client>.+) due to timeout\.$"
_STARTED = r"^mosquitto version (?P<version>\S+) starting$"
_PUBLISHED = (
    r"^Received PUBLISH from (?P<client>.+) \(d[01], q[012], r[01], m\d+, '(?P<topic>.*)', \.\.\. \(\d+ bytes\)\)$"
)

# How lines begin that tell something else, and may still look like a subscription.
_OTHER = (
    r"^(?:Sending|Received|New|Client|No will|Will|Bridge|Connecting|Config|Opening|Warning|Error|Denied|Socket error|"
    r"Expiring|Saving|Restoring|Loading|OpenSSL|Plugin|Using|Websockets|Outgoing|Reloading|mosquitto) "
)
# The most frequent lines that say nothing of subscriptions; a tab goes on with what a debugging line said.
_NOISE = ("New connection from ", "Sending PUB", "Sending CONNACK to ", "Sending SUBACK to ", "\t")


@dataclass(frozen=True)
class Lines:
    """Lines by what they say, each kind with the places of its lines and their columns.

    `rest` are lines that say none of it; among them are those that end subscriptions.
    """

    times: Places
    subscribed: tuple[Places, pa.Array, pa.Array]
    published: tuple[Places, pa.Array, pa.Array]
    connected: tuple[Places, pa.Array, npt.NDArray[np.bool_]]
    bridged: tuple[Places, pa.Array]
    ended: tuple[Places, pa.Array]
    expired: tuple[Places, pa.Array]
    started: Places
    rest: tuple[Places, pa.Array]


def parse_lines(text: bytes, known: Callable[[], Set[str]]) -> Lines:
    """What lines say; `known` gives the clients that earlier lines told of."""
    read = log_text(text)
    left = _Left(read)
    for beginning in _NOISE:
        left.drop(beginning)
    published, by = left.take(("Received PUBLISH from ",), _PUBLISHED)
    connected, begun = left.take(("New client connected ",), _CONNECTED)
    bridged, ends = left.take(("New bridge connected ", "Received CONNACK on "), _BRIDGED)
    ended, gone = left.take(("Client ", "Socket error on client "), _ENDED)
    expired, forgotten = left.take(("Expiring ",), _EXPIRED)
    started, _ = left.take(("mosquitto version ",), _STARTED)
    clients = begun.field("client")
    bridges = _either(ends.field("accepted"), ends.field("opened"))

    @cache
    def all_known() -> Set[str]:
        return {*known(), *clients.to_pylist(), *bridges.to_pylist()}

    subscribed = left.take_subscriptions(all_known)
    return Lines(
        read.times,
        subscribed,
        (published, by.field("client"), by.field("topic")),
        (connected, clients, np.asarray(pc.equal(begun.field("clean"), "1"))),
        (bridged, bridges),
        (ended, _either(gone.field("client"), gone.field("broken"))),
        (expired, forgotten.field("client")),
        started,
        (left.places, read.said(left.places)),
    )


def _either(first: pa.Array, second: pa.Array) -> pa.Array:
    """The group of a pattern that matched, of two that exclude each other."""
    return pc.if_else(pc.equal(first, ""), second, first)


def is_odd(client: str) -> bool:
    """Whether lines of a client can only be understood by who knows it."""
    return " " in client or re.match(_OTHER, f"{client} ") is not None


class _Left:
    """Lines of which it is not known yet what they say."""

    def __init__(self, read: LogText) -> None:
        self._read = read
        self.places: Places = np.arange(len(read.times))

    def drop(self, beginning: str) -> None:
        """Leave out lines that begin so."""
        self.places = self.places[~self._read.begins(self.places, beginning)]

    def take(self, beginnings: tuple[str, ...], pattern: str) -> tuple[Places, pa.StructArray]:
        """Take out the lines that match, of those that begin so: their places, and what the pattern's groups hold."""
        begins = np.zeros(len(self.places), bool)
        for beginning in beginnings:
            begins |= self._read.begins(self.places, beginning)
        rows = np.flatnonzero(begins)
        found = pc.extract_regex(self._read.said(self.places[rows]), pattern)
        right = np.asarray(pc.is_valid(found))
        return self._remove(rows[right]), found.filter(pa.array(right))

    def take_subscriptions(self, known: Callable[[], Set[str]]) -> tuple[Places, pa.Array, pa.Array]:
        """Take out the lines by which clients subscribe, with their clients and topics."""
        said = self._read.said(self.places)
        parts = pc.split_pattern(said, " ", max_splits=2)
        words, sizes = parts.flatten(), np.diff(parts.offsets.to_numpy())
        three = np.flatnonzero(sizes == 3)
        first = parts.offsets.to_numpy()[three]
        plain = three[np.asarray(pc.is_in(words.take(pa.array(first + 1)), value_set=pa.array(["0", "1", "2"])))]
        # With more spaces a line may be cut elsewhere, too.
        spaces = np.asarray(pc.count_substring(said, " "))
        plain = plain[spaces[plain] == 2]
        first = parts.offsets.to_numpy()[plain]
        client, topic = words.take(pa.array(first)), words.take(pa.array(first + 2))
        doubtful = np.flatnonzero((spaces > 2) & np.asarray(pc.match_substring_regex(said, " [012] ")))
        cuts = [_cut(line, known()) for line in said.take(pa.array(doubtful)).to_pylist()]
        found = [(row, *cut) for row, cut in zip(doubtful.tolist(), cuts, strict=True) if cut is not None]
        rows = np.concatenate([plain, np.array([row for row, _, _ in found], np.int64)])
        client = pa.concat_arrays([client, pa.array([name for _, name, _ in found], pa.string())])
        topic = pa.concat_arrays([topic, pa.array([name for _, _, name in found], pa.string())])
        return self._remove(rows), client, topic

    def _remove(self, rows: Places) -> Places:
        taken = self.places[rows]
        stay = np.ones(len(self.places), bool)
        stay[rows] = False
        self.places = self.places[stay]
        return taken


def _cut(line: str, known: Set[str]) -> tuple[str, str] | None:
    """Client and topic of a line that may be a subscription; None where it is not."""
    clients = [line[: space.start()] for space in re.finditer(" ", line) if line[: space.start()] in known]
    if clients:
        subscribes = re.match("[012] (.+)", line[len(clients[-1]) + 1 :])
        return (clients[-1], subscribes[1]) if subscribes else None
    if re.match(_OTHER, line):
        return None
    client, topic = re.split(" [012] ", line, maxsplit=1)
    return (client, topic) if client and topic else None
