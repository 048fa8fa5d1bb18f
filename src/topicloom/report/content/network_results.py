"""Content-based networks and assignments from files, as far as the page shows them.

Loads and costs follow from rates and boxes by the rules of the package `content`; `content_cost_files` has them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.files.columns import Floats, known_names, numbers, require_distinct
from topicloom.files.name_ids import intern_names
from topicloom.files.name_tables import names_column, read_table
from topicloom.report.page.kind import Form, Reading

_TABLES = ("brokers", "access", "core", "rates", "quadratics", "pieces", "subscriptions", "boxes", "space")
NETWORK = Form(
    "network",
    parts=("brokers.parquet", "access.parquet", "core.parquet"),
    own=tuple(f"{name}.parquet" for name in _TABLES),
)
ASSIGNMENT = Form("assignment", columns=("user", "broker"))


@dataclass(frozen=True, eq=False)
class Assigned:
    """The broker of each user by its id, and who chose it."""

    name: str
    brokers: npt.NDArray[np.int64]
    made_by: str


@dataclass(frozen=True, eq=False)
class Network:
    """Users, brokers and their prices, `prices[u, b]` between a user and a broker; and the assignments for it."""

    name: str
    user_names: tuple[str, ...]
    broker_names: tuple[str, ...]
    capacity: Floats
    channels: int
    prices: Floats
    assignments: tuple[Assigned, ...] = ()


def read_networks(reading: Reading) -> list[Network]:
    """Read all networks, and the assignments, each with the network whose users and brokers it names."""
    networks = [replace(network, name=name) for name, network in reading.named(NETWORK, _network)]
    for name, (at, assigned) in reading.named(ASSIGNMENT, partial(_assigned, networks=networks)):
        assignments = (*networks[at].assignments, replace(assigned, name=name))
        networks[at] = replace(networks[at], assignments=assignments)
    return networks


def _network(folder: Path) -> Network:
    file = folder / "brokers.parquet"
    table = read_table(file, ["broker", "capacity"])
    broker_names, ids = intern_names(names_column(table, "broker", str(file)))
    require_distinct(ids, "broker", str(file))
    capacity = np.empty(len(broker_names))
    capacity[ids] = numbers(table, "capacity", str(file))
    user_names, prices = _prices(folder / "access.parquet", broker_names)
    return Network(folder.name, user_names, broker_names, capacity, _channels(folder), prices)


def _prices(file: Path, broker_names: tuple[str, ...]) -> tuple[tuple[str, ...], Floats]:
    """The users and all prices; with a million rows, 10,000 users of 100 brokers, the command took 0.4 GB."""
    where = str(file)
    table = read_table(file, ["user", "broker", "price"])
    if not table.num_rows:
        raise InputError(f"{where}: has no rows; a network needs at least one user and one broker")
    user_names, users = intern_names(names_column(table, "user", where))
    brokers = known_names(table, "broker", broker_names, "broker", where)
    require_distinct(users * len(broker_names) + brokers, "user and broker", where)
    if len(users) < len(user_names) * len(broker_names):
        raise InputError(f"{where}: has no price for some user and broker; every pair needs one")
    prices = np.empty((len(user_names), len(broker_names)))
    prices[users, brokers] = numbers(table, "price", where)
    return user_names, prices


def _channels(folder: Path) -> int:
    """How many channels there are: the cells of the space; without one, all that are named."""
    space = folder / "space.parquet"
    if space.exists():
        return int(numbers(read_table(space, ["cells"]), "cells", str(space), minimum=1).prod())
    named = [folder / f"{name}.parquet" for name in ("rates", "subscriptions")]
    columns = [names_column(read_table(file, ["channel"]), "channel", str(file)) for file in named if file.exists()]
    return len({name for column in columns for name in pc.unique(column).to_pylist()})


def _assigned(path: Path, networks: list[Network]) -> tuple[int, Assigned]:
    """An assignment, and the place of its network."""
    if not networks:
        raise InputError(f"{path}: no network is given; give the folder that this assignment was made for too")
    table = read_table(path, ["user", "broker"])
    at = 0 if len(networks) == 1 else _only_fitting(path, table, networks)
    return at, Assigned(path.name, _brokers(table, networks[at], str(path)), _made_by(table, str(path)))


def _only_fitting(path: Path, table: pa.Table, networks: list[Network]) -> int:
    fitting = [at for at, network in enumerate(networks) if _fits(table, network)]
    if len(fitting) != 1:
        known = ", ".join(networks[at].name for at in fitting or range(len(networks)))
        how = "fits more than one of the networks" if fitting else "fits none of the networks"
        raise InputError(f"{path}: {how} {known}; give it with only the one that it was made for")
    return fitting[0]


def _fits(table: pa.Table, network: Network) -> bool:
    try:
        _brokers(table, network, "")
    except InputError:
        return False
    return True


def _brokers(table: pa.Table, network: Network, where: str) -> npt.NDArray[np.int64]:
    users = known_names(table, "user", network.user_names, "user", where)
    brokers = known_names(table, "broker", network.broker_names, "broker", where)
    require_distinct(users, "user", where)
    if len(users) < len(network.user_names):
        missing = int(np.setdiff1d(np.arange(len(network.user_names)), users)[0])
        raise InputError(f"{where}: no broker for user '{network.user_names[missing]}'; every user needs one")
    assigned = np.empty(len(users), np.int64)
    assigned[users] = brokers
    return assigned


def _made_by(table: pa.Table, where: str) -> str:
    """Who made an assignment, by the metadata of its file; nothing where it does not say."""
    metadata = {key.decode(): value.decode(errors="replace") for key, value in (table.schema.metadata or {}).items()}
    if "algorithm" not in metadata:
        return ""
    try:
        parameters = dict(json.loads(metadata.get("parameters", "{}")))
        seed = json.loads(metadata.get("seed", "null"))
    except (ValueError, TypeError):
        raise InputError(f"{where}: its metadata does not hold an algorithm's parameters and seed") from None
    given = {**parameters, **({} if seed is None else {"seed": seed})}
    told = "".join(
        f", {name} = {value:g}" if isinstance(value, int | float) else f", {name} = {value}"
        for name, value in given.items()
    )
    return f"{metadata['algorithm']}{told} (topicloom {metadata.get('version', 'unknown')})"
