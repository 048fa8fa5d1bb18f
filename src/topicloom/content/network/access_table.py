"""The table of access prices, the large one: read and written a part at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from topicloom.content.network.channels_by_user import Floats
from topicloom.content.network.network_tables import require_part
from topicloom.errors import InputError
from topicloom.files.columns import known_names, numbers, require_distinct
from topicloom.files.name_tables import names_column, require_columns
from topicloom.files.parquet import open_parquet, parquet_writer

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
    before = 0
    for batch in opened.iter_batches(_ROWS, columns=["user"]):
        found.update(pc.unique(names_column(pa.table(batch), "user", where, before=before)).to_pylist())
        before += batch.num_rows
    user_names = tuple(sorted(found))
    if not user_names:
        raise InputError(f"{where}: has no rows; a network needs at least one user and one broker")
    prices = np.full((len(user_names), len(broker_names)), np.nan)
    keys = []
    before = 0
    for batch in opened.iter_batches(_ROWS, columns=_COLUMNS):
        table = pa.table(batch)
        price = numbers(table, "price", where, before=before, endless=True)
        users = known_names(table, "user", user_names, "user", where, before=before)
        brokers = known_names(table, "broker", broker_names, "broker", where, before=before)
        prices[users, brokers] = price
        before += len(price)
        if before <= _ROWS:  # enough to say which row is one too many, in tables that people write
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
    if before > prices.size:
        require_distinct(np.concatenate(keys), "user and broker", where)
        raise InputError(
            f"{where}: has {before:,} rows for {prices.size:,} pairs of a user and a broker; some are repeated"
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
