"""Overlays under churn, a row for each event: Shadows, figures 4 to 8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from topicloom.churn import Maintainer, Settings
from topicloom.churn.rebuild import RebuildMaintainer
from topicloom.churn.state import LivingState, Outcome, living
from topicloom.churn.trace import trace_row
from topicloom.designers import design
from topicloom.model import Interest
from topicloom.model.events import JOIN, Event
from topicloom.workloads import churn_trace, drawn_newcomers

# What newcomers have in common with the nodes that are there.
_SHAPE = ("topics", "popularity", "alpha", "sizes", "min_topics", "max_topics")
_SETTINGS = ("method", "backups", "coverage", "rho", "prune", "seed")


def run_churn(parameters: Mapping[str, Any], interest: Interest | None) -> pa.Table:
    """Design an overlay with `low-oda` and let a maintainer take `rounds` events, `join_share` of them joins.

    Events depend on the workload, their number and the seed, and so are the same whatever maintains the overlay.
    """
    assert interest is not None
    settings = maintenance(parameters)
    overlay = design(interest, "low-oda", k=settings.rho)
    with living(overlay, settings) as state:
        return pa.Table.from_pylist([_row(state, event) for event in _events(parameters, interest)])


def maintenance(parameters: Mapping[str, Any]) -> Settings:
    """How to maintain an overlay, by the parameters that are about it."""
    return Settings(**{name: parameters[name] for name in _SETTINGS if name in parameters})


def _events(parameters: Mapping[str, Any], interest: Interest) -> list[Event]:
    rounds, seed = parameters["rounds"], parameters["seed"]
    shape = {name: parameters[name] for name in _SHAPE if name in parameters}
    newcomers = drawn_newcomers(rounds, seed=seed, **shape)
    return churn_trace(interest, rounds, join_share=parameters["join_share"], newcomers=newcomers, seed=seed)


def _row(state: LivingState, event: Event) -> dict[str, Any]:
    size = len(event.add) if event.kind == JOIN else len(state.maintainer.topics_of(event.node))
    outcome = state.take(event)
    row = trace_row(outcome, state.maintainer)
    return {
        "event": row.event,
        "kind": row.kind,
        "subscription_size": size,
        "seconds": _seconds(outcome, state.maintainer),
        "upkeep_seconds": row.upkeep_seconds,
        "links_added": row.links_added,
        "links_removed": row.links_removed,
        "repair_ratio": row.repair_ratio,
        "shadow": row.shadow,
        "nodes_now": row.nodes,
        "links": row.links,
        "average_degree": row.average_degree,
        "max_degree": row.max_degree,
    }


def _seconds(outcome: Outcome, maintainer: Maintainer) -> float:
    """Seconds until the links were known; of a rebuild those of the design alone, which the papers compare with."""
    return maintainer.build_seconds if isinstance(maintainer, RebuildMaintainer) else outcome.seconds
