"""What moving one user from a broker to another would change, exactly, for all brokers at once.

Only channels of that user matter. Where it publishes, its rate moves from one source to another. Where it subscribes,
its broker may have nobody left that wants the channel, and the new one may have had nobody: then the trees change.
What a broker more in the trees of a channel costs is the same for all users, and kept until the channel changes; so are
weights of trees with two brokers more: 8 bytes for each channel and two brokers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.content.core_trees import spanning_tree, tree_weights, tree_with, weights_with
from topicloom.content.placing import fits
from topicloom.kernels.jit import kernel

# Bounds are sums in another order than what they bound.
_ROUNDING = 1e-9


class ChannelTrees(NamedTuple):
    """What is known of the trees of each channel.

    `weights[c, b]` is that of the tree of channel c and broker b, `outside[c]` how many brokers are not in it.
    `growth[c, b]` is how the cost changes if a broker from outside is in all trees of the channel, and `pairs[c, b, d]`
    the weight of the tree with two of them, both where they are known.
    """

    weights: Any
    outside: Any
    growth: Any
    growth_is_known: Any
    pairs: Any
    pair_is_known: Any


@kernel()
def user_demand(own, wanted, total, wanting):
    """What a user sends that others want and is delivered of others, from its rates and the sums of all channels."""
    demand = 0.0
    alone = wanting.copy()  # subscribers besides the user
    for channel in wanted:
        demand += max(total[channel] - own[channel], 0.0)
        alone[channel] -= 1
    for channel in range(own.shape[0]):
        if alone[channel] > 0:
            demand += own[channel]
    return demand


@kernel()
def users_demand(users, rates, wants, total, wanting):
    """The demand of some users, by their rows."""
    demand, own = np.empty(users.shape[0]), np.zeros(total.shape[0])
    for k in range(users.shape[0]):
        part = slice(rates.start[users[k]], rates.start[users[k] + 1])
        own[rates.columns[part]] = rates.values[part]
        demand[k] = user_demand(own, wants.columns[wants.start[users[k]] : wants.start[users[k] + 1]], total, wanting)
        own[rates.columns[part]] = 0.0
    return demand


@kernel()
def set_weights(prices, subscribers, channel, trees):
    """Weigh the trees of a channel anew, after its brokers changed."""
    is_member = subscribers[channel] > 0
    order, parent, price = spanning_tree(prices, np.flatnonzero(is_member).astype(np.int32))
    tree_weights(prices, order, parent, price, is_member, trees.weights[channel])
    trees.outside[channel] = is_member.shape[0] - order.shape[0]
    trees.growth_is_known[channel] = trees.pair_is_known[channel] = False


@kernel()
def first_that_may_move(users, demand, begin, home, prices, network, published, subscribers, load, trees):
    """The first of some users, from a place on, for whom a move may lower the cost; their number where there is none.

    `network` are access prices, rates, wants and capacities.
    A tree loses at most the price from the home to the nearest of its other brokers if the home leaves it. So what a
    move changes is bounded below by what it would change if the home stayed, less that for all that is published where
    the user alone keeps the home in the trees.
    """
    access, rates, wants, capacity = network
    least = np.empty(prices.shape[0])
    wanted = np.zeros(published.shape[0], np.bool_)
    for place in range(begin, users.shape[0]):
        user = users[place]
        own_wants = wants.columns[wants.start[user] : wants.start[user + 1]]
        wanted[own_wants] = True
        own_prices = access[user]
        certain = demand[place] * own_prices[home]
        for broker in range(least.shape[0]):
            has_room = broker != home and fits(load[broker], demand[place], capacity[broker])
            least[broker] = (own_prices[broker] - own_prices[home]) * demand[place] if has_room else np.inf
        for k in range(rates.start[user], rates.start[user + 1]):
            channel, rate = rates.columns[k], rates.values[k]
            if trees.outside[channel] > 0 and not wanted[channel]:
                weights = trees.weights[channel]
                certain += rate * weights[home]
                for broker in range(least.shape[0]):
                    least[broker] += rate * (weights[broker] - weights[home])
        lost = 0.0
        for channel in own_wants:
            is_alone = subscribers[channel, home] == 1
            if is_alone:
                whole = published[channel].sum()
                lost += whole * _nearest_member(prices[home], subscribers[channel], home)
                certain += whole * trees.weights[channel, home]
            if trees.outside[channel] > 0:
                if is_alone and not trees.growth_is_known[channel]:
                    lost = np.inf
                    break
                _know_growth(prices, subscribers[channel], published[channel], channel, trees)
                certain += published[channel].sum() * trees.weights[channel, home]
                for broker in range(least.shape[0]):
                    least[broker] += trees.growth[channel, broker]
        wanted[own_wants] = False
        if not least.min() > lost + _ROUNDING * certain:
            return place
    return users.shape[0]


@kernel()
def _nearest_member(prices, subscribers, home):
    nearest = np.inf
    for broker in range(prices.shape[0]):
        if broker != home and subscribers[broker] > 0:
            nearest = min(nearest, prices[broker])
    return nearest


@kernel()
def move_changes(prices, user_prices, demand, home, own, wanted, published, subscribers, trees):
    """How the cost changes if a user moves from its home to each broker.

    `own` is the user's rate in every channel, `wanted` the channels that it subscribes to.
    """
    brokers = prices.shape[0]
    changes = (user_prices - user_prices[home]) * demand
    wants = np.zeros(own.shape[0], np.bool_)
    for channel in wanted:
        wants[channel] = True
    for channel in range(own.shape[0]):
        # Trees that all brokers are in weigh the same from each of them.
        if own[channel] > 0.0 and not wants[channel] and trees.outside[channel] > 0:
            weights = trees.weights[channel]
            for broker in range(brokers):
                changes[broker] += own[channel] * (weights[broker] - weights[home])
    for channel in wanted:
        rates = published[channel]
        if subscribers[channel, home] == 1:
            _without_home(prices, subscribers[channel], rates, trees.weights[channel], home, own[channel], changes)
        elif trees.outside[channel] > 0:
            _know_growth(prices, subscribers[channel], rates, channel, trees)
            for broker in range(brokers):
                changes[broker] += trees.growth[channel, broker]
    changes[home] = 0.0
    return changes


@kernel()
def _know_growth(prices, subscribers, rates, channel, trees):
    """How the cost of a channel changes with each broker more in its trees; nothing for those that are in them."""
    if trees.growth_is_known[channel]:
        return
    is_member = subscribers > 0
    weights, pairs, growth = trees.weights[channel], trees.pairs[channel], trees.growth[channel]
    if not trees.pair_is_known[channel]:
        _pair_weights(prices, is_member, pairs)
        trees.pair_is_known[channel] = True
    inside = 0.0
    before = 0.0
    for broker in range(rates.shape[0]):
        before += rates[broker] * weights[broker]
        if is_member[broker]:
            inside += rates[broker]
    for broker in range(rates.shape[0]):
        growth[broker] = 0.0
        if not is_member[broker]:
            after = (inside + rates[broker]) * weights[broker]
            for source in range(rates.shape[0]):
                if source != broker and not is_member[source]:
                    after += rates[source] * pairs[broker, source]
            growth[broker] = after - before
    trees.growth_is_known[channel] = True


@kernel()
def _without_home(prices, subscribers, rates, weights, home, own, changes):
    """Nobody else at home wants the channel: its trees lose the home."""
    brokers = rates.shape[0]
    is_member = subscribers > 0
    is_member[home] = False
    order, parent, price = spanning_tree(prices, np.flatnonzero(is_member).astype(np.int32))
    left = np.empty(brokers)
    tree_weights(prices, order, parent, price, is_member, left)
    before = 0.0
    after = 0.0
    inside = 0.0
    for broker in range(brokers):
        before += rates[broker] * weights[broker]
        after += rates[broker] * left[broker]
        if is_member[broker]:
            inside += rates[broker]
    pairs = np.empty((brokers, brokers))
    _pair_weights(prices, is_member, pairs)
    for broker in range(brokers):
        if broker == home:
            continue
        if is_member[broker]:
            changes[broker] += after - own * left[home] + own * left[broker] - before
        else:
            there = (inside + rates[broker] + own) * left[broker]
            for source in range(brokers):
                if source != broker and not is_member[source]:
                    rate = rates[source] - own if source == home else rates[source]
                    there += rate * pairs[broker, source]
            changes[broker] += there - before


@kernel()
def _pair_weights(prices, is_member, pairs):
    """Weights of the trees over the members and each two other brokers."""
    order, parent, price = spanning_tree(prices, np.flatnonzero(is_member).astype(np.int32))
    outside = np.flatnonzero(~is_member)
    columns = prices[:, outside]
    for one in outside:
        with_one = tree_with(prices, order, parent, price, one)
        pairs[one][outside] = weights_with(columns, with_one[0], with_one[1], with_one[2])
