"""Measures of an overlay, topic by topic on Spark.

The links of each topic on Spark, found by joining: no process ever holds all links and all subscriptions.

A link serves the topics that both its ends want. So links are joined with the topics of one end, best the one with
fewer topics, and what is left of that with the topics of the other.

Measuring an overlay on Spark, by topic: the same measures as `metrics.measure`, to the last digit.

Topics are independent, so they are dealt to chunks and each task calls `metrics.measure_topics` on one chunk.

What is where. The subscriptions are the big table, and no process ever holds more than a chunk of them: 24 bytes
each in a task. Links that take little room go whole to every task, 16 bytes a node and 12 a link, and measuring takes
at most 100 bytes a node and 51 a link there. Others are joined with the subscriptions, so that a task holds the links
of its own topics only. Only where a topic is in pieces are all links needed, because its relays are found by a search
over all nodes: then they go to the tasks of these topics, and `progress` is told how much memory that takes. The driver
holds the names of nodes and topics, the links, and a row a topic: some 200 bytes a node, 200 a topic and 40 a link.

Skew. A topic with more subscribers than a chunk should have is a chunk of its own and begins first. All others are
dealt out by falling size, so that every chunk gets as many large ones and as many small ones as the next, and takes
about as long whatever a subscriber or a topic costs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.designers.contract import Links
from topicloom.kernels.components import merge_links
from topicloom.metrics import LinkGraph, Measures, TopicMeasures, measure_topics, summarise
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay
from topicloom.spark.ingest import Ingested

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession


def links_by_topic(subscriptions: DataFrame, source: Ids, target: Ids, sizes: Ids) -> DataFrame:
    """Links by topic: `topic_id`, `link` (its number), `one`, `other`; `sizes` are the topics of each node."""
    fewer = np.where(sizes[source] <= sizes[target], source, target)
    links = pa.table({"link": np.arange(len(source)), "one": fewer, "other": np.where(fewer == source, target, source)})
    spark = subscriptions.sparkSession
    of_one = subscriptions.selectExpr("node_id as one", "topic_id")
    of_other = subscriptions.selectExpr("node_id as other", "topic_id")
    return spark.createDataFrame(links).join(of_one, "one").join(of_other, ["other", "topic_id"])


def measured_on_spark(subscriptions: DataFrame, links: Links, sizes: Ids) -> Links:
    """The links in the order given, each with the number of components that it merges."""
    rows = links_by_topic(subscriptions, links.source, links.target, sizes)
    merging = rows.groupBy("topic_id").applyInArrow(_merging, "link long")
    counts = merging.groupBy("link").count().toArrow()
    contribution = np.zeros(len(links.source), np.int32)
    contribution[counts["link"].to_numpy()] = counts["count"].to_numpy()
    return Links(links.source, links.target, contribution)


def _merging(topic: pa.Table) -> pa.Table:
    """Those links of one topic that merge two of its components, if all are added by their numbers."""
    order = np.argsort(topic["link"].to_numpy())
    one, other = (topic[end].to_numpy()[order] for end in ("one", "other"))
    nodes, places = np.unique(np.concatenate([one, other]), return_inverse=True)
    alone = np.arange(len(nodes) + 1, dtype=np.int64)
    ends = places.astype(np.int32).reshape(2, -1)
    merged, _ = merge_links(alone, np.zeros(len(nodes), np.int32), ends[0], ends[1])
    return pa.table({"link": topic["link"].to_numpy()[order][merged > 0]})


# Each chunk costs a pass over all links, about 0.2 s for two million, so small ones are not worth it; a task holds no
# more subscriptions than the largest has, unless a single topic does.
_CHUNKS_PER_CORE = 8
_SMALLEST_CHUNK = 50_000
_LARGEST_CHUNK = 4_000_000

# Links of up to this size go whole to every task; joining takes longer where they are few.
WHOLE_BYTES = 50_000_000

_COLUMNS = ("subscribers", "links", "components", "diameter", "relays", "unreachable")
_ROWS = "topic_id long, " + ", ".join(f"{column} long" for column in _COLUMNS)


@dataclass(frozen=True)
class Evaluation:
    """The measures of an overlay, and those of each topic in the order of topic ids."""

    measures: Measures
    topics: TopicMeasures


def evaluate(
    spark: SparkSession,
    folder: str | os.PathLike[str],
    overlay: str | os.PathLike[str],
    *,
    diameters: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> Evaluation:
    """Measure an overlay against the subscriptions of an ingest folder.

    Args:
        spark: the session to run on.
        folder: what `ingest` wrote.
        overlay: a Parquet file that `Overlay.write` made, or any Parquet, CSV or TSV with `source` and `target`.
        diameters: whether to measure them; they are exact and may take most of the time.
        progress: told what is being done.
    """
    ingested = Ingested.open(folder)
    links = _read_links(spark, ingested, overlay)
    names, sizes = _topics(spark, ingested)
    subscriptions = ingested.table(spark, "subscriptions").select("topic_id", "node_id")
    if _whole_bytes(links) <= WHOLE_BYTES:
        topics = _topic_measures(names, _measured_whole(subscriptions, sizes, links, diameters), diameters)
    else:
        rows = _measured_by_join(subscriptions, sizes, links, _node_sizes(spark, ingested), diameters)
        topics = _topic_measures(names, rows, diameters)
        pieces = np.flatnonzero(topics.components > 1)
        if len(pieces):
            megabytes = _whole_bytes(links) // 1_000_000
            progress(f"finding relays of {len(pieces):,} topics, with all links in every task: {megabytes:,} MB")
            topics = _with_relays(topics, subscriptions, sizes, links, pieces)
    return Evaluation(summarise(topics, links.degrees), topics)


def _whole_bytes(links: Overlay) -> int:
    """What all links take in a task."""
    return 16 * links.interest.node_count + 12 * len(links)


def _measured_whole(
    subscriptions: DataFrame, sizes: npt.NDArray[np.int64], links: Overlay, diameters: bool
) -> pa.Table:
    """Rows of measures; every task has all links."""
    context = subscriptions.sparkSession.sparkContext
    shared = context.broadcast(LinkGraph.from_links(links.interest.node_count, links.source, links.target))
    try:
        return _by_chunk(subscriptions, sizes).mapInArrow(_measuring(shared, diameters), _ROWS).toArrow()
    finally:
        shared.destroy()


def _measured_by_join(
    subscriptions: DataFrame, sizes: npt.NDArray[np.int64], links: Overlay, node_sizes: Ids, diameters: bool
) -> pa.Table:
    """Rows of measures; every task has the links of its topics. Relays are right where a topic is in one piece."""
    joined = links_by_topic(subscriptions, links.source, links.target, node_sizes)
    links_rows = joined.selectExpr("topic_id", "cast(one as int) as node_id", "cast(other as int) as other")
    rows = subscriptions.selectExpr("topic_id", "node_id", "-1 as other").unionByName(links_rows)
    return _by_chunk(rows, sizes).mapInArrow(_measuring(None, diameters), _ROWS).toArrow()


def _with_relays(
    topics: TopicMeasures,
    subscriptions: DataFrame,
    sizes: npt.NDArray[np.int64],
    links: Overlay,
    pieces: npt.NDArray[np.int64],
) -> TopicMeasures:
    """The measures with the relays of topics that are in pieces."""
    from pyspark.sql import functions as sql

    listed = subscriptions.sparkSession.createDataFrame(pa.table({"topic_id": pieces.astype(np.int32)}))
    found = _measured_whole(subscriptions.join(sql.broadcast(listed), "topic_id", "left_semi"), sizes, links, False)
    relays, unreachable = np.zeros_like(topics.relays), np.zeros_like(topics.unreachable)
    relays[found["topic_id"].to_numpy()] = found["relays"].to_numpy()
    unreachable[found["topic_id"].to_numpy()] = found["unreachable"].to_numpy()
    return replace(topics, relays=relays, unreachable=unreachable)


def deal(sizes: npt.NDArray[np.integer], chunks: int) -> npt.NDArray[np.int32]:
    """The chunk of each topic: large ones alone in the first chunks, the others dealt out by falling size.

    `chunks` is how many there should be; there are more or fewer where they would be too large to hold or too small.
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


