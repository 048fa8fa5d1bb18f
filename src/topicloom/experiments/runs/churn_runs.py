"""Overlays under churn, a row for each event: Shadows, figures 4 to 8.

Times are those of the processor. An event takes a fraction of a millisecond and a design a hundred times that: on a
busy machine the design is interrupted and the event is not, and ratios of seconds by the clock were off by seven.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from topicloom.churn import Maintainer, Settings, maintainer
from topicloom.churn.rebuild import RebuildMaintainer
from topicloom.churn.state import Outcome
from topicloom.churn.trace import trace_row
from topicloom.designers import design
from topicloom.model import Interest, Overlay
from topicloom.model.events import JOIN, Event
from topicloom.workloads import churn_trace, drawn_newcomers

# What newcomers have in common with the nodes that are there.
_SHAPE = ("topics", "popularity", "alpha", "sizes", "min_topics", "max_topics", "size_exponent")
_SETTINGS = ("method", "backups", "coverage", "rule", "rho", "prune", "seed")


def run_churn(parameters: Mapping[str, Any], interest: Interest | None) -> pa.Table:
    """Design an overlay with `low-oda` and let a maintainer take `rounds` events, `join_share` of them joins.

    Events depend on the workload, their number and the seed, and so are the same whatever maintains the overlay.
    """
    assert interest is not None
    settings = maintenance(parameters)
    maintained = maintainer(first_design(interest, settings), settings)
    return pa.Table.from_pylist([_row(maintained, event) for event in _events(parameters, interest)])


def maintenance(parameters: Mapping[str, Any]) -> Settings:
    """How to maintain an overlay, by the parameters that are about it."""
    return Settings(**{name: parameters[name] for name in _SETTINGS if name in parameters})


def first_design(interest: Interest, settings: Settings) -> Overlay:
    """The overlay to begin with, by the rule that is kept to."""
    if settings.rule == "low-oda":
        return design(interest, "low-oda", k=settings.rho)
    return design(interest, settings.rule)


def _events(parameters: Mapping[str, Any], interest: Interest) -> list[Event]:
    rounds, seed = parameters["rounds"], parameters["seed"]
    shape = {name: parameters[name] for name in _SHAPE if name in parameters}
    newcomers = drawn_newcomers(rounds, seed=seed, **shape)
    return churn_trace(interest, rounds, join_share=parameters["join_share"], newcomers=newcomers, seed=seed)


def _row(maintained: Maintainer, event: Event) -> dict[str, Any]:
    size = len(event.add) if event.kind == JOIN else len(maintained.topics_of(event.node))
    row = trace_row(_taken(maintained, event), maintained)
    return {
        "event": row.event,
        "kind": row.kind,
        "subscription_size": size,
        "seconds": row.seconds,
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


def _taken(maintained: Maintainer, event: Event) -> Outcome:
    """Let an event happen; a rebuild takes as long as the design alone, which is what papers compare with."""
    links = maintained.link_count
    began = time.thread_time()
    change = maintained.apply(event)
    known = time.thread_time()
    maintained.settle()
    upkeep = time.thread_time() - known
    seconds = maintained.build_seconds if isinstance(maintained, RebuildMaintainer) else known - began
    return Outcome(event, change, None, links, seconds, upkeep)
