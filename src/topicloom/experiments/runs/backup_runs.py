"""Backups as they are chosen at first, a row for each node: Shadows, figures 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from topicloom.churn import maintainer
from topicloom.churn.mending_maintainer import MendingMaintainer
from topicloom.experiments.runs.churn_runs import first_design, maintenance
from topicloom.model import InputError, Interest


def run_backups(parameters: Mapping[str, Any], interest: Interest | None) -> pa.Table:
    """Design an overlay with `low-oda`, choose everybody's backups once, and count them and whom each stands in for."""
    assert interest is not None
    settings = maintenance(parameters)
    if settings.method != "shadow":
        raise InputError(f"method is {settings.method}, which has no backups; give shadow")
    made = maintainer(first_design(interest, settings), settings)
    assert isinstance(made, MendingMaintainer)
    return pa.table(
        {
            "subscription_size": np.diff(interest.node_start),
            "backup_count": [len(others) for others in made.backups().values()],
            "primary_count": [len(others) for others in made.primaries().values()],
        }
    )
