"""Phase 1 of Steiner mixing: the traffic on the links of users to brokers, in all trees together.

The tree of a publisher depends on it only through the first broker that it reaches, on its cheapest path to another
user. So trees are built once for each first broker and channel. A publisher that wants its own channel stays among the
users of the tree; its link carries the messages of the others.
"""

from __future__ import annotations

import numpy as np

from topicloom.content.assigning.broker_lists import broker_lists, in_threads
from topicloom.content.network.channels_by_user import Floats, Ids, transposed
from topicloom.content.network.network import Network
from topicloom.kernels.content.mixing import (
    ChannelTraffic,
    add_deliveries,
    add_published,
    add_stars,
    cheapest_paths,
    find_nearest,
    first_brokers,
    grow_trees,
    join_closure,
    new_nearest,
    new_traffic,
)
from topicloom.kernels.content.sparse_rows import SparseRows
from topicloom.kernels.content.tree_growing import grow_tree, new_growth
from topicloom.kernels.content.useful_brokers import MembersByBroker

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
