"""What is wrong with the bridges of a fleet, found without running it.

Messages are followed from every broker, under names that stand for every way in which names can match the patterns of
the fleet. So what is found is found for all topics, also those that nobody has used yet.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from topicloom.deploy.linting.propagation import Arrival, Wire, onward, spread
from topicloom.deploy.planning.flows import Message, messages
from topicloom.deploy.planning.patterns import shared
from topicloom.deploy.targets.mosquitto_conf import Bridge, Configured, Rule
from topicloom.errors import InputError
from topicloom.model.filter_classes import name_classes
from topicloom.model.filters import MQTT
from topicloom.model.interest import Interest

# A fleet with findings of these kinds misbehaves, or may do so unseen.
SERIOUS = ("loop", "duplicate", "unreadable")
KINDS = (*SERIOUS, "both-ends", "unreachable", "unwanted", "outside")

# Patterns and names that are looked at for one broker. A fleet of hundreds of wildcards that all overlap has more.
_MOST_PATTERNS = 2000
_MOST_NAMES = 2000
_ROUNDS = 6


@dataclass(frozen=True)
class Finding:
    """Something to look at: its kind, the topic or pattern that it is about, what it is, and where in the files.

    The topic of a loop or duplicate is a name of which a message does that.
    """

    kind: str
    topic: str
    text: str
    where: tuple[str, ...] = ()


@dataclass(frozen=True)
class LintReport:
    """All findings, and how many bridges the fleet has between how many brokers.

    `tree_links` is how many links would do: one less than the brokers of every connected part.
    """

    brokers: int
    bridges: int
    tree_links: int
    findings: tuple[Finding, ...]

    @property
    def serious(self) -> bool:
        """Whether anything loops, arrives twice or cannot be read."""
        return any(finding.kind in SERIOUS for finding in self.findings)


def lint(
    brokers: Sequence[Configured], interest: Interest | None = None, unreadable: Iterable[InputError] = ()
) -> LintReport:
    """Look at the bridges of a whole fleet; with an interest also at who gets what, and who should.

    `unreadable` are the problems of what could not be read; each is a finding.
    """
    wires, outside = connect(brokers)
    fleet: dict[str, list[Wire]] = {broker.name: [] for broker in brokers}
    for wire in wires:
        for name in (wire.local, wire.remote):
            fleet.setdefault(name, []).append(wire)
    findings = [*repeats(fleet), *_both_ends(wires), *outside, *map(unread, unreadable)]
    if interest is not None:
        findings += [*_unreachable(fleet, interest), *_unwanted(fleet, interest)]
    parts = _parts(fleet)
    ranked = sorted(dict.fromkeys(findings), key=lambda finding: KINDS.index(finding.kind))
    return LintReport(len(brokers), len(wires), sum(len(part) - 1 for part in parts), tuple(ranked))


def unread(problem: InputError) -> Finding:
    """The finding that a line, a file or a folder cannot be read."""
    return Finding("unreadable", "", problem.problem, () if problem.file is None else (problem.file,))


def connect(brokers: Sequence[Configured]) -> tuple[list[Wire], list[Finding]]:
    """The bridges between brokers; one that leads to none of them leads outside, and is a finding too."""
    wires, outside = [], []
    for broker in brokers:
        for bridge in broker.bridges:
            remote = _at(bridge, broker, brokers)
            if remote is None:
                remote = f"{bridge.host}:{bridge.port}"
                text = f"{broker.name} is bridged to {remote}, which is none of the given brokers"
                outside.append(Finding("outside", "", text, (bridge.where,)))
            wires.append(Wire(broker.name, remote, bridge))
    return wires, outside


def _at(bridge: Bridge, own: Configured, brokers: Sequence[Configured]) -> str | None:
    """The broker that a bridge leads to: by address, by host name, or on this machine by port."""
    for broker in brokers:
        if (bridge.host, bridge.port) in broker.addresses:
            return broker.name
    ports = {broker.name: {port for _, port in broker.addresses} for broker in brokers}
    if is_this_machine(bridge.host):
        found = [name for name, listening in ports.items() if bridge.port in listening and name != own.name]
    else:
        names = (bridge.host, bridge.host.split(".")[0])
        found = [broker.name for broker in brokers if broker.name in names]
    return found[0] if len(found) == 1 else None


def is_this_machine(host: str) -> bool:
    """Whether a host is the machine of the broker that names it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def repeats(fleet: dict[str, list[Wire]]) -> list[Finding]:
    """Topics that go in cycles or arrive twice, each cycle once with the first name that shows it."""
    found: dict[tuple[str, frozenset[str]], list[Finding]] = {}
    for broker, patterns in _patterns(fleet).items():
        for name, _ in name_classes(MQTT, patterns, _MOST_NAMES):
            result = spread(Arrival(broker, name), fleet)
            if result.circle is not None:
                _note(found, "loop", name, result.circle, _loop_text(broker, name, result.circle))
            elif result.twice is not None:
                ways = result.twice
                text = _twice_text(broker, name, ways, max(result.copies.values()))
                _note(found, "duplicate", name, (*ways[0], *ways[1]), text)
    # Names of few levels match the widest patterns.
    return [min(findings, key=lambda finding: finding.topic.count("/")) for findings in found.values()]


