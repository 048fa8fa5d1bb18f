"""What a backbone needs to know of the nodes, wherever these are kept: in memory, or in tables on Spark."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from topicloom.model.interest import Ids, Interest, Starts


class Rows(NamedTuple):
    """Topics by node, for some of the nodes: those of the k-th are `topics[start[k]:start[k + 1]]`, rising."""

    nodes: Ids
    start: Starts
    topics: Ids


class Members(NamedTuple):
    """Nodes by topic, for some of the topics: those of the k-th are `nodes[start[k]:start[k + 1]]`, rising."""

    topics: Ids
    start: Starts
    nodes: Ids


class FleetRows(Protocol):
    """Nodes and how many topics each wants; the topics themselves only of those that are asked for."""

    topic_count: int
    sizes: Ids
    subscribers: npt.NDArray[np.int64]  # nodes that want each topic

    def largest(self, counts: npt.NDArray[np.int64]) -> Ids:
        """For every topic the nodes with most topics among those that want it, of equals the lowest.

        As many as `counts` says for the topic; a node is named once, in no special order.
        """
        ...

    def rows(self, nodes: Ids) -> Rows:
        """The topics of some nodes, in the order given."""
        ...

    def members(self, topics: Ids) -> Members:
        """The nodes that want some topics, in the order given."""
        ...


class InterestRows:
    """The nodes of an interest."""

    def __init__(self, interest: Interest) -> None:
        self._interest = interest
        self.topic_count = interest.topic_count
        self.sizes: Ids = np.diff(interest.node_start).astype(np.int32)
        self.subscribers = np.diff(interest.topic_start)

    def largest(self, counts: npt.NDArray[np.int64]) -> Ids:
        """For every topic the nodes with most topics among those that want it, of equals the lowest.

        As many as `counts` says for the topic; a node is named once, in no special order.
        """
        interest = self._interest
        most = int(self.sizes.max(initial=0))
        topics = np.repeat(np.arange(self.topic_count), self.subscribers)
        order = np.argsort(topics * (most + 1) + (most - self.sizes[interest.topic_nodes]), kind="stable")
        rank = np.arange(len(order)) - interest.topic_start[topics]
        return np.unique(interest.topic_nodes[order[rank < counts[topics]]])

    def rows(self, nodes: Ids) -> Rows:
        """The topics of some nodes, in the order given."""
        start, places = _some(self._interest.node_start, nodes)
        return Rows(nodes, start, self._interest.node_topics[places])

    def members(self, topics: Ids) -> Members:
        """The nodes that want some topics, in the order given."""
        start, places = _some(self._interest.topic_start, topics)
        return Members(topics, start, self._interest.topic_nodes[places])


def _some(starts: Starts, rows: Ids) -> tuple[Starts, Starts]:
    """Some of the rows that begin at `starts`: where each begins among them, and the places of all that is in them."""
    sizes = np.diff(starts)[rows]
    start = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(sizes, out=start[1:])
    return start, np.repeat(starts[:-1][rows] - start[:-1], sizes) + np.arange(start[-1])
