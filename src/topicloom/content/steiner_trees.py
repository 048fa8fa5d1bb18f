"""Trees of Steiner mixing, grown by lists of users.

Brokers that may be the last on a cheapest path to a user, and the users of each, nearest first.

A broker is of no use to a user where the way through another one is cheaper: from wherever a path comes, the other one
is the cheaper end of it, as core prices are a metric. Where access links are dear few brokers are left, three a user
where they cost twice as much; where they are cheap no path ever takes another way, and all are.

A tree from a first broker to users, who join it nearest first (the Content paper, algorithm 3).

A user comes straight from a broker in the tree, or through one more, which is in the tree from then on. Each broker
has the list of users that it is of use to, nearest first, and a key: what its first waiting user would pay through it.
The lowest key of a broker outside says how far users join inside; one who still waits then brings the broker in.

Brokers are in parts of 32, each with the lowest of its keys, so that finding the lowest of a thousand is two short
loops. Users who wait no longer are passed over when their key comes up, and only as far as keys are near it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.kernels.jit import inlined, inner_kernel, tight_kernel


class BrokersByUser(NamedTuple):
    """`brokers[start[u]:start[u + 1]]` are those of use to user u, nearest first, and `prices` of its links to them."""

    start: Any
    brokers: Any
    prices: Any


class UsersByBroker(NamedTuple):
    """`users[start[b]:start[b + 1]]` are those to whom broker b is of use, nearest first; `prices` of its links."""

    start: Any
    users: Any
    prices: Any


class MembersByBroker(NamedTuple):
    """The same of some users, who have numbers; `ids` are their ids, and `useful` the brokers of all users."""

    start: Any
    users: Any
    prices: Any
    ids: Any
    useful: Any


class Room(NamedTuple):
    """Room to look at one user. By broker:"""

    left: Any  # the price of its link, infinite once it is noted or left out
    through: Any  # the lowest price through another one
    undercut: Any  # whether that was lower for any user


@tight_kernel()
def find_useful(access, core_to, slack, room, useful):
    """Write down brokers that are of use to users, one user after the other, and tell where each one's begin.

    `core_to[d]` are prices to broker d from all others. Sums that are equal on paper differ in the last digits: only
    what is dearer by more than `slack` is left out. Notes in `room` from which brokers a straight path is undercut.
    """
    count = 0
    for user in range(access.shape[0]):
        useful.start[user] = count
        for broker in range(access.shape[1]):
            room.left[broker] = access[user, broker]
            room.through[broker] = np.inf
        nearest = least(room.left)
        while room.left[nearest] < np.inf:
            useful.brokers[count] = nearest
            useful.prices[count] = room.left[nearest]
            room.left[nearest] = np.inf
            _leave_out(core_to[nearest], useful.prices[count], slack, room.left, room.through)
            count += 1
            nearest = least(room.left)
        for broker in range(access.shape[1]):
            room.undercut[broker] |= room.through[broker] < access[user, broker]
    useful.start[access.shape[0]] = count


# Numbers are never NaN, nor does the sign of zero matter; to know that lets these loops work on whole vectors.
@inner_kernel(fastmath={"nnan", "nsz"})
def lowest(numbers):
    """The lowest of some numbers, infinite where there are none."""
    low = np.inf
    for k in range(numbers.shape[0]):
        low = min(low, numbers[k])
    return low


@tight_kernel()
def least(numbers):
    """Where the lowest of some numbers is, the first of equals."""
    low, k = lowest(numbers), 0
    while numbers[k] != low:
        k += 1
    return k


@inner_kernel(fastmath={"nnan", "nsz"})
def _leave_out(core_to, price, slack, left, through):
    """Of the brokers left, leave out those from which the way through a broker of this price is cheaper."""
    for broker in range(left.shape[0]):
        through[broker] = min(through[broker], core_to[broker] + price)
        left[broker] = np.inf if through[broker] + slack <= left[broker] else left[broker]


_PART = 32
_WAITS, _JUST_JOINED, _JOINED = np.uint8(0), np.uint8(1), np.uint8(2)
# Users who wait no longer are passed over until a key is so many times the present one: further ones may never be asked
# for. 1.1 takes a fifth longer, 1.5 as long.
_FAR = 1.25
# After so many who wait no longer, all join inside who may: perhaps nobody waits.
_PATIENCE = 64


class Growth(NamedTuple):
    """Where a tree stands. By broker:"""

    near: Any  # the lowest price from a broker in the tree
    through: Any  # the first broker in the tree that has this price, by when it came in
    entry: Any  # the place of the next user in its list
    head: Any  # the price of that user's link, infinite for brokers in the tree
    outside: Any  # `near` and `head` together
    outside_lowest: Any  # by part
    inside: Any  # the price of the next user of a broker in the tree, else infinite
    inside_lowest: Any
    opened: Any  # the brokers in the tree, as they came in
    # By user:
    state: Any  # whether it waits, has just joined, since the last broker came in, or did so before
    recent: Any  # those who have just joined, and others after them
    price: Any  # of the link of one who has just joined
    place: Any  # of the list entry by which it joined
    broker: Any  # of that list


def new_growth(brokers: int, users: int) -> Growth:
    """Room to grow trees."""
    near, head, outside, inside = np.empty((4, brokers))
    through, entry, opened = np.empty((3, brokers), np.int64)
    outside_lowest, inside_lowest = np.empty((2, -(-brokers // _PART)))
    return Growth(
        near,
        through,
        entry,
        head,
        outside,
        outside_lowest,
        inside,
        inside_lowest,
        opened,
        np.empty(users, np.uint8),
        np.empty(users, np.int32),
        np.empty(users),
        np.empty(users, np.int32),
        np.empty(users, np.int32),
    )


@tight_kernel()
def grow_tree(lists, core, source, growth):
    """Let all users join the tree of a broker."""
    for broker in range(core.shape[0]):
        growth.near[broker] = np.inf
        growth.entry[broker] = lists.start[broker]
        growth.head[broker] = _price(lists, broker, lists.start[broker])
        growth.inside[broker] = np.inf
    for part in range(growth.inside_lowest.shape[0]):
        growth.inside_lowest[part] = np.inf
    users, key = growth.state.shape[0], np.inf
    for user in range(users):
        growth.state[user] = _WAITS
    count, just_joined, passed = np.int64(0), np.int64(0), 0
    joined = _bring_in(core[source], source, count, growth, just_joined)
    while joined + just_joined < users:
        part = least(growth.outside_lowest)
        key = growth.outside_lowest[part]
        if key == np.inf or passed == _PATIENCE:
            just_joined = _join_inside(lists, growth, key, np.int32(0), just_joined)
            passed = 0
            if key == np.inf:
                break
            continue
        broker = _part_of(part) + least(growth.outside[_part_of(part) : _part_of(part + 1)])
        user = lists.users[growth.entry[broker]]
        if growth.state[user] == _WAITS:
            nearer = _nearer_inside(lists, growth, user, key)
            if nearer >= 0:
                just_joined = _join_list(lists, growth, nearer, key, np.int32(0), just_joined)
        if growth.state[user] != _WAITS:
            _pass_over(lists, growth, broker)
            passed += 1
            continue
        just_joined = _join_inside(lists, growth, key, np.int32(0), just_joined)
        if lowest(growth.inside_lowest) == key or _others(growth, part, broker, key):
            user, broker, just_joined = _settle_tie(lists, growth, key, just_joined)
        growth.state[user] = _JOINED
        growth.place[user] = growth.entry[broker]
        growth.broker[user] = broker
        joined += 1
        if growth.head[broker] < np.inf:
            count += 1
            joined += _bring_in(core[broker], broker, count, growth, just_joined)
            just_joined, passed = np.int64(0), 0
    _join_inside(lists, growth, key, np.int32(0), just_joined)


@inner_kernel()
def _nearer_inside(lists, growth, user, key):
    """The nearest broker in the tree to a user whose link costs less than a key, or -1."""
    useful, id_ = lists.useful, lists.ids[user]
    for k in range(useful.start[id_], useful.start[id_ + 1]):
        if useful.prices[k] >= key:
            break
        if growth.inside[useful.brokers[k]] < np.inf:
            return np.int64(useful.brokers[k])
    return np.int64(-1)


@inlined()
def _part_of(part):
    """The first broker of a part."""
    return part * _PART


@inlined()
def _price(lists, broker, entry):
    """The price of an entry of a broker's list, infinite after its end."""
    return lists.prices[entry] if entry < lists.start[broker + 1] else np.inf


