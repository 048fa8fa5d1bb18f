"""`topicloom content`: content-based networks, a group of commands."""

from __future__ import annotations

import typer

from topicloom.cli.content import assign, compare, cost, generate, summarize, sweep
from topicloom.cli.shared import output
from topicloom.cli.shared.algorithm_options import LateOptions

app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


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


app.command("generate", epilog=generate.EXAMPLES)(generate.command)
app.command("assign", cls=LateOptions, epilog=assign.EXAMPLES)(assign.command)
app.command("cost", epilog=cost.EXAMPLES)(cost.command)
app.command("compare", cls=LateOptions, epilog=compare.EXAMPLES)(compare.command)
app.command("summarize", epilog=summarize.EXAMPLES)(summarize.command)
app.command("sweep", epilog=sweep.EXAMPLES)(sweep.command)
