"""Coverage in turns: every node makes one link in its turn, and coverage rises until no node can take another.

What a candidate would cover is counted anew in every turn: with so few links a node, keeping the counters of all nodes
would cost more. Nodes that can take no more links leave the member lists.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.baselines.coverage import count_gains, cover_common, new_link_chains, new_open_members
from topicloom.kernels.jit import kernel


@kernel()
def cover_in_turns(node_start, node_topics, topic_start, topic_nodes, greedy, random, max_degree, room, rng, ticks):
    """Links by which nodes cover their topics, one in each turn, by gain or else by chance; at most `room` of them.

    Once no node finds one, `greedy` is raised: to `max_degree`, where every topic of a node with room is in need.
    """
    members = new_open_members(topic_start, topic_nodes, node_start.shape[0] - 1)
    chains = new_link_chains(node_start, node_topics.shape[0], room)
    degree, gain, candidates = chains.degree, members.gain, members.candidates
    neighbours = np.empty((degree.shape[0], max_degree), np.int32)
    links = 0
    before = -1
    while ticks[1] == 0 and (links > before or greedy < max_degree):
        greedy += links == before
        before = links
        for u in range(degree.shape[0]):
            if degree[u] == max_degree:
                continue
            chosen = -1
            for enough in (greedy, greedy + random):
                found = count_gains(members, node_start, node_topics, chains.covered, degree, u, enough, max_degree)
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
            chains.source[links] = min(u, chosen)
            chains.target[links] = max(u, chosen)
            links += 1
            neighbours[u, degree[u]] = chosen
            neighbours[chosen, degree[chosen]] = u
            degree[u] += 1
            degree[chosen] += 1
            cover_common(chains, node_start, node_topics, u, chosen)
        ticks[0] = links
    return chains.source[:links].copy(), chains.target[:links].copy()
