"""What a backbone needs to know of the nodes, from tables on Spark.

The driver holds how many topics each node wants, and the topics of the nodes that become hosts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.designers.backbone.fleet_rows import Members, Rows
from topicloom.model.interest import Ids
from topicloom.pipeline.ingesting.ingested import Ingested

if TYPE_CHECKING:
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