def _note(
    found: dict[tuple[str, frozenset[str]], list[Finding]],
    kind: str,
    name: str,
    arrivals: Sequence[Arrival],
    text: str,
) -> None:
    wires = [arrival.wire for arrival in arrivals if arrival.wire is not None]
    where = tuple(dict.fromkeys(wire.bridge.where for wire in wires))
    found.setdefault((kind, frozenset(where)), []).append(Finding(kind, name, text, where))


def _loop_text(broker: str, name: str, circle: Sequence[Arrival]) -> str:
    grows = len(circle[-1].name) > len(circle[0].name)
    names = f", its name growing from '{circle[0].name}' to '{circle[-1].name}'" if grows else ""
    return f"'{name}' published at {broker} goes round for ever: {_brokers(circle)}{names}"


def _twice_text(broker: str, name: str, ways: tuple[Sequence[Arrival], Sequence[Arrival]], most: int) -> str:
    at = ways[1][-1]
    copies = "twice" if most == 2 else f"up to {most} times"
    first = _brokers(ways[0]) if len(ways[0]) > 1 else "where it is published"
    return f"'{name}' published at {broker} arrives {copies} at {at.broker}: {first}, and {_brokers(ways[1])}"


def _brokers(way: Sequence[Arrival]) -> str:
    return " -> ".join(arrival.broker for arrival in way)


def _patterns(fleet: dict[str, list[Wire]]) -> dict[str, list[str]]:
    """For every broker the patterns that decide where its messages go.

    Those of its own bridges, and, as prefixes change names on the way, the patterns of the brokers behind as they look
    from here.
    """
    pools = {
        broker: list(dict.fromkeys(_own(wire, broker, rule) for wire in wires for rule in wire.bridge.rules))
        for broker, wires in fleet.items()
    }
    for _ in range(_ROUNDS):
        grown: dict[str, list[str]] = {}
        for broker, wires in fleet.items():
            seen = dict.fromkeys(pools[broker])
            for wire in wires:
                other = wire.remote if wire.local == broker else wire.local
                for rule in wire.bridge.rules:
                    seen |= dict.fromkeys(_pulled(wire, broker, rule, pools[other]))
            grown[broker] = list(seen)[:_MOST_PATTERNS]
        if grown == pools:
            break
        pools = grown
    return pools


def _own(wire: Wire, broker: str, rule: Rule) -> str:
    return rule.local_pattern if wire.local == broker else rule.remote_pattern


def _pulled(wire: Wire, broker: str, rule: Rule, patterns: Iterable[str]) -> list[str]:
    """The other side's patterns as names have to look on this side to match them there."""
    here, there = rule.local_prefix, rule.remote_prefix
    if wire.local != broker:
        here, there = there, here
    both = (shared(there + rule.pattern, pattern) for pattern in patterns)
    return [here + one[len(there) :] for one in both if one is not None]


