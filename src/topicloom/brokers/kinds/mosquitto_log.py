"""Mosquitto's log: which client subscribes and publishes.

Lines of a log as arrays: when each was written, and what it says, without a copy of the text.

What lines of Mosquitto's log say, many lines at once.

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

Who subscribes to what at a Mosquitto, after lines of its log: what was known before, and what the lines change.

Lines have places, counted from 0; what was known before has place -1. A subscription is alive if its last place comes
after the last end: of itself, of its client's session, or of the broker. So nothing is gone through line by line.

Mosquitto: its log, with `log_type subscribe`, `unsubscribe` and `notice`; with `debug` it tells publishers, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.brokers.log_files import read_pieces
from topicloom.brokers.rows import PUBLISHERS, SCHEMA, TIME, BrokerRows, is_client, is_clients
from topicloom.model.fleet import Source

Places = npt.NDArray[np.int64]
_Bytes = npt.NDArray[np.uint8]

_NEW_LINE, _RETURN, _COLON, _SPACE, _ZERO = b"\n\r: 0"
# Seconds since 1970, a colon and a space, as Mosquitto writes them unless told otherwise.
_DIGITS = 10
_STAMP = _DIGITS + 2
_WORD = 8
# Other times that `log_timestamp_format` may give; journals put words of their own before them.
_LINE = (
    r"^(?:[^:]*:\d\d:\d\d[^:]* mosquitto\[\d+\]: )?"
    r"(?:(?P<time>\d{8,11}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.]\d+)?(?:Z|[+-]\d\d:?\d\d)?): )?(?P<said>.*)$"
)


@dataclass(frozen=True)
class LogText:
    """Lines: `times` in microseconds since 1970, -1 where a line has none, and where in the text is what each says."""

    times: Places
    _text: _Bytes
    _start: Places
    _pieces: pa.StringArray

    def said(self, places: Places) -> pa.StringArray:
        """What lines say after their times."""
        return self._pieces.take(pa.array(2 * places))

    def begins(self, places: Places, beginning: str) -> npt.NDArray[np.bool_]:
        """Whether lines begin so."""
        sought = beginning.encode()
        first = np.frombuffer(sought[:_WORD].ljust(_WORD, b"\0"), np.uint64)[0]
        mask = np.frombuffer((b"\xff" * len(sought))[:_WORD].ljust(_WORD, b"\0"), np.uint64)[0]
        found: npt.NDArray[np.bool_] = (self._words[places] & mask) == first
        rows = np.flatnonzero(found)
        for number, byte in enumerate(sought[_WORD:], _WORD):
            found[rows] &= self._byte(places[rows], number) == byte
        return found

    def _byte(self, places: Places, number: int) -> _Bytes:
        # The text ends in a line's end, which nothing begins with.
        found: _Bytes = self._text[np.minimum(self._start[places] + number, len(self._text) - 1)]
        return found

    @cached_property
    def _words(self) -> npt.NDArray[np.uint64]:
        """The first bytes of what lines say, as one number each."""
        places = np.arange(len(self.times))
        words = np.stack([self._byte(places, number) for number in range(_WORD)], axis=1)
        return words.view(np.uint64)[:, 0]


def log_text(text: bytes) -> LogText:
    """Whole lines, taken apart."""
    try:
        text.decode()
    except UnicodeDecodeError:
        # No client can have a name that is not UTF-8; what else such a line says does not matter.
        text = text.decode(errors="replace").encode()
    bytes_ = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(bytes_ == _NEW_LINE)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    usual = _is_usual(bytes_, starts, ends)
    times = np.full(len(ends), -1)
    times[usual] = _seconds(bytes_, starts[usual]) * 1_000_000
    said = np.where(usual, starts + _STAMP, starts)
    ends = ends - ((bytes_[ends - 1] == _RETURN) & (ends > said))
    others = np.flatnonzero(~usual)
    if len(others):
        parsed = pc.extract_regex(_pieces(text, starts, ends).take(pa.array(2 * others)), _LINE)
        said[others] = ends[others] - np.asarray(pc.binary_length(parsed.field("said")))
        times[others] = _told(parsed.field("time"))
    return LogText(times, bytes_, said, _pieces(text, said, ends))


def _is_usual(text: _Bytes, starts: Places, ends: Places) -> npt.NDArray[np.bool_]:
    """Which lines begin with seconds since 1970."""
    right = ends - starts >= _STAMP
    for number in range(_STAMP):
        byte = text[np.minimum(starts + number, len(text) - 1)]
        if number < _DIGITS:
            right &= (byte - _ZERO) < _DIGITS  # below 0 it is large, as bytes have no sign
        else:
            right &= byte == (_COLON if number == _DIGITS else _SPACE)
    return right


def _seconds(text: _Bytes, starts: Places) -> Places:
    seconds: Places = np.zeros(len(starts), np.int64)
    for number in range(_DIGITS):
        seconds = seconds * 10 + (text[starts + number] - _ZERO)
    return seconds


def _pieces(text: bytes, starts: Places, ends: Places) -> pa.StringArray:
    """What lies between starts and ends, and between those, in turn: pieces of one text need no copies."""
    bounds = np.empty(2 * len(starts), np.int32)
    bounds[0::2], bounds[1::2] = starts, ends
    count = max(len(bounds) - 1, 0)
    return pa.StringArray.from_buffers(count, pa.py_buffer(bounds), pa.py_buffer(text))


def _told(times: pa.StringArray) -> Places:
    """Times since 1970; -1 where there is none."""
    encoded = times.dictionary_encode()
    known = np.array([_time(text) for text in encoded.dictionary.to_pylist()] or [-1], np.int64)
    found: Places = known[encoded.indices.to_numpy()]
    return found


def _time(text: str) -> int:
    if text.isdecimal():
        return int(text) * 1_000_000
    try:
        # Without a zone it is that of this machine. Python 3.10 wants zones with a colon.
        zoned = re.sub(r"([+-]\d\d)(\d\d)$", r"\1:\2", text.replace("Z", "+00:00"))
        return int(datetime.fromisoformat(zoned).timestamp() * 1_000_000)
    except ValueError:
        return -1


_CONNECTED = r"^New client connected from \S+ as (?P<client>.*) \(p\d+, c(?P<clean>[01]), k\d+.*\)\.$"
_NEW_BRIDGE = (
    r"^(?:New bridge connected from \S+ as (?P<accepted>.*) \(p\d+, c[01], k\d+.*\)\."
    r"|Received CONNACK on connection (?P<opened>.*)\.)$"
)
_END_OF_SESSION = (
    r"^(?:Client (?P<client>.+?)(?: \[[^\]]*\])? (?:disconnected\.|closed its connection\.|disconnected due to .*|"
    r"disconnected: .*|has exceeded timeout, disconnecting\.|already connected, closing old connection\.)"
    r"|Socket error on client (?P<broken>.+), disconnecting\.)$"
)
_EXPIRY = r"^Expiring (?:persistent )?client (?P<client>.+) due to timeout\.$"
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
    bridged, ends = left.take(("New bridge connected ", "Received CONNACK on "), _NEW_BRIDGE)
    ended, gone = left.take(("Client ", "Socket error on client "), _END_OF_SESSION)
    expired, forgotten = left.take(("Expiring ",), _EXPIRY)
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


_BEFORE, _NEVER = -1, -2
_CONNECTED_CLEAN, _CONNECTED_LASTING, _BRIDGED, _ENDED, _EXPIRED = range(5)

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Sessions:
    """Rows of subscriptions and publications, and what lines to come are read by.

    - `lasting`: clients whose sessions may outlive their connections.
    - `odd`: clients that are connected, and whose lines can only be understood by who knows them.
    - `bridges`: clients that are connected as bridges; what they subscribe to and publish is left out.
    - `clock`: the time that the last line told, and by how much it was behind an earlier one at most.
    """

    rows: pa.Table = field(default_factory=SCHEMA.empty_table)
    lasting: frozenset[str] = frozenset()
    odd: frozenset[str] = frozenset()
    bridges: frozenset[str] = frozenset()
    clock: int = 0
    back: int = 0


def after_lines(before: Sessions, text: bytes, *, persistence: bool, counts: Callable[[str], bool]) -> Sessions:
    """Sessions after lines; with `persistence` the lasting ones outlive the broker. `counts` says which clients do."""
    subscribed_before = before.rows.filter(pc.equal(before.rows["role"], "sub"))
    lines = parse_lines(
        text,
        lambda: {*before.lasting, *before.odd, *before.bridges, *pc.unique(subscribed_before["client"]).to_pylist()},
    )
    clock, back = _clock(lines.times, before.clock)
    who = _Names()
    earlier = who.ids(subscribed_before["client"])
    marked, odd, bridges = (
        who.ids(pa.array(sorted(names), pa.string())) for names in (before.lasting, before.odd, before.bridges)
    )
    subscribing, publishing = (who.ids(column) for column in (lines.subscribed[1], lines.published[1]))
    connections = _connections(lines, who, bridges)
    ends, lasting, connected = _session_ends(connections, who.count, (marked, odd), persistence=persistence)
    kept = _mask(lines.subscribed[1], counts) & _mask(lines.subscribed[2], is_clients)
    kept &= ~connections.bridged(subscribing, lines.subscribed[0])
    told = _Told(
        np.concatenate([earlier, subscribing[kept]]),
        pa.chunked_array([*subscribed_before["topic"].chunks, lines.subscribed[2].filter(pa.array(kept))], pa.string()),
        np.concatenate([np.full(len(earlier), _BEFORE), lines.subscribed[0][kept]]),
        np.concatenate([_times(subscribed_before["since"]), clock[lines.subscribed[0][kept]]]),
        np.concatenate([_times(subscribed_before["seen"]), clock[lines.subscribed[0][kept]]]),
    )
    subscriptions = _alive(told, who.names, ends, lines.rest)
    by_clients = ~connections.bridged(publishing, lines.published[0])
    published = _publications(
        before.rows.filter(pc.equal(before.rows["role"], "pub")),
        lines,
        clock,
        _mask(lines.published[1], counts) & by_clients,
    )
    names = np.asarray(who.names, object)
    bridged = connections.bridged(np.arange(who.count), np.full(who.count, len(lines.times)))
    return Sessions(
        pa.concat_tables([subscriptions, published]),
        frozenset(names[lasting]),
        frozenset(name for name in names[connected] if is_odd(name)),
        frozenset(names[bridged]),
        int(clock[-1]) if len(clock) else before.clock,
        max(back, before.back),
    )


class _Names:
    """Numbers for names, in the order in which they are first met."""

    def __init__(self) -> None:
        self._known = pa.array([], pa.string())

    def ids(self, column: pa.Array | pa.ChunkedArray) -> Places:
        """The numbers of a column of names."""
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        whole = pa.concat_arrays([self._known, column]).dictionary_encode()
        before, self._known = len(self._known), whole.dictionary
        numbers: Places = whole.indices.to_numpy()[before:].astype(np.int64)
        return numbers

    @property
    def count(self) -> int:
        return len(self._known)

    @property
    def names(self) -> pa.StringArray:
        return self._known


@dataclass(frozen=True)
class _Told:
    """What was said of subscriptions: by client, topic and place, with the times that rows would have by it."""

    client: Places
    topic: pa.ChunkedArray
    place: Places
    since: Places
    seen: Places


@dataclass(frozen=True)
class _Connections:
    """Lines that begin or end connections, by client and place; `started` has the places where the broker starts."""

    client: Places
    place: Places
    kind: Places
    started: Places

    def bridged(self, client: Places, place: Places) -> Mask:
        """Whether clients are connected as bridges at places."""
        if not len(self.client) or not len(client):
            return np.zeros(len(client), bool)
        span = max(self.place.max(), place.max()) + 2
        last = np.searchsorted(self.client * span + self.place, client * span + place, side="right") - 1
        starts = np.concatenate([[_NEVER], self.started])
        restarted = starts[np.searchsorted(self.started, place)]
        known = (last >= 0) & (self.client[last] == client) & (self.kind[last] == _BRIDGED)
        found: Mask = known & (self.place[last] > restarted)
        return found


def _connections(lines: Lines, who: _Names, bridges: Places) -> _Connections:
    """The connections of clients; those of `bridges` began before."""
    connecting, bridging, ending, expiring = (
        who.ids(column) for column in (lines.connected[1], lines.bridged[1], lines.ended[1], lines.expired[1])
    )
    client = np.concatenate([bridges, connecting, bridging, ending, expiring])
    place = np.concatenate(
        [np.full(len(bridges), _BEFORE), lines.connected[0], lines.bridged[0], lines.ended[0], lines.expired[0]]
    )
    kind = np.concatenate(
        [
            np.full(len(bridges), _BRIDGED),
            np.where(lines.connected[2], _CONNECTED_CLEAN, _CONNECTED_LASTING),
            np.full(len(bridging), _BRIDGED),
            np.full(len(ending), _ENDED),
            np.full(len(expiring), _EXPIRED),
        ]
    )
    order = np.lexsort((place, client))
    return _Connections(client[order], place[order], kind[order], lines.started)


def _session_ends(
    connections: _Connections, count: int, before: tuple[Places, Places], *, persistence: bool
) -> tuple[Places, Mask, Mask]:
    """For each client the place where its session last ended, whether it has one that lasts, and is connected.

    `before` are the clients of which either was known; of connections it need not be. With `persistence` sessions that
    last outlive a start of the broker.
    """
    client, place, kind = connections.client, connections.place, connections.kind
    lasting = np.zeros(count, bool)
    lasting[before[0]] = True
    lasted = lasting[client]
    # The connection before each line, if the same client has one among these lines.
    last = np.maximum.accumulate(np.where(kind <= _BRIDGED, np.arange(len(kind)), -1))
    earlier = np.concatenate([[-1], last[:-1]]) if len(last) else last
    same = (earlier >= 0) & (client[earlier] == client)
    lasted[same] = kind[earlier[same]] == _CONNECTED_LASTING
    over = (kind == _CONNECTED_CLEAN) | (kind == _BRIDGED) | ((kind == _ENDED) & ~lasted) | (kind == _EXPIRED)
    ends = np.full(count, _NEVER)
    np.maximum.at(ends, client[over], place[over])
    told = kind != _ENDED
    if persistence:
        began = np.concatenate([np.arange(count), client[told]]), np.concatenate([np.full(count, _BEFORE), place[told]])
        _end_by_starts(ends, began, np.concatenate([lasting, kind[told] == _CONNECTED_LASTING]), connections.started)
    elif len(connections.started):
        np.maximum(ends, connections.started[-1], out=ends)
    lasting[client[told]] = kind[told] == _CONNECTED_LASTING
    connected = np.zeros(count, bool)
    connected[before[1]] = True
    connected[client] = kind <= _BRIDGED
    return ends, lasting, connected


def _end_by_starts(ends: Places, began: tuple[Places, Places], lasts: Mask, started: Places) -> None:
    """End sessions that do not last at the last start of the broker before their client's next one begins.

    `began` are the clients of sessions and the places where they begin.
    """
    order = np.lexsort((began[1], began[0]))
    client, place, lasts = began[0][order], began[1][order], lasts[order]
    until = np.append(place[1:], _NEVER)
    until[np.append(client[1:] != client[:-1], True)] = np.iinfo(np.int64).max
    last = np.concatenate([[_NEVER], started])[np.searchsorted(started, until)]
    over = ~lasts & (last > place)
    np.maximum.at(ends, client[over], last[over])


def _alive(told: _Told, names: pa.StringArray, ends: Places, rest: tuple[Places, pa.Array]) -> pa.Table:
    """Rows of the subscriptions that nothing has ended."""
    topics = _Names()
    topic = topics.ids(told.topic)
    keys, key = np.unique(told.client * max(topics.count, 1) + topic, return_inverse=True)
    client, topic = keys // max(topics.count, 1), keys % max(topics.count, 1)
    end = np.maximum(ends[client], _NEVER)
    client_names, topic_names = names.take(pa.array(client)), topics.names.take(pa.array(topic))
    if len(rest[0]) and len(keys):
        said = pc.index_in(rest[1], value_set=pc.binary_join_element_wise(client_names, topic_names, " "))
        ended = np.asarray(said.is_valid())
        np.maximum.at(end, said.drop_null().to_numpy(), rest[0][ended])
    alive = np.flatnonzero(told.place > end[key])
    # In the order of places; the first of each key says since when, the last when it was seen.
    alive = alive[np.lexsort((told.place[alive], key[alive]))]
    of_key = key[alive]
    first = np.flatnonzero(np.diff(of_key, prepend=-1))
    last = np.append(first[1:], len(of_key))[: len(first)] - 1
    chosen = pa.array(of_key[first])
    return _rows(
        topic_names.take(chosen), "sub", client_names.take(chosen), told.since[alive[first]], told.seen[alive[last]]
    )


def _publications(before: pa.Table, lines: Lines, clock: Places, counted: Mask) -> pa.Table:
    """Rows of the topics that counted lines publish; publishers are not kept, as publishing has no end."""
    places, _, topic = lines.published
    kept = counted & _mask(topic, is_clients)
    topics = _Names()
    ids = np.concatenate([topics.ids(before["topic"]), topics.ids(topic.filter(pa.array(kept)))])
    times = clock[places[kept]]
    since = np.full(topics.count, np.iinfo(np.int64).max)
    seen = np.zeros(topics.count, np.int64)
    np.minimum.at(since, ids, np.concatenate([_times(before["since"]), times]))
    np.maximum.at(seen, ids, np.concatenate([_times(before["seen"]), times]))
    return _rows(topics.names, "pub", pa.repeat(PUBLISHERS, topics.count), since, seen)


def _rows(topic: pa.Array, role: str, client: pa.Array, since: Places, seen: Places) -> pa.Table:
    columns = [topic, pa.repeat(role, len(topic)), client, pa.array(since).cast(TIME), pa.array(seen).cast(TIME)]
    return pa.table(columns, schema=SCHEMA)


def _mask(column: pa.Array, right: Callable[[str], bool]) -> Mask:
    """Which names of a column are right; each name is looked at once."""
    encoded = column.dictionary_encode()
    names = np.array([right(name) for name in encoded.dictionary.to_pylist()], bool)
    mask: Mask = names[encoded.indices.to_numpy()]
    return mask


def _times(column: pa.ChunkedArray) -> Places:
    times: Places = column.cast(pa.int64()).to_numpy()
    return times


def _clock(times: Places, before: int) -> tuple[Places, int]:
    """The time of each line, that of the line before where it tells none; and how far it went back at most."""
    told = np.concatenate([[before], times])
    place = np.maximum.accumulate(np.where(told >= 0, np.arange(len(told)), 0))
    filled = told[place]
    return filled[1:], int((np.maximum.accumulate(filled) - filled).max())


def read_log(source: Source, before: BrokerRows) -> Iterator[BrokerRows]:
    """What a broker's log tells, after each piece of it."""
    position = before.position
    sessions = Sessions(
        before.rows,
        frozenset(position.get("lasting", ())),
        frozenset(position.get("odd", ())),
        frozenset(position.get("bridges", ())),
        int(position.get("clock", 0)),
    )
    notes: list[str] = []
    for piece in read_pieces(source.places, position.get("log")):
        notes += [piece.note] if piece.note else []
        if piece.text:
            sessions = after_lines(
                sessions,
                piece.text,
                persistence=source.option("persistence"),
                counts=lambda name: is_client(name, source),
            )
        told = notes if not sessions.back else [*notes, f"its clock went back by {sessions.back / 1_000_000:,.0f} s"]
        yield BrokerRows(
            sessions.rows,
            {
                "log": piece.position.as_dict(),
                "lasting": sorted(sessions.lasting),
                "odd": sorted(sessions.odd),
                "bridges": sorted(sessions.bridges),
                "clock": sessions.clock,
            },
            tuple(told),
        )
