"""Nodes that share topics, counted on Spark.

A random order of names that everybody agrees on: whatever the partitions, the ids or the engine.

Who is next to whom in an ingested interest, and who is a node of a part of it: what sampling asks of a graph.

In a social graph every user is a topic, and two users are neighbours if one wants the other, whichever way: a sample
spreads along relations, not along messages. Of visited users those relations are kept that have both ends among
them, so a user is a node of the sample only once somebody that it wants is visited too.

In any other interest, two nodes are neighbours if they want a common topic. A visited node keeps all its topics.

Users are numbers in a column `user`, and have their `place` in the random order of a seed. Visited users are few
beside the relations and come marked for broadcasting, so the relations are never shuffled.

How many pairs of nodes share a topic, and how many topics they share.

Pairs are far more than subscriptions: a topic of n nodes makes n(n-1)/2 of them. Up to a number of these they are
counted exactly, by joining the subscriptions with themselves. Beyond it, some nodes are drawn at random, all that
these share with others is counted, and the result is scaled up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from topicloom.errors import InputError
from topicloom.spark.profile_folder import Distribution, PairFigures

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from topicloom.spark.ingest import Ingested


def place(name: Column, seed: int) -> Column:
    """Where a name stands in the random order of a seed: 60 bits of a hash of both, as a long."""
    from pyspark.sql import functions as sql

    digest = sql.md5(sql.concat(sql.lit(f"{seed} "), name))
    return sql.conv(sql.substring(digest, 1, 15), 16, 10).cast("long")


def require_seed(seed: int) -> None:
    """Refuse what is not a seed."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, not {seed!r}", "seed")


class Neighbours(Protocol):
    """What a sampler asks; `users` has all users, their places, and `is_node` for those that want anything."""

    users: DataFrame

    def next_to(self, visited: DataFrame) -> DataFrame:
        """Users that are not visited and neighbours of some that are, each once, with their places."""

    def nodes_at(self, visited: DataFrame) -> DataFrame:
        """Of the visited, with a column `at` that says when: those that are nodes of the sample, and since when."""

    def adding_one(self, visited: DataFrame) -> DataFrame:
        """Users that would each add exactly one node, also if others of them are visited too, with their places."""

    def induced(self, subscriptions: DataFrame, visited: DataFrame) -> DataFrame:
        """The subscriptions that the sample of these users has."""

    def forget(self) -> None:
        """Free what Spark keeps for this."""


class SocialGraph:
    """Users that want users.

    A user that is a node has that node's id; one that is only wanted has -1 less its topic's id.
    """

    def __init__(self, spark: SparkSession, ingested: Ingested, seed: int) -> None:
        from pyspark.sql import functions as sql

        nodes = ingested.table(spark, "nodes").selectExpr("bigint(id) AS node_id", "name")
        topics = ingested.table(spark, "topics").selectExpr("bigint(id) AS topic_id", "name")
        users = nodes.join(topics, "name", "full_outer").select(
            sql.expr("coalesce(node_id, -1 - topic_id) AS user"),
            sql.expr("node_id IS NOT NULL AS is_node"),
            "topic_id",
            place(sql.col("name"), seed).alias("place"),
        )
        self.users = users.cache()
        self._relations = (
            ingested.table(spark, "subscriptions")
            .selectExpr("bigint(node_id) AS user", "bigint(topic_id) AS topic_id")
            .join(self.users.select("user", "place"), "user")
            .join(self.users.selectExpr("topic_id", "user AS wanted", "place AS wanted_place"), "topic_id")
            .drop("topic_id")
            .cache()
        )

    def next_to(self, visited: DataFrame) -> DataFrame:
        """Whom they want, and who wants them."""
        wanted = self._relations.join(visited, "user", "left_semi").selectExpr(
            "wanted AS user", "wanted_place AS place"
        )
        return wanted.union(self._wanting(visited)).join(visited, "user", "left_anti").distinct()

    def nodes_at(self, visited: DataFrame) -> DataFrame:
        """Since both the user and the first user that it wants were visited."""
        from pyspark.sql import functions as sql

        wanted = visited.selectExpr("user AS wanted", "at AS wanted_at")
        both = self._relations.join(visited, "user").join(wanted, "wanted")
        return both.groupBy("user").agg(sql.greatest(sql.first("at"), sql.min("wanted_at")).alias("at"))

    def adding_one(self, visited: DataFrame) -> DataFrame:
        """Those that want a visited user, and that no visited user waits for to become a node."""
        nodes = self.nodes_at(visited.selectExpr("user", "0 AS at"))
        waiting = visited.join(nodes, "user", "left_anti")
        awaited = self._relations.join(waiting, "user", "left_semi").selectExpr("wanted AS user")
        fresh = self._wanting(visited).join(visited, "user", "left_anti")
        return fresh.join(awaited, "user", "left_anti").distinct()

    def induced(self, subscriptions: DataFrame, visited: DataFrame) -> DataFrame:
        """Those whose node and topic are both visited."""
        topics = self.users.join(visited, "user", "left_semi").where("topic_id IS NOT NULL").select("topic_id")
        nodes = visited.selectExpr("user AS node_id")
        return subscriptions.join(nodes, "node_id", "left_semi").join(topics, "topic_id", "left_semi")

    def forget(self) -> None:
        """Free what Spark keeps for this."""
        self._relations.unpersist()
        self.users.unpersist()

    def _wanting(self, visited: DataFrame) -> DataFrame:
        return self._relations.join(visited.selectExpr("user AS wanted"), "wanted", "left_semi").select("user", "place")


