"""Small random fleets and what happens to them, for maintainers and their slow twins.

Names sort anywhere, also where code points and UTF-16 disagree; popular topics, lonely ones, and ever new ones.
"""

from __future__ import annotations

import random
from itertools import combinations

from reference.maintainers import Link
from topicloom.designers import design
from topicloom.model import Interest, Overlay
from topicloom.model.events import CHANGE, JOIN, LEAVE, Event

STARTS = ("low-oda", "gm", "ring-per-topic", "with extra links")
_INITIALS = "AZaz\u00e9\u4e2d\uff5e\U0001f600"


def random_overlay(dice: random.Random, start: str, *, most_nodes: int = 40, most_topics: int = 25) -> Overlay:
    """A topic-connected overlay of 5 or more nodes and 3 or more topics."""
    nodes, topics = dice.randint(5, most_nodes), dice.randint(3, most_topics)
    names = sorted({_name(dice) for _ in range(nodes)})
    interest = Interest.from_pairs([(name, topic) for name in names for topic in _wanted(dice, topics)])
    if start != "with extra links":
        return design(interest, start)
    overlay = design(interest, "low-oda")
    links = links_of(overlay)
    others = [link for link in combinations(interest.node_names, 2) if link not in links]
    extra = dice.sample(others, min(len(others), nodes))
    return Overlay.from_links(interest, [*extra[: nodes // 2], *links, *extra[nodes // 2 :]])


def topics_of(interest: Interest) -> dict[str, set[str]]:
    """The topics of each node, by name."""
    names = interest.topic_names
    return {node: {names[t] for t in interest.topics_of(u).tolist()} for u, node in enumerate(interest.node_names)}


def links_of(overlay: Overlay) -> dict[Link, int]:
    """The links of an overlay by name, in their order, with their contributions."""
    rows = overlay.to_arrow().to_pylist()
    return {(row["source"], row["target"]): row.get("contribution", -1) for row in rows}


def random_event(dice: random.Random, number: int, topics: dict[str, set[str]]) -> Event:
    """Something that may happen to a fleet of such nodes."""
    kind = dice.choice([JOIN, LEAVE, CHANGE]) if len(topics) > 2 else JOIN
    if kind == JOIN:
        return random_join(dice, number, topics)
    node = dice.choice(sorted(topics))
    if kind == LEAVE:
        return Event(number, kind, node)
    wanted = sorted(topics[node])
    remove = tuple(dice.sample(wanted, dice.choice([0, 1, len(wanted) // 2, len(wanted)])))
    add = tuple(sorted(_wanted(dice, 12) - topics[node]))
    if 0 < len(remove) < len(wanted) and dice.random() < 0.4:
        add = ()
    elif not add:
        add = (f"new{number}",)
    return Event(number, kind, node, add, remove)


def random_join(dice: random.Random, number: int, topics: dict[str, set[str]]) -> Event:
    """A node that is not there joins."""
    node = _name(dice)
    while node in topics:
        node = _name(dice)
    return Event(number, JOIN, node, tuple(sorted(_wanted(dice, 12))))


def _name(dice: random.Random) -> str:
    return f"{dice.choice(_INITIALS)}{dice.randrange(60)}"


def _wanted(dice: random.Random, topics: int) -> set[str]:
    """Some of so many topics, the earlier ones more often; now and then one that hardly anybody has."""
    chance = dice.choice([0.1, 0.3, 0.8])
    wanted = {_topic(t) for t in range(topics) if dice.random() < chance * 4 / (4 + t)}
    if dice.random() < 0.15 or not wanted:
        wanted.add(f"{dice.choice(_INITIALS)}lonely{dice.randrange(30)}")
    return wanted


def _topic(number: int) -> str:
    return f"{_INITIALS[number * 3 % len(_INITIALS)]}{number}"
