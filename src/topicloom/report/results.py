"""What is in the files, read and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from topicloom.model.errors import InputError
from topicloom.report.content_cost_files import Costs
from topicloom.report.content_network_files import Network
from topicloom.report.content_trees import Trees
from topicloom.report.fleet_files import Fleet
from topicloom.report.kind import Aside, Found, Reading
from topicloom.report.kinds import KINDS
from topicloom.report.profile import Profile
from topicloom.report.reproduction_files import Reproduction
from topicloom.report.sweep_file import Sweep
from topicloom.report.topics import Topics
from topicloom.report.trace_file import Trace


@dataclass(frozen=True)
class Results:
    """All that a page shows: a field for each kind, by its name."""

    reproductions: tuple[Reproduction, ...]
    fleets: tuple[Fleet, ...]
    profiles: tuple[Profile, ...]
    topics: tuple[Topics, ...]
    traces: tuple[Trace, ...]
    sweeps: tuple[Sweep, ...]
    networks: tuple[Network, ...]
    costs: tuple[Costs, ...]
    trees: tuple[Trees, ...]
    aside: tuple[Aside, ...]


def read_results(
    found: Found, *, node_column: str = "node", topic_column: str = "topic", diameters: bool = True
) -> Results:
    """Read all files and measure the overlays, each against the subscriptions that it was designed for.

    A file that was given by name must be usable; one that was found in a folder is put aside where it is not.
    """
    reading = Reading(found, list(found.aside), node_column, topic_column, diameters)
    read: dict[str, Any] = {kind.name: tuple(kind.read(reading)) for kind in KINDS}
    if not any(read.values()):
        first = reading.aside[0]
        raise InputError(f"{first.path}: {first.reason}")
    return Results(**read, aside=tuple(reading.aside))
