"""Where a message goes in a fleet of bridged brokers, as Mosquitto passes it on.

A bridge sends a message once, however many of its topic lines match; the first that does says how the name changes.
What came in over a bridge is not sent back over the same one, unless the other side takes it for an ordinary client.
All this was tried with Mosquitto 2.0.11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from topicloom.deploy.targets.mosquitto_conf import Bridge, Rule
from topicloom.model.filters import MQTT

# Mosquitto refuses names of more levels; one that grows on its way ends there.
MOST_LEVELS = 200


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
    before: dict[Arrival, Arrival | None] = {published: None}
    after: dict[Arrival, list[Arrival]] = {}
    for arrival in (queue := [published]):
        way = _way(arrival, before)
        circle = _growing(way)
        if circle is not None:
            return Spread({}, circle, None)
        after[arrival] = [following for following, _ in onward(arrival, wires)]
        for following in after[arrival]:
            if following not in before:
                before[following] = arrival
                queue.append(following)
    order, circle = _order(published, after)
    if circle is not None:
        return Spread({}, circle, None)
    copies = _copies(order, after)
    return Spread(copies, None, _twice(queue, before, after) if max(copies.values()) > 1 else None)


def _way(arrival: Arrival, before: Mapping[Arrival, Arrival | None]) -> tuple[Arrival, ...]:
    """The shortest way to an arrival, from where the message was published."""
    way = [arrival]
    while (earlier := before[way[-1]]) is not None:
        way.append(earlier)
    return tuple(reversed(way))


def _growing(way: tuple[Arrival, ...]) -> tuple[Arrival, ...] | None:
    """The last round of a way that has come over the same wire three times, the name longer each time."""
    rounds = [i for i, arrival in enumerate(way) if (arrival.broker, arrival.wire) == (way[-1].broker, way[-1].wire)]
    if len(rounds) < 3:
        return None
    sizes = [len(way[i].name) for i in rounds[-3:]]
    return way[rounds[-2] :] if sizes[0] < sizes[1] < sizes[2] else None


def _order(
    first: Arrival, after: Mapping[Arrival, Sequence[Arrival]]
) -> tuple[list[Arrival], tuple[Arrival, ...] | None]:
    """The arrivals, each before those that follow from it; or a circle among them."""
    done: dict[Arrival, None] = {}
    path: dict[Arrival, Iterator[Arrival]] = {first: iter(after[first])}
    while path:
        arrival, rest = next(reversed(path.items()))
        following = next(rest, None)
        if following is None:
            done[arrival] = None
            del path[arrival]
        elif following in path:
            walked = list(path)
            return [], (*walked[walked.index(following) :], following)
        elif following not in done:
            path[following] = iter(after[following])
    return list(reversed(done)), None


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
    queue: Sequence[Arrival],
    before: Mapping[Arrival, Arrival | None],
    after: Mapping[Arrival, Sequence[Arrival]],
) -> tuple[tuple[Arrival, ...], tuple[Arrival, ...]]:
    """Two ways to the nearest broker at which two of them meet."""
    first: dict[tuple[str, str], tuple[Arrival, ...]] = {(queue[0].broker, queue[0].name): (queue[0],)}
    for arrival in queue:
        for following in after[arrival]:
            way = (*_way(arrival, before), following)
            place = following.broker, following.name
            if place in first:
                return first[place], way
            first[place] = way
    raise AssertionError("some broker gets two copies, so two ways must meet")
