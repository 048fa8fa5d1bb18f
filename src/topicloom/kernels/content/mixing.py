"""Steiner mixing, first phase: a tree for each first broker and channel, and the traffic on users' links in them.

A message goes from its publisher to a first broker and from there to all users that want its channel. Users join the
tree one after the other, nearest first, each by the cheapest path from a broker that is in it: straight from that
broker, or through one more, which is in the tree from then on (the Content paper, algorithm 3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.kernels.content.tree_growing import grow_tree
from topicloom.kernels.content.useful_brokers import least
from topicloom.kernels.jit import inner_kernel, kernel, tight_kernel


class ChannelTraffic(NamedTuple):
    """Who first gets what is published in a channel."""

    first: Any  # by user: the first broker of what it publishes, -1 where that is nothing or nobody else wants it
    own: Any  # by user: how much it publishes
    from_broker: Any  # by broker: how much is published by users whose first broker it is


def new_traffic(users: int, brokers: int) -> ChannelTraffic:
    """That of a channel where nothing is published."""
    return ChannelTraffic(np.full(users, -1, np.int32), np.zeros(users), np.zeros(brokers))


class Nearest(NamedTuple):
    """By broker: what the paths to the nearest and the second nearest of some users cost, and who the nearest is."""

    first: Any
    second: Any
    user: Any


def new_nearest(brokers: int) -> Nearest:
    """Without users."""
    return Nearest(np.full(brokers, np.inf), np.full(brokers, np.inf), np.full(brokers, -1, np.int64))


@tight_kernel()
def first_brokers(access, nearest, publishers, rates, prices, traffic):
    """Add what is published: the first broker of a publisher is that of the cheapest path to another user."""
    for k in range(publishers.shape[0]):
        user = publishers[k]
        _add_paths(access[user], nearest, np.int64(user), prices)
        broker = least(prices)
        traffic.own[user] = rates[k]
        if prices[broker] < np.inf:
            traffic.first[user] = broker
            traffic.from_broker[broker] += rates[k]


# Numbers are never NaN, nor does the sign of zero matter; to know that lets these loops work on whole vectors.
@inner_kernel(fastmath={"nnan", "nsz"})
def _add_paths(access, nearest, user, prices):
    """The price of the cheapest path through each broker from a user to another one."""
    for broker in range(prices.shape[0]):
        beyond = nearest.second[broker] if nearest.user[broker] == user else nearest.first[broker]
        prices[broker] = access[broker] + beyond


@tight_kernel()
def find_nearest(access, core, members, straight, prices, nearest):
    """Find the nearest two members of each broker, first by straight paths, then by all."""
    for member in members:
        _note_two(access[member], np.int64(member), straight)
    for broker in range(core.shape[0]):
        _add_paths(core[broker], straight, np.int64(-1), prices)
        last = least(prices)
        nearest.first[broker], nearest.user[broker] = prices[last], straight.user[last]
        _add_paths(core[broker], straight, nearest.user[broker], prices)
        nearest.second[broker] = prices[least(prices)]


@inner_kernel(fastmath={"nnan", "nsz"})
def _note_two(prices, member, nearest):
    """Note a member where it is nearest to a broker, or second."""
    for broker in range(prices.shape[0]):
        price, low = prices[broker], nearest.first[broker]
        nearest.first[broker] = min(price, low)
        nearest.second[broker] = min(nearest.second[broker], max(price, low))
        nearest.user[broker] = member if price < low else nearest.user[broker]


@tight_kernel()
def grow_trees(lists, core, sources, traffic, growth, delivered):
    """Add what each entry of the lists of a channel's members is delivered in the trees of some first brokers.

    `traffic` has what members publish, by their numbers. A user is delivered all that is published but its own.
    """
    for source in sources:
        grow_tree(lists, core, source, growth)
        rate = traffic.from_broker[source]
        for member in range(lists.ids.shape[0]):
            own = traffic.own[member] if traffic.first[member] == source else 0.0
            delivered[growth.place[member]] += rate - own


@tight_kernel()
def add_deliveries(weights, lists, delivered):
    """Add what members are delivered to the traffic on the links of users to brokers."""
    for broker in range(weights.shape[1]):
        for k in range(lists.start[broker], lists.start[broker + 1]):
            if delivered[k] > 0.0:
                weights[lists.ids[lists.users[k]], broker] += delivered[k]


@tight_kernel()
def add_published(weights, publishers, traffic):
    """Add what users send to their first brokers."""
    for user in publishers:
        if traffic.first[user] >= 0:
            weights[user, traffic.first[user]] += traffic.own[user]


@tight_kernel()
def add_stars(weights, members, stars, is_star, traffic):
    """Add the traffic of trees that have one broker: all members are at it, and get all but their own messages."""
    for user in members:
        row, first = weights[user], traffic.first[user]
        for broker in stars:
            row[broker] += traffic.from_broker[broker]
        if first >= 0 and is_star[first]:
            row[first] -= traffic.own[user]


@kernel()
def cheapest_paths(access, core):
    """The price of the cheapest path from each broker to each user, and its last broker; the straight one if equal."""
    users, brokers = access.shape
    distance = np.empty((brokers, users))
    through = np.empty((brokers, users), np.int32)
    # So many users at a time that their part of a row stays in the fastest cache.
    block = 1024
    by_broker = np.empty((brokers, block))
    for begin in range(0, users, block):
        end = min(begin + block, users)
        for user in range(begin, end):
            for broker in range(brokers):
                by_broker[broker, user - begin] = access[user, broker]
        for source in range(brokers):
            best, last = distance[source, begin:end], through[source, begin:end]
            for k in range(end - begin):
                best[k] = by_broker[source, k]
                last[k] = source
            for broker in range(brokers):
                step = core[source, broker]
                for k in range(end - begin):
                    path = step + by_broker[broker, k]
                    if path < best[k]:
                        best[k] = path
                        last[k] = broker
    return distance, through


@kernel()
def join_closure(access, distance, through, joining, source, rate, weights):
    """Grow a tree of shortest paths between users, nearest first, and add the rate to both ends of each path."""
    brokers = access.shape[1]
    reach = np.full(brokers, np.inf)  # the lowest price of a user in the tree to each broker, and that user
    owner = np.full(brokers, -1, np.int32)
    nearest = np.full(joining.shape[0], np.inf)
    via = np.full(joining.shape[0], -1, np.int32)
    waiting = joining != source
    user = source
    for _ in range(joining.shape[0] - 1):
        for broker in range(brokers):
            if access[user, broker] < reach[broker]:
                reach[broker] = access[user, broker]
                owner[broker] = user
                for k in range(joining.shape[0]):
                    path = reach[broker] + distance[broker, joining[k]]
                    if waiting[k] and path < nearest[k]:
                        nearest[k] = path
                        via[k] = broker
        best = -1
        for k in range(joining.shape[0]):
            if waiting[k] and (best < 0 or nearest[k] < nearest[best]):
                best = k
        user = joining[best]
        waiting[best] = False
        weights[owner[via[best]], via[best]] += rate
        weights[user, through[via[best], user]] += rate
