"""Steiner mixing, first phase: a tree for each first broker and channel, and the traffic on users' links in them.

A message goes from its publisher to a first broker and from there to all users that want its channel. Users join the
tree one after the other, nearest first, each by the cheapest path from a broker that is in it: straight from that
broker, or through one more, which is in the tree from then on (the Content paper, algorithm 3).

`distance[o, u]` is the price of the cheapest path from broker o to user u and `through[o, u]` its last broker: 12
bytes for each pair of a broker and a user.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import kernel, tight_kernel

# So many numbers are gone through for the least before anybody asks where it is.
_PART = 256


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
                by_broker[broker, user - begin] = access[user, broker] + 0.0  # never -0.0, see `_least`
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
def mixed_weights(access, distance, through, rates, wanting):
    """Traffic on the link of each user to each broker, summed over the trees of all publishers and channels.

    `wanting` holds the users of each channel. 8 bytes for each pair of a user and a broker.
    """
    users, brokers = access.shape
    weights = np.zeros((users, brokers))
    channels = wanting.start.shape[0] - 1
    starts, publishers, published = _by_channel(rates, channels)
    only = _only_broker(through)
    is_star = _is_star(through)
    first = np.full(users, -1, np.int32)  # of each publisher in this channel
    own_rate = np.zeros(users)
    from_broker = np.empty(brokers)
    for channel in range(channels):
        members = wanting.columns[wanting.start[channel] : wanting.start[channel + 1]]
        from_broker[:] = 0.0
        nearest, second, nearest_user = _nearest_two(distance, members)
        for k in range(starts[channel], starts[channel + 1]):
            user, rate = publishers[k], published[k]
            broker = _first_broker(access[user], nearest, second, nearest_user, user)
            first[user] = broker
            if broker >= 0:
                own_rate[user] = rate
                from_broker[broker] += rate
                weights[user, broker] += rate
        stars = np.flatnonzero(is_star & (from_broker > 0.0))
        others = np.flatnonzero(~is_star & (from_broker > 0.0))
        _add_stars(members, stars, is_star, from_broker, first, own_rate, weights)
        if others.shape[0] > 0:
            joining = _joining(access, only, members)
            near, via = distance[:, joining], through[:, joining]
            for broker in others:
                parents = _join_tree(near, via, broker)
                for k in range(joining.shape[0]):
                    user = joining[k]
                    if only[user] < 0:
                        own = own_rate[user] if first[user] == broker else 0.0
                        weights[user, parents[k]] += from_broker[broker] - own
            total = from_broker[others].sum()
            for user in members:
                if only[user] >= 0:
                    own = own_rate[user] if first[user] >= 0 and not is_star[first[user]] else 0.0
                    weights[user, only[user]] += total - own
        for k in range(starts[channel], starts[channel + 1]):
            own_rate[publishers[k]] = 0.0
            first[publishers[k]] = -1
    return weights


@kernel()
def channel_tree_weights(access, distance, through, rates, wanting, closure):
    """Traffic on the link of each user to each broker, with one tree for each channel.

    It begins with the user that publishes most in the channel, and all that publish or want it join. Their links carry
    what they send and are delivered there. In the tree of the metric closure a path may begin at any user that has
    joined, and each end of it carries the whole channel.
    """
    users, brokers = access.shape
    weights = np.zeros((users, brokers))
    channels = wanting.start.shape[0] - 1
    starts, publishers, published = _by_channel(rates, channels)
    own_rate, wants = np.zeros(users), np.zeros(users, np.bool_)
    for channel in range(channels):
        members = wanting.columns[wanting.start[channel] : wanting.start[channel + 1]]
        some, rate = publishers[starts[channel] : starts[channel + 1]], published[starts[channel] : starts[channel + 1]]
        if members.shape[0] == 0 or some.shape[0] == 0:
            continue
        for k in range(some.shape[0]):
            own_rate[some[k]] = rate[k]
        for user in members:
            wants[user] = True
        total = rate.sum()
        joining = np.flatnonzero(wants | (own_rate > 0.0)).astype(np.int32)
        source = some[np.argmax(rate)]
        if closure:
            _join_closure(access, distance, through, joining, source, total, weights)
        elif joining.shape[0] > 1:
            nearest, second, nearest_user = _nearest_two(distance, joining)
            first = _first_broker(access[source], nearest, second, nearest_user, source)
            parents = _join_tree(distance[:, joining], through[:, joining], first)
            for k in range(joining.shape[0]):
                user = joining[k]
                delivered = total - own_rate[user] if wants[user] else 0.0
                heard = members.shape[0] - wants[user] > 0
                broker = first if user == source else parents[k]
                weights[user, broker] += delivered + (own_rate[user] if heard else 0.0)
        own_rate[some] = 0.0
        wants[members] = False
    return weights


@kernel()
def _join_closure(access, distance, through, joining, source, rate, weights):
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


@kernel()
def _add_stars(members, stars, is_star, from_broker, first, own_rate, weights):
    """Add the traffic of trees that have one broker: all members are at it, and get all but their own messages."""
    for user in members:
        row = weights[user]
        for broker in stars:
            row[broker] += from_broker[broker]
        if first[user] >= 0 and is_star[first[user]]:
            row[first[user]] -= own_rate[user]


@kernel()
def _is_star(through):
    """Whether all users' cheapest paths from a broker are straight: then its trees have no other broker."""
    brokers, users = through.shape
    is_star = np.ones(brokers, np.bool_)
    for broker in range(brokers):
        for user in range(users):
            if through[broker, user] != broker:
                is_star[broker] = False
                break
    return is_star


