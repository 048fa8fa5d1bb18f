"""Profile of an interest: sizes, popularity of topics, common topics of nodes, and memory of designers.

Sizes and popularity come from the tables `nodes` and `topics`; they are exact and small. Common topics come from the
subscriptions. There are far more pairs of nodes than subscriptions: a topic of n nodes makes n(n-1)/2. Up to a number
of pairs they are counted exactly, by joining the subscriptions with themselves. Beyond it, some nodes are drawn at
random, their common topics with all others are counted, and the result is scaled up.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from topicloom._version import __version__
from topicloom.io.settings import Amount, Count, read_json
from topicloom.io.tables import write_parquet
from topicloom.io.whole import MANIFEST, replacing_folder
from topicloom.spark.distributions import DesignerMemory, Distribution, SizeFigures, designer_memory
from topicloom.spark.interned import Interned
from topicloom.spark.sample import place, require_seed
from topicloom.views.figures import draw_ccdfs, new_figure, styled, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame

PROFILE = "profile.json"
CCDF, COMMON_TOPICS = "ccdf.svg", "common_topics.svg"
MOST_POPULAR = (0.01, 0.1, 0.2)
# What a topic's nodes and a node's topics are called in a social graph.
_SOCIAL = {None: ("", ""), "directed": (" (followees)", " (followers)"), "undirected": (" (friends)", " (friends)")}
# The most pairs of nodes whose common topics are counted exactly.
MAX_PAIRS = 20_000_000
# Fewer would say little; so many are drawn even if that passes the limit.
_FEWEST_SAMPLED = 30


@dataclass(frozen=True)
class PairFigures:
    """Common topics of pairs of nodes; estimated from `sampled_nodes` unless `exact`."""

    topic_pairs: Count
    pairs: Count
    exact: bool
    sampled_nodes: Count | None
    standard_error: Amount
    seed: int | None
    common_topics: SizeFigures


@dataclass(frozen=True)
class ProfileFigures:
    """Numbers of a profile, without the full distributions; the fields are the keys of its JSON."""

    fingerprint: str
    graph: str | None
    nodes: Count
    topics: Count
    subscriptions: Count
    topics_per_node: SizeFigures
    nodes_per_topic: SizeFigures
    subscriptions_in_most_popular: Mapping[str, Amount]
    common_topics: PairFigures
    designer_memory: tuple[DesignerMemory, ...]


@dataclass(frozen=True)
class ProfileManifest:
    """Manifest of the folder of a profile."""

    kind: Literal["topicloom profile"]
    fingerprint: str
    version: str


def read_profile_figures(folder: Path) -> tuple[ProfileManifest, ProfileFigures]:
    """The manifest and the figures of the folder of a profile."""
    return read_json(folder / MANIFEST, ProfileManifest), read_json(folder / PROFILE, ProfileFigures)


@dataclass(frozen=True)
class CommonTopics:
    """Common topics of pairs of nodes.

    - `incidences`: pairs of nodes summed over the topics, exact: a pair counts once for each topic it shares.
    - `pairs`: number of pairs with a common topic.
    - `distribution`: number of pairs by number of common topics.
    - `sampled_nodes`: number of nodes that the last two were estimated from; None if they are exact.
    - `standard_error`: of `pairs`; 0 if that is exact.
    - `seed`: of the sample; None without a sample.
    """

    incidences: int
    pairs: int
    distribution: Distribution
    sampled_nodes: int | None
    standard_error: float
    seed: int | None

    @property
    def figures(self) -> PairFigures:
        """Numbers without the full distribution."""
        return PairFigures(
            topic_pairs=self.incidences,
            pairs=self.pairs,
            exact=self.sampled_nodes is None,
            sampled_nodes=self.sampled_nodes,
            standard_error=self.standard_error,
            seed=self.seed,
            common_topics=self.distribution.figures,
        )


@dataclass(frozen=True, eq=False)
class Profile:
    """Profile of an interest.

    - `topics_per_node`, `nodes_per_topic`: distributions of the numbers of topics and of subscribers.
    - `common_topics`: common topics of pairs of nodes.
    - `designer_memory`: memory that each designer would need.
    - `graph`: `directed` or `undirected` if the topics are users, too.
    """

    fingerprint: str
    graph: str | None
    topics_per_node: Distribution
    nodes_per_topic: Distribution
    common_topics: CommonTopics
    designer_memory: tuple[DesignerMemory, ...]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.topics_per_node.total)

    @property
    def topics(self) -> int:
        """Number of topics."""
        return int(self.nodes_per_topic.total)

    @property
    def subscriptions(self) -> int:
        """Number of subscriptions."""
        return int(self.topics_per_node.sum)

    @property
    def popular_shares(self) -> dict[float, float]:
        """The share of all subscriptions that the most popular topics have, by the share of the topics."""
        return {share: self.nodes_per_topic.share_of_largest(share) for share in MOST_POPULAR}

    @property
    def figures(self) -> ProfileFigures:
        """Numbers without the full distributions."""
        return ProfileFigures(
            fingerprint=self.fingerprint,
            graph=self.graph,
            nodes=self.nodes,
            topics=self.topics,
            subscriptions=self.subscriptions,
            topics_per_node=self.topics_per_node.figures,
            nodes_per_topic=self.nodes_per_topic.figures,
            subscriptions_in_most_popular={f"{share:g}": part for share, part in self.popular_shares.items()},
            common_topics=self.common_topics.figures,
            designer_memory=self.designer_memory,
        )

    def to_dict(self) -> dict[str, Any]:
        """Numbers without the full distributions, ready for JSON."""
        return asdict(self.figures)

    def tables(self) -> dict[str, pa.Table]:
        """The distributions and the designers' needs as tables, by the name of their file."""
        return {
            "topics_per_node": self.topics_per_node.to_arrow("topics", "nodes"),
            "nodes_per_topic": self.nodes_per_topic.to_arrow("nodes", "topics"),
            "common_topics": self.common_topics.distribution.to_arrow("topics", "pairs"),
            "designer_memory": pa.table(
                {
                    "designer": pa.array([need.designer for need in self.designer_memory], pa.string()),
                    "parameters": pa.array([json.dumps(dict(need.parameters)) for need in self.designer_memory]),
                    "bytes": pa.array([need.bytes for need in self.designer_memory], pa.int64()),
                }
            ),
        }

    def plot(self) -> Figure:
        """Draw the CCDFs of both sizes into one matplotlib figure, as in figure 3 of Partial 2016."""
        of_node, of_topic = _SOCIAL[self.graph]
        lines = {
            f"topics per node{of_node}": self.topics_per_node,
            f"nodes per topic{of_topic}": self.nodes_per_topic,
        }
        return _ccdf_figure(lines, size="size", share="share with at least that size (CCDF)")

    def plot_common_topics(self) -> Figure:
        """Draw the CCDF of what pairs of nodes share into a matplotlib figure."""
        return _ccdf_figure(
            {"pairs": self.common_topics.distribution},
            size="topics in common",
            share="share of pairs with at least as many (CCDF)",
        )

    def write(self, out: str | os.PathLike[str]) -> None:
        """Write a folder: a Parquet file for each of `tables`, `ccdf.svg`, `common_topics.svg`, `profile.json`."""
        with replacing_folder(out) as folder:
            for name, table in self.tables().items():
                write_parquet(table, folder / f"{name}.parquet")
            write_figure(self.plot(), folder / CCDF)
            write_figure(self.plot_common_topics(), folder / COMMON_TOPICS)
            manifest = ProfileManifest("topicloom profile", self.fingerprint, __version__)
            for name, content in ((PROFILE, self.figures), (MANIFEST, manifest)):
                (folder / name).write_text(json.dumps(asdict(content), indent=1) + "\n", encoding="utf-8")


