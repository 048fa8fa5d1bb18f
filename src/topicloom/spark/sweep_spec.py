"""Rows of a sweep, from a TOML file that names workloads and designers, and the columns of its results.

A list in the file means all of its values, and several lists all combinations; docs/spark.md has the format. Everything
is checked before any work, and an error names the table and its line. This is not by pydantic: which values go together
only designers and workloads know, and its models would take as many lines as the tables of kinds here.

Results have the same columns for every sweep, so that those of several can be put together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import pyarrow as pa

from topicloom.content import ROUTINGS, find_algorithm
from topicloom.designers import DESIGNERS
from topicloom.errors import InputError
from topicloom.io.settings import read_toml
from topicloom.io.tables import column_names, names_column, read_table
from topicloom.metrics import Measures, PriceMeasures
from topicloom.workloads import synthetic
from topicloom.workloads.content import content_network

T = TypeVar("T")
# Names and values; tuples, as rows are compared.
Values = tuple[tuple[str, str | int | float], ...]
Kinds = Mapping[str, type]
# A table of the file, behind the place that errors begin with.
Place = tuple[str, Mapping[str, Any]]

# What a synthetic workload takes; the order is that of the columns of the results, and of the rows.
SYNTHETIC_KINDS: Kinds = MappingProxyType(
    {
        "nodes": int,
        "topics": int,
        "popularity": str,
        "alpha": float,
        "sizes": str,
        "min_topics": int,
        "max_topics": int,
        "seed": int,
    }
)
_DEFAULTS: Mapping[str, Any] = MappingProxyType({"popularity": "uniform", "alpha": 2.0, "sizes": "fixed"})
_FILE_KINDS: Kinds = MappingProxyType({"file": str, "node_column": str, "topic_column": str, "filters": str})
_NETWORK_KINDS: Kinds = MappingProxyType(
    {
        "users": int,
        "users_per_broker": int,
        "channels": int,
        "access_to_core": float,
        "width": float,
        "prices": str,
        "seed": int,
    }
)
_ALGORITHM_KINDS: Kinds = MappingProxyType({"name": str, "routing": str})
_EXAMPLES = {
    "workload": "nodes = 100",
    "designer": 'name = "gm"',
    "network": "users = 1000",
    "algorithm": 'name = "packing"',
}
# What a column of whole numbers can hold.
_LARGEST = 2**63 - 1
_KIND_NAMES = {int: "a whole number", float: "a number", str: "text in quotes", bool: "true or false"}


@dataclass(frozen=True)
class Workload:
    """Source of an interest: drawn with `synthetic` parameters, or read from a file or folder."""

    name: str
    synthetic: Values | None = None
    file: str | None = None
    path: Path | None = None
    node_column: str = "node"
    topic_column: str = "topic"
    filters: str | None = None


@dataclass(frozen=True)
class SweepRow:
    """One run of a designer: a row of the results. The seed is None for designers that draw nothing."""

    workload: Workload
    designer: str
    parameters: Values
    seed: int | None
    diameters: bool


@dataclass(frozen=True)
class NetworkRow:
    """One run of an algorithm on a generated content-based network: a row of the results."""

    network: Values
    algorithm: str
    routing: str


@dataclass(frozen=True)
class Spec:
    """A sweep as its file describes it: the rows of its results in order, of overlays or of networks."""

    path: Path
    rows: tuple[SweepRow, ...]
    networks: tuple[NetworkRow, ...] = ()


def read_spec(path: Path) -> Spec:
    """Read and check a file that describes a sweep."""
    text, content = read_toml(path)
    of_networks = "network" in content
    kinds = ("network", "algorithm") if of_networks else ("workload", "designer")
    with _at(f"{path}: "):
        _require_known(content, (*kinds, "seed") if of_networks else (*kinds, "seed", "diameters"))
        seeds = _values("seed", content.get("seed", 1 if of_networks else 0), int)
        diameters = content.get("diameters", True)
        if not isinstance(diameters, bool):
            raise InputError(f"diameters is {_shown(diameters)}; give true or false")
        made_on, made_by = (_tables(path, text, content, kind) for kind in kinds)
    if of_networks:
        return Spec(path, (), tuple(_network_rows(made_on, made_by, seeds)))
    # One seed is one repetition: it draws the workload and feeds the designer, where these have none of their own.
    runs = {seed: list(_each(made_by, partial(_designs, seed=seed))) for seed in seeds}
    drawn = _each(made_on, partial(_workloads, seeds=seeds, folder=path.parent))
    # Equal rows, those of a seed that draws nothing, are one.
    rows = dict.fromkeys(SweepRow(workload, *run, diameters) for seed, workload in drawn for run in runs[seed])
    return Spec(path, tuple(rows))


@contextmanager
def _at(where: str) -> Iterator[None]:
    """Begin errors with a place."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}{error}") from None


def _each(tables: Sequence[Place], made: Callable[[Mapping[str, Any]], Iterator[T]]) -> Iterator[T]:
    """Results of a function for each table."""
    for where, table in tables:
        with _at(where):
            found = list(made(table))
        yield from found


