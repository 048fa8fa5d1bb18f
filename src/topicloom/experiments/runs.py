"""Runs of the figures.

How many topics nodes have and how many nodes topics have, as complementary cumulative distributions.

Overlays under churn, a row for each event: Shadows, figures 4 to 8.

Times are those of the processor. An event takes a fraction of a millisecond and a design a hundred times that: on a
busy machine the design is interrupted and the event is not, and ratios of seconds by the clock were off by seven.

Backups as they are chosen at first, a row for each node: Shadows, figures 2 and 3.

What an algorithm makes a content-based network cost: Content, figures 9 and 10 and table I.

Designs: an overlay built and measured.

How many steps `gm` takes as its paper lists it: GM 2007, figure 3.

The functions that a figure's file may name, and the interests that they run on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from topicloom.churn import Maintainer, Settings, maintainer
from topicloom.churn.rebuild import RebuildMaintainer
from topicloom.churn.shadow import MendingMaintainer
from topicloom.churn.state import Outcome
from topicloom.churn.trace import trace_row
from topicloom.content import Network, cost, find_algorithm, run
from topicloom.content.cost import traffic_rows
from topicloom.designers import DESIGNERS, design
from topicloom.model import InputError, Interest, Overlay
from topicloom.model.events import JOIN, Event
from topicloom.model.interest import Starts
from topicloom.spark.cells import Cell
from topicloom.spark.distributions import Distribution
from topicloom.spark.sweep import design_row
from topicloom.workloads import churn_trace, drawn_newcomers, synthetic
from topicloom.workloads.content import content_network


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


_NETWORK = ("users", "channels", "width", "prices", "access_to_core", "core_price", "seed")
# Rows of the traffic matrix at a time.
_BLOCK = 256


def run_content(parameters: Mapping[str, Any], interest: Interest | None = None) -> pa.Table:
    """Draw a network, run one algorithm on it, and route its messages by `routing`.

    Seconds are those of the processor, as the quickest algorithm takes a thousandth of the time of the slowest: for
    placing users, for routing, and, where `steps` is `all`, for estimating the traffic of all pairs of users before,
    which every algorithm but the random one needs. `seconds` are all of these together.
    """
    given = {name: parameters[name] for name in _NETWORK if name in parameters}
    if parameters["users_per_broker"] < 1:
        raise InputError(f"users_per_broker is {parameters['users_per_broker']}; give a whole number of at least 1")
    brokers = max(1, parameters["users"] // parameters["users_per_broker"])
    network = _drawn_network((*given.items(), ("brokers", brokers)))
    whole = parameters.get("steps", "placing") == "all"
    name, seed = parameters["algorithm"], parameters["seed"]
    estimating = _estimating_seconds(network) if whole and name != "random" else 0.0
    result = run(network, name, seed=seed, **find_algorithm(name).own(parameters))
    routing = parameters.get("routing", "shared")
    cost(result.assignment, routing=routing, seed=seed)  # compiles
    began = time.thread_time()
    priced = cost(result.assignment, routing=routing, seed=seed)
    routed = time.thread_time() - began if whole else 0.0
    row = {
        "total": priced.total,
        "access": priced.access,
        "core": priced.core,
        "published": float(network.traffic.out.sum()),
        "estimating_seconds": estimating,
        "placing_seconds": result.processor_seconds,
        "routing_seconds": routed,
        "seconds": estimating + result.processor_seconds + routed,
    }
    return pa.Table.from_pylist([row])


@lru_cache(maxsize=1)
def _drawn_network(parameters: tuple[tuple[str, Any], ...]) -> Network:
    given: dict[str, Any] = dict(parameters)
    return content_network(**given).network


def _estimating_seconds(network: Network) -> float:
    traffic_rows(network, 0, 1)  # compiles
    began = time.thread_time()
    for begin in range(0, network.user_count, _BLOCK):
        traffic_rows(network, begin, min(begin + _BLOCK, network.user_count))
    return time.thread_time() - began


def run_design(parameters: Mapping[str, Any], interest: Interest | None) -> pa.Table:
    """A row as a sweep has it, of a designer that gets its own of the parameters.

    So a workload may give a budget which only some designers take. With `count` "each ring", links of rings are
    counted once for each of them.
    """
    assert interest is not None
    designer = DESIGNERS[parameters["designer"]]
    given = designer.own(parameters)
    row = design_row(interest, designer.name, given, parameters["seed"], diameters=parameters.get("diameters", False))
    if parameters.get("count") != "each ring":
        return row
    degree = 2 * row["ring_links"][0].as_py() / interest.node_count
    return row.set_column(row.column_names.index("average_degree"), "average_degree", pa.array([degree]))


def run_steps(parameters: Mapping[str, Any], interest: Interest | None) -> pa.Table:
    """Run `gm`; give the steps that its listing takes, also as a share of nodes squared times topics.

    With `count` "all passes", every topic that the ends of an added link share is a step, too: line 6 looks at it, also
    where both are in one component already.
    """
    assert interest is not None
    overlay = design(interest, "gm")
    taken = steps(interest)
    if parameters.get("count") == "all passes":
        taken += topics_looked_at(overlay)
    return pa.table(
        {
            "steps": [taken],
            "steps_ratio": [taken / (interest.node_count**2 * interest.topic_count)],
            "links": [len(overlay)],
            "average_degree": [float(overlay.degrees.mean())],
        }
    )


def topics_looked_at(overlay: Overlay) -> int:
    """How often algorithm 3, line 6 looks at a topic that both ends of an added link want."""
    topics = [set(overlay.interest.topics_of(node).tolist()) for node in range(overlay.interest.node_count)]
    links = zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
    return sum(len(topics[source] & topics[target]) for source, target in links)


def steps(interest: Interest) -> int:
    """How often algorithm 3 (lines 6 to 11) takes one from the contribution of a link; our own `gm` does not.

    A link that merges components of a and b nodes in a topic does so to the a times b links between them, its own
    among them. So every two nodes of a topic are met once, when their components merge, and a topic of n nodes takes
    n (n - 1) / 2 steps, whichever links are chosen (lemma 6.4).
    """
    sizes = np.diff(interest.topic_start).astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


# Each gets the parameters of its cell and the interest, if it has one, and gives the rows that it measured.
Run = Callable[[Mapping[str, Any], Interest | None], pa.Table]

RUNS: Mapping[str, Run] = {
    "design": run_design,
    "churn": run_churn,
    "backups": run_backups,
    "steps": run_steps,
    "content": run_content,
    "ccdf": run_ccdf,
}

# Runs that make what they run on by themselves.
WITHOUT_INTEREST = ("content",)

_SYNTHETIC = ("nodes", "topics", "popularity", "alpha", "sizes", "min_topics", "max_topics", "size_exponent", "seed")

_READ_AS = "exponential_as"


# A few are kept, as runs on one interest come close together, and a budget ratio costs a whole design.
@lru_cache(maxsize=4)
def _drawn(parameters: tuple[tuple[str, Any], ...]) -> Interest:
    """An interest; `exponential_as` says what popularity the exponential one is read as."""
    shape = dict(parameters)
    read_as = shape.pop(_READ_AS, None)
    if read_as and shape["popularity"] == "exponential":
        shape["popularity"] = read_as
    return synthetic(**shape)


def run_cell(cell: Cell, interest: Interest | None) -> pa.Table:
    """Run a cell; this is the task. A synthetic interest is drawn here, others are sent."""
    parameters = cell.parameters
    if interest is None and cell.run not in WITHOUT_INTEREST:
        interest = _drawn(tuple((name, parameters[name]) for name in (*_SYNTHETIC, _READ_AS) if name in parameters))
    return RUNS[cell.run](parameters, interest)
