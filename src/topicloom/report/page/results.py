"""What is in the files, read and measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from topicloom.errors import InputError
from topicloom.model import Overlay
from topicloom.report.content.cost_section import Costs
from topicloom.report.content.network_results import ShownNetwork
from topicloom.report.content.trees_section import Trees
from topicloom.report.overlays.fleet_results import ShownFleet
from topicloom.report.overlays.plan_section import ShownPlan
from topicloom.report.overlays.topics_section import Topics
from topicloom.report.page.kind import Aside, Found, Reading
from topicloom.report.page.kinds import KINDS
from topicloom.report.runs.profile_section import ShownProfile
from topicloom.report.runs.reproduction_section import Reproduction
from topicloom.report.runs.sweep_results import ShownSweep
from topicloom.report.runs.trace_section import Trace


@dataclass(frozen=True)
class Results:
    """All that a page shows: a field for each kind, by its name."""

    reproductions: tuple[Reproduction, ...]
    fleets: tuple[ShownFleet, ...]
    plans: tuple[ShownPlan, ...]
    profiles: tuple[ShownProfile, ...]
    topics: tuple[Topics, ...]
    traces: tuple[Trace, ...]
    sweeps: tuple[ShownSweep, ...]
    networks: tuple[ShownNetwork, ...]
    costs: tuple[Costs, ...]
    trees: tuple[Trees, ...]
    aside: tuple[Aside, ...]


def nothing_read() -> Results:
    """No results, where only what is made meanwhile is looked at."""
    return Results(**{kind.name: () for kind in KINDS}, aside=())


def read_results(
    found: Found,
    *,
    node_column: str = "node",
    topic_column: str = "topic",
    role_column: str = "role",
    filters: str | None = None,
    diameters: bool = True,
    costs: Callable[[Overlay], Mapping[str, float | None]] = lambda overlay: {},
) -> Results:
    """Read all files and measure the overlays, each against the subscriptions that it was designed for.

    A file that was given by name must be usable; one that was found in a folder is put aside where it is not. `costs`
    gives what an overlay costs, by what `metrics.COSTS` lists.
    """
    reading = Reading(found, list(found.aside), node_column, topic_column, diameters, role_column, filters, costs)
    read: dict[str, Any] = {kind.name: tuple(kind.read(reading)) for kind in KINDS}
    if not any(read.values()):
        first = reading.aside[0]
        raise InputError(f"{first.path}: {first.reason}")
    return Results(**read, aside=tuple(reading.aside))
