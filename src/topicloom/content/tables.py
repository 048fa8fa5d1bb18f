"""Folders of tables that describe a content-based network.

The tables that a network is made of.

The table of access prices, the large one: read and written a part at a time.

A network as it is described: densities and boxes in a space, and prices; made into a network, or into its folder.

Networks as folders of Parquet tables that anybody can write; docs/content.md describes them.

- `brokers`: broker, capacity. `access`: user, broker, price. `core`: broker, other, price.
- What users publish: `rates` (user, channel, rate); or `quadratics` and `pieces`, densities over a space.
- What they subscribe to: `subscriptions` (user, channel); or `boxes`, in a space.
- `space`: attribute, low, high, cells; needed with densities and boxes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from topicloom.content.network import Floats, Network, Numbers, SparseRows, closed, require_metric, rows_of, users_of
from topicloom.content.space import Attribute, Space, box_cells, piece_rates, quadratic_rates
from topicloom.errors import InputError
from topicloom.io.tables import (
    distinct_names,
    known_names,
    names_column,
    numbers,
    open_parquet,
    parquet_writer,
    read_table,
    require_columns,
    require_distinct,
    whole_numbers,
    write_parquet,
)

# All that a network may have; docs/content.md says which it needs.
TABLES = tuple(
    f"{name}.parquet"
    for name in ("brokers", "access", "core", "rates", "quadratics", "pieces", "subscriptions", "boxes", "space")
)


def require_part(file: Path) -> None:
    """Refuse a network that lacks a table."""
    if not file.exists():
        raise InputError(f"{file.parent}: has no {file.name}; docs/content.md lists the tables of a network")


def read_part(file: Path, columns: Sequence[str]) -> pa.Table:
    """The named columns of one table."""
    require_part(file)
    return read_table(file, columns)


_COLUMNS = ["user", "broker", "price"]
_ROWS = 1 << 20


def read_access(file: Path, broker_names: tuple[str, ...]) -> tuple[tuple[str, ...], Floats]:
    """The users, and the price of each of them to each broker; besides that no more than a million rows in memory."""
    require_part(file)
    try:
        require_columns(pyarrow.parquet.read_schema(file).names, _COLUMNS, str(file))
        opened = open_parquet(file, read_dictionary=["user", "broker"])
        return _read(opened, str(file), broker_names)
    except KeyError:
        raise InputError(f"{file}: columns 'user' and 'broker' must hold names (strings)") from None
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: cannot be read ({' '.join(str(error).split())})") from None


def _read(
    opened: pyarrow.parquet.ParquetFile, where: str, broker_names: tuple[str, ...]
) -> tuple[tuple[str, ...], Floats]:
    found: set[str] = set()
    row_offset = 0
    for batch in opened.iter_batches(_ROWS, columns=["user"]):
        found.update(pc.unique(names_column(pa.table(batch), "user", where, row_offset=row_offset)).to_pylist())
        row_offset += batch.num_rows
    user_names = tuple(sorted(found))
    if not user_names:
        raise InputError(f"{where}: has no rows; a network needs at least one user and one broker")
    prices = np.full((len(user_names), len(broker_names)), np.nan)
    keys = []
    row_offset = 0
    for batch in opened.iter_batches(_ROWS, columns=_COLUMNS):
        table = pa.table(batch)
        price = numbers(table, "price", where, row_offset=row_offset, allow_infinity=True)
        users = known_names(table, "user", user_names, "user", where, row_offset=row_offset)
        brokers = known_names(table, "broker", broker_names, "broker", where, row_offset=row_offset)
        prices[users, brokers] = price
        row_offset += len(price)
        if row_offset <= _ROWS:  # enough to say which row is one too many, in tables that people write
            keys.append(users * len(broker_names) + brokers)
    missing = np.isnan(prices)
    if missing.any():
        user, broker = np.unravel_index(int(missing.argmax()), missing.shape)
        raise InputError(
            f"{where}: no price for user '{user_names[user]}' and broker '{broker_names[broker]}'; "
            "every user needs one for every broker, inf where it does not know it"
        )
    alone = np.isinf(prices).all(axis=1)
    if alone.any():
        raise InputError(f"{where}: user '{user_names[int(alone.argmax())]}' knows no broker; give it a price for one")
    if row_offset > prices.size:
        require_distinct(np.concatenate(keys), "user and broker", where)
        raise InputError(
            f"{where}: has {row_offset:,} rows for {prices.size:,} pairs of a user and a broker; some are repeated"
        )
    return user_names, prices


def write_access(file: Path, user_names: tuple[str, ...], broker_names: tuple[str, ...], prices: Floats) -> None:
    """Write a row for each pair of a user and a broker."""
    users, brokers = pa.array(user_names, pa.string()), pa.array(broker_names, pa.string())
    schema = pa.schema([("user", pa.string()), ("broker", pa.string()), ("price", pa.float64())])
    at_once = max(1, _ROWS // len(broker_names))
    with parquet_writer(file, schema, use_dictionary=["user", "broker"]) as writer:
        for begin in range(0, len(user_names), at_once):
            part = prices[begin : begin + at_once]
            rows = np.indices(part.shape).reshape(2, -1)
            columns = [users.take(pa.array(rows[0] + begin)), brokers.take(pa.array(rows[1])), pa.array(part.ravel())]
            writer.write_table(pa.table(columns, schema=schema))


@dataclass(frozen=True, eq=False)
class Drawn:
    """One quadratic density and one box for each user; all brokers have the same capacity.

    `coefficients` has shape (users, attributes, 3), `lows` and `highs` (users, attributes). Capacities sum to the
    users' demand times `capacity_to_demand`.
    """

    space: Space
    coefficients: Floats
    lows: Floats
    highs: Floats
    access: Floats
    core: Floats
    capacity_to_demand: float

    @cached_property
    def network(self) -> Network:
        """The network that this describes."""
        users, brokers = self.access.shape
        everybody = np.arange(users)
        rates = quadratic_rates(self.space, users, everybody, self.coefficients)
        wants = box_cells(self.space, users, everybody, self.lows, self.highs)
        names = (_names("u", users), _names("b", brokers), self.space.channel_names)
        unlimited = Network(*names, rates, wants, self.access, self.core, np.full(brokers, np.inf))
        capacity = np.full(brokers, self.capacity_to_demand * unlimited.traffic.demand.sum() / brokers)
        return Network(*names, rates, wants, self.access, self.core, capacity)

    def write(self, folder: Path) -> None:
        """Write the tables into a folder that is there."""
        network = self.network
        for name, table in self._tables().items():
            write_parquet(table, folder / f"{name}.parquet")
        write_access(folder / "access.parquet", network.user_names, network.broker_names, network.access)

    def _tables(self) -> dict[str, pa.Table]:
        network, attributes = self.network, self.space.attributes
        users = pa.array(network.user_names, pa.string())
        brokers = pa.array(network.broker_names, pa.string())
        names = [attribute.name for attribute in attributes]
        one, other = np.triu_indices(network.broker_count, 1)
        bounds = {
            f"{end}_{name}": values[:, k]
            for k, name in enumerate(names)
            for end, values in (("low", self.lows), ("high", self.highs))
        }
        flat = self.coefficients.reshape(-1, 3)
        return {
            "space": pa.table(
                {
                    "attribute": pa.array(names, pa.string()),
                    "low": [attribute.low for attribute in attributes],
                    "high": [attribute.high for attribute in attributes],
                    "cells": [attribute.cells for attribute in attributes],
                }
            ),
            "quadratics": pa.table(
                {
                    "user": users.take(pa.array(np.repeat(np.arange(len(users)), len(names)))),
                    "attribute": pa.array(names * len(users), pa.string()),
                    **{name: flat[:, k] for k, name in enumerate("abc")},
                }
            ),
            "boxes": pa.table({"user": users, **bounds}),
            "brokers": pa.table({"broker": brokers, "capacity": network.capacity}),
            "core": pa.table(
                {
                    "broker": brokers.take(pa.array(one)),
                    "other": brokers.take(pa.array(other)),
                    "price": network.core[one, other],
                }
            ),
        }


def _names(letter: str, count: int) -> tuple[str, ...]:
    width = len(str(count))
    return tuple(f"{letter}{i:0{width}}" for i in range(1, count + 1))


@dataclass(frozen=True, eq=False)
class NetworkOutline:
    """What of a network is known without its traffic: who is in it, prices of users' links, and capacities."""

    user_names: tuple[str, ...]
    broker_names: tuple[str, ...]
    channel_names: tuple[str, ...]
    space: Space | None
    access: Floats
    capacity: Floats


