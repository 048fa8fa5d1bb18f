"""The backbone designer on Spark: the same links as on one machine.

Memory. The driver holds 4 bytes a node, the hosts (at most 60 bytes a subscription), and the links: 40 bytes each while
they are put in order. The hosts go to every task, which holds a block of leaves: 262,144 subscriptions and 10 MB. Names
are read only if the links are asked for as a data frame.

Blocks are those of one machine, whatever the partitions: a task attaches the blocks that it gets, each by itself, by
the function that one machine calls. So partitions, executors and repeated tasks cannot change a link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.designers import DESIGNERS, Designer
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
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay, overlay_metadata
from topicloom.model.provenance import Provenance
from topicloom.registry import Prepared, Watch
from topicloom.spark.frames import frame_of
from topicloom.spark.interned import Interned
from topicloom.spark.links import LinkIds, node_sizes, require_plain, topic_sizes, with_contributions, write_links
from topicloom.spark.shared import Shared, shared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ATTACHED = "block int, unmet boolean, node int, other int, gain int"

Progress = Callable[[str], None]


def design(interned: Interned, designer: str = "backbone", *, seed: int = 0, **parameters: Any) -> DataFrame:
    """Choose the links that connect every topic.

    Args:
        interned: the subscriptions.
        designer: `backbone`, the only designer that needs no single machine for all subscriptions.
        seed: the seed of its random numbers.
        parameters: those of the designer.

    Returns:
        A data frame with `source`, `target` and `contribution`, in the order in which links were added.

    Example:
        >>> from topicloom import Interest
        >>> from topicloom.spark import Interned, design
        >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
        >>> [tuple(row) for row in design(Interned.of(spark, interest), "backbone").collect()]
        [('a', 'b', 1), ('b', 'c', 1)]
    """
    return design_links(interned, DESIGNERS.prepare(designer, seed, parameters)).frame


@dataclass(frozen=True)
class SparkDesign:
    """Links of a design, their provenance, and the subscriptions that they connect."""

    links: Links
    provenance: Provenance
    interned: Interned

    @property
    def merged(self) -> int:
        """Number of components that its links merge."""
        return int(self.links.contribution.sum(dtype=np.int64))

    @property
    def support(self) -> float:
        """The share of possible merges that its links do."""
        totals = self.interned.totals
        possible = totals.subscriptions - totals.topics
        return self.merged / possible if possible else 1.0

    @property
    def max_degree(self) -> int:
        """The highest number of links of a node."""
        ends = np.concatenate([self.links.source, self.links.target])
        return int(np.bincount(ends, minlength=1).max())

    @cached_property
    def frame(self) -> DataFrame:
        """The links by name, in their order: `source`, `target`, `contribution`."""
        links = self.links
        ids = {"source_id": links.source, "target_id": links.target, "contribution": links.contribution}
        named = frame_of(self.interned.spark, pa.table({"link": np.arange(len(links.source)), **ids}))
        for end in ("source", "target"):
            names = self.interned.nodes.selectExpr(f"id as {end}_id", f"name as {end}")
            named = named.join(names, f"{end}_id")
        return named.orderBy("link").select("source", "target", "contribution")

    def write(self, place: str, *, overwrite: bool = False) -> None:
        """Write the links to a place; `Overlay.read` reads a local folder."""
        metadata = overlay_metadata(self.interned.fingerprint, self.provenance)
        write_links(self.frame, place, len(self.links.source), metadata, overwrite=overwrite)

    @property
    def overlay(self) -> Overlay:
        """The links over nodes without their subscriptions, but with the fingerprint; the driver holds all names."""
        names = self.interned.nodes.select("id", "name").toArrow().sort_by("id")["name"]
        none = np.empty(0, np.int32)
        nodes = Interest.from_ids(tuple(names.to_pylist()), (), none, none)
        vars(nodes)["fingerprint"] = self.interned.fingerprint
        return Overlay(nodes, self.links.source, self.links.target, self.links.contribution, self.provenance)


def require_backbone(name: str) -> None:
    """Refuse designers that need all subscriptions on one machine."""
    if name != "backbone":
        raise InputError(f"{name} runs on one machine only; on Spark there is backbone")


def design_links(interned: Interned, prepared: Prepared[Designer], progress: Progress = lambda _: None) -> SparkDesign:
    """Choose links; `prepared` is `backbone` with its parameters, `progress` is called with what is being done."""
    require_backbone(prepared.name)
    require_plain(interned)
    parameters: Mapping[str, Any] = prepared.parameters
    progress("choosing and linking hosts")
    fleet = _SparkFleet(interned)
    nodes, subscriptions = len(fleet.sizes), int(fleet.sizes.sum(dtype=np.int64))
    require_core(nodes, parameters)
    cores = core_sizes(nodes, parameters)
    linked = link_hosts(fleet, core_designer(parameters), cores, parameters.get("max_degree"), Watch())
    blocks = count_blocks(subscriptions - int(fleet.sizes[linked.hosts.nodes].sum(dtype=np.int64)))
    progress("attaching leaves")
    attached = _attach_leaves(fleet, linked.hosts, blocks)
    found = backbone_links(linked, attached, nodes, np.zeros(2, np.int64))
    links = found.links
    if len(found.uncovered):
        progress("repairing topics")
        links = repaired(fleet, links, found.uncovered, linked.hosts.max_degree, np.zeros(2, np.int64))
        # A link may then join more than what it was made for.
        progress("counting contributions")
        links = with_contributions(interned, LinkIds(links.source, links.target), fleet.sizes)
    provenance = Provenance(prepared.name, MappingProxyType(dict(parameters)), prepared.seed_used)
    return SparkDesign(links, provenance, interned)


class _SparkFleet:
    """Nodes and topics in data frames, as the backbone designer asks for them."""

    def __init__(self, interned: Interned) -> None:
        self._spark = interned.spark
        self.sizes: Ids = node_sizes(interned)
        self.subscribers: npt.NDArray[np.int64] = topic_sizes(interned)
        self.topic_count = len(self.subscribers)
        self._nodes = interned.nodes.selectExpr("id as node_id", "topics as size")
        self._subscriptions = interned.subscriptions.select("node_id", "topic_id")

    def largest(self, counts: npt.NDArray[np.int64]) -> Ids:
        """For every topic the nodes with most topics among those that want it, of equals the lowest.

        As many as `counts` says for the topic; a node is named once, in no special order.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        wanted = np.flatnonzero(counts)
        table = pa.table({"topic_id": wanted.astype(np.int32), "count": counts[wanted]})
        listed = self._subscriptions.join(sql.broadcast(frame_of(self._spark, table)), "topic_id")
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
        return _rows_in_order(nodes, place[found["node_id"].to_numpy()], found["topic_id"].to_numpy())

    def members(self, topics: Ids) -> Members:
        """The nodes that want some topics, in the order given."""
        listed = self._listed(topics).withColumnRenamed("node_id", "topic_id")
        found = self._subscriptions.join(listed, "topic_id", "left_semi").toArrow()
        place = np.zeros(len(self.subscribers), np.int64)
        place[topics] = np.arange(len(topics))
        by_topic = _rows_in_order(topics, place[found["topic_id"].to_numpy()], found["node_id"].to_numpy())
        return Members(topics, by_topic.start, by_topic.topics)

    def leaves(self, hosts: Ids) -> DataFrame:
        """The subscriptions of all nodes that are no hosts: `node_id` and `topic_id`."""
        return self._subscriptions.join(self._listed(hosts), "node_id", "left_anti")

    def _listed(self, nodes: Ids) -> DataFrame:
        from pyspark.sql import functions as sql

        return sql.broadcast(frame_of(self._spark, pa.table({"node_id": nodes})))


