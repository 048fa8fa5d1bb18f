"""What happens when a node joins, leaves or changes its topics, and is mended by shadow sets or naively: Shadows, V.

The nodes that new links may join are the shadow set: the neighbours and backups of the node that goes, or the backups
of the node that comes. Naively they are all that want one of its topics; by neighbours, those of the node that goes,
and of one that comes, which has none, again all.
"""

from __future__ import annotations

import numpy as np

from topicloom.kernels.backups import build_by_bits, build_by_primal_dual, build_greedily, forget_backups
from topicloom.kernels.jit import inner_array_kernel, inner_kernel, kernel
from topicloom.kernels.live_graph import add_node, clear, link, new_mark, remove, remove_node, set_topics, unlink
from topicloom.kernels.mending import NO_NODE, mend, pieces_among, pieces_with, pieces_without

PRIMAL_DUAL = 0
GREEDY = 1
NAIVE = 2
PRIMAL_DUAL_CARRIED = 3
GREEDY_PLAIN = 4
NEIGHBOURS = 5

# Whether a node is leaving. Plain values would be two types, and compiled twice.
_COMING, _LEAVING = np.bool_(False), np.bool_(True)


@kernel()
def build_backups(population, scratch, nodes, coverage, method):
    """Build the backups of nodes, one after the other."""
    for k in range(nodes.shape[0]):
        if method in (PRIMAL_DUAL, PRIMAL_DUAL_CARRIED):
            carried = method == PRIMAL_DUAL_CARRIED
            if population.wanting.shape[0]:
                build_by_bits(population, scratch, np.int64(nodes[k]), coverage, carried)
            else:
                build_by_primal_dual(population, scratch, np.int64(nodes[k]), coverage, carried)
        elif method in (GREEDY, GREEDY_PLAIN):
            build_greedily(population, scratch, np.int64(nodes[k]), coverage, method == GREEDY_PLAIN)


@inner_array_kernel()
def row(rows, r):
    """A copy of a row."""
    return rows.items[rows.start[r] : rows.start[r] + rows.length[r]].copy()


@inner_array_kernel()
def by_rank(population, nodes):
    """Nodes in the order of their names."""
    return nodes[np.argsort(population.rank[nodes])]


@inner_kernel()
def collect(scratch, collected, rows, r, marked, count):
    """Add the items of a row that have no mark yet; give how many there are now."""
    for k in range(rows.start[r], rows.start[r] + rows.length[r]):
        u = rows.items[k]
        if scratch.mark[u] != marked:
            scratch.mark[u] = marked
            collected[count] = u
            count += 1
    return count


@inner_array_kernel()
def shadow_set(population, scratch, v, topics, method, leaving):
    """The nodes that links may be added among, by rank: without v where it is leaving, with it where it comes."""
    marked = new_mark(scratch.latest)
    scratch.mark[v] = marked
    count = np.int64(0)
    if not leaving:
        scratch.queue[0] = v
        count += 1
    if method == NAIVE or (method == NEIGHBOURS and not leaving):
        for k in range(topics.shape[0]):
            count = collect(scratch, scratch.queue, population.members, np.int64(topics[k]), marked, count)
    else:
        if leaving:
            count = collect(scratch, scratch.queue, population.neighbours, v, marked, count)
        count = collect(scratch, scratch.queue, population.backups, v, marked, count)
    return by_rank(population, scratch.queue[:count].copy())


@inner_array_kernel()
def connect(population, scratch, v, topics, whole, rho, coverage, method):
    """Link a node within topics that it has just begun to want, which were `whole` or not.

    Give links, contributions and the shadow set's size.
    """
    build_backups(population, scratch, np.full(1, v, np.int32), coverage, method)
    nodes = shadow_set(population, scratch, v, topics, method, _COMING)
    only = np.searchsorted(population.rank[nodes], population.rank[v])
    if whole:
        table = pieces_with(population, scratch, topics, v, nodes)
    else:
        table = pieces_among(population, scratch, topics, nodes)
    ends, contributions = mend(population, nodes, table, only, rho)
    return ends, contributions, nodes.shape[0]


@inner_array_kernel()
def disconnect(population, scratch, v, kept, given_up, around, nodes, whole, rho):
    """A node wants fewer topics: mend those given up, which were `whole` or not; give links and contributions."""
    set_topics(population, v, kept)
    if whole:
        table, _ = pieces_without(population, scratch, given_up, around, nodes)
    else:
        table = pieces_among(population, scratch, given_up, nodes)
    return mend(population, nodes, table, NO_NODE, rho)


