"""Content-based networks done slowly: every message over every link, and each algorithm as the paper has it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import networkx as nx
import numpy as np

from topicloom.content import Network
from topicloom.content.network import SparseRows, closed, rows_of

SLACK = 1 + 1e-9


def random_network(
    seed: int, users: int, brokers: int, channels: int, *, room: float = 3.0, density: float = 0.4
) -> Network:
    """Whole numbers everywhere, so that sums are exact in any order; capacities of `room` times the demand in all."""
    rng = np.random.default_rng(seed)
    rate = rng.integers(1, 5, (users, channels)) * (rng.random((users, channels)) < density)
    want = rng.random((users, channels)) < density
    core = np.triu(rng.integers(1, 9, (brokers, brokers)), 1).astype(float)
    access = rng.integers(0, 12, (users, brokers)).astype(float)
    network = make_network(rate.astype(float), want, access, closed(core + core.T), np.full(brokers, np.inf))
    demand = network.traffic.demand
    capacity = max(np.ceil(room * demand.sum() / brokers), demand.max())
    return make_network(rate.astype(float), want, access, network.core, np.full(brokers, capacity))


def _rows(table: np.ndarray) -> SparseRows:
    """What is not zero in a table with a row a user and a column a channel."""
    users, channels = np.nonzero(table)
    return rows_of(len(table), users, channels, table[users, channels].astype(float))


def make_network(
    rate: np.ndarray, want: np.ndarray, access: np.ndarray, core: np.ndarray, capacity: np.ndarray
) -> Network:
    """A network from full tables."""
    users, channels = rate.shape
    return Network(
        tuple(f"u{k:03}" for k in range(users)),
        tuple(f"b{k:02}" for k in range(len(core))),
        tuple(f"c{k:02}" for k in range(channels)),
        _rows(rate),
        _rows(want),
        np.array(access, float),
        np.array(core, float),
        np.array(capacity, float),
    )


def full_rates(network: Network) -> np.ndarray:
    table = np.zeros((network.user_count, network.channel_count))
    for user in range(network.user_count):
        for k in range(network.rates.start[user], network.rates.start[user + 1]):
            table[user, network.rates.columns[k]] = network.rates.values[k]
    return table


def full_wants(network: Network) -> np.ndarray:
    table = np.zeros((network.user_count, network.channel_count), bool)
    for user in range(network.user_count):
        table[user, network.wants.columns[network.wants.start[user] : network.wants.start[user + 1]]] = True
    return table


def flows(network: Network) -> Iterator[tuple[int, int, float, list[int]]]:
    """Every publisher and channel with its rate and the other users that want it, if there are any."""
    rates, wants = full_rates(network), full_wants(network)
    for user, channel in zip(*np.nonzero(rates), strict=True):
        others = [int(v) for v in np.flatnonzero(wants[:, channel]) if v != user]
        if others:
            yield int(user), int(channel), float(rates[user, channel]), others


def traffic(network: Network) -> tuple[np.ndarray, np.ndarray]:
    """What each user sends and is delivered, message by message."""
    out, into = np.zeros(network.user_count), np.zeros(network.user_count)
    for user, _, rate, others in flows(network):
        out[user] += rate
        for other in others:
            into[other] += rate
    return out, into


def spanning_links(core: np.ndarray, brokers: set[int]) -> list[tuple[int, int]]:
    graph = nx.Graph()
    graph.add_nodes_from(brokers)
    graph.add_weighted_edges_from((b, d, core[b, d]) for b, d in itertools.combinations(sorted(brokers), 2))
    return list(nx.minimum_spanning_tree(graph).edges)


def followed_cost(network: Network, assigned: np.ndarray) -> tuple[float, float]:
    """Access and core cost: each message goes to its broker, along a tree from broker to broker, and to its users."""
    access = core = 0.0
    for user, _, rate, others in flows(network):
        access += rate * network.access[user, assigned[user]]
        for other in others:
            access += rate * network.access[other, assigned[other]]
        tree = nx.Graph(spanning_links(network.core, {int(assigned[v]) for v in (user, *others)}))
        tree.add_node(int(assigned[user]))
        for one, other in nx.bfs_edges(tree, int(assigned[user])):
            core += rate * network.core[one, other]
    return access, core


def one_tree_cost(network: Network, assigned: np.ndarray, links_of_tree: list[tuple[int, int]]) -> float:
    """Core cost with all brokers on one spanning tree: each message over the links of its paths, each link once."""
    tree = nx.Graph(links_of_tree)
    tree.add_nodes_from(range(network.broker_count))
    total = 0.0
    for user, _, rate, others in flows(network):
        links = set()
        for other in others:
            path = nx.shortest_path(tree, int(assigned[user]), int(assigned[other]))
            links |= {frozenset(link) for link in itertools.pairwise(path)}
        total += rate * sum(network.core[tuple(link)] for link in links)
    return total


def flow_cost(network: Network, assigned: np.ndarray) -> float:
    """Core cost with a flow for each publisher and subscriber over the direct link of their brokers."""
    return sum(
        rate * network.core[assigned[user], assigned[other]]
        for user, _, rate, others in flows(network)
        for other in others
    )


def all_trees(count: int) -> Iterator[list[tuple[int, int]]]:
    """The links of every tree over so many brokers."""
    for links in itertools.combinations(itertools.combinations(range(count), 2), count - 1):
        graph = nx.Graph(links)
        if len(graph) == count and nx.is_connected(graph):
            yield list(links)


def steiner_weight(core: np.ndarray, terminals: list[int]) -> float:
    """The weight of a Steiner tree of least weight, by Dreyfus and Wagner."""
    if len(terminals) < 2:
        return 0.0
    *others, root = terminals
    count = len(core)
    best: dict[frozenset[int], np.ndarray] = {frozenset([t]): core[t].astype(float) for t in others}
    for size in range(2, len(others) + 1):
        for chosen in itertools.combinations(others, size):
            whole = frozenset(chosen)
            merged = np.full(count, np.inf)
            for part in range(1, size):
                for some in itertools.combinations(chosen, part):
                    merged = np.minimum(merged, best[frozenset(some)] + best[whole - frozenset(some)])
            best[whole] = (merged[None, :] + core).min(axis=1)
    return float(best[frozenset(others)][root])


def fits(load: float, demand: float, capacity: float) -> bool:
    return load + demand <= capacity * SLACK


def packing(network: Network) -> list[int]:
    """Algorithm 1."""
    demand = sum(traffic(network))
    load = [0.0] * network.broker_count
    assigned = []
    for user in range(network.user_count):
        low, index = np.inf, -1
        for broker in range(network.broker_count):
            if fits(load[broker], demand[user], network.capacity[broker]) and network.access[user, broker] < low:
                low, index = network.access[user, broker], broker
        assigned.append(index)
        load[index] += demand[user]
    return assigned


def ratio(traffic: float, price: float) -> float:
    if traffic == 0:
        return 0.0
    return traffic / price if price else np.inf


def clustering(network: Network, *, end_to_end: bool = False) -> list[int]:
    """Algorithm 2, with the matrix of the traffic between all users."""
    rates, wants, demand = full_rates(network), full_wants(network), sum(traffic(network))
    users, brokers = network.access.shape
    between = rates @ wants.T + wants @ rates.T
    free = set(range(users))
    load = [0.0] * brokers
    assigned = [-1] * users
    for broker in range(brokers):
        best, pair = 0.0, None
        for i, j in itertools.combinations(sorted(free), 2):
            found = ratio(between[i, j], network.access[i, broker] + network.access[j, broker])
            if found > best and fits(demand[i], demand[j], network.capacity[broker]):
                best, pair = found, (i, j)
        for user in pair or ():
            assigned[user] = broker
            load[broker] += demand[user]
            free.remove(user)
    for user in sorted(free):
        choices = []
        for broker in range(brokers):
            if fits(load[broker], demand[user], network.capacity[broker]):
                price = network.access[user, broker]
                found = ratio(sum(between[user, v] for v in range(users) if assigned[v] == broker), price)
                if end_to_end:
                    placed = [v for v in range(users) if assigned[v] >= 0]
                    whole = sum(between[user, v] for v in placed)
                    ways = sum(between[user, v] * (price + network.core[broker, assigned[v]]) for v in placed)
                    found = ratio(whole * whole, ways)
                choices.append((-found, price, broker))
        broker = min(choices)[2]
        assigned[user] = broker
        load[broker] += demand[user]
    return assigned


def path(network: Network, broker: int, user: int) -> tuple[float, int]:
    """The cheapest way from a broker to a user and its last broker; the straight one if equal, then the lowest id."""
    ways = [
        (network.core[broker, last] + network.access[user, last], last != broker, last)
        for last in range(network.broker_count)
    ]
    price, _, last = min(ways)
    return price, last


def mixed_weights(network: Network) -> np.ndarray:
    """Phase 1 of Steiner mixing: a tree for each publisher and channel, users joining it one by one (algorithm 3)."""
    weights = np.zeros(network.access.shape)
    wants = full_wants(network)
    for publisher, channel, rate, others in flows(network):
        starts = [
            (network.access[publisher, broker] + path(network, broker, other)[0], broker)
            for broker in range(network.broker_count)
            for other in others
        ]
        first = min(starts)[1]
        weights[publisher, first] += rate
        waiting = {int(user): path(network, first, int(user)) for user in np.flatnonzero(wants[:, channel])}
        while waiting:
            user = min(waiting, key=lambda user: (waiting[user][0], user))
            broker = waiting.pop(user)[1]
            if user != publisher:
                weights[user, broker] += rate
            for other in waiting:
                found = path(network, broker, other)
                if found[0] < waiting[other][0]:
                    waiting[other] = found
    return weights


def channel_weights(network: Network, *, closure: bool) -> np.ndarray:
    """Phase 1 with one tree for each channel, from the user that publishes most in it."""
    weights = np.zeros(network.access.shape)
    rates, wants = full_rates(network), full_wants(network)
    for channel in range(network.channel_count):
        rate, want = rates[:, channel], wants[:, channel]
        users = [int(user) for user in np.flatnonzero((rate > 0) | want)]
        if not rate.any() or not want.any() or len(users) < 2:
            continue
        source = int(rate.argmax())
        others = [user for user in users if user != source]
        if closure:
            joined = [source]
            while others:
                ways = [
                    (network.access[user, broker] + path(network, broker, other)[0], other, user, broker)
                    for user in joined
                    for broker in range(network.broker_count)
                    for other in others
                ]
                _, other, user, broker = min(ways, key=lambda way: (way[0], way[1]))
                weights[user, broker] += rate.sum()
                weights[other, path(network, broker, other)[1]] += rate.sum()
                others.remove(other)
                joined.append(other)
            continue
        starts = [
            (network.access[source, broker] + path(network, broker, other)[0], broker)
            for broker in range(network.broker_count)
            for other in others
        ]
        first = min(starts)[1]
        parent = {}
        waiting = {user: path(network, first, user) for user in users}
        while waiting:
            user = min(waiting, key=lambda user: (waiting[user][0], user))
            parent[user] = waiting.pop(user)[1]
            for other in waiting:
                found = path(network, parent[user], other)
                if found[0] < waiting[other][0]:
                    waiting[other] = found
        parent[source] = first
        for user in users:
            delivered = rate.sum() - rate[user] if want[user] else 0.0
            weights[user, parent[user]] += delivered + rate[user] * (want.sum() - want[user] > 0)
    return weights


def drawn(network: Network, weights: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Phase 2 of Steiner mixing: a broker for each user by its weights, among those with room."""
    demand = sum(traffic(network))
    load = [0.0] * network.broker_count
    assigned = []
    for user in range(network.user_count):
        point = rng.random()
        able = [b for b in range(network.broker_count) if fits(load[b], demand[user], network.capacity[b])]
        total = sum(weights[user, b] for b in able)
        if total == 0:
            broker = min(able, key=lambda b: (network.access[user, b], b))
        else:
            sums = np.cumsum([weights[user, b] for b in able])
            broker = able[int(np.searchsorted(sums, point * total, side="right"))]
        assigned.append(broker)
        load[broker] += demand[user]
    return assigned


