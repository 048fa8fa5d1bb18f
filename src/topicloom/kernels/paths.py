"""Exact diameters of topics.

A topic's links are gathered into a graph of its own. A piece of it that is a tree is done after two searches.
Any other piece is searched from a middle node first (iFUB: Crescenzi et al. 2013): two nodes within `i` steps
of the middle are within `2i` of each other, so only nodes farther out than half the longest path found so far
can still be ends of a longer one. These are searched from, farthest first, 64 at a time, one bit each (Then et
al. 2014). Only nodes that heard something new pass it on, so 64 searches at once cost 15 to 30 times less than
64 plain ones on random graphs, and about the same along a ring.

Cost for a topic of n nodes and m links: O(n + m) where it is a tree or nearly one, at worst O(n m).
Memory: 52 bytes a node and 8 a link of the largest topic, 4 bytes a node of the overlay.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.components import mark, unmark
from topicloom.kernels.jit import kernel

_BITS = 64
# Once one node in this many has news, asking beats telling: it skips who has heard all, and has no branches.
_ASK_SHARE = 4


@kernel()
def topic_graph(nodes, place, out_start, out_nodes):
    """Rows of neighbours among a topic's nodes, all by their places in `nodes`."""
    count = nodes.shape[0]
    start = np.zeros(count + 2, np.int64)
    for i in range(count):
        for at in range(out_start[nodes[i]], out_start[nodes[i] + 1]):
            j = place[out_nodes[at]]
            if j >= 0:
                start[i + 2] += 1
                start[j + 2] += 1
    for i in range(count):
        start[i + 2] += start[i + 1]
    # start[i + 1] is where row i grows; at the end it is where row i + 1 begins.
    neighbours = np.empty(start[count + 1], np.int32)
    for i in range(count):
        for at in range(out_start[nodes[i]], out_start[nodes[i] + 1]):
            j = place[out_nodes[at]]
            if j >= 0:
                neighbours[start[i + 1]] = j
                start[i + 1] += 1
                neighbours[start[j + 1]] = i
                start[j + 1] += 1
    return start[: count + 1], neighbours


@kernel()
def distances_from(start, neighbours, source, distance, queue):
    """Distances from a source, -1 before; the nodes reached in the order of reaching them; give their number."""
    distance[source] = 0
    queue[0] = source
    reached = 1
    done = 0
    while done < reached:
        u = queue[done]
        done += 1
        for at in range(start[u], start[u + 1]):
            v = neighbours[at]
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue[reached] = v
                reached += 1
    return reached


@kernel()
def tell(start, neighbours, active, news, heard, told, fresh):
    """Each active node tells its neighbours; give how many heard something new, listed in `told`."""
    count = 0
    for k in range(active.shape[0]):
        u = active[k]
        for at in range(start[u], start[u + 1]):
            v = neighbours[at]
            bits = news[u] & ~heard[v]
            if bits:
                if fresh[v] == 0:
                    told[count] = v
                    count += 1
                fresh[v] |= bits
    return count


@kernel()
def ask(start, neighbours, piece, everything, news, heard, told, fresh):
    """As `tell`, but each node that has not heard everything asks its neighbours."""
    count = 0
    for k in range(piece.shape[0]):
        v = piece[k]
        if heard[v] != everything:
            bits = np.uint64(0)
            for at in range(start[v], start[v + 1]):
                bits |= news[neighbours[at]]
            bits &= ~heard[v]
            if bits:
                told[count] = v
                count += 1
                fresh[v] = bits
    return count


@kernel()
def farthest(start, neighbours, piece, sources, heard, news, active):
    """Longest distance from any of up to 64 sources in a piece; `news` is zero before and after."""
    everything = np.uint64(0)
    for k in range(piece.shape[0]):
        heard[piece[k]] = 0
    count = sources.shape[0]
    for k in range(count):
        bit = np.uint64(1) << np.uint64(k)
        everything |= bit
        active[0, k] = sources[k]
        heard[sources[k]] = bit
        news[0, sources[k]] = bit
    level = 0
    while count > 0:
        now = level & 1
        then = 1 - now
        tellers = active[now, :count]
        if count * _ASK_SHARE < piece.shape[0]:
            count = tell(start, neighbours, tellers, news[now], heard, active[then], news[then])
        else:
            count = ask(start, neighbours, piece, everything, news[now], heard, active[then], news[then])
        for k in range(tellers.shape[0]):
            news[now, tellers[k]] = 0
        for k in range(count):
            v = active[then, k]
            heard[v] |= news[then, v]
        level += 1
    return level - 1