def read_outline(path: Path) -> NetworkOutline:
    """Read and check what is known of a network without its traffic, and without prices between brokers."""
    if not path.is_dir():
        raise InputError(f"{path}: {'is a file' if path.exists() else 'no such folder'}; give the folder of a network")
    broker_names, capacity = _read_brokers(path / "brokers.parquet")
    user_names, access = read_access(path / "access.parquet", broker_names)
    space = read_space(path / "space.parquet") if (path / "space.parquet").exists() else None
    channel_names = space.channel_names if space else _channel_names(path)
    return NetworkOutline(user_names, broker_names, channel_names, space, access, capacity)


def read_network(folder: str | os.PathLike[str], *, close: bool = False) -> Network:
    """Read and check a network; `close` makes core prices a metric by shortest paths."""
    path = Path(folder)
    known = read_outline(path)
    users, channels = known.user_names, known.channel_names
    return Network(
        users,
        known.broker_names,
        channels,
        _read_rates(path, users, channels, known.space),
        _read_wants(path, users, channels, known.space),
        known.access,
        read_core(path / "core.parquet", known.broker_names, close=close),
        known.capacity,
    )


def read_space(file: Path) -> Space:
    """The attributes of a content space, in the order of the rows."""
    where = str(file)
    table = read_part(file, ["attribute", "low", "high", "cells"])
    names = names_column(table, "attribute", where).to_pylist()
    if not names:
        raise InputError(f"{where}: has no rows; a space needs at least one attribute")
    lows, highs = (numbers(table, column, where, minimum=None) for column in ("low", "high"))
    cells = whole_numbers(table, "cells", where, minimum=1)
    for row, name in enumerate(names):
        if names.index(name) < row:
            raise InputError(f"{where}: row {row + 1}: repeats the attribute '{name}'")
        if lows[row] >= highs[row]:
            raise InputError(
                f"{where}: row {row + 1}: low is {lows[row]:g} and high {highs[row]:g}; low must be below high"
            )
    columns = zip(names, lows.tolist(), highs.tolist(), cells.tolist(), strict=True)
    return Space(tuple(Attribute(*column) for column in columns))


