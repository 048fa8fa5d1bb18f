"""For each broker of a network the users that come to it on some cheapest path, nearest first."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from topicloom.content.network.channels_by_user import Ids
from topicloom.content.network.network import Network
from topicloom.kernels.content.useful_brokers import (
    BrokersByUser,
    MembersByBroker,
    Room,
    UsersByBroker,
    find_useful,
)

# Core prices obey the triangle inequality up to a billionth of themselves.
_SLACK = 1e-8
# So many users at a time: fewer would cost more to hand to a thread than they save.
_BLOCK = 4096
# So many pairs of them and brokers: 12 bytes each.
_ROOM = 1 << 22
_THREADS = 8

Given = TypeVar("Given")
Found = TypeVar("Found")


@dataclass(frozen=True)
class BrokerLists:
    """Users by broker; and the brokers from which all straight paths are cheapest, so that their trees are stars."""

    useful: BrokersByUser
    users: UsersByBroker
    is_star: npt.NDArray[np.bool_]

    def of(self, members: Ids) -> MembersByBroker:
        """The same of some users. Those of the same nearest broker have numbers next to each other, near in memory."""
        nearest = self.useful.brokers[self.useful.start[members]]
        ids = members[np.argsort(nearest, kind="stable")]
        number = np.full(len(self.useful.start) - 1, -1, np.int32)
        number[ids] = np.arange(len(ids), dtype=np.int32)
        users = number[self.users.users]
        kept = np.flatnonzero(users >= 0)
        start = np.searchsorted(kept, self.users.start)
        return MembersByBroker(start, users[kept], self.users.prices[kept], ids, self.useful)


def in_threads(network: Network, work: Callable[[Given], Found], given: Iterable[Given]) -> Iterator[Found]:
    """What work gives for each, in their order; several at a time unless the network is small.

    No more than two for each thread are begun before they are asked for, so that what they give does not pile up.
    """
    if network.user_count <= _BLOCK:
        yield from map(work, given)
        return
    count = min(_THREADS, os.cpu_count() or 1)
    begun: deque[Future[Found]] = deque()
    with ThreadPoolExecutor(count) as threads:
        for one in given:
            begun.append(threads.submit(work, one))
            if len(begun) == 2 * count:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def broker_lists(network: Network) -> BrokerLists:
    """The lists of a network; empty where all trees are stars, as nobody asks for them then."""
    brokers, core_to = network.broker_count, np.ascontiguousarray(network.core.T)
    slack = _SLACK * float(network.core.max(initial=0.0))
    block = min(_BLOCK, max(1, _ROOM // brokers))

    def of_block(begin: int) -> tuple[BrokersByUser, npt.NDArray[np.bool_]]:
        access = network.access[begin : begin + block]
        useful = BrokersByUser(
            np.empty(len(access) + 1, np.int64), np.empty(access.size, np.int32), np.empty(access.size)
        )
        room = Room(np.empty(brokers), np.empty(brokers), np.zeros(brokers, np.bool_))
        find_useful(access, core_to, slack, room, useful)
        count = useful.start[-1]
        return BrokersByUser(np.diff(useful.start), useful.brokers[:count].copy(), useful.prices[:count].copy()), (
            room.undercut
        )

    blocks, undercut = zip(*in_threads(network, of_block, range(0, network.user_count, block)), strict=True)
    counts, found, prices = (np.concatenate(part) for part in zip(*blocks, strict=True))
    useful = BrokersByUser(np.concatenate(([0], np.cumsum(counts))), found, prices)
    is_star = ~np.logical_or.reduce(undercut)
    if is_star.all():
        none = UsersByBroker(np.zeros(brokers + 1, np.int64), np.empty(0, np.int32), np.empty(0))
        return BrokerLists(useful, none, is_star)
    # Few bytes, as numpy sorts these by counting.
    order = np.argsort(found.astype(np.min_scalar_type(brokers)), kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(found, minlength=brokers))))
    lists = UsersByBroker(start, np.repeat(np.arange(network.user_count, dtype=np.int32), counts)[order], prices[order])

    def sort(broker: int) -> None:
        part = slice(lists.start[broker], lists.start[broker + 1])
        order = np.argsort(lists.prices[part], kind="stable")
        lists.users[part], lists.prices[part] = lists.users[part][order], lists.prices[part][order]

    for _ in in_threads(network, sort, range(brokers)):
        pass
    return BrokerLists(useful, lists, is_star)
