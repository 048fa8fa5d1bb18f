"""What is looked at: fleets with their overlays, plans, traces and papers, from files and made meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from topicloom.deploy.planning.fleet_file import Fleet
from topicloom.designers import design
from topicloom.errors import InputError
from topicloom.model import Constraints, Interest, Overlay, Prices
from topicloom.report.networks.overlay_drawing import Point, SeenOverlay
from topicloom.report.networks.planned_overlay import seen_plan
from topicloom.report.page.kind import Found
from topicloom.report.page.results import Results

# Beyond so many nodes the first look is at a backbone, which takes seconds for a million.
_GREEDY = 20_000


@dataclass(frozen=True, eq=False)
class Wanted:
    """Subscriptions that overlays are for; `file` is where they are, as a command would name it."""

    name: str
    interest: Interest
    file: str


@dataclass(frozen=True, eq=False)
class NamedOverlay:
    """An overlay by the name that it is shown under. `wanted` is None where it is that of a plan."""

    name: str
    seen: SeenOverlay
    wanted: Wanted | None
    file: str | None = None


@dataclass(eq=False)
class Explored:
    """All that can be looked at. Overlays are known by their numbers, which never change; more may be added."""

    results: Results
    fleet: Fleet | None = None
    fleet_text: str | None = None
    prices: Prices | None = None
    located: Mapping[str, Point] | None = None
    wanted: list[Wanted] = field(default_factory=list)
    overlays: list[NamedOverlay] = field(default_factory=list)

    @property
    def constraints(self) -> Constraints | None:
        """Which links the fleet allows, where one is given."""
        return None if self.fleet is None else self.fleet.constraints

    def overlay(self, number: int) -> NamedOverlay:
        """An overlay by its number."""
        if not 0 <= number < len(self.overlays):
            raise InputError(f"there is no overlay {number}")
        return self.overlays[number]

    def add(self, name: str, overlay: Overlay, wanted: Wanted | None, file: str | None = None) -> int:
        """Take in an overlay and give its number; one that is there under that name stays."""
        for number, each in enumerate(self.overlays):
            if each.name == name and each.wanted is wanted:
                return number
        self.overlays.append(NamedOverlay(name, self.seen(overlay), wanted, file))
        return len(self.overlays) - 1

    def seen(self, overlay: Overlay) -> SeenOverlay:
        """An overlay with what the fleet and the places tell of its nodes."""
        located = (
            self.located if self.located and not self.located.keys().isdisjoint(overlay.interest.node_names) else None
        )
        return SeenOverlay(overlay, self._regions(overlay.interest), located)

    def _regions(self, interest: Interest) -> Mapping[str, str] | None:
        if self.fleet is None:
            return None
        rules = {name: self.fleet.constraints.rule(name).region for name in interest.node_names}
        known = {name: region for name, region in rules.items() if region is not None}
        return known or None


def collect(
    results: Results,
    found: Found,
    *,
    fleet: Fleet | None = None,
    fleet_text: str | None = None,
    prices: Prices | None = None,
    located: Mapping[str, Point] | None = None,
) -> Explored:
    """Put together what was read. Subscriptions without an overlay get one, so that there is something to look at."""
    made = Explored(results, fleet, fleet_text, prices, located)
    paths = [path for group in found.paths.values() for path in group]
    for shown in results.fleets:
        wanted = Wanted(shown.name, shown.interest, _path(shown.name, paths))
        made.wanted.append(wanted)
        for each in shown.designs:
            made.add(each.name, each.overlay, wanted, _path(each.file, paths))
        if not shown.designs:
            usual = usual_designer(shown.interest)
            made.add(f"{usual}, designed now", design(shown.interest, usual), wanted)
    for plan in results.plans:
        made.overlays.append(NamedOverlay(plan.name, seen_plan(plan.plan), None, _path(plan.name, paths)))
    return made


def usual_designer(interest: Interest) -> str:
    """Who designs where nobody says."""
    return "gm" if interest.node_count <= _GREEDY else "backbone"


def _path(name: str, paths: list[Path]) -> str:
    """The file of that name, as it was given."""
    return next((str(path) for path in paths if path.name == name or str(path) == name), name)
