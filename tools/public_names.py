"""Public names of topicloom for scripts that run on version 0.2 and on later trees, wherever a tree keeps them.

Put the tree to use first on the path: PYTHONPATH=TREE/src.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES: dict[str, tuple[str, ...]] = {
    "ALGORITHMS": ("topicloom.content",),
    "BACKUPS": ("topicloom.churn",),
    "ROUTINGS": ("topicloom.content",),
    "Settings": ("topicloom.churn",),
    "assign": ("topicloom.content",),
    "churn_trace": ("topicloom.workloads",),
    "content_network": (
        "topicloom.workloads",
        "topicloom.workloads.content",
        "topicloom.workloads.content",
    ),
    "core_trees": ("topicloom.content",),
    "cost": ("topicloom.content",),
    "drawn_newcomers": ("topicloom.workloads",),
    "improve": ("topicloom.churn",),
    "maintainer": ("topicloom.churn",),
    "measure_prices": ("topicloom.metrics",),
    "measure_traffic": ("topicloom.metrics",),
    "read_network": ("topicloom.content",),
    "route": ("topicloom.brokers", "topicloom.brokers", "topicloom.metrics"),
    "run_content": ("topicloom.content",),
    "run_design": ("topicloom.designers",),
    "soc_diameters": ("topicloom.metrics",),
    "support_curve": ("topicloom.metrics",),
    "topic_measures": ("topicloom.metrics",),
}
# Names that mean different things in different packages.
_NAMES = {"run_content": "run", "run_design": "run"}


def public(name: str) -> Any:
    """Return the value of a public name, from the first place that has it."""
    for place in _PLACES[name]:
        try:
            return getattr(import_module(place), _NAMES.get(name, name))
        except (AttributeError, ModuleNotFoundError):
            continue
    raise ImportError(f"{_NAMES.get(name, name)} is in none of {', '.join(_PLACES[name])}; add its new place here")
