"""What every node of a backbone may have: so many links, with hosts that it may be linked with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topicloom.model.constraints import ConstraintArrays
from topicloom.model.interest import Ids


@dataclass(frozen=True)
class NodeLimits:
    """The most links of every node, the number of nodes where there is no limit, and constraints besides."""

    max_degree: int
    constraints: ConstraintArrays | None = None

    def of(self, nodes: Ids) -> npt.NDArray[np.int64]:
        """The most links of some nodes."""
        if self.constraints is None:
            return np.full(len(nodes), self.max_degree, np.int64)
        return np.minimum(self.constraints.room[nodes], self.max_degree).clip(0).astype(np.int64)

    def groups(self, nodes: Ids) -> Ids:
        """The group of some nodes: those of one may be linked with the same others."""
        return np.zeros(len(nodes), np.int32) if self.constraints is None else self.constraints.group[nodes]

    def may_meet(self, hosts: Ids) -> npt.NDArray[np.bool_] | None:
        """Which hosts each group may be linked with; None where all may."""
        return None if self.constraints is None else self.constraints.permitted[:, self.constraints.group[hosts]]

    def core(self, nodes: Ids, kept: int) -> ConstraintArrays | None:
        """The constraints of a core of these nodes, which leaves each of them some room."""
        if self.constraints is None:
            return None
        none = np.empty(0, np.int32)
        room = (self.of(nodes) - kept).clip(0).astype(np.int32)
        return ConstraintArrays(room, self.groups(nodes), self.constraints.permitted, none, none, 0)
