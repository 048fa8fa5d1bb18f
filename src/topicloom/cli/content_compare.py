"""`topicloom content compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli import content_options, output
from topicloom.cli import typer_options as options
from topicloom.cli.options import prepared_each
from topicloom.cli.progress import Working
from topicloom.cli.typer_options import taking
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.content import Cost, Network
    from topicloom.content.placing import Assigner
    from topicloom.registry import Prepared


EXAMPLES = """\b
Example:
  topicloom content compare net
  topicloom content compare net --algorithms packing,exact --json
"""

DEFAULT_ALGORITHMS = "random,packing,clustering,steiner-mixing,migration"


@taking(content_options.assigner_options)
def command(
    *,
    net: content_options.Net,
    algorithms: Annotated[
        str, typer.Option("--algorithms", "-a", metavar="NAMES", help="Names with commas between them.")
    ] = DEFAULT_ALGORITHMS,
    seed: options.Seed = 0,
    close: content_options.Close = False,
    routing: content_options.Routing = "shared",
    printing: options.Printing,
    **parameters: Any,
) -> None:
    """Cost of several algorithms side by side.

    Writes nothing. Each algorithm gets those of the given options that it takes.
    """
    from topicloom.content import ALGORITHMS

    each = prepared_each(ALGORITHMS, algorithms, seed, parameters)
    with printing.working() as working:
        network = content_options.read(working, net, close=close)
        random = working.do("assigning at random", lambda: content_options.random_cost(network, seed, routing))
        rows = [_measured(working, prepared, network, random, routing, seed) for prepared in each]
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
    working: Working, prepared: Prepared[Assigner], network: Network, random: Cost | None, routing: str, seed: int
) -> dict[str, Any]:
    from topicloom.content import cost

    result = content_options.run_algorithm(working, prepared, network)
    provenance = result.assignment.provenance
    assert provenance is not None
    priced = working.do("adding up costs", lambda: cost(result.assignment, routing=routing, seed=seed))
    return {
        "algorithm": prepared.name,
        "parameters": dict(provenance.parameters),
        "seed": provenance.seed,
        **content_options.cost_facts(priced, random),
        "highest_load": max(
            (load / room for load, room in zip(priced.load, network.capacity, strict=True) if room > 0), default=0.0
        ),
        **result.facts,
        "seconds": result.seconds,
    }
