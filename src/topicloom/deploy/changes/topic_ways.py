"""The ways of topics in two plans beside each other: which links each topic leaves, keeps and takes up.

All topics are gone through together, on numbers: a row for every link of every topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Plan

Numbers = npt.NDArray[np.int64]


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
    before, after = (
        [plan.route[topic].links if topic in plan.route else () for topic in topics] for plan in (old, new)
    )
    return _ways(old, new, topics, before, after)


def owners_of(plan: Plan, link: Pair) -> Pair:
    """The brokers whose files make a link of a plan.

    Both ends for federation, which pulls from either side, otherwise twice the one that opens the link.
    """
    return (min(link), max(link)) if plan.target == "rabbitmq" else (link[0], link[0])


def _ways(
    old: Plan, new: Plan, topics: Sequence[str], before: Sequence[Sequence[Pair]], after: Sequence[Sequence[Pair]]
) -> TopicWays:
    made = sorted({_made(plan, link) for plan in (old, new) for link in plan.links})
    brokers = sorted({name for _, owners in made for name in owners})
    number = {name: i for i, name in enumerate(brokers)}
    place = {one: i for i, one in enumerate(made)}
    had, has = _keys(old, place, before), _keys(new, place, after)
    kept = np.intersect1d(had, has, assume_unique=True)
    rows = (np.setdiff1d(had, kept, assume_unique=True), kept, np.setdiff1d(has, kept, assume_unique=True))
    owners = np.array([[number[name] for name in owners] for _, owners in made], np.int64).reshape(-1, 2)
    return TopicWays(
        topics,
        brokers,
        [ends for ends, _ in made],
        owners,
        *(WayRows(*np.divmod(keys, max(1, len(made)))) for keys in rows),
    )


def _made(plan: Plan, link: Pair) -> tuple[Pair, Pair]:
    return (min(link), max(link)), owners_of(plan, link)


def _keys(plan: Plan, place: Mapping[tuple[Pair, Pair], int], links_of: Sequence[Sequence[Pair]]) -> Numbers:
    """A number for every link of every topic; rising."""
    at = {ends: place[_made(plan, link)] for link in plan.links for ends in (link, link[::-1])}
    links = np.array(list(map(at.__getitem__, chain.from_iterable(links_of))), np.int64)
    topics = np.repeat(np.arange(len(links_of)), [len(links) for links in links_of])
    return np.sort(topics * len(place) + links)