@inner_kernel()
def _bring_in(core, broker, count, growth, just_joined):
    """Bring a broker into the tree, which has so many; gives how many joined just before."""
    for k in range(just_joined):
        growth.state[growth.recent[k]] = _JOINED
    growth.opened[count] = broker
    growth.inside[broker] = growth.head[broker]
    growth.inside_lowest[broker // _PART] = min(growth.inside_lowest[broker // _PART], growth.head[broker])
    growth.head[broker] = np.inf
    _come_nearer(core, count, growth.near, growth.through)
    _add(growth.near, growth.head, growth.outside)
    for part in range(growth.outside_lowest.shape[0]):
        growth.outside_lowest[part] = lowest(growth.outside[_part_of(part) : _part_of(part + 1)])
    return just_joined


# Two loops: in one, LLVM would not look whether so many arrays overlap, and go through them number by number.
@inner_kernel(fastmath={"nnan", "nsz"})
def _come_nearer(core, count, near, through):
    """Note which brokers one that came in, after so many, is nearer to."""
    for broker in range(near.shape[0]):
        nearer = core[broker] < near[broker]
        near[broker] = core[broker] if nearer else near[broker]
        through[broker] = count if nearer else through[broker]


@inner_kernel(fastmath={"nnan", "nsz"})
def _add(near, head, outside):
    """The keys of brokers outside."""
    for broker in range(near.shape[0]):
        outside[broker] = near[broker] + head[broker]


@inner_kernel()
def _join_inside(lists, growth, key, below, just_joined):
    """Users join whose link to a broker in the tree costs less than a key; as much, if their id is below another.

    Gives how many have just joined. One that several brokers could have joins the cheapest.
    """
    for part in range(growth.inside_lowest.shape[0]):
        if growth.inside_lowest[part] <= key:
            for broker in range(_part_of(part), min(_part_of(part + 1), growth.inside.shape[0])):
                if growth.inside[broker] <= key:
                    just_joined = _join_list(lists, growth, broker, key, below, just_joined)
            growth.inside_lowest[part] = lowest(growth.inside[_part_of(part) : _part_of(part + 1)])
    return just_joined


@inner_kernel()
def _join_list(lists, growth, broker, key, below, just_joined):
    """Those of one broker's list."""
    entry, end = growth.entry[broker], lists.start[broker + 1]
    while entry < end:
        price, user = lists.prices[entry], lists.users[entry]
        if price >= key and (price > key or lists.ids[user] >= below):
            break
        state = growth.state[user]
        if state == _WAITS:
            growth.recent[just_joined] = user
            just_joined += 1
        if state == _WAITS or (state == _JUST_JOINED and _is_better(growth, broker, price, user)):
            growth.state[user] = _JUST_JOINED
            growth.price[user] = price
            growth.place[user] = entry
            growth.broker[user] = broker
        entry += 1
    growth.entry[broker] = entry
    growth.inside[broker] = _price(lists, broker, entry)
    return just_joined


@inner_kernel()
def _is_better(growth, broker, price, user):
    """Whether a broker is cheaper for a user than the one that it just joined, or as cheap and comes first."""
    if price != growth.price[user]:
        return price < growth.price[user]
    return _comes_first(growth, broker, np.int64(growth.broker[user]))


@inner_kernel()
def _comes_first(growth, broker, other):
    """Of two last brokers of equally cheap paths, the one from the broker that has been in the tree for longest.

    From the same the straight path comes first, then the lower id.
    """
    if growth.through[broker] != growth.through[other]:
        return growth.through[broker] < growth.through[other]
    start = growth.opened[growth.through[broker]]
    return broker == start or (other != start and broker < other)


@inner_kernel()
def _pass_over(lists, growth, broker):
    """Go on in the list of a broker outside to a user who waits, or to one whose key is far."""
    entry, end, far = growth.entry[broker], lists.start[broker + 1], growth.outside[broker] * _FAR
    while entry < end and growth.state[lists.users[entry]] != _WAITS:
        if growth.near[broker] + lists.prices[entry] > far:
            break
        entry += 1
    growth.entry[broker] = entry
    growth.head[broker] = _price(lists, broker, entry)
    growth.outside[broker] = growth.near[broker] + growth.head[broker]
    part = broker // _PART
    growth.outside_lowest[part] = lowest(growth.outside[_part_of(part) : _part_of(part + 1)])


@inner_kernel()
def _others(growth, part, broker, key):
    """Whether other brokers outside have the same key; this one is the first of its part, the first that has it."""
    count = 0
    for other in range(broker + 1, min(_part_of(part + 1), growth.outside.shape[0])):
        count += growth.outside[other] == key
    for other in range(part + 1, growth.outside_lowest.shape[0]):
        count += growth.outside_lowest[other] == key
    return count > 0


@inner_kernel()
def _settle_tie(lists, growth, key, just_joined):
    """Which user joins next where several brokers have the lowest key, by which of them, and how many just joined.

    The lowest of those who wait at brokers outside; lower ones at brokers in the tree come first.
    """
    chosen = -1
    for broker in range(growth.outside.shape[0]):
        while growth.outside[broker] == key and growth.state[lists.users[growth.entry[broker]]] != _WAITS:
            _pass_over(lists, growth, broker)
        if growth.outside[broker] == key:
            user = lists.users[growth.entry[broker]]
            if chosen < 0 or lists.ids[user] < lists.ids[chosen]:
                chosen = user
    just_joined = _join_inside(lists, growth, key, lists.ids[chosen], just_joined)
    best = -1
    for broker in range(growth.outside.shape[0]):
        if growth.outside[broker] == key or growth.inside[broker] == key:
            is_of_chosen = lists.users[growth.entry[broker]] == chosen
            if is_of_chosen and (best < 0 or _comes_first(growth, broker, best)):
                best = broker
    return chosen, best, just_joined
