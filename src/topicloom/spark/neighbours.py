"""How many pairs of nodes share a topic, and how many topics they share; and a random order of names.

Pairs are far more than subscriptions: a topic of n nodes makes n(n-1)/2 of them. Up to a number of these they are
counted exactly, by joining the subscriptions with themselves. Beyond it, some nodes are drawn at random, all that
these share with others is counted, and the result is scaled up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topicloom.errors import InputError
from topicloom.spark.profile_folder import Distribution, PairFigures

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def place(name: Column, seed: int) -> Column:
    """Where a name stands in the random order of a seed: 60 bits of a hash of both, as a long."""
    from pyspark.sql import functions as sql

    digest = sql.md5(sql.concat(sql.lit(f"{seed} "), name))
    return sql.conv(sql.substring(digest, 1, 15), 16, 10).cast("long")


def require_seed(seed: int) -> None:
    """Refuse what is not a seed."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, not {seed!r}", "seed")


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
