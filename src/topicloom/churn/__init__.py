"""Overlays under churn: repaired after each event, so that every topic stays connected.

- `maintainer`: the contract of maintainers. `settings`: all of them by name, and their settings.
- `shadow`: shadow sets, and naive repair. `rebuild`: design anew. `tree`: one tree for all topics, for NATS.
- `live_overlay`: nodes, topics and links that change.
- `state`: a maintainer that survives its process.
- `trace`: what events did, one a row. `assumptions`: how far the assumptions of the paper's bounds hold.
- `improve`: the best overlay that differs by few changes. `prune`: links that no topic needs.
"""

from topicloom.churn.improve import Improvement, improve
from topicloom.churn.live_overlay import Link
from topicloom.churn.maintainer import Change, EventRefused, Maintainer
from topicloom.churn.settings import BACKUPS, METHODS, Settings, maintainer
from topicloom.churn.shadow import coverage_factor

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
