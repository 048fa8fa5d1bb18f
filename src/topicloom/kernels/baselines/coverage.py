"""Coverage: nodes link to others until each of their topics is covered often enough.

A link covers every topic that both ends want, for both ends. What a candidate would cover is kept as a counter: up
by one for each topic in need, over all its members, and down again once the topic has enough. So the counters cost
a node twice the sizes of its topics, however many links it makes. Nodes that can take no more links leave the member
lists: with a small max_degree that is most of them.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.graphs.components import common_subscriptions
from topicloom.kernels.jit import inner_kernel, kernel


@inner_kernel()
def count_gains(
    node_start, node_topics, topic_start, open_nodes, open_end, covered, degree, gain, candidates, u, enough, max_degree
):
    """Count in `gain` how many topics of u in need a link with each other node would cover; list these nodes.

    Nodes that can take no more links leave the member lists on the way.
    """
    found = np.int64(0)
    for i in range(node_start[u], node_start[u + 1]):
        if covered[i] < enough:
            t = node_topics[i]
            kept = topic_start[t]
            for at in range(topic_start[t], open_end[t]):
                v = open_nodes[at]
                if degree[v] < max_degree:
                    open_nodes[kept] = v
                    kept += 1
                    if gain[v] == 0:
                        candidates[found] = v
                        found += 1
                    gain[v] += 1
            open_end[t] = kept
    return found


@kernel()
def cover_topics(node_start, node_topics, topic_start, topic_nodes, greedy, random, max_degree, room, rng, ticks):
    """Links by which each node in turn covers its topics, first by gain, then by chance; at most `room` of them."""
    nodes = node_start.shape[0] - 1
    covered = np.zeros(node_topics.shape[0], np.int32)
    degree = np.zeros(nodes, np.int32)
    gain = np.zeros(nodes, np.int32)
    candidates = np.empty(nodes, np.int32)
    open_nodes = topic_nodes.copy()
    open_end = topic_start[1:].copy()
    closed_to = np.full(nodes, -1, np.int32)  # the last node that may not link to this one: a neighbour, or itself
    # Links with a node whose turn is still to come form a chain from its last one back.
    last_link = np.full(nodes, -1, np.int64)
    link_before = np.empty(room, np.int64)
    source = np.empty(room, np.int32)
    target = np.empty(room, np.int32)
    links = 0
    longest = 0
    for u in range(nodes):
        longest = max(longest, node_start[u + 1] - node_start[u])
    of_u = np.empty(longest, np.int64)
    of_v = np.empty(longest, np.int64)

    for u in range(nodes):
        if ticks[1] != 0:
            break
        closed_to[u] = u
        link = last_link[u]
        while link >= 0:
            closed_to[source[link]] = u
            link = link_before[link]
        for by_chance in (False, True):
            enough = greedy + random if by_chance else greedy
            if degree[u] >= max_degree:
                break
            found = count_gains(
                node_start,
                node_topics,
                topic_start,
                open_nodes,
                open_end,
                covered,
                degree,
                gain,
                candidates,
                u,
                enough,
                max_degree,
            )
            while degree[u] < max_degree:
                found, chosen = _sift(candidates[:found], u, gain, closed_to)
                if found == 0:
                    break
                if by_chance:
                    chosen = candidates[int(rng.random() * found)]
                source[links] = min(u, chosen)
                target[links] = max(u, chosen)
                if u < chosen:
                    link_before[links] = last_link[chosen]
                    last_link[chosen] = links
                links += 1
                degree[u] += 1
                degree[chosen] += 1
                closed_to[chosen] = u
                common = common_subscriptions(node_start, node_topics, u, chosen, of_u, of_v)
                for k in range(common):
                    covered[of_v[k]] += 1
                    covered[of_u[k]] += 1
                    if covered[of_u[k]] == enough:
                        t = node_topics[of_u[k]]
                        _lower(gain, open_nodes[topic_start[t] : open_end[t]])
            for i in range(node_start[u], node_start[u + 1]):
                if covered[i] < enough:
                    t = node_topics[i]
                    _lower(gain, open_nodes[topic_start[t] : open_end[t]])
        ticks[0] = links
    return source[:links].copy(), target[:links].copy()


@kernel()
def _sift(candidates, u, gain, closed_to):
    """Keep the candidates that u may still link to; give their number and the one of highest gain, lowest id.

    One that drops out never comes back in this turn: gains only fall.
    """
    kept = 0
    best = -1
    for v in candidates:
        if gain[v] > 0 and closed_to[v] != u:
            candidates[kept] = v
            kept += 1
            if best < 0 or gain[v] > gain[best] or (gain[v] == gain[best] and v < best):
                best = v
    return kept, best


@kernel()
def _lower(gain, members):
    """Take one from the gain of every member."""
    for v in members:
        gain[v] -= 1
