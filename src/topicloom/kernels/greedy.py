"""What the loops of greedy designers share: what each search and each representation answers, and single steps.

`pair_search` and `row_search` search for the link of highest contribution; of equals the lowest (smaller id, larger id)
comes first. `topic_bits` and `topic_members` keep topics and the components that links merge. The loops
of designers are written once against the functions here, and numba picks the implementation by the type of the search
or of the topics.

Searches have `allowed`, with a bit for each node that may have another link; it counts if they are `confined`. Their
`at` begins with the contribution that they have come down to.

Loops count merged components in `ticks[0]` and end early once `ticks[STOP]` is set.

Maximal matchings: links that contribute nothing, between nodes below the highest degree. Linked nodes are kept as a bit
for every pair. Nodes below the highest degree form a chain by ids, which a node leaves as soon as it has enough links;
so a phase costs a step for each of them, and one for each pair that is linked already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from topicloom.kernels.jit import INNER, inlined, inner_kernel, step, tight_kernel

# The place in `ticks` of the request to stop.
STOP = 1
# The place in `at` of the contribution that a search has come down to.
CONTRIBUTION = 0
_ONE = np.uint64(1)
_WORD = 64


class Instance(NamedTuple):
    """An interest made ready for a search: topics with the components that links merge, and candidate links."""

    topics: Any
    candidates: Any


def restart(search: Any, instance: Any) -> Any:
    """Begin above the highest contribution; needed again after nodes have been allowed anew."""


def find_best(search: Any, instance: Any, least: Any) -> Any:
    """The best link as (node, node, contribution), the node of the smaller id first.

    Contribution 0 if none is left that contributes `least`, which is above 0.
    """


def enter_row(topics: Any, u: Any) -> Any:
    """Prepare to evaluate links of node u; needed again after every merge."""


def contribution(topics: Any, u: Any, v: Any, threshold: Any) -> Any:
    """Contribution of the link (u, v): exact if it reaches the threshold, else an upper bound below it."""


def merge(topics: Any, u: Any, v: Any) -> Any:
    """Add the link (u, v): join the components of u and v in every common topic."""


def implements(function: Callable[..., Any], kind: type, **options: Any) -> Callable[..., Any]:
    """Register the decorated kernel as `function` for arguments of one type, with options of numba."""

    jit_options: Any = {**INNER, **options}

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        def choose(first: Any, *rest: Any) -> Any:
            fits = getattr(first, "instance_class", None) is kind
            return implementation if fits else None

        choose.__name__ = f"{function.__name__}_{kind.__name__}"
        overload(function, strict=False, jit_options=jit_options)(choose)
        return implementation

    return register


class LinkList(NamedTuple):
    """Links of a design, filled from the front, as ids."""

    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    contribution: npt.NDArray[np.int32]


def new_link_list(capacity: int) -> LinkList:
    """An empty list with capacity for that many links."""
    return LinkList(np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, np.int32))


class Degrees(NamedTuple):
    """Links of each node, how many more it may have (empty if there are no limits), and the highest degree allowed."""

    degree: npt.NDArray[np.int32]
    spare: npt.NDArray[np.int32]
    most: int


@step()
def add_link(links, count, instance, u, v, merged, ticks):
    """Add a link at a place of the list, by its ids, and join its components."""
    links.source[count] = instance.candidates.outer[u]
    links.target[count] = instance.candidates.outer[v]
    links.contribution[count] = merged
    merge(instance.topics, u, v)
    ticks[0] += merged


@tight_kernel()
def add_existing(instance, source, target, links, ticks):
    """Add links, given by ids, at the front of the list, whatever they contribute."""
    topics, candidates = instance.topics, instance.candidates
    for k in range(source.shape[0]):
        u, v = np.int64(candidates.inner[source[k]]), np.int64(candidates.inner[target[k]])
        enter_row(topics, u)
        add_link(links, k, instance, u, v, contribution(topics, u, v, np.int64(0)), ticks)


@inlined()
def upper_bound(search):
    """Upper bound of all contributions."""
    return search.at[CONTRIBUTION]


@inlined()
def is_allowed(allowed, node):
    """Whether a node may have another link, by the bits of a search."""
    return (allowed[node >> 6] >> np.uint64(node & 63)) & _ONE != 0


@inlined()
def allow(allowed, node, takes_part):
    """Let a node have another link, or not."""
    bit = _ONE << np.uint64(node & 63)
    if takes_part:
        allowed[node >> 6] |= bit
    else:
        allowed[node >> 6] &= ~bit


@inlined()
def has_spare(spare, node):
    """Whether limits allow a node another link."""
    return spare.shape[0] == 0 or spare[node] > 0


@inner_kernel()
def allow_spare(search, spare):
    """Confine a search to the nodes to which limits allow another link."""
    for node in range(spare.shape[0]):
        allow(search.allowed, node, has_spare(spare, node))


@inner_kernel()
def use_spare(search, spare, node):
    """Count a link of a node; a node whose last one it is takes no further part."""
    spare[node] -= 1
    allow(search.allowed, node, spare[node] > 0)


@inner_kernel()
def highest_degree(degree):
    """The highest degree of all nodes."""
    highest = np.int64(0)
    for node in range(degree.shape[0]):
        if degree[node] > highest:
            highest = np.int64(degree[node])
    return highest


@inner_kernel()
def restart_below(search, instance, degree, highest, spare):
    """Begin a search; a confined one with the nodes below a degree to which limits allow another link."""
    if search.confined:
        for node in range(degree.shape[0]):
            allow(search.allowed, node, degree[node] < highest and has_spare(spare, node))
    restart(search, instance)


@inlined()
def allow_below(search, node, degree, highest, spare):
    """Let a node take part if it is below a degree and limits allow it another link."""
    allow(search.allowed, node, degree[node] < highest and has_spare(spare, node))


class Matchings(NamedTuple):
    """Linked pairs of ids, and a chain of ids."""

    linked: npt.NDArray[np.uint64]  # id x word
    following: npt.NDArray[np.int64]  # by id, and the first of the chain at the end


def new_matchings(nodes: int) -> Matchings:
    """Matchings of that many nodes that have no link yet."""
    return Matchings(np.zeros((nodes, -(-nodes // _WORD)), np.uint64), np.zeros(nodes + 1, np.int64))


def matchings_bytes(nodes: int) -> int:
    """Memory of `new_matchings`."""
    return nodes * (nodes // 8 + 16)


@inner_kernel()
def note_link(matchings, links, link):
    """Remember that the ends of a link are linked."""
    a, b = np.int64(links.source[link]), np.int64(links.target[link])
    matchings.linked[a, b >> 6] |= _ONE << np.uint64(b & 63)
    matchings.linked[b, a >> 6] |= _ONE << np.uint64(a & 63)


@inner_kernel()
def chain_below(matchings, candidates, degree, highest):
    """Chain the ids of the nodes below the highest degree, by rising id; -1 ends the chain."""
    before = matchings.linked.shape[0]
    for a in range(matchings.linked.shape[0]):
        if degree[candidates.inner[a]] < highest:
            matchings.following[before] = a
            before = a
    matchings.following[before] = -1


@tight_kernel()
def fill_matching(matchings, links, noted, count, candidates, degree, highest):
    """Link nodes below the highest degree, the lowest ids first, until the list is full; return the number of links.

    There are `count` links already, of which the first are noted.
    """
    following = matchings.following
    for link in range(noted, count):
        note_link(matchings, links, link)
    chain_below(matchings, candidates, degree, highest)
    a = following[matchings.linked.shape[0]]
    while a >= 0:
        u = candidates.inner[a]
        before = a
        b = following[a]
        while b >= 0 and degree[u] < highest and count < links.source.shape[0]:
            v = candidates.inner[b]
            if (matchings.linked[a, b >> 6] >> np.uint64(b & 63)) & _ONE == 0:
                links.source[count] = a
                links.target[count] = b
                links.contribution[count] = 0
                note_link(matchings, links, count)
                count += 1
                degree[u] += 1
                degree[v] += 1
            if degree[v] < highest:
                before = b
            else:
                following[before] = following[b]
            b = following[b]
        a = following[a]
    return count