def _read_links(spark: SparkSession, ingested: Ingested, overlay: str | os.PathLike[str]) -> Overlay:
    """The overlay, checked as ever, over the folder's nodes; its interest has no subscriptions."""
    names = ingested.table(spark, "nodes").select("id", "name").toArrow().sort_by("id")["name"]
    none = np.empty(0, np.int32)
    nodes = Interest.from_ids(tuple(names.to_pylist()), (), none, none)
    # It is known, and without the subscriptions it could not be computed.
    vars(nodes)["fingerprint"] = ingested.fingerprint
    return Overlay.read(overlay, nodes)


def _topics(spark: SparkSession, ingested: Ingested) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Name of each topic, and how many nodes want it."""
    table = ingested.table(spark, "topics").select("id", "name", "nodes").toArrow().sort_by("id")
    return tuple(table["name"].to_pylist()), table["nodes"].to_numpy().astype(np.int64)


def _node_sizes(spark: SparkSession, ingested: Ingested) -> Ids:
    """How many topics each node wants."""
    table = ingested.table(spark, "nodes").select("id", "topics").toArrow()
    sizes = np.empty(table.num_rows, np.int32)
    sizes[table["id"].to_numpy()] = table["topics"].to_numpy()
    return sizes


def _by_chunk(rows: DataFrame, sizes: npt.NDArray[np.int64]) -> DataFrame:
    """Rows that have a `topic_id`, those of each chunk of topics in one partition."""
    spark = rows.sparkSession
    chunks = deal(sizes, _CHUNKS_PER_CORE * spark.sparkContext.defaultParallelism)
    ids = np.arange(len(chunks), dtype=np.int32)
    chunk_of = spark.createDataFrame(pa.table({"topic_id": ids, "chunk": chunks}))
    count = int(chunks.max(initial=0)) + 1
    return rows.join(chunk_of, "topic_id").repartitionById(count, "chunk").drop("chunk")


def _measuring(
    shared: Broadcast[LinkGraph] | None, diameters: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does with the subscriptions of its chunk, and with its links where they are not shared."""

    def measure_chunk(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = list(batches)
        if not parts:
            return
        table = pa.Table.from_batches(parts)
        parts.clear()
        topics, nodes = table["topic_id"].to_numpy(), table["node_id"].to_numpy()
        if shared is None:
            topics, nodes, graph = _own_graph(topics, nodes, table["other"].to_numpy())
        else:
            graph = shared.value
        ids, start, rows = _rows_of(topics, nodes)
        measured = measure_topics(graph, [""] * len(ids), start, rows, diameters=diameters)
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


def _topic_measures(names: tuple[str, ...], rows: pa.Table, diameters: bool) -> TopicMeasures:
    at = rows["topic_id"].to_numpy()

    def column(name: str) -> npt.NDArray[np.int64]:
        values = np.zeros(len(names), np.int64)
        values[at] = rows[name].to_numpy()
        return values

    return TopicMeasures(
        topic_names=names,
        subscribers=column("subscribers"),
        links=column("links"),
        components=column("components"),
        diameter=column("diameter") if diameters else None,
        relays=column("relays"),
        unreachable=column("unreachable"),
    )
