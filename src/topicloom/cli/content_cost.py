"""`topicloom content cost`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli import content_options, output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.content import CostSummary


EXAMPLES = """\b
Example:
  topicloom content cost net a.parquet
  topicloom content cost net a.parquet --tree --steiner --json
  topicloom content cost net a.parquet --trees trees.parquet
"""

# Brokers that are shown, the dearest first; --json has all.
_SHOWN_BROKERS = 10


def command(
    *,
    net: content_options.Net,
    assignment: Annotated[
        Path,
        typer.Argument(
            metavar="ASSIGNMENT",
            help="Users and brokers as `assign` wrote them, or any file with these two columns.",
            show_default=False,
        ),
    ],
    tree: Annotated[
        bool, typer.Option("--tree", help="Also the core cost with all brokers on one minimum spanning tree.")
    ] = False,
    steiner: Annotated[
        bool, typer.Option("--steiner", help="Also the core cost with trees that may pass through other brokers.")
    ] = False,
    trees: Annotated[
        Path | None,
        typer.Option("--trees", metavar="FILE", help="Parquet file for the links of all trees.", show_default=False),
    ] = None,
    seed: options.Seed = 0,
    close: content_options.Close = False,
    routing: content_options.Routing = "shared",
    printing: options.Printing,
) -> None:
    """Say what an assignment costs.

    Total, access and core cost, and load and cost of each broker. The seed is that of the random assignment that it is
    compared with.
    """
    from topicloom.content import Assignment, core_trees, cost, cost_summary, one_tree_core, relayed_core
    from topicloom.content.cost import write_trees

    checked_paths.require_readable(assignment)
    if trees is not None:
        checked_paths.require_writable(trees, assignment)
    with printing.working() as working:
        network = content_options.read(working, net, close=close)
        assigned = working.do(f"reading {assignment.name}", lambda: Assignment.read(assignment, network))
        priced = working.do("adding up costs", lambda: cost(assigned, routing=routing, seed=seed))
        random = working.do("assigning at random", lambda: content_options.random_cost(network, seed, routing))
        one_tree = working.do("routing on one tree", lambda: one_tree_core(assigned)) if tree else None
        relays = working.do("looking for relays", lambda: relayed_core(assigned)) if steiner else None
        if trees is not None:
            links = working.do("listing trees", lambda: core_trees(assigned))
            write_trees(links, trees)
    summary = cost_summary(assigned, priced, random, one_tree=one_tree, relays=relays)
    if printing.json:
        output.print_json(summary.to_dict())
        return
    _print(summary)
    if trees is not None:
        printing.written(trees, "trees")


def _print(summary: CostSummary) -> None:
    names = {
        "total": "total",
        "access": "access",
        "core": "core",
        "core_on_one_tree": "core on one tree",
        "core_with_relays": "core with relays",
    }
    costs = ((text, getattr(summary, name)) for name, text in names.items())
    lines = [(text, numbers.amount(value)) for text, value in costs if value is not None]
    if summary.cost_reduction_ratio is not None:
        lines.append(("random / this", numbers.mean(summary.cost_reduction_ratio)))
    lines += [
        ("unwanted share", numbers.share(summary.unwanted_share)),
        ("overloaded brokers", numbers.count(summary.overloaded_brokers)),
    ]
    output.print_facts(lines)
    rows = summary.by_broker
    dearest = sorted(rows, key=lambda row: -(row.access + row.core))[:_SHOWN_BROKERS]
    output.say("")
    output.print_table(
        ["broker", "users", "load", "capacity", "access", "core"],
        [
            [
                output.one_line(row.broker),
                numbers.count(row.users),
                *map(numbers.amount, (row.load, row.capacity, row.access, row.core)),
            ]
            for row in dearest
        ],
    )
    if len(rows) > len(dearest):
        others = numbers.count_of(len(rows) - len(dearest), "cheaper broker")
        output.say(f"and {others}; --json lists all")
