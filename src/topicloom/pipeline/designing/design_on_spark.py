"""A backbone of the subscriptions of an ingest folder, the same as on one machine, link by link.

What is where. The driver holds 4 bytes a node, the trunk (at most 60 bytes a subscription of its hosts), and the links:
40 bytes each while they are put in order. Names are no business of the design, only of writing it. The trunk goes to
every executor. A task holds a block of leaves: 262,144 subscriptions and 10 MB.

Blocks are those of one machine, whatever the partitions: a task attaches the blocks that it gets, each by itself, by
the function that one machine calls. So partitions, executors and repeated tasks cannot change a link.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from topicloom.algorithms import Prepared, Watch
from topicloom.designers import Designer
from topicloom.designers.backbone.backbone import core_designer, core_sizes, require_core
from topicloom.designers.backbone.leaves import Hung, all_links, count_blocks, hang_block
from topicloom.designers.backbone.repair import repaired
from topicloom.designers.backbone.trunk import Trunk, by_size, grow_trunk
from topicloom.designers.base import Links
from topicloom.errors import InputError
from topicloom.model.provenance import Provenance
from topicloom.pipeline.analysis.topic_links import measured_on_spark
from topicloom.pipeline.designing.spark_fleet import SparkFleet, rows_in_order
from topicloom.pipeline.ingesting.ingested import Ingested

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import SparkSession

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
    grown = grow_trunk(fleet, core_designer(parameters), cores, parameters.get("max_degree"), Watch())
    blocks = count_blocks(subscriptions - int(fleet.sizes[grown.trunk.hosts].sum(dtype=np.int64)))
    progress("attaching leaves")
    hung = _hang_leaves(spark, fleet, grown.trunk, blocks)
    whole = all_links(grown, hung, nodes, np.zeros(2, np.int64))
    links = whole.links
    if len(whole.unmet):
        progress("repairing topics")
        links = repaired(fleet, links, whole.unmet, grown.trunk.max_degree, np.zeros(2, np.int64))
        # A link may then join more than what it was made for.
        progress("counting contributions")
        links = measured_on_spark(ingested.table(spark, "subscriptions"), links, fleet.sizes)
    provenance = Provenance(prepared.name, MappingProxyType(dict(parameters)), prepared.seed_used)
    return SparkDesign(links, provenance, nodes, fleet.topic_count, subscriptions)


def require_backbone(name: str) -> None:
    """Refuse designers that cannot be spread."""
    if name != "backbone":
        raise InputError(f"{name} runs on one machine only; on Spark there is backbone")


def _hang_leaves(spark: SparkSession, fleet: SparkFleet, trunk: Trunk, blocks: int) -> Hung:
    from pyspark.sql import functions as sql

    block = sql.pmod("node_id", sql.lit(blocks)).cast("int").alias("block")
    dealt = fleet.leaves(trunk.hosts).select("node_id", "topic_id", block).repartitionById(blocks, "block")
    shared = spark.sparkContext.broadcast(trunk)
    try:
        found = dealt.mapInArrow(_hanging(shared, blocks), _ROWS).toArrow()
    finally:
        shared.destroy()
    # Rows of a block come in their order; those of other blocks may stand before or after them.
    order = np.argsort(found["block"].to_numpy(), kind="stable")
    unmet = found["unmet"].to_numpy(zero_copy_only=False)[order]
    node, other, gain = (found[column].to_numpy()[order].astype(np.int32) for column in ("node", "other", "gain"))
    return Hung(node[~unmet], other[~unmet], gain[~unmet], node[unmet], other[unmet])


def _hanging(shared: Broadcast[Trunk], blocks: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does with the leaves of its blocks."""

    def hang(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = list(batches)
        if not parts:
            return
        table = pa.Table.from_batches(parts)
        nodes, topics = (table[column].to_numpy().astype(np.int32) for column in ("node_id", "topic_id"))
        dealt = table["block"].to_numpy()
        for block in np.unique(dealt).tolist():
            mine = dealt == block
            yield _rows_of(block, _hang_one(shared.value, nodes[mine], topics[mine], block, blocks))

    return hang


def _hang_one(trunk: Trunk, nodes: Any, topics: Any, block: int, blocks: int) -> Hung:
    leaves, places, sizes = np.unique(nodes, return_inverse=True, return_counts=True)
    order = by_size(sizes)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    rows = rows_in_order(leaves[order], rank[places], topics)
    return hang_block(trunk, rows, block, blocks, np.zeros(2, np.int64))


def _rows_of(block: int, hung: Hung) -> pa.RecordBatch:
    links, unmet = len(hung.leaf), len(hung.unmet_leaf)
    columns: Mapping[str, Any] = {
        "block": np.full(links + unmet, block, np.int32),
        "unmet": np.arange(links + unmet) >= links,
        "node": np.concatenate([hung.leaf, hung.unmet_leaf]),
        "other": np.concatenate([hung.host, hung.unmet_topic]),
        "gain": np.concatenate([hung.gain, np.zeros(unmet, np.int32)]),
    }
    return pa.record_batch(columns)
