"""The backbone designer on Spark.

What a backbone needs to know of the nodes, from tables on Spark.

The driver holds how many topics each node wants, and the topics of the nodes that become hosts.

A backbone of the subscriptions of an ingest folder, the same as on one machine, link by link.

What is where. The driver holds 4 bytes a node, the hosts (at most 60 bytes a subscription), and the links:
40 bytes each while they are put in order. Names are no business of the design, only of writing it. The hosts go to
every executor. A task holds a block of leaves: 262,144 subscriptions and 10 MB.

Blocks are those of one machine, whatever the partitions: a task attaches the blocks that it gets, each by itself, by
the function that one machine calls. So partitions, executors and repeated tasks cannot change a link.

Writing what was designed on Spark: a Parquet file by the driver, or a folder of them by the executors.

A name that ends in .parquet is a file, the very one that a design on one machine writes: the driver then holds the
names of all nodes, and of both ends of all links. Any other name is a folder, made of parts of 1,048,576 links in
their order, whose names are joined and written by tasks; it has to be on a disk that executors share.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.designers import Designer
from topicloom.designers.backbone import (
    AttachedLeaves,
    attach_block,
    backbone_links,
    core_designer,
    core_sizes,
    count_blocks,
    require_core,
)
from topicloom.designers.backbone_hosts import Hosts, Members, Rows, by_size, link_hosts
from topicloom.designers.backbone_repair import repaired
from topicloom.designers.contract import Links
from topicloom.errors import InputError
from topicloom.io.tables import write_parquet
from topicloom.io.whole import MANIFEST, replacing, replacing_folder, require_replaceable
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import PART_LINKS, Overlay, overlay_metadata, part_name
from topicloom.model.provenance import Provenance
from topicloom.registry import Prepared, Watch
from topicloom.spark.evaluate import measured_on_spark
from topicloom.spark.ingest import Ingested

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession


class SparkFleet:
    """The nodes of an ingest folder."""

    def __init__(self, spark: SparkSession, ingested: Ingested) -> None:
        self._spark = spark
        nodes = ingested.table(spark, "nodes").select("id", "topics").toArrow()
        self.sizes: Ids = np.empty(nodes.num_rows, np.int32)
        self.sizes[nodes["id"].to_numpy()] = nodes["topics"].to_numpy()
        self._nodes = ingested.table(spark, "nodes").selectExpr("id as node_id", "topics as size")
        self._subscriptions = ingested.table(spark, "subscriptions").select("node_id", "topic_id")
        topics = ingested.table(spark, "topics").select("id", "nodes").toArrow()
        self.topic_count = topics.num_rows
        self.subscribers: npt.NDArray[np.int64] = np.empty(topics.num_rows, np.int64)
        self.subscribers[topics["id"].to_numpy()] = topics["nodes"].to_numpy()

    def largest(self, counts: npt.NDArray[np.int64]) -> Ids:
        """For every topic the nodes with most topics among those that want it, of equals the lowest.

        As many as `counts` says for the topic; a node is named once, in no special order.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        wanted = np.flatnonzero(counts)
        table = pa.table({"topic_id": wanted.astype(np.int32), "count": counts[wanted]})
        listed = self._subscriptions.join(sql.broadcast(self._spark.createDataFrame(table)), "topic_id")
        by_size = Window.partitionBy("topic_id").orderBy(sql.desc("size"), "node_id")
        ranked = listed.join(self._nodes, "node_id").withColumn("rank", sql.row_number().over(by_size))
        found = ranked.where("rank <= count").select("node_id").distinct().toArrow()
        nodes: Ids = found["node_id"].to_numpy().astype(np.int32)
        return nodes

    def rows(self, nodes: Ids) -> Rows:
        """The topics of some nodes, in the order given."""
        found = self._subscriptions.join(self._listed(nodes), "node_id", "left_semi").toArrow()
        place = np.zeros(len(self.sizes), np.int64)
        place[nodes] = np.arange(len(nodes))
        return rows_in_order(nodes, place[found["node_id"].to_numpy()], found["topic_id"].to_numpy())

    def members(self, topics: Ids) -> Members:
        """The nodes that want some topics, in the order given."""
        listed = self._listed(topics).withColumnRenamed("node_id", "topic_id")
        found = self._subscriptions.join(listed, "topic_id", "left_semi").toArrow()
        place = np.zeros(self.topic_count, np.int64)
        place[topics] = np.arange(len(topics))
        by_topic = rows_in_order(topics, place[found["topic_id"].to_numpy()], found["node_id"].to_numpy())
        return Members(topics, by_topic.start, by_topic.topics)

    def leaves(self, hosts: Ids) -> DataFrame:
        """The subscriptions of all nodes that are no hosts: `node_id` and `topic_id`."""
        return self._subscriptions.join(self._listed(hosts), "node_id", "left_anti")

    def _listed(self, nodes: Ids) -> DataFrame:
        from pyspark.sql import functions as sql

        return sql.broadcast(self._spark.createDataFrame(pa.table({"node_id": nodes})))


