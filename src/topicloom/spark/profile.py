"""Distributions of an ingested folder.

Log-log plots of distributions, as in figure 3 of Partial 2016.

What an ingested interest looks like: sizes, popularity, what nodes share, and what designing would take.

The distributions come from the tables `nodes` and `topics` alone; they are exact and small. Only what pairs of nodes
share goes through the subscriptions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from topicloom.io.tables import write_parquet
from topicloom.io.whole import replacing_folder
from topicloom.spark.interned import Interned
from topicloom.spark.neighbours import CommonTopics, common_topics, require_seed
from topicloom.spark.profile_folder import (
    CCDF,
    COMMON_TOPICS,
    DesignerMemory,
    Distribution,
    ProfileFigures,
    designer_memory,
    write_profile_figures,
)
from topicloom.views.figures import draw_ccdfs, new_figure, styled, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ccdf_figure(distributions: Mapping[str, Distribution], *, size: str, share: str) -> Figure:
    """Draw which share of the things has at least each size; `size` and `share` label the axes."""
    with styled():
        figure, (axes,) = new_figure(6, 4)
        draw_ccdfs(axes, {label: (each.sizes, each.ccdf) for label, each in distributions.items()})
        axes.set(xlabel=size, ylabel=share)
    return figure


MOST_POPULAR = (0.01, 0.1, 0.2)

# What a topic's nodes and a node's topics are called in a social graph.
_SOCIAL = {None: ("", ""), "directed": (" (followees)", " (followers)"), "undirected": (" (friends)", " (friends)")}

# Up to how many pairs of nodes what they share is counted exactly.
MAX_PAIRS = 20_000_000


@dataclass(frozen=True, eq=False)
class Profile:
    """What an interest looks like.

    - `topics_per_node`, `nodes_per_topic`: how many nodes want how many topics, and the reverse.
    - `common_topics`: what pairs of nodes share.
    - `designer_memory`: what each designer would need.
    - `graph`: `directed` or `undirected` where the topics are users too.
    """

    fingerprint: str
    graph: str | None
    topics_per_node: Distribution
    nodes_per_topic: Distribution
    common_topics: CommonTopics
    designer_memory: tuple[DesignerMemory, ...]

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return int(self.topics_per_node.total)

    @property
    def topics(self) -> int:
        """How many topics there are."""
        return int(self.nodes_per_topic.total)

    @property
    def subscriptions(self) -> int:
        """How many (node, topic) pairs there are."""
        return int(self.topics_per_node.sum)

    @property
    def popular_shares(self) -> dict[float, float]:
        """The share of all subscriptions that the most popular topics have, by the share of the topics."""
        return {share: self.nodes_per_topic.share_of_largest(share) for share in MOST_POPULAR}

    @property
    def figures(self) -> ProfileFigures:
        """All numbers but the full distributions."""
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
        """All numbers but the full distributions, ready for JSON."""
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
        return ccdf_figure(lines, size="size", share="share with at least that size (CCDF)")

    def plot_common_topics(self) -> Figure:
        """Draw the CCDF of what pairs of nodes share into a matplotlib figure."""
        return ccdf_figure(
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
            write_profile_figures(folder, self.figures)


def profile(interned: Interned, *, max_pairs: int = MAX_PAIRS, seed: int = 0) -> Profile:
    """Profile an interest: how many topics nodes want, how popular topics are, what pairs of nodes share.

    Args:
        interned: the interest.
        max_pairs: up to how many pairs, summed over the topics, what pairs share is counted exactly; beyond, it is
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
    common = common_topics(interned.subscriptions, interned.nodes, nodes_per_topic, limit=max_pairs, seed=seed)
    return Profile(
        fingerprint=interned.fingerprint,
        graph=interned.graph,
        topics_per_node=topics_per_node,
        nodes_per_topic=nodes_per_topic,
        common_topics=common,
        designer_memory=designer_memory(topics_per_node, nodes_per_topic),
    )
