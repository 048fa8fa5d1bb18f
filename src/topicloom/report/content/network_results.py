"""Content-based networks and the assignments for them, from files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from topicloom.content.assignment import ASSIGNMENT_COLUMNS, Assigned, read_assigned
from topicloom.content.network.network_folder import NetworkOutline, read_outline
from topicloom.content.network.network_tables import TABLES
from topicloom.errors import InputError
from topicloom.model.provenance import Provenance
from topicloom.report.page.kind import Form, Reading

NETWORK = Form("network", parts=TABLES[:3], own=TABLES)
ASSIGNMENT = Form("assignment", columns=ASSIGNMENT_COLUMNS)


@dataclass(frozen=True, eq=False)
class ShownNetwork:
    """A network in a folder, and by name its assignments; `has_costs` where files of `content cost` are given too."""

    name: str
    folder: Path
    outline: NetworkOutline
    assignments: Mapping[str, Assigned]
    has_costs: bool = False


def read_networks(reading: Reading) -> list[ShownNetwork]:
    """Read all networks, and the assignments, each with the network whose users and brokers it names."""
    has_costs = bool(reading.found.paths.get("cost"))
    networks = [
        ShownNetwork(name, folder, outline, {}, has_costs)
        for name, (folder, outline) in reading.named(NETWORK, lambda path: (path, read_outline(path)))
    ]
    for name, (at, assigned) in reading.named(ASSIGNMENT, partial(_assigned, networks=networks)):
        networks[at] = replace(networks[at], assignments={**networks[at].assignments, name: assigned})
    return networks


def made_by(provenance: Provenance | None) -> str:
    """Who made an assignment; nothing where that is not known."""
    if provenance is None:
        return ""
    given = {**provenance.parameters, **({} if provenance.seed is None else {"seed": provenance.seed})}
    told = "".join(
        f", {name} = {value:g}" if isinstance(value, int | float) else f", {name} = {value}"
        for name, value in given.items()
    )
    return f"{provenance.algorithm}{told} (topicloom {provenance.version})"


def _assigned(path: Path, networks: list[ShownNetwork]) -> tuple[int, Assigned]:
    """An assignment, and the place of its network: the only one, or the only one that it fits."""
    if not networks:
        raise InputError(f"{path}: no network is given; give the folder that this assignment was made for too")
    if len(networks) == 1:
        return 0, _read(path, networks[0])
    fitting: dict[int, Assigned] = {}
    for at, network in enumerate(networks):
        try:
            fitting[at] = _read(path, network)
        except InputError:
            continue
    if len(fitting) != 1:
        known = ", ".join(networks[at].name for at in fitting or range(len(networks)))
        how = "fits more than one of the networks" if fitting else "fits none of the networks"
        raise InputError(f"{path}: {how} {known}; give it with only the one that it was made for")
    return next(iter(fitting.items()))


def _read(path: Path, network: ShownNetwork) -> Assigned:
    return read_assigned(path, network.outline.user_names, network.outline.broker_names)
