"""Samples by a plain queue, and reversed relations."""

from __future__ import annotations

from collections import deque

import networkx as nx
import numpy as np
import pytest

from effort import times
from topicloom.model import InputError, Interest
from topicloom.workloads.breadth_first import breadth_first, reversed_relations


def pairs(interest: Interest) -> set[tuple[str, str]]:
    topics = interest.topic_names
    return {(name, topics[t]) for u, name in enumerate(interest.node_names) for t in interest.topics_of(u)}


def social(seed: int) -> Interest:
    graph = nx.gnp_random_graph(40, 0.06, seed=seed, directed=True)
    return Interest.from_pairs([(f"u{a:02}", f"u{b:02}") for a, b in graph.edges])


def by_a_queue(relations: set[tuple[str, str]], users: int, seeds: int, seed: int) -> set[str]:
    """The twin, on names: who is met, one after the other."""
    names = sorted({name for pair in relations for name in pair})
    order = [names[at] for at in np.random.default_rng(seed).permutation(len(names))]
    met = order[: min(seeds, users)]
    queue = deque(met)
    while len(met) < users:
        if queue:
            user = queue.popleft()
            new = sorted({a for a, b in relations if b == user} | {b for a, b in relations if a == user})
        else:
            new = [name for name in order if name not in met][:1]
        for name in new:
            if name not in met and len(met) < users:
                met.append(name)
                queue.append(name)
    return set(met)


@pytest.mark.parametrize("seed", range(times(20)))
def test_equals_its_twin(seed: int) -> None:
    interest = social(seed)
    users = 5 + seed
    met = by_a_queue(pairs(interest), users, 3, seed)
    assert len(met) == users
    assert pairs(breadth_first(interest, users, seed=seed)) == {
        (a, b) for a, b in pairs(interest) if a in met and b in met
    }


def test_all_users_are_the_whole_graph() -> None:
    interest = social(1)
    users = len({*interest.node_names, *interest.topic_names})
    assert pairs(breadth_first(interest, users)) == pairs(interest)
    with pytest.raises(InputError, match=f"give a whole number from 1 to {users}, all users there are"):
        breadth_first(interest, users + 1)


def test_reversed_everybody_who_is_followed_follows() -> None:
    interest = social(2)
    assert pairs(reversed_relations(interest)) == {(b, a) for a, b in pairs(interest)}
    assert pairs(reversed_relations(reversed_relations(interest))) == pairs(interest)
