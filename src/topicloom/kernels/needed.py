"""Whether a topic needs a link: whether it is the only way between its ends among the nodes that want the topic."""

from __future__ import annotations

import numpy as np

from topicloom.kernels.fleet import new_mark, unlink
from topicloom.kernels.jit import kernel, tight_kernel
from topicloom.kernels.mending import mark_members


@kernel()
def common_topics(fleet, scratch, u, v):
    """The topics that both nodes want."""
    topics = fleet.topics
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
def prune(fleet, scratch, ends):
    """Take away the links that no topic needs, one after the other; give for each a topic that needs it, or -1."""
    reasons = np.empty(ends.shape[0], np.int64)
    for k in range(ends.shape[0]):
        reasons[k] = needed_for(fleet, scratch, ends[k, 0], ends[k, 1])
        if reasons[k] < 0:
            unlink(fleet, ends[k, 0], ends[k, 1])
    return reasons


@kernel()
def needed_for(fleet, scratch, u, v):
    """A topic that needs the link of two nodes, or -1 where none does."""
    common = common_topics(fleet, scratch, u, v)
    for k in range(common.shape[0]):
        if not has_another_way(fleet, scratch, common[k], u, v):
            return common[k]
    return -1


@tight_kernel()
def has_another_way(fleet, scratch, topic, u, v):
    """Whether v can be reached from u among the nodes that want a topic, without the link between them."""
    neighbours = fleet.neighbours
    wanting = mark_members(fleet, scratch, topic)
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
