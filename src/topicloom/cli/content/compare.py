"""`topicloom content compare`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from topicloom.cli.content import content_options
from topicloom.cli.shared import options, output
from topicloom.cli.shared.parameters import given
from topicloom.cli.shared.progress import Working
from topicloom.present import numbers

EXAMPLES = """\b
Example:
  topicloom content compare net
  topicloom content compare net --algorithms packing,exact --json
"""

DEFAULT_ALGORITHMS = "random,packing,clustering,steiner-mixing,migration"


def command(
    *,
    net: content_options.Net,
    algorithms: Annotated[
        str, typer.Option("--algorithms", "-a", metavar="NAMES", help="Names with commas between them.")
    ] = DEFAULT_ALGORITHMS,
    start: content_options.Start = None,
    decline: content_options.Decline = None,
    seconds: content_options.Seconds = None,
    seed: options.Seed = 0,
    close: content_options.Close = False,
    printing: options.Printing,
) -> None:
    """Cost of several algorithms side by side.

    Writes nothing. Each algorithm gets those of the given options that it takes.
    """
    from topicloom.content import find_algorithm
    from topicloom.errors import InputError

    names = list(dict.fromkeys(name.strip() for name in algorithms.split(",")))
    parameters: dict[str, Any] = given(decline=decline, seconds=seconds)
    if start is not None:
        parameters["start"] = start
    taken = {name: {p.name for p in find_algorithm(name).parameters} for name in names}
    for name in parameters:
        if not any(name in own for own in taken.values()):
            raise InputError(f"{name} is of use to none of {', '.join(names)}; leave it out", name)
    with printing.working() as working:
        network = content_options.read(working, net, close=close)
        random = working.do("assigning at random", lambda: content_options.random_cost(network, seed))
        rows = []
        for name in names:
            own = {key: value for key, value in parameters.items() if key in taken[name]}
            rows.append(_measured(working, network, name, seed, own, random))
    if printing.json:
        output.print_json(rows)
        return
    shown = [
        [
            row["algorithm"],
            *(numbers.amount(row[name]) for name in ("total", "access", "core")),
            "" if row["cost_reduction_ratio"] is None else numbers.mean(row["cost_reduction_ratio"]),
            numbers.share(row["highest_load"]),
            numbers.seconds(row["seconds"]),
        ]
        for row in rows
    ]
    output.print_table(["algorithm", "total", "access", "core", "random\n/ this", "highest\nload", "seconds"], shown)


def _measured(
    working: Working, network: Any, name: str, seed: int, parameters: dict[str, Any], random: Any
) -> dict[str, Any]:
    from topicloom.content import cost

    result = content_options.run_algorithm(working, network, name, seed, parameters)
    origin = result.assignment.origin
    assert origin is not None
    priced = working.do("adding up costs", lambda: cost(result.assignment))
    return {
        "algorithm": name,
        "parameters": dict(origin.parameters),
        "seed": origin.seed,
        **content_options.cost_facts(priced, random),
        "highest_load": max(
            (load / room for load, room in zip(priced.load, network.capacity, strict=True) if room > 0), default=0.0
        ),
        **result.facts,
        "seconds": result.seconds,
    }