def rows_in_order(nodes: Ids, places: npt.NDArray[np.integer], topics: npt.NDArray[np.integer]) -> Rows:
    """Subscriptions as rows, by the places of their nodes among `nodes`."""
    start = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum(np.bincount(places, minlength=len(nodes)), out=start[1:])
    return Rows(nodes, start, topics[np.lexsort((topics, places))].astype(np.int32))


_ROWS = "block int, unmet boolean, node int, other int, gain int"


@dataclass(frozen=True)
class SparkDesign:
    """Links of a design, where they come from, and what is known of the folder's subscriptions."""

    links: Links
    provenance: Provenance
    nodes: int
    topics: int
    subscriptions: int

    @property
    def merged(self) -> int:
        """How many components its links merge."""
        return int(self.links.contribution.sum(dtype=np.int64))

    @property
    def support(self) -> float:
        """The share of possible merges that its links do."""
        possible = self.subscriptions - self.topics
        return self.merged / possible if possible else 1.0

    @property
    def max_degree(self) -> int:
        """The highest number of links of a node."""
        ends = np.concatenate([self.links.source, self.links.target])
        return int(np.bincount(ends, minlength=1).max())


def design_on_spark(
    spark: SparkSession,
    folder: str | os.PathLike[str],
    prepared: Prepared[Designer],
    progress: Callable[[str], None] = lambda _: None,
) -> SparkDesign:
    """Design an overlay for the subscriptions of an ingest folder.

    Args:
        spark: the session to run on.
        folder: what `ingest` wrote.
        prepared: the designer, which must be `backbone`, and its parameters.
        progress: told what is being done.
    """
    require_backbone(prepared.name)
    ingested = Ingested.open(folder)
    parameters: Mapping[str, Any] = prepared.parameters
    progress("choosing and linking hosts")
    fleet = SparkFleet(spark, ingested)
    nodes, subscriptions = len(fleet.sizes), int(fleet.sizes.sum(dtype=np.int64))
    require_core(nodes, parameters)
    cores = core_sizes(nodes, parameters)
    linked = link_hosts(fleet, core_designer(parameters), cores, parameters.get("max_degree"), Watch())
    blocks = count_blocks(subscriptions - int(fleet.sizes[linked.hosts.nodes].sum(dtype=np.int64)))
    progress("attaching leaves")
    attached = _attach_leaves(spark, fleet, linked.hosts, blocks)
    found = backbone_links(linked, attached, nodes, np.zeros(2, np.int64))
    links = found.links
    if len(found.uncovered):
        progress("repairing topics")
        links = repaired(fleet, links, found.uncovered, linked.hosts.max_degree, np.zeros(2, np.int64))
        # A link may then join more than what it was made for.
        progress("counting contributions")
        links = measured_on_spark(ingested.table(spark, "subscriptions"), links, fleet.sizes)
    provenance = Provenance(prepared.name, MappingProxyType(dict(parameters)), prepared.seed_used)
    return SparkDesign(links, provenance, nodes, fleet.topic_count, subscriptions)


def require_backbone(name: str) -> None:
    """Refuse designers that cannot be spread."""
    if name != "backbone":
        raise InputError(f"{name} runs on one machine only; on Spark there is backbone")


def _attach_leaves(spark: SparkSession, fleet: SparkFleet, hosts: Hosts, blocks: int) -> AttachedLeaves:
    from pyspark.sql import functions as sql

    block = sql.pmod("node_id", sql.lit(blocks)).cast("int").alias("block")
    dealt = fleet.leaves(hosts.nodes).select("node_id", "topic_id", block).repartitionById(blocks, "block")
    shared = spark.sparkContext.broadcast(hosts)
    try:
        found = dealt.mapInArrow(_attaching(shared, blocks), _ROWS).toArrow()
    finally:
        shared.destroy()
    # Rows of a block come in their order; those of other blocks may stand before or after them.
    order = np.argsort(found["block"].to_numpy(), kind="stable")
    unmet = found["unmet"].to_numpy(zero_copy_only=False)[order]
    node, other, gain = (found[column].to_numpy()[order].astype(np.int32) for column in ("node", "other", "gain"))
    return AttachedLeaves(node[~unmet], other[~unmet], gain[~unmet], node[unmet], other[unmet])


