"""Minimum spanning trees over some of the brokers, and what one broker more would add.

A tree is three arrays in the order in which Prim's algorithm reached its brokers: the broker, the place of its parent
in that order, and the price of the link to it. Parents come before their children.
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