@kernel()
def join(population, scratch, v, rank, topics, first, whole, rho, coverage, method):
    """A node joins, linked with the `first` nodes at once.

    Give further links, contributions, the size of the shadow set, and who was alone with a topic until now.
    """
    attach(population, v, rank, topics, first)
    ends, contributions, size = connect(population, scratch, v, topics, whole, rho, coverage, method)
    return ends, contributions, size, no_longer_alone(population, scratch, v, topics)


@kernel()
def leave(population, scratch, v, whole, rho, method):
    """A node leaves; give links, contributions, the size of the shadow set, and the neighbours that it had."""
    topics = row(population.topics, v)
    around = row(population.neighbours, v)
    nodes = shadow_set(population, scratch, v, topics, method, _LEAVING)
    for k in range(around.shape[0]):
        unlink(population, v, np.int64(around[k]))
    ends, contributions = disconnect(population, scratch, v, topics[:0], topics, around, nodes, whole, rho)
    return ends, contributions, nodes.shape[0], around


@kernel()
def change(population, scratch, v, kept, given_up, wanted, added, whole, rho, coverage, method):
    """A node gives up topics, then wants others; `wanted` are all that it wants in the end.

    Give links, contributions, the size of both shadow sets together, and whose backups must be built anew.
    """
    around = row(population.neighbours, v)
    nodes = shadow_set(population, scratch, v, given_up, method, _LEAVING)
    ends, contributions = disconnect(population, scratch, v, kept, given_up, around, nodes, whole, rho)
    set_topics(population, v, wanted)
    more, more_contributions, size = connect(population, scratch, v, added, whole, rho, coverage, method)
    size = (nodes.shape[0] if given_up.shape[0] else 0) + (size if added.shape[0] else 0)
    primaries = primaries_that_want(population, scratch, v, given_up)
    stale = np.concatenate((primaries, no_longer_alone(population, scratch, v, added)))
    return np.concatenate((ends, more)), np.concatenate((contributions, more_contributions)), size, stale


@kernel()
def attach(population, v, rank, topics, first):
    """A node enters and wants topics, linked with the `first` nodes alone."""
    add_node(population, v, rank)
    set_topics(population, v, topics)
    for k in range(first.shape[0]):
        link(population, v, np.int64(first[k]))


@kernel()
def rewant(population, v, topics):
    """A node wants these topics from now on."""
    set_topics(population, v, topics)


@kernel()
def detach(population, v):
    """A node loses its topics and its links; give those that it was linked with."""
    around = row(population.neighbours, v)
    set_topics(population, v, around[:0])
    for k in range(around.shape[0]):
        unlink(population, v, np.int64(around[k]))
    return around


@kernel()
def mend_jointly(population, scratch, topics, nodes, rho):
    """Mend topics among nodes, by rank, of which every piece has one at least; give links and contributions."""
    table, _ = pieces_without(population, scratch, topics, nodes, nodes)
    return mend(population, nodes, table, NO_NODE, rho)


@kernel()
def drop_backups(population, v):
    """A node that has left stands in for nobody, nobody for it, and it is gone; give whom it stood in for, by rank."""
    forget_backups(population, v)
    primaries = by_rank(population, row(population.primaries, v))
    for k in range(primaries.shape[0]):
        remove(population.backups, np.int64(primaries[k]), v)
    clear(population.primaries, v)
    remove_node(population, v)
    return primaries


@kernel()
def primaries_that_want(population, scratch, v, topics):
    """Whom a node stands in for and who wants one of these topics, by rank."""
    marked = new_mark(scratch.latest)
    for k in range(topics.shape[0]):
        scratch.topic_mark[topics[k]] = marked
    primaries = by_rank(population, row(population.primaries, v))
    count = 0
    for k in range(primaries.shape[0]):
        u = primaries[k]
        for at in range(population.topics.start[u], population.topics.start[u] + population.topics.length[u]):
            if scratch.topic_mark[population.topics.items[at]] == marked:
                primaries[count] = u
                count += 1
                break
    return primaries[:count]


@inner_array_kernel()
def no_longer_alone(population, scratch, v, topics):
    """Who wanted one of these topics alone until v came, by rank; only now can somebody stand in for them there."""
    marked = new_mark(scratch.latest)
    scratch.mark[v] = marked
    count = np.int64(0)
    for k in range(topics.shape[0]):
        if population.members.length[topics[k]] == 2:
            count = collect(scratch, scratch.queue, population.members, np.int64(topics[k]), marked, count)
    return by_rank(population, scratch.queue[:count].copy())
