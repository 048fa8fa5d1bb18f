"""The trees on which messages pass between brokers, one for each channel and broker at which it is published.

Their table: `channel`, `source`, and for each link `broker`, `other`, its `price`, and the `rate` that crosses it.
"""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa

from topicloom.content.assignment import Assignment
from topicloom.content.core_routing import core_tables
from topicloom.files.atomic import replacing
from topicloom.files.columns import numbers
from topicloom.files.name_tables import names_column, read_table
from topicloom.files.parquet import write_parquet
from topicloom.kernels.content.core_traffic import channel_links

_NAMES, _NUMBERS = ("channel", "source", "broker", "other"), ("price", "rate")
TREE_COLUMNS = (*_NAMES, *_NUMBERS)


def core_trees(assignment: Assignment) -> pa.Table:
    """The links of all trees."""
    network = assignment.network
    tables = core_tables(network, assignment.brokers)
    parts = [
        channel_links(network.core, tables.published, tables.subscribers, channel)
        for channel in range(network.channel_count)
    ]
    channels = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    links = np.concatenate(parts) if parts else np.empty((0, 3), np.int32)
    brokers = pa.array(network.broker_names, pa.string())
    columns = [
        pa.array(network.channel_names, pa.string()).take(pa.array(channels)),
        *(brokers.take(pa.array(links[:, k])) for k in range(3)),
        network.core[links[:, 1], links[:, 2]],
        tables.published[channels, links[:, 0]],
    ]
    return pa.table(columns, names=list(TREE_COLUMNS))


def write_trees(trees: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write the links of trees as Parquet."""
    with replacing(path) as temporary:
        write_parquet(trees, temporary)


def read_trees(path: str | os.PathLike[str]) -> pa.Table:
    """The links of trees from a file, checked."""
    where = os.fspath(path)
    table = read_table(path, TREE_COLUMNS)
    columns = [
        *(names_column(table, name, where) for name in _NAMES),
        *(numbers(table, name, where) for name in _NUMBERS),
    ]
    return pa.table(columns, names=list(TREE_COLUMNS))