def migrated(network: Network, start: np.ndarray) -> tuple[list[int], list[float]]:
    """Brokers in turn move users to where the followed cost is least, until nobody moves; and the costs on the way."""
    assigned = np.array(start)
    demand = sum(traffic(network))
    costs = [sum(followed_cost(network, assigned))]
    moved = True
    while moved:
        moved = False
        for broker in range(network.broker_count):
            mine = [int(user) for user in np.flatnonzero(assigned == broker)]
            for user in sorted(mine, key=lambda user: (-demand[user], user)):
                load = np.bincount(assigned, demand, network.broker_count)
                choices = []
                for other in range(network.broker_count):
                    if other != broker and fits(load[other], demand[user], network.capacity[other]):
                        there = assigned.copy()
                        there[user] = other
                        choices.append((sum(followed_cost(network, there)), other))
                if choices and min(choices)[0] < costs[-1]:
                    cost, assigned[user] = min(choices)
                    costs.append(cost)
                    moved = True
    return assigned.tolist(), costs


def migrated_at_once(network: Network, start: np.ndarray, periods: int) -> tuple[list[int], int]:
    """In each period every broker moves its user of most traffic that gains, seen alone, by what all knew before it."""
    assigned = np.array(start)
    demand = sum(traffic(network))
    rates, wants = full_rates(network), full_wants(network)

    def own_cost(user: int, broker: int) -> float:
        cost = network.access[user, broker] * demand[user]
        for channel in np.flatnonzero(rates[user]):
            members = {int(b) for b in assigned[wants[:, channel]]} | {broker}
            links = spanning_links(network.core, members)
            cost += rates[user, channel] * sum(network.core[link] for link in links)
        return cost

    for period in range(periods):
        load, promised = np.bincount(assigned, demand, network.broker_count), np.zeros(network.broker_count)
        moves = []
        for broker in range(network.broker_count):
            mine = [int(user) for user in np.flatnonzero(assigned == broker)]
            for user in sorted(mine, key=lambda user: (-demand[user], user)):
                here = own_cost(user, broker)
                able = [b for b in range(network.broker_count) if fits(load[b], demand[user], network.capacity[b])]
                gains = sorted((own_cost(user, b) - here, b) for b in able if b != broker)
                if gains and gains[0][0] < -1e-9 * demand[user] * network.access[user, broker]:
                    foreign = gains[0][1]
                    if fits(load[foreign], promised[foreign] + demand[user], network.capacity[foreign]):
                        promised[foreign] += demand[user]
                        moves.append((user, foreign))
                    break
        if not moves:
            return assigned.tolist(), period + 1
        for user, foreign in moves:
            assigned[user] = foreign
    return assigned.tolist(), periods


def least_cost(network: Network) -> float:
    """The least cost of all assignments that fit."""
    demand = sum(traffic(network))
    best = np.inf
    for brokers in itertools.product(range(network.broker_count), repeat=network.user_count):
        assigned = np.array(brokers)
        load = np.bincount(assigned, demand, network.broker_count)
        if (load <= network.capacity * SLACK).all():
            best = min(best, sum(followed_cost(network, assigned)))
    return best
