"""The links to choose from: pairs of nodes that share a topic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from topicloom.designers.baselines.measured_links import measured
from topicloom.model.interest import Ids, Interest

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TopicPairs:
    """One set of nodes that want some topic: their number, the pairs among them, and the ends of these by place."""

    size: int
    pairs: Numbers
    first: Numbers
    second: Numbers


class SharingPairs:
    """All pairs of nodes that share a topic, by rising ids, and the topics; those of the same nodes count once."""

    def __init__(self, interest: Interest) -> None:
        self.interest = interest
        rows = {tuple(interest.nodes_of(topic).tolist()) for topic in range(interest.topic_count)}
        members = [np.array(row) for row in sorted(rows) if len(row) >= 2]
        ends = [np.triu_indices(len(nodes), 1) for nodes in members]
        keys = [nodes[i] * interest.node_count + nodes[j] for nodes, (i, j) in zip(members, ends, strict=True)]
        self.keys = np.unique(np.concatenate(keys)) if keys else np.empty(0, np.int64)
        self.source: Ids = (self.keys // max(1, interest.node_count)).astype(np.int32)
        self.target: Ids = (self.keys % max(1, interest.node_count)).astype(np.int32)
        self.topics = [
            TopicPairs(len(nodes), np.searchsorted(self.keys, key), i, j)
            for nodes, key, (i, j) in zip(members, keys, ends, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def mergeable(self) -> int:
        """Components that a topic-connected overlay merges away."""
        return self.interest.subscription_count - self.interest.topic_count

    def flags(self, source: Ids, target: Ids) -> Flags:
        """Links of a designer as flags of pairs."""
        chosen = np.zeros(len(self), np.bool_)
        chosen[np.searchsorted(self.keys, source.astype(np.int64) * self.interest.node_count + target)] = True
        return chosen

    def max_degree(self, chosen: Flags) -> int:
        """The highest degree of the chosen links."""
        ends = np.concatenate([self.source[chosen], self.target[chosen]])
        return int(np.bincount(ends, minlength=1).max(initial=0))

    def completed(self, chosen: Flags, spare: Flags) -> Flags:
        """The chosen links, those of `spare` that connect what is left, and none that nothing needs."""
        order = np.concatenate([np.flatnonzero(chosen), np.flatnonzero(spare & ~chosen)])
        order = order[self._contribution(order) > 0]
        for link in order[::-1]:
            fewer = order[order != link]
            if self._contribution(fewer).sum() == self.mergeable:
                order = fewer
        needed = np.zeros(len(self), np.bool_)
        needed[order] = True
        return needed

    def _contribution(self, order: Numbers) -> Ids:
        return measured(self.interest, self.source[order], self.target[order]).contribution
