"""What moving one user from a broker to another would change, exactly, for all brokers at once.

Only channels of that user matter. Where it publishes, its rate moves from one source to another. Where it subscribes,
its broker may have nobody left that wants the channel, and the new one may have had nobody: then the trees change.
Weights of trees with two brokers more are kept until the brokers of their channel change: 8 bytes for each channel
and two brokers.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.content.spanning import spanning_tree, tree_weights, tree_with, weights_with
from topicloom.kernels.jit import kernel


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
def set_weights(prices, subscribers, channel, weights, pair_is_known):
    """Weigh the trees of a channel anew, after its brokers changed."""
    is_member = subscribers[channel] > 0
    order, parent, price = spanning_tree(prices, np.flatnonzero(is_member).astype(np.int32))
    tree_weights(prices, order, parent, price, is_member, weights[channel])
    pair_is_known[channel] = False


@kernel()
def move_changes(prices, user_prices, demand, home, own, wanted, published, subscribers, weights, pairs, pair_is_known):
    """How the cost changes if a user moves from its home to each broker.

    `own` is the user's rate in every channel, `wanted` the channels that it subscribes to.
    """
    brokers = prices.shape[0]
    changes = (user_prices - user_prices[home]) * demand
    wants = np.zeros(own.shape[0], np.bool_)
    for channel in wanted:
        wants[channel] = True
    for channel in range(own.shape[0]):
        if own[channel] > 0.0 and not wants[channel]:
            for broker in range(brokers):
                changes[broker] += own[channel] * (weights[channel, broker] - weights[channel, home])
    for channel in wanted:
        rates = published[channel]
        if subscribers[channel, home] > 1:
            _with_home(
                prices, subscribers[channel], rates, weights[channel], pairs[channel], pair_is_known, channel, changes
            )
        else:
            _without_home(prices, subscribers[channel], rates, weights[channel], home, own[channel], changes)
    changes[home] = 0.0
    return changes


@kernel()
def _with_home(prices, subscribers, rates, weights, pairs, pair_is_known, channel, changes):
    """Others at home want the channel too: its trees stay, unless the new broker is new in them."""
    is_member = subscribers > 0
    if is_member.all():
        return
    if not pair_is_known[channel]:
        _pair_weights(prices, is_member, pairs)
        pair_is_known[channel] = True
    inside = 0.0
    before = 0.0
    for broker in range(rates.shape[0]):
        before += rates[broker] * weights[broker]
        if is_member[broker]:
            inside += rates[broker]
    for broker in range(rates.shape[0]):
        if not is_member[broker]:
            after = (inside + rates[broker]) * weights[broker]
            for source in range(rates.shape[0]):
                if source != broker and not is_member[source]:
                    after += rates[source] * pairs[broker, source]
            changes[broker] += after - before


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