class SharedTopics:
    """Nodes that want common topics; users are nodes."""

    def __init__(self, spark: SparkSession, ingested: Ingested, seed: int) -> None:
        from pyspark.sql import functions as sql

        nodes = ingested.table(spark, "nodes")
        self.users = nodes.select(
            sql.expr("bigint(id) AS user"), sql.expr("true AS is_node"), place(sql.col("name"), seed).alias("place")
        ).cache()
        wants = ingested.table(spark, "subscriptions").selectExpr("bigint(node_id) AS user", "topic_id")
        self._wants = wants.join(self.users.select("user", "place"), "user").cache()

    def next_to(self, visited: DataFrame) -> DataFrame:
        """All that want a topic that one of them wants."""
        topics = self._wants.join(visited, "user", "left_semi").select("topic_id").distinct()
        fresh = self._wants.join(visited, "user", "left_anti")
        return fresh.join(topics, "topic_id", "left_semi").select("user", "place").distinct()

    def nodes_at(self, visited: DataFrame) -> DataFrame:
        """All, since they were visited."""
        return visited.select("user", "at")

    def adding_one(self, visited: DataFrame) -> DataFrame:
        """All others."""
        return self.users.select("user", "place").join(visited, "user", "left_anti")

    def induced(self, subscriptions: DataFrame, visited: DataFrame) -> DataFrame:
        """All subscriptions of the visited."""
        return subscriptions.join(visited.selectExpr("user AS node_id"), "node_id", "left_semi")

    def forget(self) -> None:
        """Free what Spark keeps for this."""
        self._wants.unpersist()
        self.users.unpersist()


# Fewer would say little; their partners are counted even where that passes the limit.
_FEWEST_SAMPLED = 30


@dataclass(frozen=True)
class CommonTopics:
    """What pairs of nodes share.

    - `incidences`: pairs of nodes summed over the topics, exact: a pair counts once for each topic it shares.
    - `pairs`: how many pairs share a topic at all.
    - `distribution`: how many pairs share how many topics.
    - `sampled_nodes`: how many nodes the last two were estimated from; None where they are exact.
    - `standard_error`: of `pairs`; 0 where that is exact.
    - `seed`: of the sample; None where there was none.
    """

    incidences: int
    pairs: int
    distribution: Distribution
    sampled_nodes: int | None
    standard_error: float
    seed: int | None

    @property
    def figures(self) -> PairFigures:
        """All numbers but the full distribution."""
        return PairFigures(
            topic_pairs=self.incidences,
            pairs=self.pairs,
            exact=self.sampled_nodes is None,
            sampled_nodes=self.sampled_nodes,
            standard_error=self.standard_error,
            seed=self.seed,
            common_topics=self.distribution.figures,
        )


def common_topics(
    subscriptions: DataFrame, nodes: DataFrame, topic_sizes: Distribution, *, limit: int, seed: int
) -> CommonTopics:
    """Count pairs, exactly where their incidences are not more than the limit, else from a sample of that order."""
    incidences = sum(
        size * (size - 1) // 2 * count
        for size, count in zip(topic_sizes.sizes.tolist(), topic_sizes.counts.tolist(), strict=True)
    )
    if incidences <= limit:
        distribution = _counted(subscriptions)
        return CommonTopics(incidences, int(distribution.total), distribution, None, 0.0, None)
    return _estimated(subscriptions, nodes, incidences, limit, seed)


def _counted(subscriptions: DataFrame) -> Distribution:
    from pyspark.sql import functions as sql

    left = subscriptions.select("topic_id", sql.col("node_id").alias("u"))
    right = subscriptions.select("topic_id", sql.col("node_id").alias("v"))
    common = left.join(right, "topic_id").where("u < v").groupBy("u", "v").count()
    return Distribution.of_column(common.withColumnRenamed("count", "common"), "common")


def _estimated(subscriptions: DataFrame, nodes: DataFrame, incidences: int, limit: int, seed: int) -> CommonTopics:
    from pyspark.sql import functions as sql

    node_count = nodes.count()
    wanted = limit * node_count // (2 * incidences)
    sampled = min(node_count, max(wanted, _FEWEST_SAMPLED))
    chosen = nodes.orderBy(place(sql.col("name"), seed), "name").limit(sampled).select(sql.col("id").alias("node_id"))
    left = subscriptions.join(chosen, "node_id", "left_semi").select("topic_id", sql.col("node_id").alias("u"))
    right = subscriptions.select("topic_id", sql.col("node_id").alias("v"))
    common = left.join(right, "topic_id").where("u <> v").groupBy("u", "v").count()
    counted = common.groupBy("u", sql.col("count").alias("common")).count().toArrow()
    by_node, topics, partners = (column.to_numpy() for column in counted.columns)
    # Each pair can be drawn by either of its ends.
    scale = node_count / sampled / 2
    sizes, row = np.unique(topics, return_inverse=True)
    distribution = Distribution(sizes.astype(np.int64), scale * np.bincount(row, partners, minlength=len(sizes)))
    drawn = np.zeros(sampled)
    per_node = np.bincount(np.unique(by_node, return_inverse=True)[1], partners)
    drawn[: len(per_node)] = per_node
    unseen = 1 - sampled / node_count
    error = float(node_count / 2 * np.sqrt(drawn.var(ddof=1) * unseen / sampled)) if sampled > 1 else 0.0
    return CommonTopics(incidences, round(distribution.total), distribution, sampled, error, seed)