def profile(interned: Interned, *, max_pairs: int = MAX_PAIRS, seed: int = 0) -> Profile:
    """Profile an interest: topics of nodes, popularity of topics, common topics of pairs of nodes.

    Args:
        interned: the interest.
        max_pairs: the most pairs, summed over the topics, for which common topics are counted exactly; beyond, they are
            estimated from a sample of nodes of about that much work.
        seed: the seed of that sample.

    Example:
        >>> from topicloom import Interest
        >>> from topicloom.spark import Interned, profile
        >>> found = profile(Interned.of(spark, Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y")])))
        >>> found.subscriptions, found.common_topics.pairs
        (3, 1)
    """
    require_seed(seed)
    topics_per_node = Distribution.of_column(interned.nodes, "topics")
    nodes_per_topic = Distribution.of_column(interned.topics, "nodes")
    common = _common_topics(interned.subscriptions, interned.nodes, nodes_per_topic, limit=max_pairs, seed=seed)
    return Profile(
        fingerprint=interned.fingerprint,
        graph=interned.graph,
        topics_per_node=topics_per_node,
        nodes_per_topic=nodes_per_topic,
        common_topics=common,
        designer_memory=designer_memory(topics_per_node, nodes_per_topic),
    )


def _common_topics(
    subscriptions: DataFrame, nodes: DataFrame, topic_sizes: Distribution, *, limit: int, seed: int
) -> CommonTopics:
    """Count pairs: exactly if their incidences are within the limit, else from a sample of about that many."""
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


def _ccdf_figure(distributions: Mapping[str, Distribution], *, size: str, share: str) -> Figure:
    """Draw which share of the things has at least each size; `size` and `share` label the axes."""
    with styled():
        figure, (axes,) = new_figure(6, 4)
        draw_ccdfs(axes, {label: (each.sizes, each.ccdf) for label, each in distributions.items()})
        axes.set(xlabel=size, ylabel=share)
    return figure
