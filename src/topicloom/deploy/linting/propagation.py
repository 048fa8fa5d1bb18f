"""Where a message goes in a fleet of bridged brokers, as Mosquitto passes it on.

A bridge sends a message once, however many of its topic lines match; the first that does says how the name changes.
What came in over a bridge is not sent back over the same one, unless the other side takes it for an ordinary client.
All this was tried with Mosquitto 2.0.11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from topicloom.deploy.targets.mosquitto_conf import Bridge, Rule
from topicloom.model.filters import MQTT

# Mosquitto refuses names of more levels; one that grows on its way ends there.
MOST_LEVELS = 200
# A message that comes over the same wire more often, under a longer name each time, does so for ever: patterns that
# match it so far have fewer levels than that.
_ENOUGH_ROUNDS = 30


@dataclass(frozen=True, eq=False)
class Wire:
    """A bridge between two brokers: the one that opens it, and the other."""

    local: str
    remote: str
    bridge: Bridge


@dataclass(frozen=True)
class Arrival:
    """A message at a broker under a name; over which wire it came, None where it was published."""

    broker: str
    name: str
    wire: Wire | None = None


Wires = Mapping[str, Sequence[Wire]]


def onward(arrival: Arrival, wires: Wires) -> Iterator[tuple[Arrival, Rule]]:
    """Where a message goes next, and by which rule; `wires` are those of each broker."""
    for wire in wires.get(arrival.broker, ()):
        outward = wire.local == arrival.broker
        if wire is arrival.wire and (outward or wire.bridge.private):
            continue
        rule = _rule(wire.bridge.rules, arrival.name, outward)
        if rule is not None:
            drop, put = rule.local_prefix, rule.remote_prefix
            if not outward:
                drop, put = put, drop
            name = put + arrival.name[len(drop) :]
            if name.count("/") < MOST_LEVELS:
                yield Arrival(wire.remote if outward else wire.local, name, wire), rule


def _rule(rules: Sequence[Rule], name: str, outward: bool) -> Rule | None:
    direction = "out" if outward else "in"
    for rule in rules:
        pattern = rule.local_pattern if outward else rule.remote_pattern
        if rule.direction in (direction, "both") and MQTT.covers(pattern, name):
            return rule
    return None


@dataclass(frozen=True)
class Spread:
    """How a published message spreads.

    `copies` says how often it comes to each (broker, name), where it does not go in circles. `circle` is one that it
    goes in, from an arrival back to the same broker over the same wire. `twice` are two ways to the first broker that
    gets it more than once.
    """

    copies: Mapping[tuple[str, str], int]
    circle: tuple[Arrival, ...] | None
    twice: tuple[tuple[Arrival, ...], tuple[Arrival, ...]] | None


def spread(published: Arrival, wires: Wires) -> Spread:
    """Follow a message from where it is published, to wherever it goes."""
    after: dict[Arrival, list[Arrival]] = {}
    order, circle = _order(published, wires, after)
    if circle is not None:
        return Spread({}, circle, None)
    copies = _copies(order, after)
    return Spread(copies, None, _twice(published, after) if max(copies.values()) > 1 else None)


def _way(arrival: Arrival, before: Mapping[Arrival, Arrival | None]) -> tuple[Arrival, ...]:
    """The shortest way to an arrival, from where the message was published."""
    way = [arrival]
    while (earlier := before[way[-1]]) is not None:
        way.append(earlier)
    return tuple(reversed(way))


def _order(
    first: Arrival, wires: Wires, after: dict[Arrival, list[Arrival]]
) -> tuple[list[Arrival], tuple[Arrival, ...] | None]:
    """The arrivals, each before those that follow from it; or a cycle among them, on which the name may grow.

    `after` gets what follows from each.
    """
    done: dict[Arrival, None] = {}
    path: dict[Arrival, Iterator[Arrival]] = {}
    visits: dict[tuple[str, Wire | None], list[Arrival]] = {}
    following: Arrival | None = first
    while True:
        if following is None:
            arrival, _ = path.popitem()
            visits[arrival.broker, arrival.wire].pop()
            done[arrival] = None
        elif following in path:
            return [], (*_from(path, following), following)
        elif following not in done:
            rounds = visits.setdefault((following.broker, following.wire), [])
            rounds.append(following)
            after[following] = [each for each, _ in onward(following, wires)]
            path[following] = iter(after[following])
            grown = [pair for pair in pairwise(rounds) if len(pair[1].name) > len(pair[0].name)]
            if len(grown) >= _ENOUGH_ROUNDS:
                walked = _from(path, grown[0][0])
                return [], tuple(walked[: walked.index(grown[0][1]) + 1])
        if not path:
            return list(reversed(done)), None
        following = next(path[next(reversed(path))], None)


def _from(path: Mapping[Arrival, object], arrival: Arrival) -> list[Arrival]:
    """The part of a path that begins with an arrival."""
    walked = list(path)
    return walked[walked.index(arrival) :]


def _copies(order: Sequence[Arrival], after: Mapping[Arrival, Sequence[Arrival]]) -> dict[tuple[str, str], int]:
    """How many ways there are to each (broker, name)."""
    ways = dict.fromkeys(order, 0)
    ways[order[0]] = 1
    copies: dict[tuple[str, str], int] = {}
    for arrival in order:
        place = arrival.broker, arrival.name
        copies[place] = copies.get(place, 0) + ways[arrival]
        for following in after[arrival]:
            ways[following] += ways[arrival]
    return copies


def _twice(
    published: Arrival, after: Mapping[Arrival, Sequence[Arrival]]
) -> tuple[tuple[Arrival, ...], tuple[Arrival, ...]]:
    """Two ways to the nearest broker at which two of them meet."""
    before: dict[Arrival, Arrival | None] = {published: None}
    first: dict[tuple[str, str], tuple[Arrival, ...]] = {(published.broker, published.name): (published,)}
    for arrival in (queue := [published]):
        for following in after[arrival]:
            way = (*_way(arrival, before), following)
            place = following.broker, following.name
            if place in first:
                return first[place], way
            first[place] = way
            before[following] = arrival
            queue.append(following)
    raise AssertionError("some broker gets two copies, so two ways must meet")
