"""Measuring an overlay on Spark, by topic: the same measures as `metrics.measure`, to the last digit.

Topics are independent, so they are dealt to chunks and each task calls `metrics.measure_topics` on one chunk.

What is where. The subscriptions are the big table, and no process ever holds more than a chunk of them: 24 bytes
each in a task. The links go whole to every task, 16 bytes a node and 12 a link, and measuring takes at most 100
bytes a node and 51 a link there: 200 MB for a million nodes and two million links. They have to be whole, because
the relays of a topic that is in pieces are found by a search over all nodes. The driver holds the names of nodes and
topics, the links, and a row a topic: some 200 bytes a node, 200 a topic and 40 a link. So 16 GB a task are enough
for 100 million nodes and as many links.

Skew. A topic with more subscribers than a chunk should have is a chunk of its own and begins first. All others are
dealt out by falling size, so that every chunk gets as many large ones and as many small ones as the next, and takes
about as long whatever a subscriber or a topic costs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.metrics import LinkGraph, Measures, TopicMeasures, measure_topics, summarise
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay
from topicloom.pipeline.ingesting.ingested import Ingested

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

# Each chunk costs a pass over all links, about 0.2 s for two million, so small ones are not worth it; a task holds no
# more subscriptions than the largest has, unless a single topic does.
_CHUNKS_PER_CORE = 8
_SMALLEST_CHUNK = 50_000
_LARGEST_CHUNK = 4_000_000

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
) -> Evaluation:
    """Measure an overlay against the subscriptions of an ingest folder.

    Args:
        spark: the session to run on.
        folder: what `ingest` wrote.
        overlay: a Parquet file that `Overlay.write` made, or any Parquet, CSV or TSV with `source` and `target`.
        diameters: whether to measure them; they are exact and may take most of the time.
    """
    ingested = Ingested.open(folder)
    links = _read_links(spark, ingested, overlay)
    graph = LinkGraph.from_links(links.interest.node_count, links.source, links.target)
    names, sizes = _topics(spark, ingested)
    chunks = deal(sizes, _CHUNKS_PER_CORE * spark.sparkContext.defaultParallelism)
    subscriptions = _by_chunk(ingested.table(spark, "subscriptions"), chunks)
    shared = spark.sparkContext.broadcast(graph)
    try:
        rows = subscriptions.mapInArrow(_measuring(shared, diameters), _ROWS).toArrow()
    finally:
        shared.destroy()
    topics = _topic_measures(names, rows, diameters)
    return Evaluation(summarise(topics, links.degrees), topics)


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


def _by_chunk(subscriptions: DataFrame, chunks: npt.NDArray[np.int32]) -> DataFrame:
    """`topic_id` and `node_id`, the subscriptions of each chunk in one partition."""
    ids = np.arange(len(chunks), dtype=np.int32)
    chunk_of = subscriptions.sparkSession.createDataFrame(pa.table({"topic_id": ids, "chunk": chunks}))
    joined = subscriptions.select("topic_id", "node_id").join(chunk_of, "topic_id")
    count = int(chunks.max(initial=0)) + 1
    return joined.repartitionById(count, "chunk").select("topic_id", "node_id")


def _measuring(
    shared: Broadcast[LinkGraph], diameters: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does with the subscriptions of its chunk."""

    def measure_chunk(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = [(batch["topic_id"].to_numpy(), batch["node_id"].to_numpy()) for batch in batches]
        if not parts:
            return
        ids, start, nodes = _rows_of(
            np.concatenate([topics for topics, _ in parts]), np.concatenate([nodes for _, nodes in parts])
        )
        parts.clear()
        measured = measure_topics(shared.value, [""] * len(ids), start, nodes, diameters=diameters)
        columns = [getattr(measured, column) for column in _COLUMNS]
        arrays = [pa.nulls(len(ids), pa.int64()) if column is None else pa.array(column) for column in columns]
        yield pa.record_batch([pa.array(ids), *arrays], ["topic_id", *_COLUMNS])

    return measure_chunk


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
