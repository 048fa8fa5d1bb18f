"""Coverage: nodes link to others until each of their topics is covered often enough.

A link covers every topic that both ends want, for both ends. What a candidate would cover is kept as a counter: up
by one for each topic in need, over all its members, and down again once the topic has enough. So the counters cost
a node twice the sizes of its topics, however many links it makes. Nodes that can take no more links leave the member
lists: with a small max_degree that is most of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.graphs.components import common_subscriptions
from topicloom.kernels.jit import inner_kernel, kernel


class OpenMembers(NamedTuple):
    """The nodes of each topic that can take links, and how many topics in need a link with each node would cover."""

    start: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int32]
    end: npt.NDArray[np.int64]
    gain: npt.NDArray[np.int32]  # by node; 0 between turns
    candidates: npt.NDArray[np.int32]  # nodes with a gain


@kernel()
def new_open_members(topic_start, topic_nodes, nodes):
    """All nodes can take links."""
    gain, candidates = np.zeros(nodes, np.int32), np.empty(nodes, np.int32)
    return OpenMembers(topic_start, topic_nodes.copy(), topic_start[1:].copy(), gain, candidates)


@inner_kernel()
def count_gains(members, node_start, node_topics, covered, degree, u, enough, max_degree):
    """Count how many topics of u in need a link with each other node would cover; list these nodes.

    Nodes that can take no more links leave the member lists on the way.
    """
    found = np.int64(0)
    for i in range(node_start[u], node_start[u + 1]):
        if covered[i] < enough:
            t = node_topics[i]
            kept = members.start[t]
            for at in range(members.start[t], members.end[t]):
                v = members.nodes[at]
                if degree[v] < max_degree:
                    members.nodes[kept] = v
                    kept += 1
                    if members.gain[v] == 0:
                        members.candidates[found] = v
                        found += 1
                    members.gain[v] += 1
            members.end[t] = kept
    return found


class LinkChains(NamedTuple):
    """Links so far. Those with a node whose turn is still to come form a chain from its last one back."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    before: npt.NDArray[np.int64]  # by link: the one before it in the chain of its target
    last: npt.NDArray[np.int64]  # by node: the last one of its chain
    closed_to: npt.NDArray[np.int32]  # by node: the last one that may not link to it: a neighbour, or itself
    degree: npt.NDArray[np.int32]
    covered: npt.NDArray[np.int32]  # by subscription: how often
    of_u: npt.NDArray[np.int64]  # subscriptions that the last link covers, of the node whose turn it is
    of_v: npt.NDArray[np.int64]  # and of the other


@kernel()
def new_link_chains(node_start, subscriptions, room):
    """No links yet, and room for so many."""
    nodes = node_start.shape[0] - 1
    longest = np.int64(0)
    for u in range(nodes):
        longest = max(longest, node_start[u + 1] - node_start[u])
    return LinkChains(
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.full(nodes, -1, np.int64),
        np.full(nodes, -1, np.int32),
        np.zeros(nodes, np.int32),
        np.zeros(subscriptions, np.int32),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
    )


@inner_kernel()
def close_neighbours(chains, u):
    """Begin the turn of u: it may link neither to itself nor to those that linked to it."""
    chains.closed_to[u] = u
    link = chains.last[u]
    while link >= 0:
        chains.closed_to[chains.source[link]] = u
        link = chains.before[link]


@inner_kernel()
def chain_link(chains, links, node_start, node_topics, u, chosen):
    """Write down the next link, of u whose turn it is, and what it covers; give how many topics that are."""
    chains.source[links] = min(u, chosen)
    chains.target[links] = max(u, chosen)
    if u < chosen:
        chains.before[links] = chains.last[chosen]
        chains.last[chosen] = links
    chains.degree[u] += 1
    chains.degree[chosen] += 1
    chains.closed_to[chosen] = u
    return cover_common(chains, node_start, node_topics, u, chosen)


@inner_kernel()
def cover_common(chains, node_start, node_topics, u, v):
    """Count that a link covers the common topics of two nodes; give how many these are."""
    common = common_subscriptions(node_start, node_topics, u, v, chains.of_u, chains.of_v)
    for k in range(common):
        chains.covered[chains.of_u[k]] += 1
        chains.covered[chains.of_v[k]] += 1
    return common


@kernel()
def cover_topics(node_start, node_topics, topic_start, topic_nodes, greedy, random, max_degree, room, rng, ticks):
    """Links by which each node in turn covers its topics, first by gain, then by chance; at most `room` of them."""
    members = new_open_members(topic_start, topic_nodes, node_start.shape[0] - 1)
    chains = new_link_chains(node_start, node_topics.shape[0], room)
    covered, degree, gain, candidates = chains.covered, chains.degree, members.gain, members.candidates
    links = 0
    for u in range(degree.shape[0]):
        if ticks[1] != 0:
            break
        close_neighbours(chains, u)
        for by_chance in (False, True):
            enough = greedy + random if by_chance else greedy
            if degree[u] >= max_degree:
                break
            found = count_gains(members, node_start, node_topics, covered, degree, u, enough, max_degree)
            while degree[u] < max_degree:
                found, chosen = sift(candidates[:found], u, gain, chains.closed_to)
                if found == 0:
                    break
                if by_chance:
                    chosen = candidates[int(rng.random() * found)]
                common = chain_link(chains, links, node_start, node_topics, u, chosen)
                links += 1
                for k in range(common):
                    if covered[chains.of_u[k]] == enough:
                        lower_gains(members, node_topics[chains.of_u[k]])
            for i in range(node_start[u], node_start[u + 1]):
                if covered[i] < enough:
                    lower_gains(members, node_topics[i])
        ticks[0] = links
    return chains.source[:links].copy(), chains.target[:links].copy()


@inner_kernel()
def sift(candidates, u, gain, closed_to):
    """Keep the candidates that u may still link to; give their number and the one of highest gain, lowest id.

    One that drops out never comes back in this turn: gains only fall.
    """
    kept = 0
    best = np.int64(-1)
    for k in range(candidates.shape[0]):
        v = np.int64(candidates[k])
        if gain[v] > 0 and closed_to[v] != u:
            candidates[kept] = v
            kept += 1
            if best < 0 or gain[v] > gain[best] or (gain[v] == gain[best] and v < best):
                best = v
    return kept, best


@inner_kernel()
def lower_gains(members, topic):
    """Take one from the gain of every member of a topic."""
    for at in range(members.start[topic], members.end[topic]):
        members.gain[members.nodes[at]] -= 1