@kernel()
def forget(nodes, distance):
    """Set the distances of some nodes back to -1."""
    for i in range(nodes.shape[0]):
        distance[nodes[i]] = -1


@kernel()
def halfway(start, neighbours, node, distance):
    """A node in the middle of a shortest path from the source of the distances to a node."""
    middle = distance[node] // 2
    while distance[node] > middle:
        for at in range(start[node], start[node + 1]):
            if distance[neighbours[at]] == distance[node] - 1:
                node = neighbours[at]
                break
    return node


@kernel()
def piece_diameter(start, neighbours, piece, distance, queue, heard, news, active):
    """Diameter of the connected piece that a search has just reached, farthest node last."""
    count = piece.shape[0]
    ends = 0
    for k in range(count):
        ends += start[piece[k] + 1] - start[piece[k]]
    forget(piece, distance)
    distances_from(start, neighbours, np.int64(piece[count - 1]), distance, queue)
    longest = distance[queue[count - 1]]
    if ends == 2 * (count - 1):
        return longest
    middle = halfway(start, neighbours, queue[count - 1], distance)
    forget(piece, distance)
    distances_from(start, neighbours, middle, distance, queue)
    end = count
    while end > 0 and 2 * distance[queue[end - 1]] > longest:
        begin = max(0, end - _BITS)
        longest = max(longest, farthest(start, neighbours, piece, queue[begin:end], heard, news, active))
        end = begin
    return longest


@kernel()
def graph_diameter(start, neighbours):
    """Longest shortest path of a graph, within a piece where it falls into several."""
    count = start.shape[0] - 1
    distance = np.full(count, -1, np.int32)
    pieces = np.empty(count, np.int32)
    queue = np.empty(count, np.int32)
    heard = np.empty(count, np.uint64)
    news = np.zeros((2, count), np.uint64)
    active = np.empty((2, count), np.int32)
    longest = 0
    for node in range(count):
        if distance[node] < 0:
            reached = distances_from(start, neighbours, node, distance, pieces)
            if reached > longest + 1:
                piece = pieces[:reached]
                found = piece_diameter(start, neighbours, piece, distance, queue, heard, news, active)
                longest = max(longest, found)
    return longest


@kernel()
def topic_diameters(topic_start, topic_nodes, out_start, out_nodes):
    """Diameter of each topic's graph; 0 for a topic that no node wants."""
    topics = topic_start.shape[0] - 1
    diameter = np.zeros(topics, np.int64)
    place = np.full(out_start.shape[0] - 1, -1, np.int32)
    for topic in range(topics):
        nodes = topic_nodes[topic_start[topic] : topic_start[topic + 1]]
        mark(nodes, place)
        start, neighbours = topic_graph(nodes, place, out_start, out_nodes)
        unmark(nodes, place)
        diameter[topic] = graph_diameter(start, neighbours)
    return diameter


@kernel()
def diameters_through_any(node_start, node_topics, topic_start, topic_nodes, link_start, link_nodes):
    """The longest distance between two nodes of each topic over all links, of those that are joined at all."""
    nodes = node_start.shape[0] - 1
    longest = np.zeros(topic_start.shape[0] - 1, np.int64)
    distance = np.empty(nodes, np.int32)
    queue = np.empty(nodes, np.int32)
    for u in range(nodes):
        for v in range(nodes):
            distance[v] = -1
        distances_from(link_start, link_nodes, u, distance, queue)
        for at in range(node_start[u], node_start[u + 1]):
            topic = node_topics[at]
            for member in range(topic_start[topic], topic_start[topic + 1]):
                longest[topic] = max(longest[topic], distance[topic_nodes[member]])
    return longest
