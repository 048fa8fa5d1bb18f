"""How many topics nodes have and how many nodes topics have, as complementary cumulative distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from topicloom.model import Interest
from topicloom.model.interest import Starts
from topicloom.pipeline.analysis.distribution import Distribution


def run_ccdf(parameters: Mapping[str, Any], interest: Interest | None) -> pa.Table:
    """A row for each size that occurs: the share of nodes, or of topics, that have at least this size.

    In a social graph a topic is a user, so the topics of a node are its followees (`of` is "followees") and the
    nodes of a topic its followers ("followers").
    """
    assert interest is not None
    parts = [("followees", interest.node_start), ("followers", interest.topic_start)]
    return pa.concat_tables(_rows(of, np.diff(starts)) for of, starts in parts)


def _rows(of: str, sizes: Starts) -> pa.Table:
    found = Distribution(*np.unique(sizes, return_counts=True))
    return pa.table({"of": pa.array([of] * len(found.sizes)), "size": found.sizes, "share": found.ccdf})