def _rows_in_order(nodes: Ids, places: npt.NDArray[np.integer], topics: npt.NDArray[np.integer]) -> Rows:
    """Subscriptions as rows, by the places of their nodes among `nodes`."""
    start = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum(np.bincount(places, minlength=len(nodes)), out=start[1:])
    return Rows(nodes, start, topics[np.lexsort((topics, places))].astype(np.int32))


def _attach_leaves(fleet: _SparkFleet, hosts: Hosts, blocks: int) -> AttachedLeaves:
    from pyspark.sql import functions as sql

    block = sql.pmod("node_id", sql.lit(blocks)).cast("int").alias("block")
    leaves = fleet.leaves(hosts.nodes)
    dealt = leaves.select("node_id", "topic_id", block).repartitionById(blocks, "block")
    with shared(leaves.sparkSession, hosts) as sent:
        found = dealt.mapInArrow(_attaching(sent, blocks), _ATTACHED).toArrow()
    # Rows of a block come in their order; those of other blocks may stand before or after them.
    order = np.argsort(found["block"].to_numpy(), kind="stable")
    unmet = found["unmet"].to_numpy(zero_copy_only=False)[order]
    node, other, gain = (found[column].to_numpy()[order].astype(np.int32) for column in ("node", "other", "gain"))
    return AttachedLeaves(node[~unmet], other[~unmet], gain[~unmet], node[unmet], other[unmet])


def _attaching(hosts: Shared[Hosts], blocks: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Function of a task that attaches the leaves of its blocks."""

    def attach(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = list(batches)
        if not parts:
            return
        table = pa.Table.from_batches(parts)
        nodes, topics = (table[column].to_numpy().astype(np.int32) for column in ("node_id", "topic_id"))
        dealt = table["block"].to_numpy()
        for block in np.unique(dealt).tolist():
            mine = dealt == block
            yield _as_rows(block, _attach_one(hosts.value, nodes[mine], topics[mine], block, blocks))

    return attach


def _attach_one(hosts: Hosts, nodes: Any, topics: Any, block: int, blocks: int) -> AttachedLeaves:
    leaves, places, sizes = np.unique(nodes, return_inverse=True, return_counts=True)
    order = by_size(sizes)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    rows = _rows_in_order(leaves[order], rank[places], topics)
    return attach_block(hosts, rows, block, blocks, np.zeros(2, np.int64))


def _as_rows(block: int, attached: AttachedLeaves) -> pa.RecordBatch:
    links, unmet = len(attached.leaf), len(attached.uncovered_leaf)
    columns: Mapping[str, Any] = {
        "block": np.full(links + unmet, block, np.int32),
        "unmet": np.arange(links + unmet) >= links,
        "node": np.concatenate([attached.leaf, attached.uncovered_leaf]),
        "other": np.concatenate([attached.host, attached.uncovered_topic]),
        "gain": np.concatenate([attached.gain, np.zeros(unmet, np.int32)]),
    }
    return pa.record_batch(columns)
