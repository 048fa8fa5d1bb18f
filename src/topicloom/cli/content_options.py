"""Options that the commands of `topicloom content` share, and running its algorithms while a person watches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from topicloom.cli.progress import COMPILING, Working
from topicloom.cli.typer_options import Options, shared_options

if TYPE_CHECKING:
    from topicloom.content import AssignmentRun, Cost, Network
    from topicloom.content.placing import Assigner
    from topicloom.registry import Prepared


Net = Annotated[
    Path,
    typer.Argument(
        metavar="NET", help="Folder of a network, as `topicloom content generate` writes it.", show_default=False
    ),
]
Close = Annotated[
    bool, typer.Option("--close", help="Replace core prices by those of the cheapest paths, so that they are a metric.")
]
Routing = Annotated[
    Literal["shared", "unicast", "relayed", "tree", "best-tree", "random-tree"],
    typer.Option(
        "--routing",
        help="How messages pass between brokers: once over each link of a tree for each source and channel (also "
        "through other brokers: relayed), one by one to each subscriber, or all on one tree.",
    ),
]


def assigner_options() -> Options:
    """An option for each parameter of an assigner."""
    from topicloom.content import ALGORITHMS

    return shared_options(ALGORITHMS.values())


def read(working: Working, net: Path, *, close: bool) -> Network:
    """Read a network."""
    from topicloom.content import read_network

    return working.do(f"reading {net.name}", lambda: read_network(net, close=close))


def run_algorithm(
    working: Working, prepared: Prepared[Assigner], network: Network, then: Sequence[Network] = ()
) -> AssignmentRun:
    """Compile, then run, each with its own line of progress."""
    from topicloom.content import run_prepared
    from topicloom.content.run import warm_up

    working.do("loading kernels", lambda: warm_up(prepared), if_slow=COMPILING)
    return working.do(prepared.name, lambda: run_prepared(prepared, network, then))


def cost_facts(priced: Cost, random: Cost | None) -> dict[str, Any]:
    """The costs, and how many times that of the random assignment is."""
    from topicloom.content.cost import reduction_ratio

    return {
        "total": priced.total,
        "access": priced.access,
        "core": priced.core,
        "cost_reduction_ratio": reduction_ratio(priced, random),
    }


def random_cost(network: Network, seed: int, routing: str = "shared") -> Cost | None:
    """The cost of the random assignment of a seed; None if none fits."""
    from topicloom.content import assign, cost
    from topicloom.content.network import DoesNotFit

    try:
        return cost(assign(network, "random", seed=seed), routing=routing, seed=seed)
    except DoesNotFit:
        return None
