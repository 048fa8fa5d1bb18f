"""What a backbone needs to know of the nodes, wherever these are kept: in memory, or in tables on Spark."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from topicloom.model.interest import Ids, Interest, Starts


class Rows(NamedTuple):
    """Topics by node, for some of the nodes: those of the k-th are `topics[start[k]:start[k + 1]]`, rising."""

    nodes: Ids
    start: Starts
    topics: Ids


class FleetRows(Protocol):
    """Nodes and how many topics each wants; the topics themselves only of those that are asked for."""

    topic_count: int
    sizes: Ids

    def largest(self) -> Ids:
        """For every topic that two nodes or more want, the one of them with most topics, of equals the lowest."""
        ...

    def rows(self, nodes: Ids) -> Rows:
        """The topics of some nodes, in the order given."""
        ...


class InterestRows:
    """The nodes of an interest."""

    def __init__(self, interest: Interest) -> None:
        self._interest = interest
        self.topic_count = interest.topic_count
        self.sizes: Ids = np.diff(interest.node_start).astype(np.int32)

    def largest(self) -> Ids:
        """For every topic that two nodes or more want, the one of them with most topics, of equals the lowest."""
        interest = self._interest
        begin = interest.topic_start[:-1]
        if not len(begin):
            return np.empty(0, np.int32)
        sizes = self.sizes[interest.topic_nodes]
        most = np.repeat(np.maximum.reduceat(sizes, begin), np.diff(interest.topic_start))
        candidates = np.where(sizes == most, interest.topic_nodes, np.int32(interest.node_count))
        lowest: Ids = np.minimum.reduceat(candidates, begin)
        return lowest[np.diff(interest.topic_start) > 1]

    def rows(self, nodes: Ids) -> Rows:
        """The topics of some nodes, in the order given."""
        interest = self._interest
        sizes = self.sizes[nodes].astype(np.int64)
        start = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(sizes, out=start[1:])
        places = np.repeat(interest.node_start[:-1][nodes] - start[:-1], sizes) + np.arange(start[-1])
        return Rows(nodes, start, interest.node_topics[places])
