"""The search for the best link row by row, for interests whose nodes share little: no pair of nodes is ever stored.

Contributions only fall, so at each contribution, from the highest down, one pass over the nodes in the order of ids is
enough: a node's best links with higher ids are found, and handed out as long as they contribute that much. That is
the order in which ties are to be broken. A node is passed over while its bound, the highest contribution that was left
when it was last visited, is lower.

A visit counts, for all other nodes at once, the topics in which they are in another component: it walks the members of
each topic of the node. On 50,000 nodes with 11 of 10,000 topics each, this took a tenth of the time, and a hundredth of
the memory, of a bound for every pair that shares a topic.

A search that is confined to some nodes leaves the others out of the bounds. When these are allowed again, and are few,
no bound is raised for their sake: each becomes a centre, which looks after all its links, with lower ids too. Centres
are visited before the rows, and their links wait in a list for their turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels import greedy
from topicloom.kernels.greedy import allow, contribution, enter_row, implements, is_allowed
from topicloom.kernels.jit import inlined, inner_kernel, step
from topicloom.kernels.topic_members import other_members

BLOCK = 64
# Counts are swept as a whole where more than one in so many was touched; else the members walked are looked up again.
_SWEPT = 4
# Nodes that are allowed again become centres where they are not more than one in so many.
CENTRES = 16
_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_LAST = np.uint64(0xFFFFFFFFFFFFFFFF)


class RowCandidates(NamedTuple):
    """What is known of all links, by their nodes, and working space of a visit."""

    bound: npt.NDArray[np.int32]  # by node: what no link with a higher node contributes more than
    bound_of_all: npt.NDArray[np.int32]  # by node: what no link of it contributes more than
    gain: npt.NDArray[np.unsignedinteger]  # by node: topics that a link would merge; zero between visits
    spent_start: npt.NDArray[np.int64]  # by node: links with other nodes that may not be added
    spent: npt.NDArray[np.int32]
    group: npt.NDArray[np.int32]  # by node, where links are constrained
    permitted: npt.NDArray[np.bool_]  # group x group: whether their nodes may be linked; empty where all may
    outer: npt.NDArray[np.int32]  # id of each node: the nodes are in the order of ids
    inner: npt.NDArray[np.int32]  # node of each id


class RowSearch(NamedTuple):
    """Where a search stands. It may be confined to links between allowed nodes.

    `row_bound` covers, of the links between allowed nodes, all those of a centre, and those of any other node with
    higher ones that are no centres. Links of nodes that are hidden are not covered.
    """

    confined: bool
    most_appearing: int  # so many nodes at once may become centres
    allowed: npt.NDArray[np.uint64]  # one bit a node
    centre: npt.NDArray[np.uint64]  # the same
    hidden: npt.NDArray[np.uint64]  # the same: nodes that were left out of bounds, as they were not allowed
    row_bound: npt.NDArray[np.int32]  # by node
    found: npt.NDArray[np.uint64]  # links of the present node that reach the contribution, (lower << 32 | higher)
    waiting: npt.NDArray[np.uint64]  # the same of centres
    at: npt.NDArray[np.int64]  # what the names below say


# The present contribution and node.
_CONTRIBUTION, _NODE = greedy.CONTRIBUTION, 1
# The next of the links found, and their number; the next of those waiting, and their number.
_NEXT, _COUNT, _NEXT_WAITING, _WAITING = 2, 3, 4, 5
# The highest contribution that the present node leaves: among links that its bound covers, and among all others.
_LEFT, _LEFT_OUT = 6, 7


def row_candidates(
    sizes: npt.NDArray[np.int64],
    highest: int,
    source: npt.NDArray[np.int32],
    target: npt.NDArray[np.int32],
    group: npt.NDArray[np.int32],
    permitted: npt.NDArray[np.bool_],
) -> RowCandidates:
    """No node visited yet; `sizes` are the numbers of their topics, `highest` is what no link contributes more than.

    Links between `source` and `target` and those between groups that may not be linked are none.
    """
    nodes = len(sizes)
    one, other = np.concatenate([source, target]), np.concatenate([target, source])
    spent_start = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(one, minlength=nodes), out=spent_start[1:])
    ids = np.arange(nodes, dtype=np.int32)
    bound = np.minimum(sizes, highest).astype(np.int32)
    return RowCandidates(
        bound,
        bound.copy(),
        np.zeros(nodes, np.uint16 if highest < 1 << 16 else np.uint32),
        spent_start,
        other[np.argsort(one, kind="stable")],
        group,
        permitted,
        ids,
        ids,
    )


def new_row_search(candidates: RowCandidates, *, confined: bool, centres: int = CENTRES) -> RowSearch:
    """A search that has not begun; a confined one allows no node yet."""
    nodes = len(candidates.outer)
    allowed, centre, hidden = np.zeros((3, -(-nodes // 64)), np.uint64)
    found = np.empty(nodes, np.uint64)
    waiting = np.empty(_waiting_room(nodes) if confined else 0, np.uint64)
    bound, at = candidates.bound.copy(), np.zeros(8, np.int64)
    return RowSearch(confined, nodes // centres, allowed, centre, hidden, bound, found, waiting, at)


def _waiting_room(nodes: int) -> int:
    """Room for links of centres."""
    return 4 * nodes


def row_search_bytes(nodes: int) -> int:
    """Memory of candidates and two searches."""
    return nodes * 48 + _waiting_room(nodes) * 8


@implements(greedy.restart, RowSearch)
def _restart(search, instance):
    candidates = instance.candidates
    nodes = search.row_bound.shape[0]
    appeared = 0
    for node in range(nodes):
        appeared += is_allowed(search.hidden, node) and is_allowed(search.allowed, node)
    if appeared <= search.most_appearing:
        cover_waiting(search)
        for node in range(nodes):
            if is_allowed(search.hidden, node) and is_allowed(search.allowed, node):
                allow(search.hidden, node, False)
                allow(search.centre, node, True)
                search.row_bound[node] = candidates.bound_of_all[node]
    else:
        reset_bounds(search, candidates)
    begin_contribution(search, highest_bound(search) + 1)


@step()
def cover_waiting(search):
    """Let bounds cover the links of centres that have not had their turn."""
    for k in range(search.at[_NEXT_WAITING], search.at[_WAITING]):
        raise_bound(search, np.int64(search.waiting[k] >> _HALF), search.at[_CONTRIBUTION])
        raise_bound(search, np.int64(search.waiting[k] & _LOWER), search.at[_CONTRIBUTION])


@inlined()
def raise_bound(search, node, contribution):
    """Let the bound of a node cover a contribution if it is a centre."""
    if is_allowed(search.centre, node):
        search.row_bound[node] = max(np.int64(search.row_bound[node]), contribution)


@inner_kernel()
def reset_bounds(search, candidates):
    """Go back to bounds that cover all links, with no centres."""
    for word in range(search.centre.shape[0]):
        search.centre[word] = 0
        search.hidden[word] = 0
    for node in range(search.row_bound.shape[0]):
        search.row_bound[node] = candidates.bound[node]


@inner_kernel()
def highest_bound(search):
    """What no allowed link contributes more than."""
    highest = np.int32(0)
    for node in range(search.row_bound.shape[0]):
        if search.row_bound[node] > highest and takes_part(search, node):
            highest = search.row_bound[node]
    return np.int64(highest)


@inlined()
def takes_part(search, node):
    """Whether links of a node are sought."""
    return not search.confined or is_allowed(search.allowed, node)


@inlined()
def begin_contribution(search, contribution):
    """Go to a contribution; no node has had its turn, and no link is known."""
    search.at[_CONTRIBUTION] = contribution
    search.at[_NODE] = -1
    for place in range(_NEXT, _WAITING + 1):
        search.at[place] = 0


@implements(greedy.find_best, RowSearch)
def _find_best(search, instance, least):
    topics, candidates = instance.topics, instance.candidates
    at = search.at
    nodes = search.row_bound.shape[0]
    while at[_CONTRIBUTION] >= least:
        if at[_NEXT] == at[_COUNT] and at[_NODE] < nodes:
            if at[_NODE] < 0:
                visit_centres(search, topics, candidates)
            else:
                leave_node(search, candidates)
            at[_NODE] = next_node(search)
            if at[_NODE] < nodes:
                visit(search, topics, candidates, at[_NODE], True)
            continue
        found = search.found[at[_NEXT]] if at[_NEXT] < at[_COUNT] else _LAST
        waiting = search.waiting[at[_NEXT_WAITING]] if at[_NEXT_WAITING] < at[_WAITING] else _LAST
        link = min(found, waiting)
        if link == _LAST:
            begin_contribution(search, min(at[_CONTRIBUTION] - 1, highest_bound(search)))
            continue
        u, v = np.int64(link >> _HALF), np.int64(link & _LOWER)
        if reaches(search, topics, u, v, found < waiting):
            return u, v, at[_CONTRIBUTION]
        at[_NEXT if found < waiting else _NEXT_WAITING] += 1
    return np.int64(0), np.int64(0), np.int64(0)


@step()
def leave_node(search, candidates):
    """Note what the present node leaves."""
    at = search.at
    node = at[_NODE]
    search.row_bound[node] = at[_LEFT]
    candidates.bound[node] = min(np.int64(candidates.bound[node]), max(at[_LEFT], at[_LEFT_OUT]))


@step()
def next_node(search):
    """The next node whose row may reach the present contribution; the number of nodes after the last."""
    at = search.at
    nodes = search.row_bound.shape[0]
    for node in range(at[_NODE] + 1, nodes):
        if (
            search.row_bound[node] >= at[_CONTRIBUTION]
            and takes_part(search, node)
            and not is_allowed(search.centre, node)
        ):
            return node
    return nodes


@step()
def reaches(search, topics, u, v, in_row):
    """Whether a link is allowed and still contributes as much as is sought; where not, see to it that it is covered."""
    at = search.at
    sought = at[_CONTRIBUTION]
    if not (takes_part(search, u) and takes_part(search, v)):
        at[_LEFT_OUT] = max(at[_LEFT_OUT], sought)
        hide(search, u)
        hide(search, v)
        return False
    size_u, size_v = topics.node_start[u + 1] - topics.node_start[u], topics.node_start[v + 1] - topics.node_start[v]
    one, other = (u, v) if in_row or size_u <= size_v else (v, u)
    enter_row(topics, one)
    merged = contribution(topics, one, other, sought)
    if merged >= sought:
        return True
    if in_row:
        at[_LEFT] = max(at[_LEFT], merged)
    else:
        raise_bound(search, u, merged)
        raise_bound(search, v, merged)
    return False


@inlined()
def hide(search, node):
    """Note that bounds do not cover a node, if it is left out."""
    if not takes_part(search, node):
        allow(search.hidden, node, True)


@step()
def visit_centres(search, topics, candidates):
    """List the links of all centres that contribute as much as is sought; without centres where these are too many."""
    at = search.at
    for node in range(search.row_bound.shape[0]):
        if search.row_bound[node] >= at[_CONTRIBUTION] and is_allowed(search.centre, node) and takes_part(search, node):
            visit(search, topics, candidates, node, False)
            if at[_WAITING] + at[_COUNT] > search.waiting.shape[0]:
                reset_bounds(search, candidates)
                begin_contribution(search, at[_CONTRIBUTION])
                return
            for k in range(at[_COUNT]):
                search.waiting[at[_WAITING] + k] = search.found[k]
            search.row_bound[node] = at[_LEFT]
            left = max(at[_LEFT], at[_LEFT_OUT])
            candidates.bound_of_all[node] = max(left, at[_CONTRIBUTION]) if at[_COUNT] else left
            at[_WAITING] += at[_COUNT]
            at[_COUNT] = 0
    heap_sort(search.waiting, at[_WAITING])


@inner_kernel()
def visit(search, topics, candidates, node, in_row):
    """Find the links of a node that contribute as much as is sought: with higher nodes in its row, else with all."""
    at = search.at
    at[_NEXT] = at[_COUNT] = at[_LEFT] = at[_LEFT_OUT] = 0
    if swept(candidates, count_others(topics, candidates, node, in_row)):
        sweep(search, candidates, node, in_row)
    else:
        look_up(search, topics, candidates, node, in_row)


@inner_kernel()
def count_others(topics, candidates, node, in_row):
    """Count what links with other nodes, or in its row with higher ones, would merge; give how many members it took."""
    walked = np.int64(0)
    gain = candidates.gain
    for s in range(topics.node_start[node], topics.node_start[node + 1]):
        first, last, listed = other_members(topics, s, in_row)
        walked += last - first
        if listed:
            for k in range(first, last):
                gain[topics.outside_member[k]] += 1
        else:
            label = topics.circles.label[topics.node_places[s]]
            for k in range(first, last):
                gain[topics.member[k]] += topics.circles.label[k] != label
    for k in range(candidates.spent_start[node], candidates.spent_start[node + 1]):
        gain[candidates.spent[k]] = 0
    return walked


@inlined()
def swept(candidates, walked):
    """Whether counts are swept as a whole; else the members that were walked are looked up again."""
    return walked * _SWEPT >= candidates.gain.shape[0]


@inlined()
def may_be_linked(candidates, node, other):
    """Whether constraints allow a link."""
    permitted = candidates.permitted
    return permitted.shape[0] == 0 or permitted[candidates.group[node], candidates.group[other]]


@inner_kernel()
def note(search, candidates, node, other, in_row):
    """Look at the count of another node: their link is found, or more is left."""
    at = search.at
    count = np.int64(candidates.gain[other])
    if not may_be_linked(candidates, node, other):
        return
    if not takes_part(search, other):
        at[_LEFT_OUT] = max(at[_LEFT_OUT], count)
        if count > at[_LEFT]:
            hide(search, other)
    elif in_row and is_allowed(search.centre, other):
        at[_LEFT_OUT] = max(at[_LEFT_OUT], count)
    elif count < at[_CONTRIBUTION]:
        at[_LEFT] = max(at[_LEFT], count)
    else:
        search.found[at[_COUNT]] = np.uint64(min(node, other)) << _HALF | np.uint64(max(node, other))
        at[_COUNT] += 1


@step()
def look_up(search, topics, candidates, node, in_row):
    """Collect the counts of a visit from the members that it walked, and set them back to zero."""
    left = np.int64(0)
    for s in range(topics.node_start[node], topics.node_start[node + 1]):
        first, last, listed = other_members(topics, s, in_row)
        for k in range(first, last):
            other = np.int64(topics.outside_member[k] if listed else topics.member[k])
            if np.int64(candidates.gain[other]) > left:
                note(search, candidates, node, other, in_row)
                left = search.at[_LEFT]
            candidates.gain[other] = 0
    heap_sort(search.found, search.at[_COUNT])


@step()
def sweep(search, candidates, node, in_row):
    """Collect the counts of a visit from those of all nodes, and set them back to zero."""
    gain = candidates.gain
    nodes = gain.shape[0]
    for begin in range((node + 1) // BLOCK * BLOCK if in_row else 0, nodes, BLOCK):
        end = min(nodes, begin + BLOCK)
        if highest_in(gain, begin, end) > search.at[_LEFT]:
            for other in range(begin, end):
                if gain[other]:
                    note(search, candidates, node, other, in_row)
        for other in range(begin, end):
            gain[other] = 0


@step()
def highest_in(gain, begin, end):
    """The highest of some counts."""
    highest = gain[begin]
    for other in range(begin + 1, end):
        highest = max(highest, gain[other])
    return np.int64(highest)


@inner_kernel()
def sift_down(links, parent, count):
    """Restore the order of a heap, the highest on top, below one place."""
    link = links[parent]
    child = 2 * parent + 1
    while child < count:
        if child + 1 < count and links[child + 1] > links[child]:
            child += 1
        if links[child] <= link:
            break
        links[parent] = links[child]
        parent = child
        child = 2 * parent + 1
    links[parent] = link


@inner_kernel()
def heap_sort(links, count):
    """Sort the first links in place."""
    for parent in range(count // 2 - 1, -1, -1):
        sift_down(links, parent, count)
    for last in range(count - 1, 0, -1):
        links[0], links[last] = links[last], links[0]
        sift_down(links, np.int64(0), last)
