"""Living overlays: mended after each event, so that every topic stays connected.

- `maintainer`: what a maintainer is. `methods`: all of them by name, and their settings.
- `mending_maintainer`: shadow sets, and the naive way. `rebuild`: from scratch.
- `tree_maintainer`: one tree for all topics, for NATS.
- `live_overlay`: nodes, topics and links that change.
- `connectedness`: whether every topic is in one piece.
- `state`: a maintainer that survives its process. `snapshot` and `journal`: what it keeps on disk.
- `trace`: what events did, one a row. `assumptions`: how far those of the paper's bounds hold.
- `tidying`: links that go, and links that take the place of others.
- `coverage_factor`: how often a set of nodes covers topics.
"""

from topicloom.churn.coverage_factor import coverage_factor
from topicloom.churn.live_overlay import Link
from topicloom.churn.maintainer import Change, EventRefused, Maintainer
from topicloom.churn.methods import BACKUPS, METHODS, Settings, maintainer
from topicloom.churn.tidying.improving import Improvement, improve

__all__ = [
    "BACKUPS",
    "METHODS",
    "Change",
    "EventRefused",
    "Improvement",
    "Link",
    "Maintainer",
    "Settings",
    "coverage_factor",
    "improve",
    "maintainer",
]
