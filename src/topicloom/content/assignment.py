"""Which broker each user connects to, and its file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from topicloom._version import __version__
from topicloom.content.network.channels_by_user import Floats, Ids, summed
from topicloom.content.network.network import Network
from topicloom.errors import InputError
from topicloom.files.atomic import replacing
from topicloom.files.columns import known_names, require_distinct
from topicloom.files.name_tables import read_table


@dataclass(frozen=True)
class Origin:
    """Where an assignment comes from: the algorithm, its parameters, its seed and the version that ran it."""

    algorithm: str
    parameters: Mapping[str, int | float | str] = field(default_factory=lambda: MappingProxyType({}))
    seed: int | None = None
    version: str = __version__


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """User `u` of a network connects to broker `brokers[u]`."""

    network: Network
    brokers: Ids
    origin: Origin | None = None

    def __post_init__(self) -> None:
        self.brokers.setflags(write=False)

    @property
    def load(self) -> Floats:
        """What each broker's users send and are delivered."""
        return summed(self.brokers, self.network.traffic.demand, self.network.broker_count)

    @classmethod
    def read(cls, path: str | os.PathLike[str], network: Network) -> Assignment:
        """From a file that `write` made, or any Parquet, CSV or TSV with the columns `user` and `broker`."""
        where = os.fspath(path)
        table = read_table(path, ["user", "broker"])
        metadata = {
            key.decode(): value.decode(errors="replace") for key, value in (table.schema.metadata or {}).items()
        }
        expected = metadata.get("fingerprint")
        if expected is not None and expected != network.fingerprint:
            raise InputError(f"{where}: was made for another network; give the network it was made for")
        users = known_names(table, "user", network.user_names, "user", where)
        brokers = known_names(table, "broker", network.broker_names, "broker", where)
        require_distinct(users, "user", where)
        if len(users) < network.user_count:
            missing = int(np.setdiff1d(np.arange(network.user_count), users)[0])
            raise InputError(f"{where}: no broker for user '{network.user_names[missing]}'; every user needs one")
        assigned = np.empty(network.user_count, np.int32)
        assigned[users] = brokers
        return cls(network, assigned, _origin(metadata, where))

    def to_arrow(self) -> pa.Table:
        """The users and their brokers by name; where it comes from in the metadata."""
        names = pa.array(self.network.broker_names, pa.string())
        columns = {"user": pa.array(self.network.user_names, pa.string()), "broker": names.take(pa.array(self.brokers))}
        metadata = {"fingerprint": self.network.fingerprint}
        if self.origin is not None:
            metadata |= {
                "algorithm": self.origin.algorithm,
                "parameters": json.dumps(dict(self.origin.parameters), sort_keys=True),
                "seed": json.dumps(self.origin.seed),
                "version": self.origin.version,
            }
        return pa.table(columns, metadata=metadata)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it as Parquet."""
        with replacing(path) as temporary:
            pyarrow.parquet.write_table(self.to_arrow(), temporary)

    def __repr__(self) -> str:
        made = f" by {self.origin.algorithm}" if self.origin else ""
        return f"<Assignment{made} of {self.network.user_count:,} users to {self.network.broker_count:,} brokers>"


def _origin(metadata: Mapping[str, Any], where: str) -> Origin | None:
    if "algorithm" not in metadata:
        return None
    try:
        parameters = dict(json.loads(metadata.get("parameters", "{}")))
        seed = json.loads(metadata.get("seed", "null"))
    except (ValueError, TypeError):
        raise InputError(f"{where}: its metadata does not hold an algorithm's parameters and seed") from None
    return Origin(metadata["algorithm"], MappingProxyType(parameters), seed, metadata.get("version", "unknown"))
