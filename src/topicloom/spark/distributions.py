"""Distributions of sizes, small enough to keep, and what each designer would need in memory for such sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.designers import DESIGNERS
from topicloom.designers.greedy import max_possible_links
from topicloom.io.settings import Amount, Count
from topicloom.model.interest import Interest
from topicloom.registry import Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class SizeFigures:
    """Extremes, mean and quantiles of sizes; quantiles by their shares, as `0.5`."""

    min: Count
    mean: Amount
    max: Count
    quantiles: Mapping[str, Count]


@dataclass(frozen=True, eq=False)
class Distribution:
    """Number of things of each size.

    `sizes` rise. `counts` are whole numbers unless they are estimates. There are few different sizes: those of a
    million things that add up to ten million are at most 4,472.
    """

    sizes: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64 | np.floating]

    @classmethod
    def of_column(cls, table: DataFrame, column: str) -> Distribution:
        """Of the values in a column, counted on Spark."""
        return cls.from_arrow(table.groupBy(column).count().toArrow())

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Distribution:
        """From a table of sizes and their counts, in any order."""
        sizes, counts = (column.to_numpy() for column in table.columns)
        order = np.argsort(sizes)
        return cls(sizes[order].astype(np.int64), counts[order])

    @property
    def total(self) -> int | float:
        """Number of things."""
        count: int | float = self.counts.sum().item()
        return count

    @property
    def sum(self) -> int | float:
        """Sum of the sizes of all things."""
        added: int | float = (self.sizes * self.counts).sum().item()
        return added

    @property
    def mean(self) -> float:
        """The mean size; 0 without things."""
        return self.sum / self.total if len(self.sizes) else 0.0

    @property
    def min(self) -> int:
        """The smallest size; 0 without things."""
        return int(self.sizes.min(initial=self.max))

    @property
    def max(self) -> int:
        """The largest size; 0 without things."""
        return int(self.sizes.max(initial=0))

    @property
    def ccdf(self) -> npt.NDArray[np.float64]:
        """Share of things of at least each size: 1 at the smallest, never 0."""
        at_least = np.cumsum(self.counts[::-1], dtype=np.float64)[::-1]
        return at_least / max(1, self.total)

    def quantile(self, share: float) -> int:
        """The least size that this share of things does not pass; 0 without things."""
        if not len(self.sizes):
            return 0
        wanted = Fraction(str(share)) * Fraction(self.total)
        reached = [Fraction(count) >= wanted for count in np.cumsum(self.counts).tolist()]
        return int(self.sizes[reached.index(True) if True in reached else -1])

    def share_of_largest(self, share: float) -> float:
        """Share of the sum that the largest things have; `share` is their share of all things, rounded up."""
        left = -(-Fraction(str(share)) * Fraction(self.total) // 1)
        if not self.sum:
            return 0.0
        taken = 0
        for size, count in zip(self.sizes[::-1].tolist(), self.counts[::-1].tolist(), strict=True):
            taken += size * min(count, left)
            left = max(left - count, 0)
        return float(taken / self.sum)

    def repeated(self) -> npt.NDArray[np.int64]:
        """The size of each thing, rising."""
        return np.repeat(self.sizes, self.counts.astype(np.int64))

    def to_arrow(self, size: str, count: str) -> pa.Table:
        """A table with a row for each size; the arguments name the first two columns."""
        return pa.table({size: self.sizes, count: self.counts, "ccdf": self.ccdf})

    @property
    def figures(self) -> SizeFigures:
        """Its extremes, mean and quantiles."""
        quantiles = {f"{share:g}": self.quantile(share) for share in QUANTILES}
        return SizeFigures(self.min, self.mean, self.max, quantiles)


@dataclass(frozen=True)
class DesignerMemory:
    """The most bytes that a designer would take beside the interest, with these parameters."""

    designer: str
    parameters: Mapping[str, Value]
    bytes: Count


@dataclass(frozen=True)
class _Shape:
    """A stand-in for an interest of these sizes, with what designers ask to foretell their memory."""

    node_sizes: Distribution
    topic_sizes: Distribution

    @property
    def node_count(self) -> int:
        return int(self.node_sizes.total)

    @property
    def topic_count(self) -> int:
        return int(self.topic_sizes.total)

    @property
    def subscription_count(self) -> int:
        return int(self.node_sizes.sum)

    @cached_property
    def node_start(self) -> npt.NDArray[np.int64]:
        return np.append(0, np.cumsum(self.node_sizes.repeated()))

    @cached_property
    def topic_start(self) -> npt.NDArray[np.int64]:
        return np.append(0, np.cumsum(self.topic_sizes.repeated()))


def designer_memory(node_sizes: Distribution, topic_sizes: Distribution) -> tuple[DesignerMemory, ...]:
    """Memory that each designer would need with its default parameters.

    A designer that takes a budget gets as many links as could merge components, or as many for each node on average.
    """
    shape = cast(Interest, _Shape(node_sizes, topic_sizes))
    links = max(1, max_possible_links(shape))
    budgets = {"max_edges": links, "max_degree": -(-2 * links // max(1, shape.node_count))}
    needs = []
    for designer in DESIGNERS.values():
        parameters = designer.checked({designer.budget: budgets[designer.budget]} if designer.budget else {})
        needs.append(DesignerMemory(designer.name, parameters, designer.memory(shape, parameters)))
    return tuple(needs)
