"""Loops, duplicates and unreachable subscribers in bridges that exist.

Where a message goes in a fleet of bridged brokers, as Mosquitto passes it on.

A bridge sends a message once, however many of its topic lines match; the first that does says how the name changes.
What came in over a bridge is not sent back over the same one, unless the other side takes it for an ordinary client.
All this was tried with Mosquitto 2.0.11.

What is wrong with the bridges of a fleet, found without running it.

Messages are followed from every broker, under names that stand for every way in which names can match the patterns of
the fleet. So what is found is found for all topics, also those that nobody has used yet.

The links of a fleet from its configurations, of whatever kind.

Circles among leafnode connections of NATS servers, which refuse them.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from pathlib import Path

import networkx

from topicloom.brokers.kind import Bridge, BrokerKind, Configured, Pair, Rule, refuse
from topicloom.brokers.kinds import KINDS, kind_named
from topicloom.brokers.plan import Message, messages
from topicloom.errors import InputError
from topicloom.model.filters import MQTT, match_classes
from topicloom.model.interest import Interest

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


# A fleet with findings of these kinds misbehaves, or may do so unseen.
SERIOUS = ("loop", "duplicate", "unreadable")
FINDING_KINDS = (*SERIOUS, "both-ends", "unreachable", "unwanted", "outside")

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
    brokers: Sequence[Configured], interest: Interest | None = None, unreadable: Sequence[InputError] = ()
) -> LintReport:
    """Look at the bridges of a fleet: those that pass messages by rules together, each kind of one tree for itself.

    Args:
        brokers: all of the fleet; those of kinds that are not linted are left out.
        interest: to look also at who gets what, and who should.
        unreadable: the problems of what could not be read; each is a finding.
    """
    groups: dict[BrokerKind | None, list[Configured]] = {}
    for broker in brokers:
        kind = kind_named(broker.kind)
        if kind.lints:
            groups.setdefault(kind if kind.one_tree else None, []).append(broker)
    if not groups:
        raise InputError(f"bridges of {', '.join(sorted({broker.kind for broker in brokers}))} are not followed")
    tree = next(filter(None, groups), None)
    if interest is not None and tree is not None:
        raise InputError(f"interests are not followed at brokers of {tree.title}; leave them out", "interests")
    reports = [
        (kind or kind_named(group[0].kind)).lint(group, interest, () if number else unreadable)
        for number, (kind, group) in enumerate(groups.items())
    ]
    return LintReport(
        sum(one.brokers for one in reports),
        sum(one.bridges for one in reports),
        sum(one.tree_links for one in reports),
        tuple(finding for one in reports for finding in one.findings),
    )


def lint_rules(
    brokers: Sequence[Configured], interest: Interest | None = None, unreadable: Iterable[InputError] = ()
) -> LintReport:
    """Follow messages through bridges that pass them by rules; the arguments are those of `lint`."""
    wires, outside = connect(brokers)
    fleet: dict[str, list[Wire]] = {broker.name: [] for broker in brokers}
    for wire in wires:
        for name in (wire.local, wire.remote):
            fleet.setdefault(name, []).append(wire)
    findings = [*repeats(fleet), *_both_ends(wires), *outside, *map(unread, unreadable)]
    if interest is not None:
        findings += [*_unreachable(fleet, interest), *_unwanted(fleet, interest)]
    parts = _parts(fleet)
    ranked = sorted(dict.fromkeys(findings), key=lambda finding: FINDING_KINDS.index(finding.kind))
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
        for name, _ in match_classes(MQTT, patterns, _MOST_NAMES):
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
    both = (MQTT.shared(there + rule.pattern, pattern) for pattern in patterns)
    return [here + one[len(there) :] for each in both for one in each]


def _both_ends(wires: Sequence[Wire]) -> list[Finding]:
    """Pairs of bridges between the same brokers that carry some of the same topics under the same names."""
    findings = []
    for one, other in combinations(wires, 2):
        if {one.local, one.remote} != {other.local, other.remote}:
            continue
        for rule, second in product(one.bridge.rules, other.bridge.rules):
            for both in MQTT.shared(rule.local_pattern, _own(other, one.local, second)):
                if _across(one, one.local, rule, both) == _across(other, one.local, second, both):
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


@dataclass(frozen=True)
class ExistingLinks:
    """Brokers, how many bridges they have, the links these make, and bridges that lead to none of the brokers.

    A link is there once, however many bridges make it; the lower name comes first.
    """

    brokers: tuple[str, ...]
    bridges: int
    links: tuple[Pair, ...]
    outside: tuple[str, ...]


def existing_links(paths: Sequence[Path], kind: str | None = None) -> ExistingLinks:
    """Return the links that configurations make, of a kind that they show unless `kind` says it."""
    brokers = read_configured(paths, None if kind is None else [KINDS.find(kind)])
    wires, outside = connect(brokers)
    names = {broker.name for broker in brokers}
    links = {(min(wire.local, wire.remote), max(wire.local, wire.remote)) for wire in wires if wire.remote in names}
    inside = tuple(sorted(link for link in links if link[0] != link[1]))
    return ExistingLinks(tuple(sorted(names)), len(wires), inside, tuple(finding.text for finding in outside))


def read_configured(
    paths: Sequence[Path], kinds: Sequence[BrokerKind] | None = None, unreadable: Callable[[InputError], None] = refuse
) -> tuple[Configured, ...]:
    """Return the brokers that files and folders describe.

    A file is a broker of that name. A folder with a kind's main file is one broker of the folder's name; in any other
    folder every file with a kind's ending and every folder with a main file is one.

    Args:
        paths: files and folders.
        kinds: those that are looked for; all unless given. What a file shows decides among them.
        unreadable: called with the problem of each part that cannot be read; if it returns, that part is left out.
    """
    kinds = [kind for kind in (KINDS.values() if kinds is None else kinds) if kind.ending is not None]
    brokers = []
    for name, file in (found for path in paths for found in configured_files(path, kinds)):
        one = _kind_of(file, kinds)
        try:
            brokers.append(replace(one.parse_file(name, file, unreadable), kind=one.name))
        except InputError as problem:
            unreadable(problem)
            brokers.append(Configured(name, (), (), kind=one.name))
    if not brokers:
        endings = " or ".join(dict.fromkeys(str(one.ending) for one in kinds))
        titles = " or ".join(kind.title for kind in kinds)
        raise InputError(f"{', '.join(map(str, paths))}: has no {endings} files; give configurations of {titles}")
    names = Counter(broker.name for broker in brokers)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise InputError(f"two configurations are both of broker '{twice}'; give each file or folder its own name")
    return tuple(brokers)


def configured_files(path: Path, kinds: Sequence[BrokerKind]) -> Iterator[tuple[str, Path]]:
    """Yield the names of brokers and their files, of any of these kinds."""
    mains = [kind.main for kind in kinds if kind.main is not None]

    def main_of(folder: Path) -> Path | None:
        return next((folder / main for main in mains if (folder / main).is_file()), None)

    if path.is_file():
        yield (path.absolute().parent.name if path.name in mains else path.stem), path
    elif (main := main_of(path)) is not None:
        yield path.absolute().name, main
    elif path.is_dir():
        endings = {kind.ending for kind in kinds}
        for entry in sorted(path.iterdir()):
            if entry.suffix in endings and entry.is_file():
                yield entry.stem, entry
            elif (main := main_of(entry)) is not None:
                yield entry.name, main
    else:
        raise InputError(f"{path}: no such file or folder")


def _kind_of(file: Path, kinds: Sequence[BrokerKind]) -> BrokerKind:
    """Return the kind that a file is of: by its ending, then by what only one kind has, else the first."""
    kinds = [kind for kind in kinds if kind.ending == file.suffix] or kinds
    if len(kinds) > 1:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return kinds[0]  # an error when it is read
        return next((kind for kind in kinds if kind.looks_like(text)), kinds[0])
    return kinds[0]


def lint_leafnodes(servers: Sequence[Configured], unreadable: Iterable[InputError] = ()) -> LintReport:
    """Look for cycles; each remote that closes one is a finding, with its path, and so is what could not be read."""
    wires, outside = connect(servers)
    graph = networkx.Graph()
    graph.add_nodes_from(server.name for server in servers)
    where: dict[frozenset[str], str] = {}
    findings = []
    for wire in wires:
        ends = frozenset((wire.local, wire.remote))
        if graph.has_node(wire.remote) and networkx.has_path(graph, wire.local, wire.remote):
            way = networkx.shortest_path(graph, wire.remote, wire.local)
            text = f"{' -> '.join([wire.local, *way])} is a circle of leafnodes, which NATS breaks again and again"
            places = [where[frozenset(pair)] for pair in pairwise(way)]
            findings.append(Finding("loop", ">", text, tuple(dict.fromkeys([wire.bridge.where, *places]))))
        else:
            graph.add_edge(wire.local, wire.remote)
            where[ends] = wire.bridge.where
    links = graph.number_of_nodes() - networkx.number_connected_components(graph)
    return LintReport(len(servers), len(wires), links, (*findings, *map(unread, unreadable), *outside))
