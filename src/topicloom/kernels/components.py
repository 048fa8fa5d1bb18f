"""Components of topics: by union-find, and as labelled circles.

A component is a set of subscriptions of one topic.

Union-find is for a whole list of links: what each of them merges, and how many components are left. A subscription
points to its parent; parents lead to the root of the component.

Circles are for designers, which ask far more often than they join. A subscription has the label of its component, which
is one of its subscriptions, and points to the next in a circle. A look tells whether two are joined. Joining relabels
the smaller circle and swaps two pointers, so all joins of a design relabel a subscription at most log2(subscribers)
times.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import inlined, kernel, step, tight_kernel

# From this ratio of row lengths on, looking up each topic of the short row in the long one beats walking both.
_SEARCH_RATIO = 8


@tight_kernel()
def find_root(parent, subscription):
    """Root of a subscription's component; shortens the path on the way."""
    while parent[subscription] != subscription:
        parent[subscription] = parent[parent[subscription]]
        subscription = parent[subscription]
    return subscription


@inlined()
def position_of(row_topics, begin, end, topic):
    """First position in [begin, end) whose topic is not below the given one."""
    while begin < end:
        middle = (begin + end) >> 1
        if row_topics[middle] < topic:
            begin = middle + 1
        else:
            end = middle
    return begin


@tight_kernel()
def common_subscriptions(node_start, node_topics, u, v, of_u, of_v):
    """Write the subscriptions of u and of v to the topics both want; give their number."""
    if node_start[u + 1] - node_start[u] > node_start[v + 1] - node_start[v]:
        u, v = v, u
        of_u, of_v = of_v, of_u
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


def merge_links(
    node_start: npt.NDArray[np.int64],
    node_topics: npt.NDArray[np.int32],
    source: npt.NDArray[np.int32],
    target: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Add links one after the other; give each one's contribution and the parents of all subscriptions."""
    contribution = np.zeros(len(source), np.int32)
    parent = np.arange(len(node_topics))
    size = np.ones(len(node_topics), np.int32)
    longest = int(np.diff(node_start).max(initial=0))
    of_u, of_v = np.empty(longest, np.int64), np.empty(longest, np.int64)
    given = (_read_only(array) for array in (node_start, node_topics, source, target))
    merge_into(*given, contribution, parent, size, of_u, of_v)
    return contribution, parent


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array, so that all callers share one type of it: for another the kernel would be compiled again."""
    view = array.view()
    view.flags.writeable = False
    return view


@tight_kernel()
def merge_into(node_start, node_topics, source, target, contribution, parent, size, of_u, of_v):
    """As `merge_links`, into arrays made beforehand; the last two have room for the topics of a node."""
    for link in range(source.shape[0]):
        common = common_subscriptions(
            node_start, node_topics, np.int64(source[link]), np.int64(target[link]), of_u, of_v
        )
        for k in range(common):
            p = find_root(parent, of_u[k])
            q = find_root(parent, of_v[k])
            if p != q:
                if size[p] < size[q]:
                    p, q = q, p
                parent[q] = p
                size[p] += size[q]
                contribution[link] += 1


@tight_kernel()
def mark(nodes, place):
    """Note where each node stands in a topic's list; `place` is -1 elsewhere."""
    for i in range(nodes.shape[0]):
        place[nodes[i]] = i


@tight_kernel()
def unmark(nodes, place):
    """Undo `mark`."""
    for i in range(nodes.shape[0]):
        place[nodes[i]] = -1


@tight_kernel()
def join(parent, a, b):
    """Put a and b into one component, rooted at the lower root; tell whether they were in two."""
    p = find_root(parent, a)
    q = find_root(parent, b)
    if p < q:
        parent[q] = p
    else:
        parent[p] = q
    return p != q


@tight_kernel()
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


class Circles(NamedTuple):
    """Components of all topics; arrays by subscription, `size` right at labels only."""

    label: npt.NDArray[np.int32]
    next_member: npt.NDArray[np.int32]
    size: npt.NDArray[np.int32]


def new_circles(subscriptions: int) -> Circles:
    """Every subscription alone."""
    label = np.arange(subscriptions, dtype=np.int32)
    return Circles(label, label.copy(), np.ones(subscriptions, np.int32))


@step()
def join_labelled(circles, kept, other):
    """Join the component labelled `other` into the one labelled `kept`."""
    subscription = other
    while True:
        circles.label[subscription] = kept
        subscription = circles.next_member[subscription]
        if subscription == other:
            break
    after = circles.next_member[kept]
    circles.next_member[kept] = circles.next_member[other]
    circles.next_member[other] = after
    circles.size[kept] += circles.size[other]
