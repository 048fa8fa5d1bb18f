"""Trees that connect a topic over nodes that do not want it.

Searching for relays: the shortest paths that join the components of a topic over the whole overlay.

Mehlhorn's 2-approximate Steiner tree (1988). Each node of the overlay belongs to the cell of the subscriber nearest to
it. A link between two cells, whose ends are at levels r and r, joins them by a path of 2r + 1 links; at levels r and
r + 1 by one of 2r + 2. The tree is made of the shortest such paths that join all cells, as Kruskal finds them.

Ties: a node is reached from the lowest node it can be; paths of equal length are taken by the lowest (nearer end,
farther end) of their middle link, the lower node first where both ends are equally near.

No two links are equal in this order, so there is one least tree, in whatever order its links are found; and of all
links between some cells and the rest, the least one is in it. That makes two ways to go on:

- All cells grow by a level, and links that join two are taken as they come: in rising order, as Kruskal wants them.
- A class, cells that are joined already, grows alone until it meets the others, which stay at the radius R that all
  have. It meets them at a distance a from its subscribers over a path of a + 1 + R links. All nodes on such paths are
  then marked, from where they met back to the middle, since among them is all that decides ties: a node on the way is
  nearer to the class or nearer to the rest, or in the very middle. The lowest middle link is taken.

In a random overlay of n nodes, cells that have all grown to k nodes together are met by a class that has grown to n/k.
So all grow while that looks at fewer links than one class after the other would, and again where a class would have to
look at more links than all have. A topic of 20 in 1,000,000 nodes takes some 30,000 links, where letting all cells grow
until the last two meet takes most of the 4,000,000.

Relays: nodes that do not want a topic but are needed to join its components.

Memory: 65 bytes a node of the overlay, and 8 more for the topic at hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.components import find_root, join, join_topic, mark, unmark
from topicloom.kernels.jit import inner_kernel, tight_kernel

# Classes search alone from the square root of so many times (joins to make x all links) on. Between 3 and 30 it makes
# no difference from 10,000 to 1,000,000 nodes; at 1 a million take half as long again.
MORE_FOR_ALL = np.int64(10)

# A node at distance i from the class that searches has the level -2 - i, less this where it is on the way to others.
_ON_WAY = np.int32(1 << 30)


class RelaySearch(NamedTuple):
    """An overlay, and room to search it: 49 bytes a node."""

    link_start: npt.NDArray[np.int64]
    link_nodes: npt.NDArray[np.int32]
    level: npt.NDArray[np.int32]  # by node: how far the nearest subscriber is; -1 between searches
    cell: npt.NDArray[np.int32]  # by node: the place of that subscriber in the topic
    queue: npt.NDArray[np.int32]  # the nodes reached, by level
    trail: npt.NDArray[np.int32]  # those that a class has reached alone
    ways: npt.NDArray[np.int32]  # those of them on a shortest path, level by level
    taken: npt.NDArray[np.bool_]  # by node: whether it is a relay; False between searches
    relays: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]  # of the paths, within what all cells have reached; the rest of a path is taken at once
    class_of: npt.NDArray[np.int32]  # by the place of a subscriber
    class_start: npt.NDArray[np.int32]  # where the nodes of each class begin ...
    border: npt.NDArray[np.int32]  # ... among those reached last
    following: npt.NDArray[np.int32]  # by class: classes that are joined are a circle
    below: npt.NDArray[np.int32]  # by byte, to sort nodes


def new_search(link_start: npt.NDArray[np.int64], link_nodes: npt.NDArray[np.int32]) -> RelaySearch:
    """Room to search an overlay, whose links stand in the rows of both ends."""
    count = len(link_start) - 1
    cell, queue, trail, ways, relays, class_of, border, following = (np.empty(count, np.int32) for _ in range(8))
    return RelaySearch(
        link_start=link_start,
        link_nodes=link_nodes,
        level=np.full(count, -1, np.int32),
        cell=cell,
        queue=queue,
        trail=trail,
        ways=ways,
        taken=np.zeros(count, np.bool_),
        relays=relays,
        ends=np.empty((count, 2), np.int32),
        class_of=class_of,
        class_start=np.empty(count + 1, np.int32),
        border=border,
        following=following,
        below=np.empty(257, np.int32),
    )


@tight_kernel()
def steiner_relays(search, nodes, parent, joins, more_for_all):
    """Write nodes outside `nodes` on the paths that make so many joins to `relays`, rising; give their number.

    `parent` joins places of nodes, and is changed. The relays are the same whatever `more_for_all` is; `MORE_FOR_ALL`
    finds them soonest.
    """
    level, queue, relays = search.level, search.queue, search.relays
    for i in range(nodes.shape[0]):
        level[nodes[i]] = 0
        search.cell[nodes[i]] = i
        queue[i] = nodes[i]
    joined = count = begin = radius = np.int64(0)
    reached = np.int64(nodes.shape[0])
    while joined < joins and begin < reached:
        links = links_of(search.link_start, queue, begin, reached)
        if links * links > more_for_all * (joins - joined) * search.link_nodes.shape[0]:
            joined, count = join_alone(search, nodes.shape[0], parent, begin, reached, radius, joins, joined, count)
        if joined < joins:
            sort_nodes(queue, begin, reached, search.trail, search.below, level.shape[0])
            end = reached
            reached, joined = grow(search, parent, begin, reached, radius, joined)
            begin = end
            radius += 1
    for k in range(2 * joined):
        u = search.ends[k // 2, k % 2]
        while level[u] > 0 and not search.taken[u]:
            count = take(search, u, count)
            u = lowest_neighbour(search, u, level[u] - 1, level[u] - 1)
    for k in range(reached):
        level[queue[k]] = -1
    for k in range(count):
        search.taken[relays[k]] = False
    sort_nodes(relays, np.int64(0), count, search.trail, search.below, level.shape[0])
    return count


@inner_kernel()
def sort_nodes(nodes, begin, end, spare, below, most):
    """Sort some nodes, all below `most`, by one byte after the other; numba takes seconds to compile its own sort."""
    shift = 0
    while most >> shift:
        below[:] = 0
        for k in range(begin, end):
            below[((nodes[k] >> shift) & 255) + 1] += 1
        for byte in range(256):
            below[byte + 1] += below[byte]
        for k in range(begin, end):
            byte = (nodes[k] >> shift) & 255
            spare[below[byte]] = nodes[k]
            below[byte] += 1
        for k in range(begin, end):
            nodes[k] = spare[k - begin]
        shift += 8


@inner_kernel()
def links_of(link_start, nodes, begin, end):
    """How many links some nodes have."""
    links = np.int64(0)
    for k in range(begin, end):
        links += link_start[nodes[k] + 1] - link_start[nodes[k]]
    return links


@inner_kernel()
def take(search, u, count):
    """Make a node a relay, unless it is one; give how many there are."""
    if not search.taken[u]:
        search.taken[u] = True
        search.relays[count] = u
        count += 1
    return count


@inner_kernel()
def lowest_neighbour(search, u, one, other):
    """The lowest neighbour of a node at one of two levels."""
    for at in range(search.link_start[u], search.link_start[u + 1]):
        v = search.link_nodes[at]
        if search.level[v] == one or search.level[v] == other:
            return v
    return np.int32(-1)


@inner_kernel()
def grow(search, parent, begin, reached, radius, joined):
    """Let all cells grow by a level, and join those that meet; give how many nodes are reached, and joins made."""
    link_start, link_nodes, level, cell = search.link_start, search.link_nodes, search.level, search.cell
    queue, trail, ends = search.queue, search.trail, search.ends
    farther = 0
    for k in range(begin, reached):
        u = queue[k]
        meets = False
        for at in range(link_start[u], link_start[u + 1]):
            v = link_nodes[at]
            if level[v] < 0:
                level[v] = radius + 1
                cell[v] = cell[u]
                queue[reached] = v
                reached += 1
            elif level[v] == radius:
                if u < v and join(parent, cell[u], cell[v]):
                    ends[joined, 0], ends[joined, 1] = u, v
                    joined += 1
            elif level[v] > radius and cell[v] != cell[u]:
                meets = True
        if meets:
            trail[farther] = u
            farther += 1
    # The links to the level just reached are longer by one, so they come only now.
    for k in range(farther):
        u = trail[k]
        for at in range(link_start[u], link_start[u + 1]):
            v = link_nodes[at]
            if level[v] > radius and join(parent, cell[u], cell[v]):
                ends[joined, 0], ends[joined, 1] = u, v
                joined += 1
    return reached, joined


@inner_kernel()
def join_alone(search, sources, parent, begin, reached, radius, joins, joined, count):
    """Let one class after the other grow until it meets another, until all are joined or one would look at more links
    at once than all together; give how many joins are made, and relays taken.

    The largest class need not: each other one meets it, or one whose turn is yet to come.
    """
    level, cell, trail, following = search.level, search.cell, search.trail, search.following
    most_links = links_of(search.link_start, search.queue, begin, reached)
    classes, largest = sort_by_class(search, sources, parent, begin, reached)
    for c in range(classes):
        following[c] = c
    c = 0
    while c < classes and joined < joins:
        if c != largest:
            own = gather(search, c, radius)
            seen, far, met = seek(search, own, radius, most_links)
            if met > 0:
                one, other, count = take_way(search, radius, far, met, count)
                search.ends[joined, 0], search.ends[joined, 1] = one, other
                joined += 1
                join(parent, cell[one], cell[other])
                there = search.class_of[cell[other]]
                following[c], following[there] = following[there], following[c]
            for k in range(seen):
                level[trail[k]] = radius if k < own else -1
            if met < 0:
                break
        c += 1
    return joined, count


@inner_kernel()
def sort_by_class(search, sources, parent, begin, reached):
    """Sort the nodes reached last by class, numbered as they come; give how many classes there are, and the largest.

    A class that has none of these nodes cannot be joined with any other.
    """
    cell, queue, class_of, start = search.cell, search.queue, search.class_of, search.class_start
    class_of[:sources] = -1
    start[: sources + 1] = 0
    classes = largest = 0
    for k in range(begin, reached):
        root = find_root(parent, np.int64(cell[queue[k]]))
        if class_of[root] < 0:
            class_of[root] = classes
            classes += 1
        c = class_of[root]
        class_of[cell[queue[k]]] = c
        start[c] += 1
        if start[c] > start[largest]:
            largest = c
    for c in range(classes):
        start[c + 1] += start[c]
    for k in range(begin, reached):
        c = class_of[cell[queue[k]]]
        start[c] -= 1
        search.border[start[c]] = queue[k]
    return classes, largest


@inner_kernel()
def gather(search, c, radius):
    """Begin the trail with the outermost nodes of a class and of those joined with it; give how many they are."""
    border, start = search.border, search.class_start
    own = 0
    part = c
    while own == 0 or part != c:
        for k in range(start[part], start[part + 1]):
            search.level[border[k]] = -2 - radius
            search.trail[own] = border[k]
            own += 1
        part = search.following[part]
    return own


@inner_kernel()
def seek(search, own, radius, most_links):
    """Let the class whose outermost nodes begin the trail grow until it meets others.

    Give how long the trail is, at which distance it met them, and how many nodes did, which begin the ways; -1 where
    it would look at more links than it may.
    """
    link_start, link_nodes, level = search.link_start, search.link_nodes, search.level
    trail, ways = search.trail, search.ways
    begin, seen, far, met = 0, own, radius, 0
    while begin < seen:
        end = seen
        if links_of(link_start, trail, begin, end) > most_links:
            return seen, far, -1
        for k in range(begin, end):
            u = trail[k]
            meets = False
            for at in range(link_start[u], link_start[u + 1]):
                v = link_nodes[at]
                if level[v] == -1:
                    level[v] = -3 - far
                    trail[seen] = v
                    seen += 1
                elif level[v] == radius:
                    meets = True
            if meets:
                ways[met] = u
                met += 1
        if met > 0:
            break
        begin = end
        far += 1
    return seen, far, met


@inner_kernel()
def take_way(search, radius, far, met, count):
    """Take the shortest path from a class to others, of equals that of the lowest middle link.

    Give where it enters what the cells of the class and those of others have reached, and how many relays there are.
    """
    middle = (radius + far + 1) // 2
    x = lowest_middle(search, radius, far, met, middle)
    u, distance = x, middle
    while distance <= far:
        if distance > radius:
            count = take(search, u, count)
        u = onward(search, u, radius, far, distance)
        distance += 1
    other = u
    u, distance = x, middle
    while distance > radius:
        count = take(search, u, count)
        u = back(search, u, distance)
        distance -= 1
    return u, other, count


@inner_kernel()
def lowest_middle(search, radius, far, met, middle):
    """Mark the ways from where a class met others back to the middle; give the node there with the lowest link."""
    link_start, link_nodes, level, ways = search.link_start, search.link_nodes, search.level, search.ways
    begin, end = 0, met
    for k in range(met):
        level[ways[k]] -= _ON_WAY
    for distance in range(far, middle, -1):
        marked = end
        for k in range(begin, end):
            for at in range(link_start[ways[k]], link_start[ways[k] + 1]):
                v = link_nodes[at]
                if level[v] == -1 - distance:
                    level[v] -= _ON_WAY
                    ways[marked] = v
                    marked += 1
        begin, end = end, marked
    best = lowest = highest = np.int32(-1)
    for k in range(begin, end):
        x = ways[k]
        ahead = onward(search, x, radius, far, middle)
        if (radius + far) % 2:
            # As far from the class as from the others: the lower neighbour reaches it, the other is the nearer end.
            near, farther = max(ahead, back(search, x, middle)), x
        else:
            near, farther = min(x, ahead), max(x, ahead)
        if best < 0 or near < lowest or (near == lowest and farther < highest):
            best, lowest, highest = x, near, farther
    return best


@inner_kernel()
def onward(search, u, radius, far, distance):
    """The lowest neighbour of a node on the way that is nearer to other classes."""
    level = np.int64(radius) if distance == far else -3 - distance - _ON_WAY
    return lowest_neighbour(search, u, level, level)


@inner_kernel()
def back(search, u, distance):
    """The lowest neighbour of a node that is nearer to the class that searches."""
    return lowest_neighbour(search, u, -1 - distance, -1 - distance - _ON_WAY)


def node_components(out_start: npt.NDArray[np.int64], out_nodes: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Component of each node in the whole overlay, named by its lowest node."""
    parent = np.arange(len(out_start) - 1)
    join_nodes(out_start, out_nodes, parent)
    return parent


