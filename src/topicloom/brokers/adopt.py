"""Taking over bridges that people made.

First all brokers let them go: their files get another ending, which no broker reads. Only then brokers get the files of
the plan. So links are taken away until none is left, then those of trees come, and at no moment there is a cycle that
was not there before.

Brokers keep messages meanwhile: the sessions of a new link are made just before the step that cuts the last old path
between its ends. Made earlier, they would also keep messages that the old path still delivers.

Bridges out of the fleet stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import networkx
import numpy as np

from topicloom.brokers.foreign import ForeignBridges, foreign_bridges
from topicloom.brokers.kind import Bridge, Driver, Pair
from topicloom.brokers.kinds import kind_of
from topicloom.brokers.moves import OLD_BRIDGES, FleetMove, MoveStep
from topicloom.brokers.names import quoted
from topicloom.brokers.plan import Line, Plan
from topicloom.brokers.present import Present
from topicloom.errors import InputError
from topicloom.model.filters import MQTT
from topicloom.model.fleet import Broker


def old_bridges(brokers: Mapping[str, Broker], present: Present) -> Mapping[str, tuple[str, ...]]:
    """Return the places of the files of bridges between brokers of a fleet, by broker.

    Raises:
        InputError: a file cannot be read, has something else besides such bridges, or is not of a kind that can be
            taken over.
    """
    found = foreign_bridges(brokers, present)
    for name, reason in found.unread.items():
        raise InputError(f"broker {quoted(name)}: {reason}; its bridges cannot be taken over")
    inside = {where for _, other, where in found.leads() if other in brokers}
    going: dict[str, tuple[str, ...]] = {}
    for broker in found.brokers:
        places = dict.fromkeys(_file(bridge.where) for bridge in broker.bridges if bridge.where in inside)
        for place in places:
            stays = next((b.where for b in broker.bridges if _file(b.where) == place and b.where not in inside), None)
            if stays is not None:
                raise InputError(
                    f"broker {quoted(broker.name)}: {stays} leads out of the fleet; move it to a file of its own"
                )
            problem = kind_of(brokers[broker.name]).more_than_bridges(present.others[broker.name][place])
            if problem is not None:
                raise InputError(f"broker {quoted(broker.name)}: {place}: {problem}; move it to a file of its own")
        if places:
            going[broker.name] = tuple(places)
    return going


def _file(where: str) -> str:
    return where.rpartition(":")[0]


def adopting_move(plan: Plan, new: str, old: Iterable[str]) -> FleetMove:
    """Return the move from old bridges to a plan, called `new`; `old` are the brokers that have some."""
    gone = [MoveStep(name, None, OLD_BRIDGES) for name in sorted(old)]
    files = sorted(plan.brokers[node].name for node in np.flatnonzero(plan.fingerprints).tolist())
    return FleetMove(None, new, (*gone, *(MoveStep(name, new, None) for name in files)))


def needed_sessions(plan: Plan, steps: Sequence[MoveStep], found: ForeignBridges) -> dict[int, list[Pair]]:
    """Return for each step the links whose sessions must be there before it.

    A rule with a direction or prefixes counts as no path.
    """
    known = {broker.name for broker in found.brokers}
    bridges = {bridge.where: bridge for broker in found.brokers for bridge in broker.bridges}
    wires = [(broker, other, bridges[where]) for broker, other, where in found.leads() if other in known]
    clearing = {step.broker: number for number, step in enumerate(steps) if step.before == OLD_BRIDGES}
    left = {step.broker for step in steps if step.file is not None}
    cuts: dict[frozenset[int], networkx.Graph] = {}
    needed: dict[int, list[Pair]] = {}
    for link in plan.links:
        if link[0] in left:
            first = len(steps)
            for line in plan.lines_of_link[link]:
                over = frozenset(i for i, wire in enumerate(wires) if wire[0] in clearing and _carries(wire[2], line))
                if over not in cuts:
                    cuts[over] = _latest([(*wires[i][:2], clearing[wires[i][0]]) for i in over])
                first = min(first, _cut(cuts[over], link))
            needed.setdefault(first, []).append(link)
    return needed


def _carries(bridge: Bridge, line: Line) -> bool:
    """Whether a bridge carries all of a line both ways under the same names."""
    return any(
        rule.direction == "both"
        and not rule.local_prefix
        and not rule.remote_prefix
        and MQTT.covers(rule.pattern, line.pattern)
        for rule in bridge.rules
    )


def _latest(wires: Iterable[tuple[str, str, int]]) -> networkx.Graph:
    """Paths that are cut latest: a spanning forest of wires, each with the step that takes it away."""
    graph = networkx.Graph()
    for one, other, cut in wires:
        if cut > graph.get_edge_data(one, other, {"cut": -1})["cut"]:
            graph.add_edge(one, other, cut=cut)
    return networkx.maximum_spanning_tree(graph, weight="cut")


def _cut(forest: networkx.Graph, link: Pair) -> int:
    """The step that cuts the last path between two brokers, the first if there is none."""
    if link[0] not in forest or link[1] not in forest or not networkx.has_path(forest, *link):
        return 0
    return min(int(forest.edges[pair]["cut"]) for pair in pairwise(networkx.shortest_path(forest, *link)))


def still_there(found: ForeignBridges, steps: Iterable[MoveStep]) -> ForeignBridges:
    """Return the bridges that steps do not take away."""
    going = {step.broker for step in steps if step.before == OLD_BRIDGES}
    known = {broker.name for broker in found.brokers}
    gone = {where for broker, other, where in found.leads() if broker in going and other in known}
    left = (
        replace(one, bridges=tuple(bridge for bridge in one.bridges if bridge.where not in gone))
        for one in found.brokers
    )
    return replace(found, brokers=tuple(left))


def take_over(driver: Driver, broker: Broker, step: MoveStep, brokers: Mapping[str, Broker]) -> None:
    """Let the old bridges of a broker go, or come back; before the broker's own file is put."""
    if step.file == OLD_BRIDGES:
        driver.bring_back()
    elif step.before == OLD_BRIDGES:
        texts = {place: text for place, text in driver.get().items() if place != driver.place}
        driver.set_aside(old_bridges(brokers, Present({}, {broker.name: texts}, {})).get(broker.name, ()))
