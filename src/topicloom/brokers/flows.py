"""What goes over the links of a topic's tree, in each direction, and the path that its messages take.

A link carries, towards each of its ends, the patterns that are wanted behind that end and published behind the other
end; and of these only the widest. So a message takes only links that lead to a subscriber.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from topicloom.brokers.kind import Pair
from topicloom.model.filters import Protocol, match_classes

Patterns: TypeAlias = Mapping[str, tuple[str, ...]]

# Names by which the messages of one topic are followed. More ways for filters to overlap are not all looked at.
_MOST_NAMES = 300


@dataclass(frozen=True)
class Message:
    """A name that messages may have, the brokers where it is published, and those that want it."""

    name: str
    sources: tuple[str, ...]
    wanting: tuple[str, ...]


def directed_flows(
    links: Sequence[Pair], wants: Patterns, publishes: Patterns, protocol: Protocol | None
) -> dict[Pair, tuple[str, ...]]:
    """For every link of a tree, given as (upper, lower) from the root on, what it carries from the first to the second.

    Each link is there in both directions.
    """
    wanted, published = _below(links, wants), _below(links, publishes)
    all_wanted = Counter(pattern for patterns in wants.values() for pattern in patterns)
    all_published = Counter(pattern for patterns in publishes.values() for pattern in patterns)
    flows = {}
    for upper, lower in links:
        flows[upper, lower] = _carried(all_published - published[lower], wanted[lower], protocol)
        flows[lower, upper] = _carried(published[lower], all_wanted - wanted[lower], protocol)
    return flows


def _below(links: Sequence[Pair], patterns: Patterns) -> dict[str, Counter[str]]:
    """For every lower end the patterns of it and of all behind it."""
    below = {name: Counter(patterns.get(name, ())) for link in links for name in link}
    for upper, lower in reversed(links):
        below[upper] += below[lower]
    return below


def _carried(published: Counter[str], wanted: Counter[str], protocol: Protocol | None) -> tuple[str, ...]:
    if protocol is None:
        return tuple(sorted(published.keys() & wanted.keys()))
    needed = [pattern for pattern in wanted if any(protocol.overlap(pattern, other) for other in published)]
    return protocol.widest(needed)


def messages(wants: Patterns, publishes: Patterns, protocol: Protocol | None) -> Iterator[Message]:
    """Names that stand for all messages of a topic that somebody publishes and somebody wants."""
    patterns = sorted({pattern for side in (wants, publishes) for each in side.values() for pattern in each})
    if protocol is not None:
        patterns = [one.name for one in match_classes(protocol, patterns, _MOST_NAMES)]
    for name in patterns:
        sources, wanting = (
            tuple(broker for broker, each in side.items() if _match(each, name, protocol))
            for side in (publishes, wants)
        )
        if sources and wanting:
            yield Message(name, sources, wanting)


def _match(patterns: Sequence[str], name: str, protocol: Protocol | None) -> bool:
    return name in patterns if protocol is None else any(protocol.covers(pattern, name) for pattern in patterns)


def ways_in(
    flows: Mapping[Pair, Sequence[str]],
    neighbours: Mapping[str, Sequence[str]],
    source: str,
    name: str,
    protocol: Protocol | None,
) -> Iterator[Pair]:
    """The links that a message takes from where it is published, each as (from, to)."""
    reached = [(source, "")]
    for broker, came_from in reached:
        for other in neighbours[broker]:
            if other != came_from and _match(flows[broker, other], name, protocol):
                yield broker, other
                reached.append((other, broker))
