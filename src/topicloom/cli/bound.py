"""`topicloom bound`."""

from __future__ import annotations

from typing import Annotated

import typer

from topicloom.cli import options, output
from topicloom.views import numbers

EXAMPLES = """\b
Example:
  topicloom bound subs.parquet
  topicloom bound subs.parquet --rounds 200 --json
  topicloom bound subs.parquet --seconds 60
"""

_NAMES = {"links": "links", "max_degree": "max degree"}


def command(
    *,
    subs: options.InterestFile,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            metavar="N",
            help="How often to improve the prices that prove the links; as often as some seconds allow, unless given.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            metavar="S",
            help="How long to improve the prices of trees; the bound then depends on the time.",
            show_default=False,
        ),
    ] = None,
    printing: options.Printing,
) -> None:
    """Prove what no topic-connected overlay can be below.

    The fewest links and the lowest max degree that any overlay of these subscriptions could have, and why. An overlay
    that has just as many is the best there is.
    """
    from topicloom.metrics import bound

    with printing.working() as working:
        interest = subs.read(working)
        bounds = working.do("proving bounds", lambda: bound(interest, rounds=rounds, seconds=seconds))
    if printing.json:
        output.print_json(bounds.to_dict())
        return
    output.print_facts(
        [
            ("links, at least", numbers.count(bounds.links)),
            ("max degree, at least", numbers.count(bounds.max_degree)),
        ]
    )
    output.say("")
    for argument in bounds.arguments:
        title = f"{_NAMES[argument.of]} >= {argument.value:,}, by {argument.name}"
        output.print_entry(title, [("", output.one_line(argument.because))])
    if bounds.left_out:
        output.say(f"without {bounds.left_out:,} topics that have too many nodes to compare in pairs")
