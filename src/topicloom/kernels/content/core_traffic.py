"""Who publishes and who wants what at which broker, and what carrying it between brokers costs.

Tables by channel and broker have one row a channel: 16 bytes for each pair of a channel and a broker in all.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.content.spanning import spanning_tree, tree_weights, weights_with
from topicloom.kernels.jit import kernel


@kernel()
def channel_sums(assigned, rates, wants, published, subscribers):
    """Add each user's rates and subscriptions to the tables of its broker; users at no broker (-1) are left out."""
    for user in range(assigned.shape[0]):
        broker = assigned[user]
        if broker < 0:
            continue
        for k in range(rates.start[user], rates.start[user + 1]):
            published[rates.columns[k], broker] += rates.values[k]
        for k in range(wants.start[user], wants.start[user + 1]):
            subscribers[wants.columns[k], broker] += 1


@kernel()
def channel_weights(prices, subscribers):
    """For each channel and source broker, the weight of the tree over it and all brokers with a subscriber."""
    channels, brokers = subscribers.shape
    weights = np.zeros((channels, brokers))
    for channel in range(channels):
        is_member = subscribers[channel] > 0
        members = np.flatnonzero(is_member).astype(np.int32)
        order, parent, price = spanning_tree(prices, members)
        tree_weights(prices, order, parent, price, is_member, weights[channel])
    return weights


@kernel()
def channel_links(prices, published, subscribers, channel):
    """The links of one channel's trees: the source, and the two brokers, the nearer to the source first."""
    brokers = prices.shape[0]
    is_member = subscribers[channel] > 0
    size = np.count_nonzero(is_member)
    sources = np.count_nonzero(published[channel] > 0)
    links = np.empty((sources * size, 3), np.int32)
    filled = 0
    for source in range(brokers):
        if published[channel, source] <= 0:
            continue
        inside = is_member[source]
        is_member[source] = False
        members = np.append(np.int32(source), np.flatnonzero(is_member).astype(np.int32))
        is_member[source] = inside
        order, parent, _ = spanning_tree(prices, members)
        for place in range(1, order.shape[0]):
            links[filled, 0] = source
            links[filled, 1] = order[parent[place]]
            links[filled, 2] = order[place]
            filled += 1
    return links[:filled]


@kernel()
def one_tree_cost(order, parent, price, published, subscribers):
    """Cost of each channel with all brokers on one tree: a message crosses a link if somebody beyond wants it."""
    channels, brokers = published.shape
    costs = np.zeros(channels)
    rate_below = np.empty(brokers)
    wanted_below = np.empty(brokers, np.int64)
    for channel in range(channels):
        for place in range(brokers):
            rate_below[place] = published[channel, order[place]]
            wanted_below[place] = subscribers[channel, order[place]]
        rate, wanted = rate_below.sum(), wanted_below.sum()
        for place in range(brokers - 1, 0, -1):
            crossing = 0.0
            if wanted_below[place] > 0:
                crossing += rate - rate_below[place]
            if wanted_below[place] < wanted:
                crossing += rate_below[place]
            costs[channel] += price[place] * crossing
            rate_below[parent[place]] += rate_below[place]
            wanted_below[parent[place]] += wanted_below[place]
    return costs


@kernel()
def relayed_weights(prices, published, subscribers):
    """Weights as `channel_weights`, of trees that may also pass through brokers that do not want the channel.

    The broker that makes the tree lightest is added for as long as one does (iterated 1-Steiner, Kahng and Robins
    1992), so a Steiner tree of least weight may be lighter still. Only for sources that publish; the others get 0.
    """
    channels, brokers = subscribers.shape
    weights = np.zeros((channels, brokers))
    for channel in range(channels):
        shared = -1.0
        for source in range(brokers):
            if published[channel, source] <= 0:
                continue
            if subscribers[channel, source] > 0 and shared >= 0:
                weights[channel, source] = shared
                continue
            is_member = subscribers[channel] > 0
            is_member[source] = True
            weights[channel, source] = _relayed_weight(prices, is_member)
            if subscribers[channel, source] > 0:
                shared = weights[channel, source]
    return weights


@kernel()
def _relayed_weight(prices, is_member):
    while True:
        members = np.flatnonzero(is_member).astype(np.int32)
        order, parent, price = spanning_tree(prices, members)
        weight = price.sum()
        outside = np.flatnonzero(~is_member)
        if outside.shape[0] == 0:
            return weight
        with_one = weights_with(prices[:, outside], order, parent, price)
        best = np.argmin(with_one)
        if with_one[best] >= weight * (1 - 1e-12):
            return weight
        is_member[outside[best]] = True
