"""The topics of an interest that bounds look at: those with two nodes or more, and not too many in all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topicloom.kernels.bounds import fewest_neighbours
from topicloom.model.interest import Ids, Interest, Starts

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ComparedTopics:
    """Topics with two nodes or more, as rows like those of an interest, renumbered; all nodes keep their ids.

    `left_out` are topics with so many nodes that their pairs would take too long: whatever is proved about fewer
    topics holds for all of them, as an overlay that connects all topics connects some.
    """

    node_start: Starts
    node_topics: Ids
    topic_start: Starts
    topic_nodes: Ids
    left_out: int

    @classmethod
    def of(cls, interest: Interest, most_pairs: int) -> ComparedTopics:
        """Those with fewest nodes first, as long as they have no more pairs of nodes than `most_pairs` in all."""
        sizes = np.diff(interest.topic_start)
        rarest = np.argsort(sizes, kind="stable")
        pairs = np.cumsum(sizes[rarest] * (sizes[rarest] - 1) // 2)
        kept = np.zeros(interest.topic_count, np.bool_)
        kept[rarest[pairs <= most_pairs]] = True
        kept &= sizes >= 2
        by_node = kept[interest.node_topics]
        number = np.cumsum(kept, dtype=np.int32) - 1
        before = np.concatenate([[0], np.cumsum(by_node)])
        starts = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
        return cls(
            before[interest.node_start].astype(np.int64),
            number[interest.node_topics[by_node]].astype(np.int32),
            starts,
            interest.topic_nodes[np.repeat(kept, sizes)],
            int(np.count_nonzero(sizes >= 2) - np.count_nonzero(kept)),
        )

    @property
    def node_count(self) -> int:
        """How many nodes there are, those without such topics too."""
        return len(self.node_start) - 1

    @property
    def pairs(self) -> int:
        """Pairs of nodes, summed over the topics."""
        sizes = np.diff(self.topic_start)
        return int((sizes * (sizes - 1) // 2).sum())

    @property
    def nodes(self) -> Numbers:
        """The node of each subscription, in the order of `node_topics`."""
        return np.repeat(np.arange(self.node_count), np.diff(self.node_start))


def neighbours_needed(shared: ComparedTopics) -> npt.NDArray[np.int64]:
    """What each node cannot have fewer neighbours than, in any topic-connected overlay."""
    sizes = np.diff(shared.topic_start)
    rare_first = shared.node_topics[np.lexsort((sizes[shared.node_topics], shared.nodes))]
    needed: npt.NDArray[np.int64] = fewest_neighbours(
        shared.node_start, rare_first, shared.topic_start, shared.topic_nodes
    ).astype(np.int64)
    return needed