@kernel()
def _only_broker(through):
    """For each user the broker through which all its cheapest paths come; -1 where there are several."""
    brokers, users = through.shape
    only = through[0].copy()
    for broker in range(1, brokers):
        for user in range(users):
            if through[broker, user] != only[user]:
                only[user] = -1
    return only


@kernel()
def _joining(access, only, members):
    """The members that decide how a tree grows, in the order of ids.

    All whose paths come through several brokers, and of those that have a single one the nearest to it, lowest id
    first: it brings their broker into the tree, and the others change nothing. With dear access links these are most.
    """
    nearest = np.full(access.shape[1], -1, np.int32)
    count = 0
    for user in members:
        broker = only[user]
        if broker < 0:
            count += 1
        elif nearest[broker] < 0 or access[user, broker] < access[nearest[broker], broker]:
            count += nearest[broker] < 0
            nearest[broker] = user
    joining = np.empty(count, np.int32)
    filled = 0
    for user in members:
        if only[user] < 0 or nearest[only[user]] == user:
            joining[filled] = user
            filled += 1
    return joining


@kernel()
def _by_channel(rates, channels):
    """The rates by channel: where each channel begins, the users that publish in it, and how much."""
    start = np.zeros(channels + 1, np.int64)
    for channel in rates.columns:
        start[channel + 1] += 1
    start = np.cumsum(start)
    place = start[:-1].copy()
    users = np.empty(rates.columns.shape[0], np.int32)
    values = np.empty(rates.columns.shape[0])
    for user in range(rates.start.shape[0] - 1):
        for k in range(rates.start[user], rates.start[user + 1]):
            channel = rates.columns[k]
            users[place[channel]] = user
            values[place[channel]] = rates.values[k]
            place[channel] += 1
    return start, users, values


@kernel()
def _nearest_two(distance, members):
    """For each broker the distances of the nearest and the second nearest member, and who the nearest is."""
    brokers = distance.shape[0]
    nearest = np.full(brokers, np.inf)
    second = np.full(brokers, np.inf)
    user = np.full(brokers, -1, np.int32)
    for broker in range(brokers):
        row = distance[broker]
        for member in members:
            if row[member] < nearest[broker]:
                second[broker] = nearest[broker]
                nearest[broker] = row[member]
                user[broker] = member
            elif row[member] < second[broker]:
                second[broker] = row[member]
    return nearest, second, user


@kernel()
def _first_broker(prices, nearest, second, nearest_user, user):
    """The first broker on the cheapest path from a publisher to another user; -1 where nobody else wants it."""
    best, cheapest = -1, np.inf
    for broker in range(prices.shape[0]):
        beyond = second[broker] if nearest_user[broker] == user else nearest[broker]
        if prices[broker] + beyond < cheapest:
            best, cheapest = broker, prices[broker] + beyond
    return best


@kernel()
def _join_tree(near, via, source):
    """The broker by which each user joins the tree that begins at a source.

    `near` and `via` are distance and last broker from each broker to these users. Only one that comes through a broker
    that is not in the tree yet changes it. So users are not taken one by one: those that come before the next such
    one join where they are, then the others look whether its broker is nearer.
    """
    count = near.shape[1]
    parents = via[source].copy()
    nearest = near[source].copy()
    opening = np.empty(count)  # the distance of a user that would bring a new broker, else infinite
    for k in range(count):
        opening[k] = np.inf if parents[k] == source else nearest[k]
    while True:
        opener = _least(opening)
        key = opening[opener]
        if key == np.inf:
            return parents
        broker = parents[opener]
        row, last = near[broker], via[broker]
        # Among equals the lower id joins first.
        for part in (slice(0, opener + 1), slice(opener + 1, count)):
            limit = np.nextafter(key, np.inf) if part.start == 0 else key
            _look(row[part], last[part], broker, limit, nearest[part], parents[part], opening[part])


@tight_kernel()
def _least(numbers):
    """Where the least of some numbers is, the first of equals; none of them is negative.

    Their bits read as whole numbers have the same order, and the least of these is found in whole vectors, that of
    floats one by one: 3.8 s became 2.1 s.
    """
    bits = numbers.view(np.int64)
    first, least = 0, bits[0]
    for begin in range(0, bits.shape[0], _PART):
        lowest = least
        part = bits[begin : begin + _PART]
        for k in range(part.shape[0]):
            lowest = min(lowest, part[k])
        if lowest < least:
            first, least = begin, lowest
    while bits[first] != least:
        first += 1
    return first


# Numbers are never NaN, and to know that lets the loop work on whole vectors: 16 s became 5 s.
@kernel(fastmath={"nnan"})
def _look(row, last, broker, limit, nearest, parents, opening):
    """Users nearer than the limit have joined: they get a distance below all. The others see if a new broker is nearer.

    The path that is nearer then comes through the new broker or through one that is not in the tree: one that is in it
    would have been as near before.
    """
    for k in range(row.shape[0]):
        before, path, parent, through, open_ = nearest[k], row[k], parents[k], last[k], opening[k]
        joined = before < limit
        nearer = (path < before) & (before >= limit)
        now = path if nearer else before
        parent = through if nearer else parent
        open_ = now if nearer else open_
        parents[k] = parent
        nearest[k] = -np.inf if joined else now
        opening[k] = np.inf if joined | (parent == broker) else open_
