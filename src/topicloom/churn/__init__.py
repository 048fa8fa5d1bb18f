"""Living overlays: mended after each event, so that every topic stays connected.

- `maintainer`: what a maintainer is. `methods`: all of them by name, and their settings.
- `mending_maintainer`: shadow sets, and the naive way. `rebuild`: from scratch.
- `tree_maintainer`: one tree for all topics, for NATS.
- `live_overlay`: nodes, topics and links that change. `pruning`: dropping links that no topic needs any more.
- `connectedness`: whether every topic is in one piece.
- `state`: a maintainer that survives its process. `snapshot` and `journal`: what it keeps on disk.
- `trace`: what events did, one a row. `assumptions`: how far those of the paper's bounds hold.
- `improving`: an overlay brought nearer to a fresh design by few changes.
- `coverage_factor`: how often a set of nodes covers topics.
"""

from topicloom.churn.coverage_factor import coverage_factor
from topicloom.churn.improving import Improvement, improve
from topicloom.churn.live_overlay import Link
from topicloom.churn.maintainer import Change, EventRefused, Maintainer
from topicloom.churn.methods import BACKUPS, METHODS, Settings, maintainer

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
