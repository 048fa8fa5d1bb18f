"""Loops over trees between brokers: spanning trees and the traffic they carry.

Minimum spanning trees over some of the brokers, and what one broker more would add.

A tree is three arrays in the order in which Prim's algorithm reached its brokers: the broker, the place of its parent
in that order, and the price of the link to it. Parents come before their children.

Who publishes and who wants what at which broker, and what carrying it between brokers costs.

Tables by channel and broker have one row a channel: 16 bytes for each pair of a channel and a broker in all.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import kernel


@kernel()
def spanning_tree(prices, members):
    """The tree over the members, from the first of them; among equal prices the first in `members` joins first."""
    count = members.shape[0]
    order = np.empty(count, np.int32)
    parent = np.full(count, -1, np.int32)
    price = np.zeros(count)
    left = members.copy()
    nearest = np.full(count, np.inf)
    through = np.full(count, -1, np.int32)
    waiting = count
    if count > 0:
        nearest[0] = 0.0
    for place in range(count):
        best = 0
        for k in range(1, waiting):
            if nearest[k] < nearest[best]:
                best = k
        broker = left[best]
        order[place] = broker
        parent[place] = through[best]
        price[place] = nearest[best]
        waiting -= 1
        # What waits keeps its order, on which ties depend.
        for k in range(best, waiting):
            left[k], nearest[k], through[k] = left[k + 1], nearest[k + 1], through[k + 1]
        row = prices[broker]
        for k in range(waiting):
            other = row[left[k]]
            if other < nearest[k]:
                nearest[k] = other
                through[k] = place
    return order, parent, price


@kernel()
def weights_with(columns, order, parent, price):
    """Weights of the minimum spanning trees over a tree's brokers and one more, for each of several, in linear time.

    `columns[b, k]` is the price between broker b and the k-th of these. From the leaves up, a part of the tree and
    the new broker have a spanning tree of their own; `heaviest` holds the dearest link on its path from the top of
    that part to the new broker, which is the one that a cheaper way replaces (Chin and Houck 1978).
    """
    count = order.shape[0]
    weights = np.zeros(columns.shape[1])
    if count == 0:
        return weights
    heaviest = columns[order]
    for place in range(count - 1, 0, -1):
        _replace(heaviest[place], heaviest[parent[place]], price[place], weights)
    return weights + heaviest[0]


# All new brokers at once, in whole vectors: numbers are never NaN.
@kernel(fastmath={"nnan"})
def _replace(below, above, price, weights):
    for k in range(weights.shape[0]):
        heavy = below[k]
        weights[k] += min(heavy, price)
        above[k] = min(above[k], max(heavy, price))


@kernel()
def tree_with(prices, order, parent, price, broker):
    """The minimum spanning tree over a tree's brokers and one more, in time linear in the tree.

    As `weights_with`, which says only what it weighs; here the links that are kept are put in order from the new
    broker.
    """
    count = order.shape[0]
    new = count  # the place of the new broker while links are gathered
    one, other, weight = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count)
    # The dearest link on the way to the new broker from each place: its ends and its price.
    first = np.arange(count).astype(np.int32)
    second = np.full(count, new, np.int32)
    heaviest = prices[broker][order]
    for place in range(count - 1, -1, -1):
        above = parent[place]
        if above < 0 or heaviest[place] <= price[place]:
            one[place], other[place], weight[place] = first[place], second[place], heaviest[place]
            left = (np.int32(above), np.int32(place), price[place])
        else:
            one[place], other[place], weight[place] = above, place, price[place]
            left = (first[place], second[place], heaviest[place])
        if above >= 0 and left[2] < heaviest[above]:
            first[above], second[above], heaviest[above] = left
    start = np.zeros(count + 2, np.int64)
    for link in range(count):
        start[one[link] + 1] += 1
        start[other[link] + 1] += 1
    start = np.cumsum(start)
    links = np.empty(2 * count, np.int64)
    filled = start[:-1].copy()
    for link in range(count):
        for end in (one[link], other[link]):
            links[filled[end]] = link
            filled[end] += 1
    new_order, new_parent, new_price = np.empty(count + 1, np.int32), np.empty(count + 1, np.int32), np.zeros(count + 1)
    places = np.empty(count + 1, np.int64)
    through = np.full(count + 1, -1)
    places[0], new_parent[0] = new, -1
    reached = 1
    for place in range(count + 1):
        here = places[place]
        new_order[place] = broker if here == new else order[here]
        for k in range(start[here], start[here + 1]):
            link = links[k]
            if link != through[place]:
                places[reached] = other[link] if one[link] == here else one[link]
                through[reached], new_parent[reached], new_price[reached] = link, place, weight[link]
                reached += 1
    return new_order, new_parent, new_price


@kernel()
def tree_weights(prices, order, parent, price, is_member, weights):
    """For each broker, the weight of the tree over the members and it: 8 bytes for each member and other broker."""
    outside = np.flatnonzero(~is_member)
    weights[:] = price.sum()
    weights[outside] = weights_with(prices[:, outside], order, parent, price)


@kernel()
def broken_triangle(prices, slack):
    """A triple (i, j, k) for which the price from i to k exceeds that through j by more than the slack; or -1s."""
    count = prices.shape[0]
    for i in range(count):
        for j in range(count):
            for k in range(count):
                if prices[i, k] > (prices[i, j] + prices[j, k]) * (1 + slack):
                    return i, j, k
    return -1, -1, -1


@kernel()
def close_prices(prices):
    """Replace each price by that of the cheapest path, in place."""
    count = prices.shape[0]
    for j in range(count):
        for i in range(count):
            first = prices[i, j]
            for k in range(count):
                prices[i, k] = min(prices[i, k], first + prices[j, k])


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