def _read_brokers(file: Path) -> tuple[tuple[str, ...], Floats]:
    where = str(file)
    table = read_part(file, ["broker", "capacity"])
    names = names_column(table, "broker", where)
    if not len(names):
        raise InputError(f"{where}: has no rows; a network needs at least one user and one broker")
    known = distinct_names([names])
    ids = known_names(table, "broker", known, "broker", where)
    require_distinct(ids, "broker", where)
    capacity = np.empty(len(known))
    capacity[ids] = numbers(table, "capacity", where)
    return known, capacity


def read_core(file: Path, broker_names: tuple[str, ...], *, close: bool = False) -> Floats:
    """The price of a unit of traffic between each two brokers."""
    where = str(file)
    count = len(broker_names)
    table = read_part(file, ["broker", "other", "price"])
    ends = [known_names(table, column, broker_names, "broker", where) for column in ("broker", "other")]
    price = numbers(table, "price", where)
    selves = np.flatnonzero((ends[0] == ends[1]) & (price != 0))
    if len(selves):
        row = int(selves[0])
        raise InputError(f"{where}: row {row + 1}: price of '{broker_names[ends[0][row]]}' to itself is not 0")
    low, high = np.minimum(*ends), np.maximum(*ends)
    # Both directions may be given, and have one price; the same pair twice in one direction is a slip.
    require_distinct(ends[0] * count + ends[1], "pair of brokers", where)
    prices = np.full((count, count), np.nan)
    np.fill_diagonal(prices, 0.0)
    prices[low, high] = price
    uneven = np.flatnonzero(prices[low, high] != price)
    if len(uneven):
        row = int(uneven[0])
        raise InputError(
            f"{where}: row {row + 1}: the price is {price[row]:g} one way and "
            f"{prices[low[row], high[row]]:g} the other; links cost the same both ways"
        )
    missing = np.flatnonzero(np.isnan(prices[np.triu_indices(count)]))
    if len(missing):
        one, other = (int(index[missing[0]]) for index in np.triu_indices(count))
        raise InputError(
            f"{where}: no price for the brokers '{broker_names[one]}' and '{broker_names[other]}'; every pair needs one"
        )
    prices.T[np.triu_indices(count)] = prices[np.triu_indices(count)]
    if close:
        return closed(prices)
    require_metric(prices, broker_names, where)
    return prices


def _channel_names(folder: Path) -> tuple[str, ...]:
    columns = []
    for part in ("rates", "subscriptions"):
        file = folder / f"{part}.parquet"
        if file.exists():
            columns.append(names_column(read_part(file, ["channel"]), "channel", str(file)))
    return distinct_names(columns)


