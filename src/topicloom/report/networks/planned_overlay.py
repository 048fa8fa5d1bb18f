"""A plan as an overlay: who is linked, and who wants what."""

from __future__ import annotations

import numpy as np

from topicloom.deploy.planning.plan import Plan
from topicloom.model import Interest, Overlay
from topicloom.model.filters import PLAIN
from topicloom.report.networks.overlay_drawing import SeenOverlay


def seen_plan(plan: Plan) -> SeenOverlay:
    """The links of a plan over the interest that its routes tell of, with its own trees."""
    interest = _interest(plan)
    ids = interest.node_ids
    ends = np.array([[ids[first], ids[second]] for first, second in plan.links], np.int32).reshape(-1, 2)
    overlay = Overlay(interest, ends.min(axis=1, initial=2**31 - 1), ends.max(axis=1, initial=-1))
    return SeenOverlay(overlay, given=plan)


def _interest(plan: Plan) -> Interest:
    rows = [
        (name, route.topic, _role(name in wants, name in publishes))
        for route in plan.routes
        for wants, publishes in [route.sides]
        for name in dict.fromkeys((*wants, *publishes))
    ]
    read = Interest.from_roles(rows, filters=PLAIN)
    named = tuple(sorted(broker.name for broker in plan.brokers))
    if named == read.node_names:
        return read
    # Brokers that have to do with no topic are there too.
    place = np.array([named.index(name) for name in read.node_names], np.int64)
    nodes = np.repeat(place, np.diff(read.node_start))
    return Interest.from_ids(named, read.topic_names, nodes, read.node_topics)


def _role(wants: bool, publishes: bool) -> str:
    return "both" if wants and publishes else "sub" if wants else "pub"
