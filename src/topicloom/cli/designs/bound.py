"""`topicloom bound`."""

from __future__ import annotations

from typing import Annotated

import typer

from topicloom.cli.shared import options, output
from topicloom.cli.shared.progress import Working

EXAMPLES = """\b
Example:
  topicloom bound subs.parquet
  topicloom bound subs.parquet --rounds 200 --json
"""

_NAMES = {"links": "links", "max_degree": "max degree"}


def command(
    subscriptions: options.Subscriptions,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            metavar="N",
            help="How often to improve the offers that prove the links; up to 60 times, in some seconds, unless given.",
            show_default=False,
        ),
    ] = None,
    node_column: options.NodeColumn = "node",
    topic_column: options.TopicColumn = "topic",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Prove what no topic-connected overlay can be below.

    The fewest links and the lowest max degree that any overlay of these subscriptions could have, and why. An overlay
    that has just as many is the best there is.
    """
    from topicloom.metrics import bound
    from topicloom.model import Interest

    with Working(quiet=quiet) as working:
        interest = working.do(
            f"reading {subscriptions.name}",
            lambda: Interest.read(subscriptions, node_column=node_column, topic_column=topic_column),
        )
        bounds = working.do("proving bounds", lambda: bound(interest, rounds=rounds))
    if json:
        output.print_json(bounds.to_dict())
        return
    output.print_facts(
        [("links, at least", output.count(bounds.links)), ("max degree, at least", f"{bounds.max_degree:,}")]
    )
    output.say("")
    for argument in bounds.arguments:
        title = f"{_NAMES[argument.of]} >= {output.count(argument.value)}, by {argument.name}"
        output.print_entry(title, [("", output.one_line(argument.because))])
    if bounds.left_out:
        output.say(f"without {output.count(bounds.left_out)} topics that have too many nodes to compare in pairs")
