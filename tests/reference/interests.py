"""Small random interests of many shapes, for comparing fast kernels with slow twins."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

from topicloom.model import Interest

Pair = tuple[str, str]


@cache
def random_interest(seed: int, shape: str) -> Interest:
    """An interest of one of the SHAPES, 2 to 14 nodes (one for "one-node"); the same for the same seed."""
    dice = random.Random(f"{shape} {seed}")
    return Interest.from_pairs(_MAKERS[shape](dice))


def topics_by_node(interest: Interest) -> list[set[int]]:
    """The topics of each node as plain sets."""
    return [set(interest.topics_of(u).tolist()) for u in range(interest.node_count)]


def nodes_by_topic(interest: Interest) -> list[set[int]]:
    """The nodes of each topic as plain sets."""
    return [set(interest.nodes_of(t).tolist()) for t in range(interest.topic_count)]


def _node(i: int) -> str:
    return f"n{i:02}"


def _topic(i: int) -> str:
    return f"t{i:02}"


def _coins(dice: random.Random, nodes: int, topics: int, chance: Callable[[int], float]) -> list[Pair]:
    """Every node tosses a coin for every topic, and takes one at random if all fail."""
    pairs = []
    for u in range(nodes):
        wanted = [t for t in range(topics) if dice.random() < chance(t)] or [dice.randrange(topics)]
        pairs += [(_node(u), _topic(t)) for t in wanted]
    return pairs


def _dense(dice: random.Random) -> list[Pair]:
    return _coins(dice, dice.randint(2, 12), dice.randint(2, 10), lambda t: 0.7)


def _sparse(dice: random.Random) -> list[Pair]:
    return _coins(dice, dice.randint(2, 14), dice.randint(4, 20), lambda t: 0.12)


def _skewed(dice: random.Random) -> list[Pair]:
    return _coins(dice, dice.randint(2, 14), dice.randint(3, 14), lambda t: 1 / (1 + t))


def _one_topic(dice: random.Random) -> list[Pair]:
    return [(_node(u), _topic(0)) for u in range(dice.randint(2, 14))]


def _one_node(dice: random.Random) -> list[Pair]:
    return [(_node(0), _topic(t)) for t in range(dice.randint(1, 8))]


def _identical(dice: random.Random) -> list[Pair]:
    nodes, topics = dice.randint(2, 12), dice.randint(1, 8)
    return [(_node(u), _topic(t)) for u in range(nodes) for t in range(topics)]


def _disjoint(dice: random.Random) -> list[Pair]:
    return [(_node(u), _topic(3 * u + k)) for u in range(dice.randint(2, 12)) for k in range(dice.randint(1, 3))]


def _lonely_topics(dice: random.Random) -> list[Pair]:
    """Some shared topics, and many that only one node wants, some sorted first and some last."""
    nodes = dice.randint(2, 10)
    shared = _coins(dice, nodes, dice.randint(1, 5), lambda t: 0.5)
    alone = [(_node(u), f"{dice.choice('az')}{u:02}{k}") for u in range(nodes) for k in range(dice.randint(0, 3))]
    return shared + alone


def _mixed(dice: random.Random) -> list[Pair]:
    """Groups with interests of their own, a few nodes that want nearly everything, repeated and shuffled rows."""
    nodes, topics, groups = dice.randint(4, 14), dice.randint(4, 16), dice.randint(1, 3)
    pairs = []
    for u in range(nodes):
        greedy = dice.random() < 0.2
        for t in range(topics):
            near = t % groups == u % groups
            if dice.random() < (0.9 if greedy else 0.5 if near else 0.1):
                pairs.append((_node(u), _topic(t)))
        pairs.append((_node(u), _topic(dice.randrange(topics))))
    pairs += dice.choices(pairs, k=3)
    dice.shuffle(pairs)
    return pairs


_MAKERS: dict[str, Callable[[random.Random], list[Pair]]] = {
    "dense": _dense,
    "sparse": _sparse,
    "skewed": _skewed,
    "one-topic": _one_topic,
    "one-node": _one_node,
    "identical": _identical,
    "disjoint": _disjoint,
    "lonely-topics": _lonely_topics,
    "mixed": _mixed,
}

SHAPES: tuple[str, ...] = tuple(_MAKERS)
