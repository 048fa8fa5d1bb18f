"""`topicloom diff`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.brokers.diff import Difference


EXAMPLES = """\b
Example:
  topicloom diff old.json new.json
  topicloom diff old.json new.json --json --exit-code
"""

_SIGNS = {"add": "+", "change": "~", "remove": "-"}
_SHOWN = 8


def command(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The plan that the brokers have.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The plan that they shall have.", show_default=False)],
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with status 1 where anything changes.")] = False,
    json: options.Json = False,
) -> None:
    """Say what changes between two plans, and in which order.

    Names the topics that are interrupted on the way, in an order in which none goes in circles.
    """
    from topicloom.brokers import read_plan
    from topicloom.brokers.diff import compare_plans

    checked_paths.require_readable(old)
    checked_paths.require_readable(new)
    difference = compare_plans(read_plan(old), read_plan(new))
    if json:
        output.print_json(asdict(difference))
    else:
        print_difference(difference)
    if exit_code and difference.steps:
        raise typer.Exit(1)


def print_difference(difference: Difference) -> None:
    """Print what changes, and the order."""
    for sign, names in (("+", difference.brokers_added), ("-", difference.brokers_removed)):
        for name in names:
            output.say(output.one_line(f"{sign} broker {name}"))
    for change in difference.links:
        added = [f"+{topic}" for topic in change.topics_added]
        removed = [f"-{topic}" for topic in change.topics_removed]
        carried = _some([*added, *removed]) or "settings"
        output.say(output.one_line(f"{_SIGNS[change.kind]} link {' - '.join(change.link)}: {carried}"))
    for topic in difference.topics:
        ways = [f"+{' - '.join(link)}" for link in topic.links_added]
        ways += [f"-{' - '.join(link)}" for link in topic.links_removed]
        output.say(output.one_line(f"{_SIGNS[topic.kind]} topic {topic.topic}: {_some(ways) or 'no links'}"))
    if difference.steps:
        output.say("\nin this order:")
    for number, step in enumerate(difference.steps, 1):
        if step.clear:
            does = "take the links from"
        elif step.broker in difference.brokers_removed:
            does = "stop"
        else:
            does = "put the new file on"
        output.say(output.one_line(f"  {number}. {does} {step.broker}"))
    output.say(f"\ninterrupted on the way: {output.one_line(_some(difference.interrupted)) or 'none'}")
    output.say(f"doubled in another order: {output.one_line(_some(difference.doubled)) or 'none'}")
    add, change_, remove = (difference.count(kind) for kind in _SIGNS)
    output.say(f"Plan: {numbers.count_of(add, 'link')} to add, {change_} to change, {remove} to remove.")


def _some(words: list[str] | tuple[str, ...]) -> str:
    more = f", and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more
