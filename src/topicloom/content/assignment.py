"""The assignment of users to brokers, and its file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from topicloom.content.network import Floats, Ids, Network, OtherNetwork, summed
from topicloom.io.tables import known_names, metadata_texts, read_table, require_distinct, write_parquet
from topicloom.io.whole import replacing
from topicloom.model.provenance import Provenance

ASSIGNMENT_COLUMNS = ("user", "broker")

# What files of assignments call the algorithm that made them.
_KIND = "algorithm"


class Assigned(NamedTuple):
    """What the file of an assignment holds: the broker of each user, where it comes from, and its network if known."""

    brokers: Ids
    provenance: Provenance | None
    fingerprint: str | None


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """User `u` of a network connects to broker `brokers[u]`."""

    network: Network
    brokers: Ids
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        self.brokers.setflags(write=False)

    @property
    def load(self) -> Floats:
        """What each broker's users send and are delivered."""
        return summed(self.brokers, self.network.traffic.demand, self.network.broker_count)

    @classmethod
    def read(cls, path: str | os.PathLike[str], network: Network) -> Assignment:
        """From a file that `write` made, or any Parquet, CSV or TSV with the columns `user` and `broker`."""
        read = read_assigned(path, network.user_names, network.broker_names)
        if read.fingerprint not in (None, network.fingerprint):
            raise OtherNetwork(f"{os.fspath(path)}: was made for another network; give the network it was made for")
        unknown = np.flatnonzero(~network.knows[np.arange(network.user_count), read.brokers])
        if len(unknown):
            user, broker = int(unknown[0]), int(read.brokers[unknown[0]])
            raise OtherNetwork(
                f"{os.fspath(path)}: user '{network.user_names[user]}' is at broker '{network.broker_names[broker]}', "
                "which it does not know"
            )
        return cls(network, read.brokers, read.provenance)

    def to_arrow(self) -> pa.Table:
        """The users and their brokers by name; where it comes from in the metadata."""
        names = pa.array(self.network.broker_names, pa.string())
        columns = {"user": pa.array(self.network.user_names, pa.string()), "broker": names.take(pa.array(self.brokers))}
        made = {} if self.provenance is None else self.provenance.metadata(_KIND)
        return pa.table(columns, metadata={"fingerprint": self.network.fingerprint} | made)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it as Parquet."""
        with replacing(path) as temporary:
            write_parquet(self.to_arrow(), temporary)

    def __repr__(self) -> str:
        made = f" by {self.provenance.algorithm}" if self.provenance else ""
        return f"<Assignment{made} of {self.network.user_count:,} users to {self.network.broker_count:,} brokers>"


def read_assigned(path: str | os.PathLike[str], user_names: tuple[str, ...], broker_names: tuple[str, ...]) -> Assigned:
    """Read the broker of each user.

    Raise OtherNetwork if the file names other users or brokers than the given ones.
    """
    where = os.fspath(path)
    table = read_table(path, ASSIGNMENT_COLUMNS)
    metadata = metadata_texts(table)
    users = known_names(table, "user", user_names, "user", where, unknown=OtherNetwork)
    brokers = known_names(table, "broker", broker_names, "broker", where, unknown=OtherNetwork)
    require_distinct(users, "user", where)
    if len(users) < len(user_names):
        missing = int(np.setdiff1d(np.arange(len(user_names)), users)[0])
        raise OtherNetwork(f"{where}: no broker for user '{user_names[missing]}'; every user needs one")
    assigned = np.empty(len(user_names), np.int32)
    assigned[users] = brokers
    return Assigned(assigned, Provenance.from_metadata(metadata, _KIND, where), metadata.get("fingerprint"))
