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
def pair_rates(rates, wanting, begin, end):
    """What each of some users sends to each user; `wanting` holds the users of each channel."""
    users = rates.start.shape[0] - 1
    table = np.zeros((end - begin, users))
    for user in range(begin, end):
        row = table[user - begin]
        for k in range(rates.start[user], rates.start[user + 1]):
            channel, rate = rates.columns[k], rates.values[k]
            for m in range(wanting.start[channel], wanting.start[channel + 1]):
                row[wanting.columns[m]] += rate
        row[user] = 0.0
    return table


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
def tree_route_weights(order, parent, price, subscribers):
    """Weights as `channel_weights`, with all brokers on one tree: the links of it that lead to a subscriber."""
    channels, brokers = subscribers.shape
    weights = np.zeros((channels, brokers))
    wanted_below = np.empty(brokers, np.int64)
    for channel in range(channels):
        for place in range(brokers):
            wanted_below[place] = subscribers[channel, order[place]]
        for place in range(brokers - 1, 0, -1):
            wanted_below[parent[place]] += wanted_below[place]
            if wanted_below[place] > 0:
                weights[channel, order[0]] += price[place]
        # From one end of a link to the other, only that link may be needed for others than before.
        for place in range(1, brokers):
            weights[channel, order[place]] = weights[channel, order[parent[place]]]
            if wanted_below[place] > 0:
                weights[channel, order[place]] -= price[place]
            if wanted_below[place] < wanted_below[0]:
                weights[channel, order[place]] += price[place]
    return weights


@kernel()
def graft(prices, order, parent, place, onto):
    """The tree with the link above a place replaced by one to the broker at another, which is not below it.

    Gives the order, the places of parents, and prices; parents come before their children again.
    """
    count = order.shape[0]
    below = np.zeros(count, np.bool_)
    below[place] = True
    for k in range(place + 1, count):
        below[k] = below[parent[k]]
    new_place = np.empty(count, np.int64)
    new_order, new_parent, new_price = np.empty(count, np.int32), np.full(count, -1, np.int32), np.zeros(count)
    filled = 0
    for part in (False, True):
        for k in range(count):
            if below[k] == part:
                new_place[k] = filled
                new_order[filled] = order[k]
                if k > 0:
                    above = onto if k == place else parent[k]
                    new_parent[filled] = new_place[above]
                    new_price[filled] = prices[order[k], order[above]]
                filled += 1
    return new_order, new_parent, new_price


@kernel()
def better_tree(prices, order, parent, price, published, subscribers):
    """A tree of all brokers that no graft makes cheaper, found from a tree by grafts that do, the best of each place.

    Each look at a graft costs channels x brokers.
    """
    least = (published * tree_route_weights(order, parent, price, subscribers)).sum()
    improved = True
    while improved:
        improved = False
        for broker in range(order.shape[0]):
            place = np.flatnonzero(order == broker)[0]
            if place == 0:
                continue
            best_order, best_parent, best_price = order, parent, price
            for onto in range(order.shape[0]):
                above = onto
                while above > place:
                    above = parent[above]
                if above == place or onto == parent[place]:
                    continue
                one_order, one_parent, one_price = graft(prices, order, parent, place, onto)
                cost = (published * tree_route_weights(one_order, one_parent, one_price, subscribers)).sum()
                if cost < least * (1 - 1e-12):
                    least = cost
                    best_order, best_parent, best_price = one_order, one_parent, one_price
                    improved = True
            order, parent, price = best_order, best_parent, best_price
    return order, parent, price


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