@tight_kernel()
def join_nodes(out_start, out_nodes, parent):
    """As `node_components`, into an array in which each node is a component."""
    for u in range(parent.shape[0]):
        for at in range(out_start[u], out_start[u + 1]):
            join(parent, u, out_nodes[at])
    for u in range(parent.shape[0]):
        parent[u] = find_root(parent, u)


@tight_kernel()
def groups_of(nodes, component, members):
    """How many of the overlay's components hold these nodes, and how many are in the fullest; `members` is zero."""
    groups = 0
    fullest = 0
    for i in range(nodes.shape[0]):
        c = component[nodes[i]]
        groups += members[c] == 0
        members[c] += 1
        fullest = max(fullest, members[c])
    for i in range(nodes.shape[0]):
        members[component[nodes[i]]] = 0
    return groups, fullest


def topic_relays(
    topic_start: npt.NDArray[np.int64],
    topic_nodes: npt.NDArray[np.int32],
    components: npt.NDArray[np.int64],
    out_start: npt.NDArray[np.int64],
    out_nodes: npt.NDArray[np.int32],
    link_start: npt.NDArray[np.int64],
    link_nodes: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Each topic's relays, and its nodes that are not in the fullest component of the overlay; in how many components
    each topic is must be known."""
    count = len(out_start) - 1
    relays, unreachable = np.zeros((2, len(topic_start) - 1), np.int64)
    component = node_components(out_start, out_nodes)
    members, place = np.zeros(count, np.int32), np.full(count, -1, np.int32)
    parent = np.empty(int(np.diff(topic_start).max(initial=0)), np.int64)
    search = new_search(link_start, link_nodes)
    room = (component, members, place, parent)
    relays_into(topic_start, topic_nodes, components, out_start, out_nodes, room, search, relays, unreachable)
    return relays, unreachable


@tight_kernel()
def relays_into(topic_start, topic_nodes, components, out_start, out_nodes, room, search, relays, unreachable):
    """As `topic_relays`, into arrays made beforehand; the last of `room` has some for the nodes of a topic."""
    component, members, place, parent = room
    for topic in range(relays.shape[0]):
        if components[topic] <= 1:
            continue
        nodes = topic_nodes[topic_start[topic] : topic_start[topic + 1]]
        groups, fullest = groups_of(nodes, component, members)
        unreachable[topic] = nodes.shape[0] - fullest
        if components[topic] > groups:
            mark(nodes, place)
            for i in range(nodes.shape[0]):
                parent[i] = i
            join_topic(nodes, place, out_start, out_nodes, parent)
            unmark(nodes, place)
            relays[topic] = steiner_relays(search, nodes, parent, components[topic] - groups, MORE_FOR_ALL)
