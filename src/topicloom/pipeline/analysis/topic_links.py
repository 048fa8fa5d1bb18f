"""The links of each topic on Spark, found by joining: no process ever holds all links and all subscriptions.

A link serves the topics that both its ends want. So links are joined with the topics of one end, best the one with
fewer topics, and what is left of that with the topics of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from topicloom.designers.base import Links
from topicloom.kernels.graphs.components import merge_links
from topicloom.model.interest import Ids

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
