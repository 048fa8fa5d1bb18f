"""Fleets from files: subscriptions, and the overlays over them, measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from topicloom.files.ingest_folder import TABLES
from topicloom.metrics import Bounds, Measures, TopicMeasures, bound, summarise, support_curve, topic_measures
from topicloom.model import InputError, Interest, Overlay
from topicloom.model.overlay import part_name, read_fingerprint
from topicloom.report.page.kind import Form, Reading, unused

# The names of the two columns are the reader's choice.
SUBSCRIPTIONS = Form("subscriptions", columns=("node", "topic"), parts=TABLES)
OVERLAY = Form("overlay", columns=("source", "target"), parts=(part_name(0),))


@dataclass(frozen=True, eq=False)
class Design:
    """An overlay, how good it is, and the support after each of its links."""

    name: str
    file: str
    overlay: Overlay
    topics: TopicMeasures
    measures: Measures
    curve: npt.NDArray[np.float64]
    costs: Mapping[str, float | None]


@dataclass(frozen=True, eq=False)
class ShownFleet:
    """Subscriptions, and the overlays over them."""

    name: str
    interest: Interest
    designs: tuple[Design, ...] = ()

    @cached_property
    def bounds(self) -> Bounds:
        """What no topic-connected overlay of the subscriptions is below."""
        return bound(self.interest)


def read_fleets(reading: Reading) -> list[ShownFleet]:
    """Read subscriptions, and measure each overlay against those that it was designed for."""
    fleets: dict[str, ShownFleet] = {}
    read_interest = partial(
        Interest.read,
        node_column=reading.node_column,
        topic_column=reading.topic_column,
        role_column=reading.role_column,
        filters=reading.filters,
    )
    for path, interest in reading.each(SUBSCRIPTIONS, read_interest):
        if interest.fingerprint in fleets:
            reading.leave(path, f"holds the same subscriptions as {fleets[interest.fingerprint].name}")
        else:
            name = unused(path, path.name, [fleet.name for fleet in fleets.values()])
            fleets[interest.fingerprint] = ShownFleet(name, interest)
    for _, design in reading.each(OVERLAY, partial(_design, fleets=fleets, reading=reading)):
        key = design.overlay.interest.fingerprint
        fleets[key] = replace(fleets[key], designs=(*fleets[key].designs, design))
    return list(fleets.values())


def _design(path: Path, fleets: dict[str, ShownFleet], reading: Reading) -> Design:
    fleet = _fleet_of(path, fleets)
    overlay = Overlay.read(path, fleet.interest)
    topics = topic_measures(fleet.interest, overlay, diameters=reading.diameters)
    return Design(
        name=unused(path, path.name.split(".")[0], [design.name for design in fleet.designs]),
        file=path.name,
        overlay=overlay,
        topics=topics,
        measures=summarise(topics, overlay.degrees),
        curve=support_curve(fleet.interest, overlay),
        costs=reading.costs(overlay),
    )


def _fleet_of(path: Path, fleets: dict[str, ShownFleet]) -> ShownFleet:
    """The fleet that an overlay is for: by its fingerprint; without one, the only one there is."""
    wanted = read_fingerprint(path)
    if wanted in fleets:
        return fleets[wanted]
    if not fleets:
        raise InputError(f"{path}: no subscriptions are given; give those that this overlay was designed for too")
    if wanted is not None:
        known = ", ".join(fleet.name for fleet in fleets.values())
        raise InputError(f"{path}: was designed for other subscriptions than {known}; give those too")
    if len(fleets) > 1:
        raise InputError(f"{path}: does not say which subscriptions it is for; give it with only one such file")
    return next(iter(fleets.values()))
