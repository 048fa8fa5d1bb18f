"""Brokers that may be the last on a cheapest path to a user, and the users of each, nearest first.

A broker is of no use to a user where the way through another one is cheaper: from wherever a path comes, the other one
is the cheaper end of it, as core prices are a metric. Where access links are dear few brokers are left, three a user
where they cost twice as much; where they are cheap no path ever takes another way, and all are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.kernels.jit import inner_kernel, tight_kernel


class BrokersByUser(NamedTuple):
    """`brokers[start[u]:start[u + 1]]` are those of use to user u, nearest first, and `prices` of its links to them."""

    start: Any
    brokers: Any
    prices: Any


class UsersByBroker(NamedTuple):
    """`users[start[b]:start[b + 1]]` are those to whom broker b is of use, nearest first; `prices` of its links."""

    start: Any
    users: Any
    prices: Any


class MembersByBroker(NamedTuple):
    """The same of some users, who have numbers; `ids` are their ids, and `useful` the brokers of all users."""

    start: Any
    users: Any
    prices: Any
    ids: Any
    useful: Any


class Room(NamedTuple):
    """Room to look at one user. By broker:"""

    left: Any  # the price of its link, infinite once it is noted or left out
    through: Any  # the lowest price through another one
    undercut: Any  # whether that was lower for any user


@tight_kernel()
def find_useful(access, core_to, slack, room, useful):
    """Write down brokers that are of use to users, one user after the other, and tell where each one's begin.

    `core_to[d]` are prices to broker d from all others. Sums that are equal on paper differ in the last digits: only
    what is dearer by more than `slack` is left out. Notes in `room` from which brokers a straight path is undercut.
    """
    count = 0
    for user in range(access.shape[0]):
        useful.start[user] = count
        for broker in range(access.shape[1]):
            room.left[broker] = access[user, broker]
            room.through[broker] = np.inf
        nearest = least(room.left)
        while room.left[nearest] < np.inf:
            useful.brokers[count] = nearest
            useful.prices[count] = room.left[nearest]
            room.left[nearest] = np.inf
            _leave_out(core_to[nearest], useful.prices[count], slack, room.left, room.through)
            count += 1
            nearest = least(room.left)
        for broker in range(access.shape[1]):
            room.undercut[broker] |= room.through[broker] < access[user, broker]
    useful.start[access.shape[0]] = count


# Numbers are never NaN, nor does the sign of zero matter; to know that lets these loops work on whole vectors.
@inner_kernel(fastmath={"nnan", "nsz"})
def lowest(numbers):
    """The lowest of some numbers, infinite where there are none."""
    low = np.inf
    for k in range(numbers.shape[0]):
        low = min(low, numbers[k])
    return low


@tight_kernel()
def least(numbers):
    """Where the lowest of some numbers is, the first of equals."""
    low, k = lowest(numbers), 0
    while numbers[k] != low:
        k += 1
    return k


@inner_kernel(fastmath={"nnan", "nsz"})
def _leave_out(core_to, price, slack, left, through):
    """Of the brokers left, leave out those from which the way through a broker of this price is cheaper."""
    for broker in range(left.shape[0]):
        through[broker] = min(through[broker], core_to[broker] + price)
        left[broker] = np.inf if through[broker] + slack <= left[broker] else left[broker]
