"""Plans for tests, from seeded interests."""

from __future__ import annotations

from collections.abc import Iterable

from topicloom import Interest, Overlay, design
from topicloom.brokers import Fleet, Plan, make_plan
from topicloom.brokers.fleet_file import fleet_from_tables


def fleet_of(names: Iterable[str], **tables: object) -> Fleet:
    """A fleet with a host for each name."""
    return fleet_from_tables({"brokers": {name: {"host": f"host{i}"} for i, name in enumerate(names)}, **tables})


def plan_of(interest: Interest, algorithm: str = "gm", *, target: str = "mosquitto", **parameters: int) -> Plan:
    """A plan over the overlay of a designer; relays are allowed."""
    overlay = design(interest, algorithm, **parameters)
    return make_plan(interest, overlay, fleet_of(interest.node_names), target=target, relays=True)


def plan_over(pairs: Iterable[tuple[str, str]], links: Iterable[tuple[str, str]], *, relays: bool = False) -> Plan:
    """A plan over given links."""
    interest = Interest.from_pairs(pairs)
    return make_plan(interest, Overlay.from_links(interest, links), fleet_of(interest.node_names), relays=relays)