def _both_ends(wires: Sequence[Wire]) -> list[Finding]:
    """Pairs of bridges between the same brokers that carry some of the same topics under the same names."""
    findings = []
    for one, other in combinations(wires, 2):
        if {one.local, one.remote} != {other.local, other.remote}:
            continue
        for rule, second in product(one.bridge.rules, other.bridge.rules):
            both = shared(rule.local_pattern, _own(other, one.local, second))
            if both is not None and _across(one, one.local, rule, both) == _across(other, one.local, second, both):
                opens = "both ends open a bridge" if one.local != other.local else "two bridges are open"
                text = f"{opens} between {one.local} and {one.remote} for '{both}'; one is enough"
                findings.append(Finding("both-ends", both, text, (rule.where, second.where)))
    return findings


def _across(wire: Wire, broker: str, rule: Rule, pattern: str) -> str:
    """A pattern of a broker as a rule changes it to the other side."""
    here, there = rule.local_prefix, rule.remote_prefix
    if wire.local != broker:
        here, there = there, here
    return there + pattern[len(here) :]


def _messages(interest: Interest) -> Iterator[Message]:
    """Names that stand for all messages that the interest speaks of."""
    protocol = None if interest.roles is None else interest.roles.protocol
    for topic in range(interest.topic_count):
        sides = (
            {interest.node_names[node]: names for node, names in side.items()} for side in interest.patterns_of(topic)
        )
        wants, publishes = sides
        yield from messages(wants, publishes, protocol)


def _unreachable(fleet: dict[str, list[Wire]], interest: Interest) -> list[Finding]:
    """Subscribers that do not get what a publisher publishes."""
    findings = []
    for message in _messages(interest):
        name, cut_off = message.name, dict[tuple[str, ...], list[str]]()
        for source in message.sources:
            reached = {broker for broker, at in _reached(Arrival(source, name), fleet) if at == name}
            missing = tuple(broker for broker in message.wanting if broker not in reached)
            if missing:
                cut_off.setdefault(missing, []).append(source)
        for missing, sources in cut_off.items():
            text = f"'{name}' published at {', '.join(sources)} does not reach {', '.join(missing)}"
            findings.append(Finding("unreachable", name, text))
    return findings


def _arrivals(published: Arrival, fleet: dict[str, list[Wire]]) -> list[Arrival]:
    """All arrivals of a message, each once."""
    seen = {published}
    for arrival in (queue := [published]):
        for following, _ in onward(arrival, fleet):
            if following not in seen:
                seen.add(following)
                queue.append(following)
    return queue


def _reached(published: Arrival, fleet: dict[str, list[Wire]]) -> set[tuple[str, str]]:
    return {(arrival.broker, arrival.name) for arrival in _arrivals(published, fleet)}


def _unwanted(fleet: dict[str, list[Wire]], interest: Interest) -> list[Finding]:
    """Rules over which topics go to where nobody behind wants them, in the direction they go."""
    followed = list(_messages(interest))
    wanted = {(broker, message.name) for message in followed for broker in message.wanting}
    carried: dict[tuple[Wire, str, Rule], list[tuple[str, bool]]] = {}
    for message in followed:
        for source in message.sources:
            for arrival in _arrivals(Arrival(source, message.name), fleet):
                for following, rule in onward(arrival, fleet):
                    assert following.wire is not None
                    useful = not wanted.isdisjoint(_reached(following, fleet))
                    carried.setdefault((following.wire, following.broker, rule), []).append((message.name, useful))
    findings = []
    for (_, to, rule), topics in carried.items():
        useless = sorted({name for name, useful in topics if not useful} - {name for name, useful in topics if useful})
        for name in useless:
            text = f"'{name}' is bridged to {to}, where and behind which nobody wants it"
            findings.append(Finding("unwanted", name, text, (rule.where,)))
    return findings


def _parts(fleet: dict[str, list[Wire]]) -> list[set[str]]:
    """The brokers in groups that are connected by bridges."""
    parts: list[set[str]] = []
    for broker, wires in fleet.items():
        joined = {broker, *(name for wire in wires for name in (wire.local, wire.remote))}
        apart = [part for part in parts if not part & joined]
        parts = [*apart, joined.union(*(part for part in parts if part & joined))]
    return parts
