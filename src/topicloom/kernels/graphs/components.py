"""Components of topics: union-find, what each link of a list merges, and how many pieces each topic is in.

A component is a set of subscriptions of one topic. Each subscription points to a parent; following parents
leads to the component's root.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.jit import kernel

# From this ratio of row lengths on, looking up each topic of the short row in the long one beats walking both.
_SEARCH_RATIO = 8


@kernel()
def find_root(parent, subscription):
    """Root of a subscription's component; shortens the path on the way."""
    while parent[subscription] != subscription:
        parent[subscription] = parent[parent[subscription]]
        subscription = parent[subscription]
    return subscription


@kernel()
def position_of(row_topics, begin, end, topic):
    """First position in [begin, end) whose topic is not below the given one."""
    while begin < end:
        middle = (begin + end) >> 1
        if row_topics[middle] < topic:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel()
def common_subscriptions(node_start, node_topics, u, v, of_u, of_v):
    """Write the subscriptions of u and of v to the topics both want; give their number."""
    if node_start[u + 1] - node_start[u] > node_start[v + 1] - node_start[v]:
        return common_subscriptions(node_start, node_topics, v, u, of_v, of_u)
    i, i_end = node_start[u], node_start[u + 1]
    j, j_end = node_start[v], node_start[v + 1]
    search = (j_end - j) > _SEARCH_RATIO * (i_end - i)
    found = 0
    while i < i_end and j < j_end:
        if node_topics[i] == node_topics[j]:
            of_u[found] = i
            of_v[found] = j
            found += 1
            i += 1
            j += 1
        elif node_topics[i] < node_topics[j]:
            i += 1
        elif search:
            j = position_of(node_topics, j, j_end, node_topics[i])
        else:
            j += 1
    return found


@kernel()
def merge_links(node_start, node_topics, source, target):
    """Add links one after the other; give each one's contribution and the parents of all subscriptions."""
    subscriptions = node_topics.shape[0]
    parent = np.arange(subscriptions)
    size = np.ones(subscriptions, np.int32)
    contribution = np.zeros(source.shape[0], np.int32)
    longest = 0
    for u in range(node_start.shape[0] - 1):
        longest = max(longest, node_start[u + 1] - node_start[u])
    of_u = np.empty(longest, np.int64)
    of_v = np.empty(longest, np.int64)
    for link in range(source.shape[0]):
        common = common_subscriptions(node_start, node_topics, source[link], target[link], of_u, of_v)
        for k in range(common):
            p = find_root(parent, of_u[k])
            q = find_root(parent, of_v[k])
            if p != q:
                if size[p] < size[q]:
                    p, q = q, p
                parent[q] = p
                size[p] += size[q]
                contribution[link] += 1
    return contribution, parent


@kernel()
def mark(nodes, place):
    """Note where each node stands in a topic's list; `place` is -1 elsewhere."""
    for i in range(nodes.shape[0]):
        place[nodes[i]] = i


@kernel()
def unmark(nodes, place):
    """Undo `mark`."""
    for i in range(nodes.shape[0]):
        place[nodes[i]] = -1


@kernel()
def join(parent, a, b):
    """Put a and b into one component, rooted at the lower root; tell whether they were in two."""
    p = find_root(parent, a)
    q = find_root(parent, b)
    if p < q:
        parent[q] = p
    else:
        parent[p] = q
    return p != q


@kernel()
def join_topic(nodes, place, out_start, out_nodes, parent):
    """Join a topic's nodes, by their places in `nodes`, along its links; give the links and the components."""
    links = 0
    components = nodes.shape[0]
    for i in range(nodes.shape[0]):
        for at in range(out_start[nodes[i]], out_start[nodes[i] + 1]):
            j = place[out_nodes[at]]
            if j >= 0:
                links += 1
                if join(parent, i, j):
                    components -= 1
    return links, components


@kernel()
def topic_components(topic_start, topic_nodes, out_start, out_nodes):
    """How many links join two nodes that want each topic, and how many components they leave."""
    topics = topic_start.shape[0] - 1
    links = np.zeros(topics, np.int64)
    components = np.zeros(topics, np.int64)
    place = np.full(out_start.shape[0] - 1, -1, np.int32)
    for topic in range(topics):
        nodes = topic_nodes[topic_start[topic] : topic_start[topic + 1]]
        mark(nodes, place)
        parent = np.arange(nodes.shape[0])
        links[topic], components[topic] = join_topic(nodes, place, out_start, out_nodes, parent)
        unmark(nodes, place)
    return links, components
