"""Measures of an overlay, topic by topic: the same as `metrics.measure`, to the last digit.

Topics are independent, so they are dealt to chunks and each task calls `metrics.measure_topics` on one chunk.

Memory. The subscriptions are the big table, and no process holds more than a chunk of them: 24 bytes each in a task.
Links that take little room go whole to every task, 16 bytes a node and 12 a link, and measuring takes at most 100 bytes
a node and 51 a link there. Others are joined with the subscriptions, so that a task holds the links of its own topics
only. Only a topic in several components needs all links, because its relays are found by a search over all nodes: then
they go to the tasks of these topics, and `progress` says how much memory that takes. The driver holds the names of
topics, the ids of links, and a row for each topic: some 200 bytes a topic, 4 a node and 40 a link.

Skew. A topic with more subscribers than a chunk should have is a chunk of its own and begins first. All others are
dealt out by falling size, so that every chunk gets as many large ones and as many small ones as the next, and takes
about as long whatever a subscriber or a topic costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.metrics import LinkGraph, Measures, TopicMeasures, measure_topics, summarise
from topicloom.model.interest import Ids
from topicloom.model.overlay import Overlay
from topicloom.spark.frames import frame_of
from topicloom.spark.links import LinkIds, link_ids, links_by_topic, node_sizes
from topicloom.spark.shared import Shared, shared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from topicloom.spark.interned import Interned

# Each chunk costs a pass over all links, about 0.2 s for two million, so small ones are not worth it; a task holds no
# more subscriptions than the largest has, unless a single topic does.
_SMALLEST_CHUNK = 50_000
_LARGEST_CHUNK = 4_000_000

# Links of up to this size go whole to every task; joining a few takes longer.
WHOLE_BYTES = 50_000_000

_COLUMNS = ("subscribers", "links", "components", "diameter", "relays", "unreachable")
_ROWS = "topic_id long, " + ", ".join(f"{column} long" for column in _COLUMNS)

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class Evaluation:
    """The measures of an overlay, and those of each topic in the order of topic ids."""

    measures: Measures
    topics: TopicMeasures


def evaluate(
    interned: Interned,
    links: DataFrame | Overlay,
    *,
    diameters: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> Evaluation:
    """Measure an overlay, topic by topic.

    Args:
        interned: the subscriptions.
        links: a data frame with `source` and `target`, the names of nodes; or an overlay.
        diameters: whether to measure them; they are exact and may take most of the time.
        progress: called with what is being done.

    Example:
        >>> from topicloom import Interest
        >>> from topicloom.spark import Interned, evaluate
        >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "x"), ("c", "y")])
        >>> links = spark.createDataFrame([("a", "b")], "source string, target string")
        >>> found = evaluate(Interned.of(spark, interest), links)
        >>> found.measures.components, found.topics.components.tolist()
        (3, [2, 1])
    """
    ids = link_ids(interned, links)
    names = _topic_names(interned)
    chunks = _Chunks(interned, names["nodes"].to_numpy())
    nodes = interned.totals.nodes
    if _whole_bytes(nodes, ids) <= WHOLE_BYTES:
        topics = _topic_measures(names["name"], chunks.measured_whole(nodes, ids, diameters), diameters)
    else:
        topics = _topic_measures(names["name"], chunks.measured_by_join(ids, diameters), diameters)
        pieces = np.flatnonzero(topics.components > 1)
        if len(pieces):
            megabytes = _whole_bytes(nodes, ids) // 1_000_000
            progress(f"finding relays of {len(pieces):,} topics, with all links in every task: {megabytes:,} MB")
            topics = _with_relays(topics, chunks.measured_whole(nodes, ids, False, pieces))
    return Evaluation(summarise(topics, ids.degrees(nodes)), topics)


def _whole_bytes(nodes: int, links: LinkIds) -> int:
    """Bytes of all links in a task."""
    return 16 * nodes + 12 * len(links.source)


def _topic_names(interned: Interned) -> pa.Table:
    return interned.topics.select("id", "name", "nodes").toArrow().sort_by("id")


def _with_relays(topics: TopicMeasures, found: pa.Table) -> TopicMeasures:
    """The measures with the relays of topics in several components."""
    relays, unreachable = np.zeros_like(topics.relays), np.zeros_like(topics.unreachable)
    relays[found["topic_id"].to_numpy()] = found["relays"].to_numpy()
    unreachable[found["topic_id"].to_numpy()] = found["unreachable"].to_numpy()
    return replace(topics, relays=relays, unreachable=unreachable)


class _Chunks:
    """Subscriptions by chunks of topics, each measured by one task."""

    def __init__(self, interned: Interned, sizes: npt.NDArray[np.int64]) -> None:
        self._interned = interned
        self._rows = interned.subscriptions.select("topic_id", "node_id")
        self._spark = interned.spark
        self._sizes = sizes

    def measured_whole(
        self, nodes: int, links: LinkIds, diameters: bool, topics: npt.NDArray[np.int64] | None = None
    ) -> pa.Table:
        """Rows of measures, of all topics or some; every task has all links."""
        with shared(self._spark, LinkGraph.from_links(nodes, *links)) as graph:
            return self._dealt(self._rows, topics).mapInArrow(_measuring(graph, diameters), _ROWS).toArrow()

    def measured_by_join(self, links: LinkIds, diameters: bool) -> pa.Table:
        """Rows of measures; every task has the links of its topics. Relays are right for connected topics."""
        joined = links_by_topic(self._rows, links, node_sizes(self._interned))
        links_rows = joined.selectExpr("topic_id", "cast(one as int) as node_id", "cast(other as int) as other")
        rows = self._rows.selectExpr("topic_id", "node_id", "-1 as other").unionByName(links_rows)
        return self._dealt(rows).mapInArrow(_measuring(None, diameters), _ROWS).toArrow()

    def _dealt(self, rows: DataFrame, topics: npt.NDArray[np.int64] | None = None) -> DataFrame:
        """Rows that have a `topic_id`, those of each chunk of topics in one partition."""
        ids = np.arange(len(self._sizes)) if topics is None else topics
        partitions = self._spark.conf.get("spark.sql.shuffle.partitions")
        chunks = deal(self._sizes[ids], int(partitions or 1))
        chunk_of = frame_of(self._spark, pa.table({"topic_id": ids.astype(np.int32), "chunk": chunks}))
        count = int(chunks.max(initial=0)) + 1
        return rows.join(chunk_of, "topic_id").repartitionById(count, "chunk").drop("chunk")


def deal(sizes: npt.NDArray[np.integer], chunks: int) -> npt.NDArray[np.int32]:
    """The chunk of each topic: large ones alone in the first chunks, the others dealt out by falling size.

    `chunks` is the number wished for; there are more if chunks would be too large to hold, and fewer if too small.
    """
    total = int(sizes.sum())
    share = min(max(-(-total // chunks), _SMALLEST_CHUNK), _LARGEST_CHUNK)
    order = np.argsort(-sizes, kind="stable")
    alone = int(np.count_nonzero(sizes > share))
    rest = max(1, -(-int(sizes[order[alone:]].sum()) // share))
    dealt = np.empty(len(sizes), np.int32)
    dealt[order[:alone]] = np.arange(alone)
    dealt[order[alone:]] = alone + np.arange(len(sizes) - alone) % rest
    return dealt


def _measuring(graph: Shared[LinkGraph] | None, diameters: bool) -> Callable[[Batches], Batches]:
    """Function of a task that measures its chunk; without a shared graph, links are among the rows."""

    def measure_chunk(batches: Batches) -> Batches:
        parts = list(batches)
        if not parts:
            return
        table = pa.Table.from_batches(parts)
        parts.clear()
        topics, nodes = table["topic_id"].to_numpy(), table["node_id"].to_numpy()
        if graph is None:
            topics, nodes, links = _own_graph(topics, nodes, table["other"].to_numpy())
        else:
            links = graph.value
        ids, start, rows = _rows_of(topics, nodes)
        measured = measure_topics(links, [""] * len(ids), start, rows, diameters=diameters)
        columns = [getattr(measured, column) for column in _COLUMNS]
        arrays = [pa.nulls(len(ids), pa.int64()) if column is None else pa.array(column) for column in columns]
        yield pa.record_batch([pa.array(ids), *arrays], ["topic_id", *_COLUMNS])

    return measure_chunk


def _own_graph(
    topics: npt.NDArray[np.integer], nodes: npt.NDArray[np.integer], other: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer], LinkGraph]:
    """Subscriptions and links of a chunk, with its nodes numbered anew; a row without `other` is a subscription."""
    subscribed = other < 0
    known, places = np.unique(nodes[subscribed], return_inverse=True)
    one, two = (np.searchsorted(known, end[~subscribed]) for end in (nodes, other))
    pairs = np.unique(np.minimum(one, two) * np.int64(len(known)) + np.maximum(one, two))
    ends = (part.astype(np.int32) for part in np.divmod(pairs, max(1, len(known))))
    return topics[subscribed], places, LinkGraph.from_links(len(known), *ends)


def _rows_of(
    topics: npt.NDArray[np.integer], nodes: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Ids]:
    """Subscriptions as rows of nodes: the ids of the topics, where each one's row begins, and the nodes, rising."""
    order = np.lexsort((nodes, topics))
    ids, begin = np.unique(topics[order], return_index=True)
    start = np.append(begin, len(order)).astype(np.int64)
    return ids.astype(np.int64), start, nodes[order].astype(np.int32)


def _topic_measures(names: pa.ChunkedArray, rows: pa.Table, diameters: bool) -> TopicMeasures:
    at = rows["topic_id"].to_numpy()

    def column(name: str) -> npt.NDArray[np.int64]:
        values = np.zeros(len(names), np.int64)
        values[at] = rows[name].to_numpy()
        return values

    return TopicMeasures(
        topic_names=tuple(names.to_pylist()),
        subscribers=column("subscribers"),
        links=column("links"),
        components=column("components"),
        diameter=column("diameter") if diameters else None,
        relays=column("relays"),
        unreachable=column("unreachable"),
    )