def _attaching(shared: Broadcast[Hosts], blocks: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does with the leaves of its blocks."""

    def attach(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = list(batches)
        if not parts:
            return
        table = pa.Table.from_batches(parts)
        nodes, topics = (table[column].to_numpy().astype(np.int32) for column in ("node_id", "topic_id"))
        dealt = table["block"].to_numpy()
        for block in np.unique(dealt).tolist():
            mine = dealt == block
            yield _rows_of(block, _attach_one(shared.value, nodes[mine], topics[mine], block, blocks))

    return attach


def _attach_one(hosts: Hosts, nodes: Any, topics: Any, block: int, blocks: int) -> AttachedLeaves:
    leaves, places, sizes = np.unique(nodes, return_inverse=True, return_counts=True)
    order = by_size(sizes)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    rows = rows_in_order(leaves[order], rank[places], topics)
    return attach_block(hosts, rows, block, blocks, np.zeros(2, np.int64))


def _rows_of(block: int, attached: AttachedLeaves) -> pa.RecordBatch:
    links, unmet = len(attached.leaf), len(attached.uncovered_leaf)
    columns: Mapping[str, Any] = {
        "block": np.full(links + unmet, block, np.int32),
        "unmet": np.arange(links + unmet) >= links,
        "node": np.concatenate([attached.leaf, attached.uncovered_leaf]),
        "other": np.concatenate([attached.host, attached.uncovered_topic]),
        "gain": np.concatenate([attached.gain, np.zeros(unmet, np.int32)]),
    }
    return pa.record_batch(columns)


_WRITTEN = "part int, links long"


def is_file(out: str | os.PathLike[str]) -> bool:
    """Whether a design of that name is one file."""
    return Path(out).suffix.lower() == ".parquet"


def require_place(out: str | os.PathLike[str]) -> None:
    """Refuse a folder to write to where there is something else than an overlay."""
    require_replaceable(Path(out))
    if Path(out).is_dir() and any(Path(out).iterdir()) and not Path(out, part_name(0)).exists():
        raise InputError(f"{out}: is a folder with other things in it; give a new folder or an overlay's")


def write_design(
    spark: SparkSession, folder: str | os.PathLike[str], design: SparkDesign, out: str | os.PathLike[str]
) -> None:
    """Write the links of a design of an ingest folder to a file or a new folder, whole or not at all."""
    ingested = Ingested.open(folder)
    if is_file(out):
        overlay_of(spark, ingested, design).write(out)
        return
    require_place(out)
    with replacing_folder(out) as temporary:
        _write_parts(spark, ingested, design, temporary)
        manifest = {"fingerprint": ingested.fingerprint, "links": len(design.links.source)}
        (temporary / MANIFEST).write_text(json.dumps(manifest) + "\n", encoding="utf-8")


def overlay_of(spark: SparkSession, ingested: Ingested, design: SparkDesign) -> Overlay:
    """The design as an overlay of nodes without subscriptions, but with the fingerprint of those that there are."""
    names = ingested.table(spark, "nodes").select("id", "name").toArrow().sort_by("id")["name"]
    none = np.empty(0, np.int32)
    nodes = Interest.from_ids(tuple(names.to_pylist()), (), none, none)
    vars(nodes)["fingerprint"] = ingested.fingerprint
    links = design.links
    return Overlay(nodes, links.source, links.target, links.contribution, design.provenance)


def _write_parts(spark: SparkSession, ingested: Ingested, design: SparkDesign, folder: Path) -> None:
    from pyspark.sql import functions as sql

    links = design.links
    parts = max(1, -(-len(links.source) // PART_LINKS))
    metadata = overlay_metadata(ingested.fingerprint, design.provenance) | {"parts": str(parts)}
    ids = pa.table(
        {
            "link": np.arange(len(links.source)),
            "source_id": links.source,
            "target_id": links.target,
            "contribution": links.contribution,
        }
    )
    named = spark.createDataFrame(ids)
    for end in ("source", "target"):
        names = ingested.table(spark, "nodes").selectExpr(f"id as {end}_id", f"name as {end}")
        named = named.join(names, f"{end}_id")
    part = (sql.col("link") / sql.lit(PART_LINKS)).cast("int").alias("part")
    dealt = named.select(part, "link", "source", "target", "contribution").repartitionById(parts, "part")
    written = dealt.mapInArrow(_writing(str(folder), metadata), _WRITTEN).toArrow()
    if written.num_rows == 0:
        none = pa.table({"source": pa.array([], pa.string()), "target": pa.array([], pa.string())})
        write_parquet(none.replace_schema_metadata(metadata), folder / part_name(0))


def _writing(
    folder: str, metadata: Mapping[str, str]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does with the links of its parts. One that runs again replaces what it wrote before."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = list(batches)
        if not given:
            return
        table = pa.Table.from_batches(given)
        given.clear()
        dealt = table["part"].to_numpy()
        for part in np.unique(dealt).tolist():
            mine = table.filter(pa.array(dealt == part)).sort_by("link").select(["source", "target", "contribution"])
            with replacing(Path(folder, part_name(part))) as temporary:
                write_parquet(mine.replace_schema_metadata(dict(metadata)), temporary)
            yield pa.record_batch({"part": pa.array([part], pa.int32()), "links": pa.array([len(mine)])})

    return write
