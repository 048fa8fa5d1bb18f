"""Bridges at the brokers of a fleet that belong to none of its plans, and what repeats where a plan meets them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from topicloom.brokers.kind import Bridge, Configured, Rule
from topicloom.brokers.kinds import kind_of
from topicloom.brokers.lint import SERIOUS, Finding, Wire, connect, is_this_machine, lint_leafnodes, repeats
from topicloom.brokers.names import identifier, quoted
from topicloom.brokers.plan import Plan
from topicloom.brokers.present import Present
from topicloom.errors import InputError
from topicloom.model.filters import MQTT
from topicloom.model.fleet import Broker

# The place of a bridge of the plan, which is in no file yet.
_PLANNED = ""


@dataclass(frozen=True)
class ForeignBridges:
    """The brokers of a fleet with their bridges that are not of a plan.

    `unread` gives the reason for each broker with files that could not be read, all or some of them; `one_tree` are
    those that refuse cycles of links.
    """

    brokers: tuple[Configured, ...]
    unread: Mapping[str, str]
    one_tree: frozenset[str] = frozenset()

    def leads(self) -> Iterator[tuple[str, str, str]]:
        """Each bridge as its broker, the broker or the address outside the fleet at its other end, and its place."""
        for wire in _connected(self.brokers):
            yield wire.local, wire.remote, wire.bridge.where


def foreign_bridges(brokers: Mapping[str, Broker], present: Present) -> ForeignBridges:
    """Return the bridges in the files beside ours."""
    followed = {name for name, broker in brokers.items() if kind_of(broker).lints}
    texts = {name: files for name, files in present.others.items() if name in followed}
    unread = {
        name: present.unread.get(name, f"bridges of {kind_of(brokers[name]).title} are not followed")
        for name in brokers
        if name in present.unread or name in present.others.keys() - followed
    }
    # A folder for files of several brokers does not tell whose another file in it is.
    places = Counter(place for files in texts.values() for place in files)
    found = []
    for name, broker in brokers.items():
        bridges: list[Bridge] = []
        for place, text in texts.get(name, {}).items():
            try:
                configured = _configured(broker, place, text)
            except InputError as error:
                unread[name] = str(error)
                continue
            if configured is not None and configured.bridges and places[place] > 1:
                unread[name] = f"{place} lies beside the files of several brokers"
            elif configured is not None:
                bridges += configured.bridges
        found.append(Configured(name, ((broker.host, broker.port or 0),), tuple(bridges)))
    return ForeignBridges(
        tuple(found), unread, frozenset(name for name, broker in brokers.items() if kind_of(broker).one_tree)
    )


def _configured(broker: Broker, place: str, text: str) -> Configured | None:
    """What a file says; None for a file that was made for another broker."""
    own = unquote(identifier(broker.name))
    configured = kind_of(broker).parse(own, text, place)
    return configured if configured.made_for in (None, own) else None


def require_no_repeats(plan: Plan, foreign: ForeignBridges) -> None:
    """An error if a message loops or arrives twice over the links of a plan and foreign bridges together."""
    owner = {bridge.where: broker.name for broker in foreign.brokers for bridge in broker.bridges}
    if not owner or not plan.links:
        return
    found = [*_leafnode_repeats(plan, foreign), *_bridge_repeats(plan, foreign)]
    findings = [finding for finding in found if not owner.keys().isdisjoint(finding.where)]
    if findings:
        first = min(findings, key=lambda finding: SERIOUS.index(finding.kind))
        place = next(place for place in first.where if place in owner)
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        raise InputError(
            f"broker {quoted(owner[place])}: {place}: with this bridge and the plan {first.text}{more}; "
            "remove the bridge, or its topic from the plan"
        )


def _leafnode_repeats(plan: Plan, foreign: ForeignBridges) -> Iterable[Finding]:
    """Cycles among the brokers that refuse them."""
    servers = []
    for server in (broker for broker in foreign.brokers if broker.name in foreign.one_tree):
        opened = [plan.broker[link[1]] for link in plan.links_of.get(server.name, ()) if link[0] == server.name]
        planned = [Bridge("leaf node", other.host, other.port or 0, (), True, _PLANNED) for other in opened]
        servers.append(replace(server, bridges=(*planned, *server.bridges)))
    return [finding for finding in lint_leafnodes(servers).findings if finding.kind in SERIOUS]


def _bridge_repeats(plan: Plan, foreign: ForeignBridges) -> Iterable[Finding]:
    """Findings over the foreign bridges and the lines of the plan that have names in common with them.

    Only foreign bridges change names, so on links of the plan a message that comes over a foreign one keeps a name of
    that bridge's patterns. So other lines take no part in what repeats.
    """
    brokers = [broker for broker in foreign.brokers if broker.name not in foreign.one_tree]
    wires = _connected(brokers)
    ends = Counter([broker.name for broker in brokers for _ in range(2)] + [wire.remote for wire in wires])
    # A bridge out of the fleet brings nothing back, unless another one leads to the same address.
    wires = [wire for wire in wires if ends[wire.remote] > 1]
    rules = [rule for wire in wires for rule in wire.bridge.rules]
    patterns = {pattern for rule in rules for pattern in (rule.local_pattern, rule.remote_pattern)}
    for link, lines in plan.lines_of_link.items() if patterns else ():
        carried = [line for line in lines if any(MQTT.overlap(line.pattern, pattern) for pattern in patterns)]
        if carried:
            way = tuple(Rule(line.pattern, line.direction, "", "", _PLANNED) for line in carried)
            other = plan.broker[link[1]]
            wires.append(Wire(*link, Bridge("plan", other.host, other.port or 0, way, True, _PLANNED)))
    fleet: dict[str, list[Wire]] = {}
    for wire in wires:
        for name in (wire.local, wire.remote):
            fleet.setdefault(name, []).append(wire)
    return repeats(fleet)


def _connected(brokers: Sequence[Configured]) -> list[Wire]:
    """The bridges between brokers and out of the fleet; a loopback address is another one on each machine."""
    wires, _ = connect(brokers)
    host = {broker.name: broker.addresses[0][0] for broker in brokers}
    return [
        replace(wire, remote=f"{wire.remote} of {host[wire.local]}")
        if wire.remote not in host and is_this_machine(wire.bridge.host)
        else wire
        for wire in wires
    ]
