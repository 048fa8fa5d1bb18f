"""`topicloom content assign`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topicloom.cli import content_options, output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.options import given
from topicloom.cli.typer_options import taking
from topicloom.views import numbers

EXAMPLES = """\b
Example:
  topicloom content assign net --algorithm clustering --out a.parquet
  topicloom content assign net --algorithm migration --start random \\
      --seed 1 --out a.parquet --json
"""


@taking(content_options.assigner_options)
def command(
    *,
    net: content_options.Net,
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            "-a",
            metavar="NAME",
            help="random, packing, clustering, steiner-mixing, migration or exact.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="ASSIGNMENT", help="Parquet file to write.")],
    then: Annotated[
        list[Path] | None,
        typer.Option(
            "--then",
            metavar="NET2",
            help="The same network with other interests, to go on with, for migration; may be repeated.",
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    close: content_options.Close = False,
    printing: options.Printing,
    **parameters: Any,
) -> None:
    """Give each user to a broker.

    Seconds are those of the algorithm itself, without reading, compiling or writing.
    """
    from topicloom.content import ALGORITHMS, cost

    prepared = ALGORITHMS.prepare(algorithm, seed, given(parameters))
    checked_paths.require_writable(out)
    with printing.working() as working:
        networks = [content_options.read(working, folder, close=close) for folder in (net, *(then or ()))]
        result = content_options.run_algorithm(working, prepared, networks[0], networks[1:])
        network = networks[-1]
        priced = working.do("adding up costs", lambda: cost(result.assignment))
        random = working.do("assigning at random", lambda: content_options.random_cost(network, seed))
    result.assignment.write(out)
    provenance = result.assignment.provenance
    assert provenance is not None
    facts = {
        "algorithm": provenance.algorithm,
        "parameters": dict(provenance.parameters),
        "seed": provenance.seed,
        "users": network.user_count,
        "brokers": network.broker_count,
        "channels": network.channel_count,
        **content_options.cost_facts(priced, random),
        **result.facts,
        "seconds": result.seconds,
        "out": str(out),
    }
    if printing.json:
        output.print_json(facts)
        return
    _print(facts)
    printing.written(out)


def _print(facts: dict[str, Any]) -> None:
    lines: list[tuple[str, output.Cell]] = [(name, numbers.amount(facts[name])) for name in ("total", "access", "core")]
    if facts["cost_reduction_ratio"] is not None:
        lines.append(("random / this", numbers.mean(facts["cost_reduction_ratio"])))
    for name in ("rounds", "moves", "declined"):
        if name in facts:
            lines.append((name, numbers.count(facts[name])))
    if "messages" in facts:
        lines.append(("messages", numbers.count(sum(facts["messages"].values()))))
    if "optimal" in facts:
        lines += [
            ("proved least", "yes" if facts["optimal"] else "no"),
            ("at least", numbers.amount(facts["lower_bound"])),
        ]
    lines.append(("seconds", numbers.seconds(facts["seconds"])))
    output.print_facts(lines)
