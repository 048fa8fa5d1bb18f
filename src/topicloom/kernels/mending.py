"""Mending topics that are in pieces, by links among few nodes: Shadows, algorithms 2, 7 and 10.

The pieces of the topics are a table: a row for each node that may be linked, a column for each topic that is in pieces,
and in it the piece the node is in, or -1 where it does not want the topic. The nodes come in the order of their ranks,
so ties go to the cheapest link, then to the lowest pair of names.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import inlined, inner_array_kernel, inner_kernel, kernel
from topicloom.kernels.live_graph import link, new_mark

NO_NODE = np.int64(-1)
# More than any degree, and more nodes than anybody awaits.
NO_LIMIT = np.int64(1) << 40


@inner_kernel()
def mark_members(population, scratch, topic):
    """Mark the nodes that want a topic; give the mark."""
    members = population.members
    wanting = new_mark(scratch.latest)
    for k in range(members.start[topic], members.start[topic] + members.length[topic]):
        scratch.mark[members.items[k]] = wanting
    return wanting


@inner_kernel()
def reach(population, scratch, wanting, source, piece, awaited):
    """Put all nodes that a source reaches within a topic into a piece, or fewer once all awaited ones are among them.

    Nodes in pieces have `place` set and the mark `-wanting`, awaited ones `chosen` equal to `wanting`.
    """
    scratch.mark[source] = -wanting
    scratch.place[source] = piece
    scratch.queue[0] = source
    count = 1
    found = 1
    done = 0
    while done < count and found < awaited:
        u = scratch.queue[done]
        done += 1
        for k in range(
            population.neighbours.start[u], population.neighbours.start[u] + population.neighbours.length[u]
        ):
            w = population.neighbours.items[k]
            if scratch.mark[w] == wanting:
                scratch.mark[w] = -wanting
                scratch.place[w] = piece
                scratch.queue[count] = w
                count += 1
                if scratch.chosen[w] == wanting:
                    found += 1
    # Those still in the queue are in the piece as well; their neighbours would follow, were they asked.
    return found


@inner_array_kernel()
def pieces_without(population, scratch, topics, around, nodes):
    """The table of pieces of those topics that a node left in pieces; it is gone already.

    `around` are the nodes that it was linked with: each piece has one of them at least. `nodes` get the rows.
    """
    table = np.empty((topics.shape[0], nodes.shape[0]), np.int32)
    broken = np.empty(topics.shape[0], np.int32)
    count = 0
    for t in range(topics.shape[0]):
        wanting = mark_members(population, scratch, np.int64(topics[t]))
        awaited = 0
        for k in range(around.shape[0]):
            if scratch.mark[around[k]] == wanting:
                scratch.chosen[around[k]] = wanting
                awaited += 1
        piece = np.int64(0)
        for k in range(around.shape[0]):
            if scratch.mark[around[k]] == wanting:
                # The first search may end early, which shows that the topic is whole.
                found = reach(population, scratch, wanting, around[k], piece, awaited if piece == 0 else NO_LIMIT)
                if piece == 0 and found == awaited:
                    break
                piece += 1
        if piece > 1:
            broken[count] = topics[t]
            for i in range(nodes.shape[0]):
                table[count, i] = scratch.place[nodes[i]] if scratch.mark[nodes[i]] == -wanting else NO_NODE
            count += 1
    return np.ascontiguousarray(table[:count].T), broken[:count]


@inner_kernel()
def all_pieces(population, scratch, topic):
    """Put all nodes of a topic into pieces; give their mark and how many pieces there are."""
    members = population.members
    wanting = mark_members(population, scratch, topic)
    piece = np.int64(0)
    for k in range(members.start[topic], members.start[topic] + members.length[topic]):
        if scratch.mark[members.items[k]] == wanting:
            reach(population, scratch, wanting, members.items[k], piece, NO_LIMIT)
            piece += 1
    return wanting, piece


@kernel()
def pieces_of(population, scratch, topics):
    """The nodes of those topics that are in pieces, by rank, the table of their pieces, and these topics."""
    broken = np.empty(topics.shape[0], np.int32)
    found = np.empty(population.rank.shape[0], np.int32)
    collecting = new_mark(scratch.latest)
    count = nodes_found = 0
    members = population.members
    for t in range(topics.shape[0]):
        if all_pieces(population, scratch, topics[t])[1] > 1:
            broken[count] = topics[t]
            count += 1
            for k in range(members.start[topics[t]], members.start[topics[t]] + members.length[topics[t]]):
                if scratch.chosen[members.items[k]] != collecting:
                    scratch.chosen[members.items[k]] = collecting
                    found[nodes_found] = members.items[k]
                    nodes_found += 1
    nodes = found[:nodes_found][np.argsort(population.rank[found[:nodes_found]])]
    return nodes, pieces_among(population, scratch, broken[:count], nodes), broken[:count]


@inner_array_kernel()
def pieces_among(population, scratch, topics, nodes):
    """The table of pieces of topics, whatever they were before an event; `nodes` get the rows."""
    table = np.full((nodes.shape[0], topics.shape[0]), NO_NODE, np.int32)
    for t in range(topics.shape[0]):
        wanting, _ = all_pieces(population, scratch, topics[t])
        for i in range(nodes.shape[0]):
            if scratch.mark[nodes[i]] == -wanting:
                table[i, t] = scratch.place[nodes[i]]
    return table


@inner_array_kernel()
def pieces_with(population, scratch, topics, newcomer, nodes):
    """The table of pieces of the topics in which a newcomer has no neighbour yet: it is one, all others are another.

    A topic that nobody else wants, or in which it has a neighbour, is left empty.
    """
    table = np.full((nodes.shape[0], topics.shape[0]), NO_NODE, np.int32)
    open_ = new_mark(scratch.latest)
    for t in range(topics.shape[0]):
        scratch.topic_mark[topics[t]] = open_
        scratch.uncovered[topics[t]] = t
    around = population.neighbours
    for k in range(around.start[newcomer], around.start[newcomer] + around.length[newcomer]):
        fill_row(
            population.topics, scratch.topic_mark, open_, -open_, around.items[k], scratch.uncovered, table[0], NO_NODE
        )
    for i in range(nodes.shape[0]):
        piece = 1 if nodes[i] == newcomer else 0
        fill_row(population.topics, scratch.topic_mark, open_, open_, nodes[i], scratch.uncovered, table[i], piece)
    return table


@inner_kernel()
def fill_row(rows, topic_mark, marked, leaving, node, column, row, value):
    """Write a value into the columns of the topics that a node wants and that have a mark, and leave another mark."""
    for k in range(rows.start[node], rows.start[node] + rows.length[node]):
        topic = rows.items[k]
        if topic_mark[topic] == marked:
            topic_mark[topic] = leaving
            row[column[topic]] = value


@inner_kernel()
def contribution(table, i, j):
    """How many topics a link would join two pieces of."""
    total = 0
    for c in range(table.shape[1]):
        a, b = table[i, c], table[j, c]
        total += (a != b) & (a >= 0) & (b >= 0)
    return total


@inlined()
def may_link(population, u, v, below):
    """Whether two nodes may be linked, of which the first has room, and the second has less than so many links."""
    degree = population.neighbours.length[v]
    return (
        degree < below
        and degree < population.limit[v]
        and population.permitted[population.group[u], population.group[v]]
    )


@inlined()
def price_of(population, u, v):
    """What a link of two nodes costs."""
    return population.price[population.price_group[u], population.price_group[v]]


@inner_kernel()
def best_in_row(population, nodes, table, i, first, end, below, best_j):
    """The highest contribution of a link of node i with one of those up to `end`, both of degree less than `below`."""
    best = 0
    u = nodes[i]
    if population.neighbours.length[u] < min(below, np.int64(population.limit[u])):
        for j in range(first, end):
            if may_link(population, u, nodes[j], below):
                value = contribution(table, i, j)
                if value > best or (
                    value == best
                    and value > 0
                    and price_of(population, u, nodes[j]) < price_of(population, u, nodes[best_j[i]])
                ):
                    best = value
                    best_j[i] = j
    return best


@inner_kernel()
def comes_first(population, nodes, best_j, i, other):
    """Whether the best link of row i is taken before that of another row, which contributes as much."""
    mine = price_of(population, nodes[i], nodes[best_j[i]])
    its = price_of(population, nodes[other], nodes[best_j[other]])
    return mine < its or (mine == its and i < other)


@inner_kernel()
def best_link(population, nodes, table, only, below, bound, best_j):
    """The row with the link of highest contribution, the cheapest, then lowest one in a tie; -1 where none contributes.

    `bound` has an upper bound for each row, and is lowered on the way. Only links of the node at place `only` count,
    unless it is -1.
    """
    best = np.argmax(bound) if bound.shape[0] else 0
    top = 0
    priced = population.price.shape[0] > 1
    # The most promising row first, then whichever may be better; the lower one in a tie, unless prices tell.
    for step in range(bound.shape[0] + (bound.shape[0] > 0)):
        i = step - 1 if step else best
        if bound[i] > top or (bound[i] == top and top > 0 and (i < best or (priced and i > best))):
            first, end = (i + 1, bound.shape[0]) if only < 0 or i == only else (only, only + 1)
            bound[i] = best_in_row(population, nodes, table, i, first, end, below, best_j)
            if bound[i] > top or (bound[i] == top and top > 0 and comes_first(population, nodes, best_j, i, best)):
                best, top = i, bound[i]
    return best if top > 0 else -1


@inner_kernel()
def join_pieces(table, i, j):
    """Put the pieces of two nodes together in each topic both want; give how many pieces are fewer."""
    joined = 0
    for c in range(table.shape[1]):
        a, b = table[i, c], table[j, c]
        if a != b and a >= 0 and b >= 0:
            joined += 1
            for k in range(table.shape[0]):
                if table[k, c] == b:
                    table[k, c] = a
    return joined


@kernel()
def mend(population, nodes, table, only, rho):
    """Add links until no topic is in pieces, as far as these nodes can; give their ends and contributions.

    Each is the best of those that raise the highest degree least, if it contributes at least 1/rho of the best of all,
    else that one. Only links of the node at place `only` are considered, unless it is -1. The table is used up.
    """
    rows, topics = table.shape
    ends = np.empty((rows * topics, 2), np.int32)
    contributions = np.empty(rows * topics, np.int32)
    count = 0
    any_bound = np.zeros(rows, np.int64)
    for i in range(rows if only < 0 else only + 1):
        for c in range(topics):
            any_bound[i] += table[i, c] >= 0
    low_bound = any_bound.copy()
    any_j = np.zeros(rows, np.int64)
    low_j = np.zeros(rows, np.int64)
    highest = np.int64(population.degrees[population.degrees.shape[0] - 1])
    while True:
        i = best_link(population, nodes, table, only, NO_LIMIT, any_bound, any_j)
        if i < 0:
            return ends[:count], contributions[:count]
        j = any_j[i]
        if max(population.neighbours.length[nodes[i]], population.neighbours.length[nodes[j]]) >= highest:
            low = best_link(population, nodes, table, only, highest, low_bound, low_j)
            if low >= 0 and low_bound[low] * rho >= any_bound[i]:
                i, j = low, low_j[low]
        u, v = np.int64(nodes[i]), np.int64(nodes[j])
        link(population, u, v)
        ends[count, 0], ends[count, 1] = u, v
        contributions[count] = join_pieces(table, i, j)
        count += 1
        if population.degrees[population.degrees.shape[0] - 1] > highest:
            # More nodes are below the highest degree now.
            highest = np.int64(population.degrees[population.degrees.shape[0] - 1])
            low_bound[:] = any_bound
