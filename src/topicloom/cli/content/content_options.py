"""Options that the commands of `topicloom content` share, and running its algorithms while a person watches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.shared.design_work import COMPILING
from topicloom.cli.shared.parameters import option_name
from topicloom.cli.shared.progress import Working

if TYPE_CHECKING:
    from topicloom.content import Cost, Network, Run

Net = Annotated[
    Path,
    typer.Argument(
        metavar="NET", help="Folder of a network, as `topicloom content generate` writes it.", show_default=False
    ),
]
Close = Annotated[
    bool, typer.Option("--close", help="Replace core prices by those of the cheapest paths, so that they are a metric.")
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start",
        metavar="NAME",
        help="The assignment to begin with, for migration (packing).",
        show_default=False,
    ),
]
Decline = Annotated[
    float | None,
    typer.Option(
        "--decline", metavar="X", help="Share of users that decline to move, for migration (0).", show_default=False
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option("--seconds", metavar="X", help="How long to search, for exact (600).", show_default=False),
]


def read(working: Working, net: Path, *, close: bool) -> Network:
    """Read a network."""
    from topicloom.content import read_network

    return working.do(f"reading {net.name}", lambda: read_network(net, close=close))


def run_algorithm(
    working: Working,
    network: Network,
    algorithm: str,
    seed: int,
    parameters: dict[str, Any],
    then: Sequence[Network] = (),
) -> Run:
    """Compile, then run, each with its own line of progress."""
    from topicloom.content import find_algorithm, run
    from topicloom.content.run import checked_parameters, warm_up
    from topicloom.errors import InputError

    found = find_algorithm(algorithm)
    try:
        checked = checked_parameters(found, parameters)
    except InputError as error:
        message = str(error)
        for name in ("start", "decline", "seconds"):
            message = message.replace(f"'{name}'", option_name(name)).replace(f"{name} of", f"{option_name(name)} of")
        raise InputError(message) from None
    working.do("loading kernels", lambda: warm_up(found, checked), if_slow=COMPILING)
    return working.do(algorithm, lambda: run(network, algorithm, seed=seed, then=then, **parameters))


def cost_facts(priced: Cost, random: Cost | None) -> dict[str, Any]:
    """The costs, and how many times that of the random assignment is."""
    from topicloom.content.cost_summary import reduction_ratio

    return {
        "total": priced.total,
        "access": priced.access,
        "core": priced.core,
        "cost_reduction_ratio": reduction_ratio(priced, random),
    }


def random_cost(network: Network, seed: int) -> Cost | None:
    """What the random assignment of a seed costs; None where none fits."""
    from topicloom.content import assign, cost
    from topicloom.errors import InputError

    try:
        return cost(assign(network, "random", seed=seed))
    except InputError:
        return None
