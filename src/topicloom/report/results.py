"""What is in the files, read and measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.metrics import Measures, TopicMeasures, summarise, support_curve, topic_measures
from topicloom.model import InputError, Interest, Overlay
from topicloom.model.overlay import read_fingerprint
from topicloom.model.tables import read_table
from topicloom.report.files import OVERLAY, SUBSCRIPTIONS, TRACE, TRACE_COLUMNS, Aside, Found

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Design:
    """An overlay, how good it is, and the support after each of its links."""

    name: str
    file: str
    overlay: Overlay
    topics: TopicMeasures
    measures: Measures
    curve: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fleet:
    """Subscriptions, and the overlays over them."""

    name: str
    interest: Interest
    designs: tuple[Design, ...] = ()


@dataclass(frozen=True, eq=False)
class Trace:
    """What events did to an overlay, one a row."""

    name: str
    table: pa.Table


@dataclass(frozen=True)
class Results:
    """All that a page shows."""

    fleets: tuple[Fleet, ...]
    traces: tuple[Trace, ...]
    aside: tuple[Aside, ...]


def read_results(
    found: Found, *, node_column: str = "node", topic_column: str = "topic", diameters: bool = True
) -> Results:
    """Read all files and measure the overlays, each against the subscriptions that it was designed for.

    A file that was given by name must be usable; one that was found in a folder is put aside where it is not.
    """
    aside = list(found.aside)

    def attempt(read: Callable[[Path], T], path: Path) -> T | None:
        try:
            return read(path)
        except InputError as error:
            if path in found.named:
                raise
            aside.append(Aside(path, str(error).removeprefix(f"{path}: ")))
            return None

    fleets: dict[str, Fleet] = {}
    read_interest = partial(Interest.read, node_column=node_column, topic_column=topic_column)
    for path in found.paths[SUBSCRIPTIONS]:
        interest = attempt(read_interest, path)
        if interest is not None and interest.fingerprint in fleets:
            aside.append(Aside(path, f"holds the same subscriptions as {fleets[interest.fingerprint].name}"))
        elif interest is not None:
            name = _unused(path, path.name, [fleet.name for fleet in fleets.values()])
            fleets[interest.fingerprint] = Fleet(name, interest)
    for path in found.paths[OVERLAY]:
        design = attempt(partial(_design, fleets=fleets, diameters=diameters), path)
        if design is not None:
            key = design.overlay.interest.fingerprint
            fleets[key] = replace(fleets[key], designs=(*fleets[key].designs, design))
    traces: list[Trace] = []
    for path in found.paths[TRACE]:
        table = attempt(_trace, path)
        if table is not None:
            traces.append(Trace(_unused(path, path.name, [trace.name for trace in traces]), table))
    if not fleets and not traces:
        raise InputError(f"{aside[0].path}: {aside[0].reason}")
    return Results(tuple(fleets.values()), tuple(traces), tuple(aside))


def _unused(path: Path, name: str, taken: Sequence[str]) -> str:
    """The name, or the whole path where another file has it."""
    return str(path) if name in taken else name


def _design(path: Path, fleets: dict[str, Fleet], *, diameters: bool) -> Design:
    fleet = _fleet_of(path, fleets)
    overlay = Overlay.read(path, fleet.interest)
    topics = topic_measures(fleet.interest, overlay, diameters=diameters)
    return Design(
        name=_unused(path, path.name.split(".")[0], [design.name for design in fleet.designs]),
        file=path.name,
        overlay=overlay,
        topics=topics,
        measures=summarise(topics, overlay.degrees),
        curve=support_curve(fleet.interest, overlay),
    )


def _fleet_of(path: Path, fleets: dict[str, Fleet]) -> Fleet:
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


def _trace(path: Path) -> pa.Table:
    table = read_table(path, TRACE_COLUMNS)
    for name in TRACE_COLUMNS:
        kind = table.schema.field(name).type
        if name not in ("kind", "node", "error") and not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise InputError(f"{path}: column '{name}' holds {kind}, not numbers; give a trace as 'maintain' wrote it")
        if name != "error" and table[name].null_count:
            raise InputError(f"{path}: column '{name}' holds nulls; give a trace as 'maintain' wrote it")
    return table
