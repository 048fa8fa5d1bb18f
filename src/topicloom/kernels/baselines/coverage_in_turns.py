"""Coverage in turns: every node makes one link in its turn, and coverage rises until no node can take another.

What a candidate would cover is counted anew in every turn: with so few links a node, keeping the counters of all nodes
would cost more. Nodes that can take no more links leave the member lists.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.baselines.coverage import count_gains
from topicloom.kernels.graphs.components import common_subscriptions
from topicloom.kernels.jit import kernel


@kernel()
def cover_in_turns(node_start, node_topics, topic_start, topic_nodes, greedy, random, max_degree, room, rng, ticks):
    """Links by which nodes cover their topics, one in each turn, by gain or else by chance; at most `room` of them.

    Once no node finds one, `greedy` is raised: to `max_degree`, where every topic of a node with room is in need.
    """
    nodes = node_start.shape[0] - 1
    covered = np.zeros(node_topics.shape[0], np.int32)
    degree = np.zeros(nodes, np.int32)
    gain = np.zeros(nodes, np.int32)
    candidates = np.empty(nodes, np.int32)
    open_nodes = topic_nodes.copy()
    open_end = topic_start[1:].copy()
    neighbours = np.empty((nodes, max_degree), np.int32)
    source = np.empty(room, np.int32)
    target = np.empty(room, np.int32)
    longest = 0
    for u in range(nodes):
        longest = max(longest, node_start[u + 1] - node_start[u])
    of_u = np.empty(longest, np.int64)
    of_v = np.empty(longest, np.int64)
    links = 0
    before = -1
    while ticks[1] == 0 and (links > before or greedy < max_degree):
        greedy += links == before
        before = links
        for u in range(nodes):
            if degree[u] == max_degree:
                continue
            chosen = -1
            for enough in (greedy, greedy + random):
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
                gain[u] = 0
                for k in range(degree[u]):
                    gain[neighbours[u, k]] = 0
                possible = 0
                for k in range(found):
                    v = candidates[k]
                    if gain[v] > 0:
                        candidates[possible] = v
                        possible += 1
                        if chosen < 0 or gain[v] > gain[chosen] or (gain[v] == gain[chosen] and v < chosen):
                            chosen = v
                if enough > greedy and possible > 0:
                    chosen = candidates[int(rng.random() * possible)]
                for k in range(possible):
                    gain[candidates[k]] = 0
                if chosen >= 0:
                    break
            if chosen < 0:
                continue
            source[links] = min(u, chosen)
            target[links] = max(u, chosen)
            links += 1
            neighbours[u, degree[u]] = chosen
            neighbours[chosen, degree[chosen]] = u
            degree[u] += 1
            degree[chosen] += 1
            common = common_subscriptions(node_start, node_topics, u, chosen, of_u, of_v)
            for k in range(common):
                covered[of_u[k]] += 1
                covered[of_v[k]] += 1
        ticks[0] = links
    return source[:links].copy(), target[:links].copy()
