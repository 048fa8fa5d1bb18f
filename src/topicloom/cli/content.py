"""`topicloom content`: content-based networks, a group of commands."""

from __future__ import annotations

import typer

from topicloom.cli import (
    content_assign,
    content_compare,
    content_cost,
    content_generate,
    output,
)
from topicloom.cli.typer_commands import add_commands, new_app

app = new_app(add_completion=False)


@app.callback(
    invoke_without_command=True,
    epilog="""\b
Example:
  topicloom content generate --users 1000 --brokers 10 --channels 50 \\
      --out net
  topicloom content assign net --algorithm packing --out packed.parquet
  topicloom content cost net packed.parquet

docs/content.md tells what a network is and how to write one.
""",
)
def content(context: typer.Context) -> None:
    """Plan which broker each user connects to, by content.

    Users publish and subscribe by content, brokers carry the traffic, every link has a price and every broker a
    capacity. Which broker should each user connect to, so that the whole costs least?
    """
    if context.invoked_subcommand is None:
        output.say(context.get_help())
        raise typer.Exit


add_commands(
    app,
    None,
    {
        "generate": content_generate,
        "assign": content_assign,
        "cost": content_cost,
        "compare": content_compare,
    },
)
