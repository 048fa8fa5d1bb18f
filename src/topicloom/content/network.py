"""Users, brokers, channels, rates and prices of a content-based network.

Rows of a sparse table: channels by user or users by channel, and a number with each.

Rows of channels by user, from lists in any order.

Core prices as a metric: checked, or made one by shortest paths.

A content-based network: users that publish and subscribe by channel, brokers, and prices of the links.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.content.core_trees import broken_triangle, close_prices
from topicloom.errors import InputError


class SparseRows(NamedTuple):
    """`columns[start[r]:start[r + 1]]` are those of row r, rising; `values` holds a number for each of them."""

    start: Any
    columns: Any
    values: Any


Ids = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.integer]


def rows_of(user_count: int, users: Numbers, channels: Numbers, values: Floats) -> SparseRows:
    """Rows from a user, a channel and a number for each entry; entries of the same two are added up."""
    order = np.lexsort((channels, users))
    users, channels, values = users[order], channels[order], values[order]
    if len(users):
        begins = np.flatnonzero(np.r_[True, (users[1:] != users[:-1]) | (channels[1:] != channels[:-1])])
        users, channels, values = users[begins], channels[begins], np.add.reduceat(values, begins)
    start = np.zeros(user_count + 1, np.int64)
    np.cumsum(np.bincount(users, minlength=user_count), out=start[1:])
    return SparseRows(start, channels.astype(np.int32), np.asarray(values, np.float64))


def summed(ids: Numbers, values: Floats, count: int) -> Floats:
    """The sum of the values of each id."""
    sums: Floats = np.bincount(ids, values, count).astype(np.float64, copy=False)
    return sums


def users_of(rows: SparseRows) -> Ids:
    """The user of each entry."""
    counts = np.diff(rows.start)
    users: Ids = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return users


def transposed(rows: SparseRows, channel_count: int) -> SparseRows:
    """The users of each channel, rising, in the same shape."""
    users = users_of(rows)
    order = np.argsort(rows.columns, kind="stable")
    start = np.zeros(channel_count + 1, np.int64)
    np.cumsum(np.bincount(rows.columns, minlength=channel_count), out=start[1:])
    return SparseRows(start, users[order], rows.values[order])


class DoesNotFit(InputError):  # noqa: N818  named for the condition
    """The demand of the users exceeds the capacity of the brokers, or no assignment within it was found."""


class OtherNetwork(InputError):  # noqa: N818  named for the condition
    """An assignment of other users or brokers than those of the given network."""


# Sums of prices that are equal on paper may differ in the last digits.
_SLACK = 1e-9


def require_metric(prices: Floats, names: Sequence[str], where: str) -> None:
    """Refuse prices of which one link costs more than the way around it; says which three brokers."""
    i, j, k = broken_triangle(prices, _SLACK)
    if i >= 0:
        raise InputError(
            f"the price from '{names[i]}' to '{names[k]}' is {prices[i, k]:g}, "
            f"and {prices[i, j] + prices[j, k]:g} through '{names[j]}'; "
            "prices must obey the triangle inequality, or be closed with close",
            "close",
            file=where,
        )


def closed(prices: Floats) -> Floats:
    """The prices of the cheapest paths, which are a metric."""
    shortest = np.array(prices, np.float64)
    close_prices(shortest)
    return shortest


@dataclass(frozen=True, eq=False)
class Traffic:
    """What passes between each user and its broker, wherever that is.

    `out` is the rate of a user's messages that somebody else wants, `into` that of the messages of others that it is
    delivered, `unwanted` the part of `into` that lies outside its boxes, if messages are spread evenly over a cell.
    """

    out: Floats
    into: Floats
    unwanted: Floats

    @property
    def unwanted_share(self) -> float:
        """The share of what users are delivered that lies outside their boxes."""
        return float(self.unwanted.sum() / self.into.sum()) if self.into.any() else 0.0

    @cached_property
    def demand(self) -> Floats:
        """Both directions together: what a user takes of its broker's capacity."""
        return self.into + self.out


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """Users, brokers and channels, all with dense ids in the order of their names.

    `rates` holds what each user publishes in each channel; `wants` the channels that it subscribes to, each with the
    share of the cell that its boxes cover (1 where it subscribes by channel). `access[u, b]` is the price of the link
    between a user and a broker, infinite where it does not know that one; `core[b, d]` the price between two brokers,
    which is a metric.
    """

    user_names: tuple[str, ...]
    broker_names: tuple[str, ...]
    channel_names: tuple[str, ...]
    rates: SparseRows
    wants: SparseRows
    access: Floats
    core: Floats
    capacity: Floats

    def __post_init__(self) -> None:
        for array in (*self.rates, *self.wants, self.access, self.core, self.capacity):
            array.setflags(write=False)

    @property
    def user_count(self) -> int:
        """How many users there are."""
        return len(self.user_names)

    @property
    def broker_count(self) -> int:
        """How many brokers there are."""
        return len(self.broker_names)

    @property
    def channel_count(self) -> int:
        """How many channels there are."""
        return len(self.channel_names)

    @property
    def knows(self) -> npt.NDArray[np.bool_]:
        """Whether each user knows each broker, and may connect to it."""
        return np.isfinite(self.access)

    @cached_property
    def traffic(self) -> Traffic:
        """What each user sends and is delivered; from sums by channel."""
        total = summed(self.rates.columns, self.rates.values, self.channel_count)
        wanting = np.bincount(self.wants.columns, minlength=self.channel_count)
        publisher, subscriber = users_of(self.rates), users_of(self.wants)
        # Keys of the pairs of a user and a channel rise, as rows are in order.
        rate_keys = publisher.astype(np.int64) * self.channel_count + self.rates.columns
        want_keys = subscriber.astype(np.int64) * self.channel_count + self.wants.columns
        heard = wanting[self.rates.columns] - np.isin(rate_keys, want_keys, assume_unique=True) > 0
        out = summed(publisher[heard], self.rates.values[heard], self.user_count)
        own = np.zeros(len(want_keys))
        place = np.searchsorted(rate_keys, want_keys)
        found = np.flatnonzero(place < len(rate_keys))
        found = found[rate_keys[place[found]] == want_keys[found]]
        own[found] = self.rates.values[place[found]]
        # Differences of sums may fall below zero by rounding.
        delivered = np.maximum(total[self.wants.columns] - own, 0.0)
        into = summed(subscriber, delivered, self.user_count)
        unwanted = summed(subscriber, delivered * (1 - self.wants.values), self.user_count)
        return Traffic(out, into, unwanted)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything in it, by which an assignment knows its network."""
        digest = hashlib.blake2b(digest_size=16)
        for names in (self.user_names, self.broker_names, self.channel_names):
            digest.update("\0".join(names).encode() + b"\0\0")
        for array in (*self.rates, *self.wants, self.access, self.core, self.capacity):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def require_capacity(self) -> None:
        """Raise DoesNotFit if the total demand, or that of one user, exceeds the capacity."""
        demand = self.traffic.demand
        if demand.sum() > self.capacity.sum() * (1 + 1e-9):
            raise DoesNotFit(
                f"no assignment fits: users need {demand.sum():.6g} in all and brokers have {self.capacity.sum():.6g}; "
                "raise capacities or add brokers"
            )
        largest = int(demand.argmax())
        if demand[largest] > self.capacity.max() * (1 + 1e-9):
            raise DoesNotFit(
                f"no assignment fits: user '{self.user_names[largest]}' needs {demand[largest]:.6g} and the largest "
                f"broker has {self.capacity.max():.6g}; raise capacities"
            )

    def __repr__(self) -> str:
        return f"<Network: {self.user_count:,} users, {self.broker_count:,} brokers, {self.channel_count:,} channels>"
