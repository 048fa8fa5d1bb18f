"""Social graphs as subscriptions: every user is a topic."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.pipeline.ingesting.ingest_options import Graph


def subscriptions_of(
    source: pa.StringArray, target: pa.StringArray, graph: Graph, *, include_self: bool
) -> tuple[pa.StringArray, pa.StringArray]:
    """Nodes and topics of edges: the source wants the target, and the target the source where undirected.

    A self-loop is a node without a topic, so that it can be counted and its user is known.
    """
    loops = pc.equal(source, target)
    nodes, topics = [source], [pc.if_else(loops, pa.scalar(None, pa.string()), target)]
    if graph == "undirected":
        forward = pc.invert(loops)
        nodes.append(target.filter(forward))
        topics.append(source.filter(forward))
    if include_self:
        users = pc.unique(pa.concat_arrays([source, target]))
        nodes.append(users)
        topics.append(users)
    return pa.concat_arrays(nodes), pa.concat_arrays(topics)


def repeated_edges(edges: int, subscriptions: int, users: int, graph: Graph, *, include_self: bool) -> int:
    """How many of the edges that are not loops are there again, from the number of distinct subscriptions."""
    distinct = subscriptions - (users if include_self else 0)
    return edges - (distinct // 2 if graph == "undirected" else distinct)