def _tables(path: Path, text: str, content: Mapping[str, Any], kind: str) -> list[Place]:
    """The tables of a kind, which are [[kind]] in the text."""
    tables = content.get(kind, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InputError(f"{kind} is no list of tables; begin each with a line [[{kind}]]")
    if not tables:
        raise InputError(f"has no {kind}; add a table that begins with [[{kind}]], for instance {_EXAMPLES[kind]}")
    begins = re.compile(rf"\s*\[\[\s*{kind}\s*\]\]")
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if begins.match(line)]
    places = [f" (line {line})" for line in lines] if len(lines) == len(tables) else [""] * len(tables)
    return [
        (f"{path}: {kind} {at + 1}{place}: ", table)
        for at, (place, table) in enumerate(zip(places, tables, strict=True))
    ]


def _expanded(
    table: Mapping[str, Any], kinds: Kinds, needed: Sequence[str], has: str, *, known: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """All combinations of the values in a table, whose keys must be known; `has` names those that are needed."""
    _require_known(table, tuple(known) or tuple(kinds))
    for key in needed:
        if key not in table:
            raise InputError(f"{key} is missing; {has}")
    return combinations({key: _values(key, table[key], kind) for key, kind in kinds.items() if key in table})


def _workloads(table: Mapping[str, Any], seeds: Sequence[int], folder: Path) -> Iterator[tuple[int, Workload]]:
    """All workloads of one table, each with the seed of its repetition."""
    name = table.get("name")
    if name is not None and (not isinstance(name, str) or not name):
        raise InputError(f"name is {_shown(name)}; give {_KIND_NAMES[str]}")
    if "file" in table:
        for given in _expanded(table, _FILE_KINDS, (), "", known=("name", *_FILE_KINDS)):
            file = given.pop("file")
            path = folder / file
            if not path.exists():
                raise InputError(f"file '{file}': there is no {path}")
            yield from ((seed, Workload(name or file, file=file, path=path, **given)) for seed in seeds)
        return
    has = "a workload has nodes, topics and min_topics, or file"
    known = ("name", *SYNTHETIC_KINDS, "file")
    for given in _expanded(table, SYNTHETIC_KINDS, ("nodes", "topics", "min_topics"), has, known=known):
        for seed in seeds:
            yield seed, Workload(name or "synthetic", synthetic=_checked_synthetic({"seed": seed, **given}))


def _checked_synthetic(given: dict[str, Any]) -> Values:
    """Parameters of a synthetic workload in order, defaults filled in; what no workload can have is an error."""
    values = {**_DEFAULTS, **given}
    # One node shows whether the parameters go together.
    synthetic(**{**values, "nodes": min(values["nodes"], 1)})
    if values["popularity"] != "zipf":
        del values["alpha"]
    return tuple((key, values[key]) for key in SYNTHETIC_KINDS if key in values)


def _designs(table: Mapping[str, Any], seed: int) -> Iterator[tuple[str, Values, int | None]]:
    """All runs of one table of designers: the name, the parameters and the seed."""
    if "name" not in table:
        raise InputError("name is missing; give one of those that `topicloom designers` lists")
    seeds = _values("seed", table.get("seed", seed), int)
    names = _values("name", table["name"], str)
    # A whole number may be written as 3.0: designers check that themselves.
    kinds = {p.name: float if p.kind is int else p.kind for name in names for p in DESIGNERS.find(name).accepts}
    given = {key: kinds.get(key, float) for key in table if key not in ("name", "seed")}
    for name in names:
        designer = DESIGNERS.find(name)
        for parameters in _expanded(table, given, (), "", known=tuple(table)):
            checked = tuple(designer.checked(parameters).items())
            yield from ((name, checked, own if designer.random else None) for own in seeds)


def _network_rows(networks: Sequence[Place], algorithms: Sequence[Place], seeds: Sequence[int]) -> Iterator[NetworkRow]:
    """All rows of the results, by the size of the networks."""
    drawn = list(_each(networks, partial(_networks, seeds=seeds)))
    named = list(_each(algorithms, _algorithms))
    order = ("users", "brokers", "access_to_core", "seed")
    for network in sorted(drawn, key=lambda network: [dict(network)[name] for name in order]):
        yield from (NetworkRow(network, *algorithm) for algorithm in named)


def _networks(table: Mapping[str, Any], seeds: Sequence[int]) -> Iterator[Values]:
    """All content-based networks of one table; what no network can have is an error."""
    needed = ("users", "users_per_broker", "channels")
    filled = {"access_to_core": 1.0, "prices": "plane", "seed": list(seeds), **table}
    for given in _expanded(filled, _NETWORK_KINDS, needed, "a network has users, users_per_broker and channels"):
        each = given.pop("users_per_broker")
        if each < 1:
            raise InputError(f"users_per_broker is {each}; give a whole number of at least 1")
        network = {"users": given["users"], "brokers": max(1, given["users"] // each), "width": None, **given}
        # A tiny one shows whether the parameters go together.
        content_network(**{**network, "users": min(network["users"], 1), "brokers": 1})
        yield tuple(network.items())


def _algorithms(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """All algorithms of one table with the routings by which they are priced."""
    for given in _expanded(
        {"routing": "shared", **table}, _ALGORITHM_KINDS, ("name",), "give an algorithm, such as packing"
    ):
        find_algorithm(given["name"])
        if given["routing"] not in ROUTINGS:
            raise InputError(f"routing '{given['routing']}' is unknown; known are {', '.join(ROUTINGS)}")
        yield given["name"], given["routing"]


def combinations(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """All combinations of values by their names; a list means all of its values."""
    lists = [value if isinstance(value, list) else [value] for value in values.values()]
    return (dict(zip(values, chosen, strict=True)) for chosen in product(*lists))


def require_64_bits(name: str, number: float) -> None:
    """Refuse a whole number that no column of a table holds, which otherwise fails after all cells have run."""
    if isinstance(number, int) and abs(number) > _LARGEST:
        raise InputError(f"{name} is {number}; give a whole number of at most {_LARGEST}", name)


def _values(key: str, value: Any, kind: type) -> list[Any]:
    """A value, or a list of them, as a list; an error where one is not of its kind."""
    values: list[Any] = value if isinstance(value, list) else [value]
    if not values:
        raise InputError(f"{key} is an empty list; give at least one value")
    allowed: tuple[Any, ...] = (int, float) if kind is float else (kind,)
    for one in values:
        if isinstance(one, bool) != (kind is bool) or not isinstance(one, allowed):
            raise InputError(f"{key} is {_shown(one)}; give {_KIND_NAMES[kind]}, or a list of such")
        require_64_bits(key, one)
        if key == "seed" and one < 0:
            raise InputError(f"seed is {one}; give a whole number, 0 or more")
    return values


def _require_known(table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"unknown key '{key}'; known are {', '.join(known)}")


def _shown(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)


RESULTS = "results.parquet"
# How the columns begin that tell the settings of workloads and of designers.
WORKLOAD, PARAMETER = "workload_", "parameter_"

_TYPES: dict[Any, pa.DataType] = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bool: pa.bool_(),
    # Annotations of Measures are text.
    "int": pa.int64(),
    "int | None": pa.int64(),
    "float": pa.float64(),
    "float | None": pa.float64(),
    "bool": pa.bool_(),
}


def _columns() -> Iterator[tuple[str, pa.DataType]]:
    yield "workload", pa.string()
    yield "workload_file", pa.string()
    yield from ((f"{WORKLOAD}{key}", _TYPES[kind]) for key, kind in SYNTHETIC_KINDS.items())
    yield "designer", pa.string()
    parameters = {p.name: p.kind for designer in DESIGNERS.values() for p in designer.parameters}
    yield from ((f"{PARAMETER}{name}", _TYPES[kind]) for name, kind in (parameters | {"budget_ratio": float}).items())
    yield "seed", pa.int64()
    yield from ((field.name, _TYPES[field.type]) for field in fields(Measures))
    yield from ((field.name, _TYPES[field.type]) for field in fields(PriceMeasures))
    yield "seconds", pa.float64()
    yield "error", pa.string()


SCHEMA = pa.schema(list(_columns()))


NETWORK_SCHEMA = pa.schema(
    [
        *((name, pa.int64()) for name in ("users", "brokers", "channels", "attributes")),
        ("width", pa.float64()),
        ("prices", pa.string()),
        ("access_to_core", pa.float64()),
        ("seed", pa.int64()),
        *((name, pa.string()) for name in ("algorithm", "routing")),
        *((name, pa.float64()) for name in ("total", "access", "core", "cost_reduction_ratio")),
        *((name, pa.float64()) for name in ("seconds", "processor_seconds")),
        ("error", pa.string()),
    ]
)


def described(row: SweepRow | NetworkRow) -> dict[str, Any]:
    """Columns of a row before its measures."""
    if isinstance(row, NetworkRow):
        return {"attributes": 1, **dict(row.network), "algorithm": row.algorithm, "routing": row.routing}
    return {
        "workload": row.workload.name,
        "workload_file": row.workload.file,
        **{f"{WORKLOAD}{key}": value for key, value in row.workload.synthetic or ()},
        "designer": row.designer,
        **{f"{PARAMETER}{name}": value for name, value in row.parameters},
        "seed": row.seed,
    }


def read_sweep_table(path: Path, measures: Sequence[str]) -> pa.Table:
    """Read results of sweeps from a file or folder: `workload`, `designer`, their settings, measures and `error`.

    A setting that does not apply is null, and so are the measures of a cell with an error.
    """
    file = path / RESULTS if (path / RESULTS).exists() else path
    if file.is_dir():
        # As Spark writes it.
        file = next(iter(sorted(file.glob("*.parquet"))), file)
    settings = [name for name in column_names(file) if name.startswith((WORKLOAD, PARAMETER))]
    table = read_table(file, ("workload", "designer", *measures, "error"), optional=settings)
    for column in ("workload", "designer"):
        names_column(table, column, str(file))
    for column in (*settings, "error"):
        kind = table.schema.field(column).type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise InputError(f"column '{column}' holds {kind}, not numbers or text", file=file)
    return table
