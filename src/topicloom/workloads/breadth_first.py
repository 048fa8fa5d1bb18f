"""A part of a social graph, visited breadth-first: Partial 2016, section IX-B, read to the letter.

`pipeline.analysis.sample` takes users of the last level in a random order and gives exactly as many nodes as asked for.
Here a queue decides, first in, first out: so many users are visited, and all relations among them are kept. Those that
want nobody visited are no nodes, so there are about as many nodes, as the paper says of its samples.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from topicloom.model import InputError, Interest


def breadth_first(interest: Interest, users: int, *, seeds: int = 3, seed: int = 0) -> Interest:
    """The relations among the first `users` that a search from `seeds` random ones meets, whichever way they go.

    Every topic is a user, by its name. Neighbours are met in the order of their names. Where everything that can be
    reached is visited too early, the search goes on from another random user.
    """
    names = sorted({*interest.node_names, *interest.topic_names})
    if not 1 <= users <= len(names):
        raise InputError(f"users is {users}; give a whole number from 1 to {len(names)}, all users there are", "users")
    number = {name: at for at, name in enumerate(names)}
    who = np.repeat([number[name] for name in interest.node_names], np.diff(interest.node_start))
    whom = np.array([number[name] for name in interest.topic_names])[interest.node_topics]
    neighbours: list[list[int]] = [[] for _ in names]
    for one, other in zip(who.tolist(), whom.tolist(), strict=True):
        neighbours[one].append(other)
        neighbours[other].append(one)
    visited = np.zeros(len(names), bool)
    visited[_visited_first(neighbours, users, np.random.default_rng(seed).permutation(len(names)).tolist(), seeds)] = (
        True
    )
    kept = visited[who] & visited[whom]
    return Interest.from_pairs([(names[one], names[other]) for one, other in zip(who[kept], whom[kept], strict=True)])


def reversed_relations(interest: Interest) -> Interest:
    """The interest in which every topic wants its nodes: whoever was followed now follows."""
    topics = np.repeat(np.arange(interest.topic_count, dtype=np.int32), np.diff(interest.topic_start))
    return Interest.from_ids(interest.topic_names, interest.node_names, topics, interest.topic_nodes)


def _visited_first(neighbours: list[list[int]], users: int, order: list[int], seeds: int) -> list[int]:
    """The first users that are met, beginning with the first of a random order."""
    met = dict.fromkeys(order[: min(seeds, users)])
    queue = deque(met)
    others = iter(order)
    while len(met) < users:
        if not queue:
            fresh = next(user for user in others if user not in met)
            met[fresh] = None
            queue.append(fresh)
            continue
        for user in sorted(neighbours[queue.popleft()]):
            if user not in met and len(met) < users:
                met[user] = None
                queue.append(user)
    return list(met)
