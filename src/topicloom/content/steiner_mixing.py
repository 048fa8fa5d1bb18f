"""Steiner mixing.

Steiner mixing, first phase: a tree for each first broker and channel, and the traffic on users' links in them.

A message goes from its publisher to a first broker and from there to all users that want its channel. Users join the
tree one after the other, nearest first, each by the cheapest path from a broker that is in it: straight from that
broker, or through one more, which is in the tree from then on (the Content paper, algorithm 3).

For each broker of a network the users that come to it on some cheapest path, nearest first.

Phase 1 of Steiner mixing: the traffic on the links of users to brokers, in all trees together.

The tree of a publisher depends on it only through the first broker that it reaches, on its cheapest path to another
user. So trees are built once for each first broker and channel. A publisher that wants its own channel stays among the
users of the tree; its link carries the messages of the others.

Steiner-tree mixing: the Content paper, section IV-B, algorithm 3.

Rule: for each publisher and channel, build a tree over the users that want it, who join it nearest first by the
cheapest path from a broker in it (phase 1); weigh each link of a user to a broker by the traffic on it in all trees,
and draw the user's broker by its weights, within capacity (phase 2); route between brokers on minimum spanning trees
(phase 3).

Phase 1 may also grow one tree for each channel: "|B_u| is at most T, which is the number of sub-channels". It begins
with the user that publishes most there. Or that tree is the one of the metric closure, the textbook's approximation,
where "nodes (clients and brokers) are connected with shortest paths instead of edges": paths go from user to user, and
each end carries the whole channel.

A user without traffic, or whose weighted brokers are all full, goes to the cheapest broker with room.

Cost: users x brokers x (channels and brokers of use to a user), and for the trees brokers x subscriptions x the brokers
in a tree that are near a user. Memory: up to 48 bytes for each pair of a user and a broker of use to it, besides prices
and weights; 12 where all trees are stars. Trees of several channels are grown at a time, for which each needs as much
again for its own users.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from topicloom.content.network import Floats, Ids, Network, SparseRows, transposed
from topicloom.content.placing import Assigner, Placed, drawn, in_some_order
from topicloom.content.steiner_trees import (
    BrokersByUser,
    MembersByBroker,
    Room,
    UsersByBroker,
    find_useful,
    grow_tree,
    least,
    new_growth,
)
from topicloom.kernels.jit import inner_kernel, kernel, tight_kernel
from topicloom.registry import Parameter


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


_Channel = tuple[Ids, Ids, Floats]


def _channels(network: Network) -> list[_Channel]:
    """Who wants each channel that somebody wants, who publishes there, and how much."""
    wanting, publishing = (transposed(rows, network.channel_count) for rows in (network.wants, network.rates))

    def entries(rows: SparseRows, channel: int) -> slice:
        return slice(rows.start[channel], rows.start[channel + 1])

    channels = []
    for channel in range(network.channel_count):
        wanted, published = entries(wanting, channel), entries(publishing, channel)
        if wanted.start < wanted.stop and published.start < published.stop:
            channels.append((wanting.columns[wanted], publishing.columns[published], publishing.values[published]))
    return channels


def publisher_weights(network: Network) -> Floats:
    """With a tree for each publisher and channel."""
    lists = broker_lists(network)
    weights = np.zeros(network.access.shape)

    def grown(channel: _Channel) -> tuple[ChannelTraffic, MembersByBroker | None, Floats | None]:
        traffic = _traffic(network, *channel)
        sources = np.flatnonzero(~lists.is_star & (traffic.from_broker > 0))
        if len(sources) == 0:
            return traffic, None, None
        members = lists.of(channel[0])
        theirs = traffic._replace(first=traffic.first[members.ids], own=traffic.own[members.ids])
        growth, delivered = new_growth(network.broker_count, len(members.ids)), np.zeros(len(members.users))
        grow_trees(members, network.core, sources, theirs, growth, delivered)
        return traffic, members, delivered

    channels = _channels(network)
    for (wanting, publishers, _), (traffic, members, delivered) in zip(
        channels, in_threads(network, grown, channels), strict=True
    ):
        add_published(weights, publishers, traffic)
        stars = np.flatnonzero(lists.is_star & (traffic.from_broker > 0))
        add_stars(weights, wanting, stars, lists.is_star, traffic)
        if members is not None:
            add_deliveries(weights, members, delivered)
    return weights


def _traffic(network: Network, wanting: Ids, publishers: Ids, rates: Floats) -> ChannelTraffic:
    brokers = network.broker_count
    straight, nearest, prices = new_nearest(brokers), new_nearest(brokers), np.empty(brokers)
    find_nearest(network.access, network.core, wanting, straight, prices, nearest)
    traffic = new_traffic(network.user_count, brokers)
    first_brokers(network.access, nearest, publishers, rates, prices, traffic)
    return traffic


def channel_weights(network: Network) -> Floats:
    """With one tree for each channel, which all join that publish or want it.

    It begins with the user that publishes most. Links carry what their users send and are delivered.
    """
    lists = broker_lists(network)
    weights = np.zeros(network.access.shape)
    for wanting, publishers, rates in _channels(network):
        joining: Ids = np.union1d(wanting, publishers)
        if len(joining) == 1:
            continue
        source = publishers[np.argmax(rates)]
        first = int(_traffic(network, joining, source[None], np.ones(1)).first[source])
        parents: Ids = np.full(len(joining), first, np.int32)
        if not lists.is_star[first]:
            members = lists.of(joining)
            growth = new_growth(network.broker_count, len(joining))
            grow_tree(members, network.core, first, growth)
            joining, parents = members.ids, np.where(members.ids == source, first, growth.broker)
        own, wants = np.zeros((2, network.user_count))
        own[publishers], wants[wanting] = rates, 1
        own, wants = own[joining], wants[joining]
        weights[joining, parents] += wants * (rates.sum() - own) + (len(wanting) > wants) * own
    return weights


def closure_weights(network: Network) -> Floats:
    """With the tree of the metric closure of each channel's users: each end of a path carries the whole channel."""
    weights = np.zeros(network.access.shape)
    paths = cheapest_paths(network.access, network.core)
    for wanting, publishers, rates in _channels(network):
        source = publishers[np.argmax(rates)]
        join_closure(network.access, *paths, np.union1d(wanting, publishers), source, rates.sum(), weights)
    return weights


# A tree for each publisher and channel; one for each channel; that of the metric closure of the users of a channel.
_WEIGHTS = {"publisher": publisher_weights, "channel": channel_weights, "closure": closure_weights}
TREES = tuple(_WEIGHTS)


def link_weights(network: Network, trees: str = TREES[0]) -> Floats:
    """Phase 1: the traffic on the link of each user to each broker, in all trees together."""
    return _WEIGHTS[trees](network)


def assign(network: Network, parameters: Mapping[str, Any], rng: np.random.Generator) -> Placed:
    """Each user to a broker drawn by the traffic on its links in all trees."""
    weights, demand = link_weights(network, parameters["trees"]), network.traffic.demand
    return Placed(
        in_some_order(network, lambda order: drawn(weights, network.access, demand, network.capacity, order, rng))
    )


ALGORITHM = Assigner(
    name="steiner-mixing",
    paper="Content, section IV-B",
    rule="a broker drawn by the traffic on the user's links in the trees of all publishers and channels",
    assign=assign,
    parameters=(
        Parameter(
            "trees",
            str,
            "what there is a tree for: each publisher in each channel, each channel, or the metric closure of each",
            TREES[0],
            choices=TREES,
        ),
    ),
    random=True,
)
