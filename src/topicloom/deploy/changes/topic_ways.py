"""The ways of topics in two plans beside each other: which links each topic leaves, keeps and takes up.

All topics are gone through together, on numbers: a row for every link of every topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Numbers, Plan


@dataclass(frozen=True, eq=False)
class WayRows:
    """Which link of which topic: a row each, by topic and then link."""

    topic: Numbers
    link: Numbers

    def by_topic(self, topics: int) -> list[Numbers]:
        """The links of each of so many topics."""
        begins = np.searchsorted(self.topic, np.arange(topics + 1)).tolist()
        return [self.link[begin:end] for begin, end in pairwise(begins)]

    def counts(self, topics: int) -> Numbers:
        """How many rows each of so many topics has."""
        return np.bincount(self.topic, minlength=topics).astype(np.int64)

    def of(self, topic: int) -> slice:
        """The rows of a topic."""
        return slice(*np.searchsorted(self.topic, (topic, topic + 1)))


@dataclass(frozen=True, eq=False)
class TopicWays:
    """The links that topics leave, keep and take up between two plans, as numbers into sorted lists.

    A link is known by its ends and by the brokers whose files make it, which are numbers into `brokers`; both columns
    of `owners` are the same where one broker makes it.
    """

    topics: Sequence[str]
    brokers: Sequence[str]
    ends: Sequence[Pair]
    owners: Numbers
    left: WayRows
    kept: WayRows
    taken: WayRows

    @property
    def sides(self) -> tuple[WayRows, WayRows, WayRows]:
        """All links of all topics."""
        return self.left, self.kept, self.taken

    @property
    def counts(self) -> Numbers:
        """How many links each topic has in both plans together."""
        left, kept, taken = (rows.counts(len(self.topics)) for rows in self.sides)
        return left + kept + taken


def ways_of_topics(old: Plan, new: Plan) -> TopicWays:
    """The ways of all topics of two plans."""
    topics = sorted(old.route.keys() | new.route.keys())
    made = sorted({one for plan in (old, new) for one in _made(plan)})
    brokers = sorted({name for _, owners in made for name in owners})
    number = {name: i for i, name in enumerate(brokers)}
    had, has = (_keys(plan, topics, made) for plan in (old, new))
    place = np.searchsorted(has, had)
    stays = np.append(has, -1)[place] == had
    rows = (had[~stays], had[stays], np.delete(has, place[stays]))
    owners = np.array([[number[name] for name in owners] for _, owners in made], np.int64).reshape(-1, 2)
    return TopicWays(
        topics,
        brokers,
        [ends for ends, _ in made],
        owners,
        *(WayRows(*np.divmod(keys, max(1, len(made)))) for keys in rows),
    )


def owners_of(plan: Plan, link: Pair) -> Pair:
    """The brokers whose files make a link of a plan.

    Both ends for federation, which pulls from either side, otherwise twice the one that opens the link.
    """
    return (min(link), max(link)) if plan.target == "rabbitmq" else (link[0], link[0])


def _made(plan: Plan) -> list[tuple[Pair, Pair]]:
    """The ends and the owners of each link of a plan."""
    return [((min(link), max(link)), owners_of(plan, link)) for link in plan.links]


def _keys(plan: Plan, topics: Sequence[str], made: Sequence[tuple[Pair, Pair]]) -> Numbers:
    """A number for every link of every topic; rising."""
    place = {one: i for i, one in enumerate(made)}
    number = {topic: i for i, topic in enumerate(topics)}
    links, routes = plan.carried
    of_route = np.array([number[route.topic] for route in plan.routes], np.int64)
    of_link = np.array([place[one] for one in _made(plan)], np.int64)
    return np.sort(of_route[routes] * len(made) + of_link[links])
