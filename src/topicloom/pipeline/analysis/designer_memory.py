"""What each designer would need in memory, from the sizes of an interest alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt

from topicloom.algorithms import Value
from topicloom.designers import DESIGNERS
from topicloom.designers.greedy.merging import most_links
from topicloom.files.json_files import Count
from topicloom.model.interest import Interest
from topicloom.pipeline.analysis.distribution import Distribution


@dataclass(frozen=True)
class DesignerMemory:
    """The most bytes that a designer would take beside the interest, with these parameters."""

    designer: str
    parameters: Mapping[str, Value]
    bytes: Count


@dataclass(frozen=True)
class _Shape:
    """Stands for an interest of these sizes; has all that foretelling memory asks of one."""

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
    """What every designer would need, with its default parameters.

    One that takes a budget gets as many links as could ever merge anything, or that many per node on average.
    """
    shape = cast(Interest, _Shape(node_sizes, topic_sizes))
    links = max(1, most_links(shape))
    budgets = {"max_edges": links, "max_degree": -(-2 * links // max(1, shape.node_count))}
    needs = []
    for designer in DESIGNERS.values():
        parameters = designer.checked({designer.budget: budgets[designer.budget]} if designer.budget else {})
        needs.append(DesignerMemory(designer.name, parameters, designer.memory(shape, parameters)))
    return tuple(needs)
