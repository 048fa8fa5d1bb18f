"""Whether a topic needs a link: whether it is the only way between its ends among the nodes that want the topic."""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import inner_kernel, kernel
from topicloom.kernels.live_graph import new_mark, unlink
from topicloom.kernels.mending import mark_members


@kernel()
def common_topics(population, scratch, u, v):
    """The topics that both nodes want."""
    topics = population.topics
    marked = new_mark(scratch.latest)
    for k in range(topics.start[u], topics.start[u] + topics.length[u]):
        scratch.topic_mark[topics.items[k]] = marked
    common = np.empty(topics.length[v], np.int32)
    count = 0
    for k in range(topics.start[v], topics.start[v] + topics.length[v]):
        if scratch.topic_mark[topics.items[k]] == marked:
            common[count] = topics.items[k]
            count += 1
    return common[:count]


@kernel()
def prune(population, scratch, ends):
    """Take away the links that no topic needs, one after the other; give for each a topic that needs it, or -1."""
    reasons = np.empty(ends.shape[0], np.int64)
    for k in range(ends.shape[0]):
        u, v = np.int64(ends[k, 0]), np.int64(ends[k, 1])
        reasons[k] = topic_that_needs(population, scratch, u, v)
        if reasons[k] < 0:
            unlink(population, u, v)
    return reasons


@kernel()
def still_needed(population, scratch, reasons, ends):
    """Whether each link is still needed for the topic that is its reason; links come by reason.

    All links that a topic needs, its bridges, are found in one search: Tarjan 1974.
    """
    nodes = population.rank.shape[0]
    order = np.empty(nodes, np.int32)
    low = np.empty(nodes, np.int32)
    at = np.empty(nodes, np.int32)
    parent = np.empty(nodes, np.int32)
    answers = np.empty(reasons.shape[0], np.bool_)
    wanting = np.int64(0)
    for k in range(reasons.shape[0]):
        if k == 0 or reasons[k] != reasons[k - 1]:
            wanting = mark_members(population, scratch, reasons[k])
            members = population.members
            for m in range(members.start[reasons[k]], members.start[reasons[k]] + members.length[reasons[k]]):
                if scratch.mark[members.items[m]] == wanting:
                    search_depth_first(population, scratch, wanting, members.items[m], order, low, at, parent)
        u, v = ends[k, 0], ends[k, 1]
        both = scratch.mark[u] == -wanting and scratch.mark[v] == -wanting
        answers[k] = both and (is_bridge(order, low, parent, u, v) or is_bridge(order, low, parent, v, u))
    return answers


@inner_kernel()
def is_bridge(order, low, parent, u, v):
    """Whether the search went down from u to v, and from v and below no other link leads back up."""
    return parent[v] == u and low[v] > order[u]


@inner_kernel()
def search_depth_first(population, scratch, wanting, root, order, low, at, parent):
    """Number the marked nodes that a root reaches in the order of reaching them, and how high each leads back."""
    neighbours = population.neighbours
    stack = scratch.queue
    scratch.mark[root] = -wanting
    order[root], low[root], at[root], parent[root] = 0, 0, 0, -1
    stack[0] = root
    depth = 1
    count = 1
    while depth > 0:
        u = stack[depth - 1]
        if at[u] == neighbours.length[u]:
            depth -= 1
            if depth > 0:
                low[stack[depth - 1]] = min(low[stack[depth - 1]], low[u])
            continue
        w = neighbours.items[neighbours.start[u] + at[u]]
        at[u] += 1
        if scratch.mark[w] == wanting:
            scratch.mark[w] = -wanting
            order[w], low[w], at[w], parent[w] = count, count, 0, u
            count += 1
            stack[depth] = w
            depth += 1
        elif scratch.mark[w] == -wanting and w != parent[u]:
            low[u] = min(low[u], order[w])


@kernel()
def topic_that_needs(population, scratch, u, v):
    """A topic that needs the link of two nodes, or -1 where none does."""
    common = common_topics(population, scratch, u, v)
    for k in range(common.shape[0]):
        if not has_other_path(population, scratch, np.int64(common[k]), u, v):
            return common[k]
    return -1


@inner_kernel()
def has_other_path(population, scratch, topic, u, v):
    """Whether v can be reached from u among the nodes that want a topic, without the link between them."""
    neighbours = population.neighbours
    wanting = mark_members(population, scratch, topic)
    scratch.mark[u] = -wanting
    scratch.queue[0] = u
    count = 1
    done = 0
    while done < count:
        a = scratch.queue[done]
        done += 1
        for k in range(neighbours.start[a], neighbours.start[a] + neighbours.length[a]):
            b = neighbours.items[k]
            if scratch.mark[b] == wanting and not (a == u and b == v):
                if b == v:
                    return True
                scratch.mark[b] = -wanting
                scratch.queue[count] = b
                count += 1
    return False