def _read_rates(folder: Path, users: tuple[str, ...], channels: tuple[str, ...], space: Space | None) -> SparseRows:
    files = {part: folder / f"{part}.parquet" for part in ("rates", "quadratics", "pieces")}
    given = [part for part, file in files.items() if file.exists()]
    _require_one_way(folder, given, "rates", "quadratics or pieces", space)
    parts = []
    if "rates" in given:
        where = str(files["rates"])
        table = read_part(files["rates"], ["user", "channel", "rate"])
        user = known_names(table, "user", users, "user", where)
        channel = known_names(table, "channel", channels, "channel", where)
        require_distinct(user * len(channels) + channel, "user and channel", where)
        rate = numbers(table, "rate", where)
        positive = rate > 0
        return rows_of(len(users), user[positive], channel[positive], rate[positive])
    assert space is not None
    if "quadratics" in given:
        parts.append(_read_quadratics(files["quadratics"], users, space))
    if "pieces" in given:
        where = str(files["pieces"])
        owner, lows, highs, table = _read_boxes(files["pieces"], users, space, extra=["density"])
        parts.append(piece_rates(space, len(users), owner, lows, highs, numbers(table, "density", where)))
    return _added(parts, len(users))


def _read_quadratics(file: Path, users: tuple[str, ...], space: Space) -> SparseRows:
    where = str(file)
    names = tuple(attribute.name for attribute in space.attributes)
    table = read_part(file, ["user", "attribute", "a", "b", "c"])
    user = known_names(table, "user", users, "user", where)
    attribute = known_names(table, "attribute", names, "attribute", where)
    require_distinct(user * len(names) + attribute, "user and attribute", where)
    publishers, entry, counts = np.unique(user, return_inverse=True, return_counts=True)
    if (counts < len(names)).any():
        name = users[publishers[int((counts < len(names)).argmax())]]
        raise InputError(f"{where}: user '{name}' lacks an attribute; it needs a row for each of {', '.join(names)}")
    coefficients = np.empty((len(publishers), len(names), 3))
    for k, column in enumerate("abc"):
        coefficients[entry, attribute, k] = numbers(table, column, where, minimum=None)
    return quadratic_rates(space, len(users), publishers, coefficients)


def _read_wants(folder: Path, users: tuple[str, ...], channels: tuple[str, ...], space: Space | None) -> SparseRows:
    files = {part: folder / f"{part}.parquet" for part in ("subscriptions", "boxes")}
    given = [part for part, file in files.items() if file.exists()]
    _require_one_way(folder, given, "subscriptions", "boxes", space)
    if "subscriptions" in given:
        where = str(files["subscriptions"])
        table = read_part(files["subscriptions"], ["user", "channel"])
        user = known_names(table, "user", users, "user", where)
        channel = known_names(table, "channel", channels, "channel", where)
        keys = np.unique(user * max(1, len(channels)) + channel)
        user, channel = np.divmod(keys, max(1, len(channels)))
        return rows_of(len(users), user, channel, np.ones(len(keys)))
    assert space is not None
    owner, lows, highs, _ = _read_boxes(files["boxes"], users, space)
    return box_cells(space, len(users), owner, lows, highs)


def _read_boxes(
    file: Path, users: tuple[str, ...], space: Space, extra: list[str] | None = None
) -> tuple[Numbers, Floats, Floats, pa.Table]:
    """Users and bounds of boxes, a row a box, and the table; a box outside the space is an error."""
    where = str(file)
    names = [attribute.name for attribute in space.attributes]
    table = read_part(file, ["user", *(f"{end}_{name}" for name in names for end in ("low", "high")), *(extra or [])])
    lows, highs = (
        np.stack([numbers(table, f"{end}_{name}", where, minimum=None) for name in names], axis=1)
        for end in ("low", "high")
    )
    for k, attribute in enumerate(space.attributes):
        inside = (lows[:, k] >= attribute.low) & (highs[:, k] <= attribute.high) & (lows[:, k] < highs[:, k])
        if not inside.all():
            row = int(inside.argmin())
            raise InputError(
                f"{where}: row {row + 1}: the box is from {lows[row, k]:g} to {highs[row, k]:g} in '{attribute.name}'; "
                f"give bounds that rise, from {attribute.low:g} to {attribute.high:g}"
            )
    return known_names(table, "user", users, "user", where), lows, highs, table


def _require_one_way(folder: Path, given: list[str], plain: str, shaped: str, space: Space | None) -> None:
    """What users publish, or want, is said by channel or in the space, not in both ways and not in none."""
    if not given or (plain in given and len(given) > 1):
        has = f"both {plain}.parquet and {shaped}" if given else f"neither {plain}.parquet nor {shaped}"
        raise InputError(f"{folder}: has {has}; give one of them")
    if plain not in given and space is None:
        raise InputError(f"{folder}: has {given[0]}.parquet and no space.parquet; the space says what the bounds mean")


def _added(parts: list[SparseRows], users: int) -> SparseRows:
    if len(parts) == 1:
        return parts[0]
    columns = [
        np.concatenate(column) for column in zip(*((users_of(p), p.columns, p.values) for p in parts), strict=True)
    ]
    return rows_of(users, columns[0], columns[1], columns[2])
