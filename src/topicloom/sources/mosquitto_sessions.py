"""Who subscribes to what at a Mosquitto, after lines of its log: what was known before, and what the lines change.

Lines have places, counted from 0; what was known before has place -1. A subscription is alive if its last place comes
after the last end: of itself, of its client's session, or of the broker. So nothing is gone through line by line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.sources.broker_rows import PUBLISHERS, SCHEMA, TIME, is_clients
from topicloom.sources.log_text import Places
from topicloom.sources.mosquitto_lines import Lines, is_odd, parse_lines

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
