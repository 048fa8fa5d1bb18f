"""`topicloom content generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

EXAMPLES = """\b
Example:
  topicloom content generate --users 10000 --brokers 100 --channels 100 \\
      --seed 1 --out net
  topicloom content generate --users 1000 --brokers 15 --channels 50 \\
      --latency aws_regions.csv --width 0.05 --out net
"""


def command(
    *,
    users: Annotated[int, typer.Option("--users", metavar="N", help="How many users.")],
    brokers: Annotated[int, typer.Option("--brokers", metavar="N", help="How many brokers.")],
    channels: Annotated[int, typer.Option("--channels", metavar="N", help="Cells that each attribute is cut into.")],
    attributes: Annotated[int, typer.Option("--attributes", metavar="N", help="Attributes of the content space.")] = 1,
    width: Annotated[
        float | None,
        typer.Option(
            "--width",
            metavar="X",
            help="How wide subscriptions are, from 0 to 1; unless given, from one random number to another.",
            show_default=False,
        ),
    ] = None,
    prices: Annotated[
        Literal["plane", "independent"],
        typer.Option("--prices", help="Distances of points in a plane, or random numbers."),
    ] = "plane",
    latency: Annotated[
        Path | None,
        typer.Option(
            "--latency", metavar="FILE", help="Latencies between sites, to be the prices.", show_default=False
        ),
    ] = None,
    access_to_core: Annotated[
        float | None,
        typer.Option(
            "--access-to-core",
            metavar="X",
            help="Average access price divided by the average core price (1; latencies as they are).",
            show_default=False,
        ),
    ] = None,
    core_price: Annotated[
        float | None,
        typer.Option(
            "--core-price", metavar="X", help="Average core price to scale all prices to.", show_default=False
        ),
    ] = None,
    known_brokers: Annotated[
        int | None,
        typer.Option(
            "--known-brokers",
            metavar="N",
            help="How many random brokers each user knows; all unless given.",
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="NET", help="Folder to write; it must be new.")],
    printing: options.Printing,
) -> None:
    """Make a random network, shaped as in the paper.

    Quadratic densities, random boxes, equal capacities that sum to twice the demand.
    """
    from topicloom.io.whole import new_folder
    from topicloom.workloads.content import content_network
    from topicloom.workloads.latency import read_latency

    checked_paths.require_new_folder(out)
    with printing.working() as working:
        sites = None if latency is None else working.do("reading latencies", lambda: read_latency(latency))
        drawn = working.do(
            "drawing a network",
            lambda: content_network(
                users,
                brokers,
                channels,
                attributes=attributes,
                width=width,
                prices=prices,
                latency=sites,
                access_to_core=access_to_core,
                core_price=core_price,
                known_brokers=known_brokers,
                seed=seed,
            ),
        )
        network = working.do("integrating densities", lambda: drawn.network)
        with new_folder(out) as folder:
            folder.mkdir()
            working.do("writing", lambda: drawn.write(folder))
    facts = {
        "users": network.user_count,
        "brokers": network.broker_count,
        "channels": network.channel_count,
        "subscriptions": len(network.wants.columns),
        "demand": float(network.traffic.demand.sum()),
        "capacity": float(network.capacity.sum()),
        "unwanted_share": network.traffic.unwanted_share,
        "seed": seed,
        "out": str(out),
    }
    if printing.json:
        output.print_json(facts)
        return
    output.say(
        f"{numbers.count_of(network.user_count, 'user')}, {numbers.count_of(network.broker_count, 'broker')}, "
        f"{numbers.count_of(network.channel_count, 'channel')}, written to {output.one_line(str(out))}"
    )
