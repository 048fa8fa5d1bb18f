"""Links as rows of neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicloom.model.interest import Ids, Starts


class LinkGraph(NamedTuple):
    """The links of an overlay in compressed sparse rows, each row rising.

    In `link_nodes` every link stands in the rows of both its ends. In `out_nodes` it stands once, in the row of
    the end with fewer links (the lower one of equals). So no row of these is longer than the square root of twice
    the links, and going through the rows of a topic's nodes stays cheap where a hub wants every topic.
    """

    link_start: Starts
    link_nodes: Ids
    out_start: Starts
    out_nodes: Ids

    @classmethod
    def from_links(cls, node_count: int, source: Ids, target: Ids) -> LinkGraph:
        """From the ends of the links, source < target."""
        first, second = np.concatenate([source, target]), np.concatenate([target, source])
        degrees = np.bincount(first, minlength=node_count)
        turned = degrees[source] > degrees[target]
        out_first, out_second = np.where(turned, target, source), np.where(turned, source, target)
        return cls(*_rows(node_count, first, second), *_rows(node_count, out_first, out_second))


def _rows(node_count: int, first: Ids, second: Ids) -> tuple[Starts, Ids]:
    start = np.zeros(node_count + 1, np.int64)
    np.cumsum(np.bincount(first, minlength=node_count), out=start[1:])
    return start, second[np.lexsort((second, first))]
