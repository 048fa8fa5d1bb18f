"""`topicloom explain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.brokers.explain import BrokerReasons, LinkReasons, Split, TopicReasons
    from topicloom.brokers.plan import Plan


EXAMPLES = """\b
Example:
  topicloom explain plan.json --link berlin,paris
  topicloom explain plan.json --topic site/alarms
  topicloom explain plan.json --broker berlin
"""


def command(
    plan: options.PlanFile,
    link: Annotated[
        str | None,
        typer.Option("--link", metavar="A,B", help="Two brokers, with a comma between.", show_default=False),
    ] = None,
    topic: Annotated[str | None, typer.Option("--topic", metavar="NAME", help="A topic.", show_default=False)] = None,
    broker: Annotated[
        str | None, typer.Option("--broker", metavar="NAME", help="A broker.", show_default=False)
    ] = None,
    json: options.Json = False,
) -> None:
    """Say why something is in a plan.

    What a link, a topic or a broker is for, what it carries, and what breaks without it.
    """
    from topicloom.brokers import explain, read_plan
    from topicloom.errors import InputError

    if sum(given is not None for given in (link, topic, broker)) != 1:
        raise InputError("give one of --link, --topic and --broker; see 'topicloom explain --help'")
    checked_paths.require_readable(plan)
    content = read_plan(plan)
    if link is not None:
        first, second = _ends(content, link)
        reasons = explain.explain_link(content, first, second)
        output.print_json(asdict(reasons)) if json else _print_link(reasons)
    elif topic is not None:
        way = explain.explain_topic(content, topic)
        output.print_json(asdict(way)) if json else _print_topic(way)
    elif broker is not None:
        part = explain.explain_broker(content, broker)
        output.print_json(asdict(part)) if json else _print_broker(part)


def _ends(plan: Plan, text: str) -> tuple[str, str]:
    """The two brokers that a text names; names may hold commas themselves."""
    from topicloom.errors import InputError

    parts = text.split(",")
    splits = [(",".join(parts[:i]), ",".join(parts[i:])) for i in range(1, len(parts))]
    known = [split for split in splits if set(split) <= plan.broker.keys()]
    if not splits:
        raise InputError(f"--link: '{text}' names no two brokers; give two with a comma between")
    return (known or splits)[0]


def _print_link(reasons: LinkReasons) -> None:
    first, second = reasons.link
    _say(f"{first} opens a link to {second}. It carries {numbers.count_of(len(reasons.splits), 'topic')}.")
    _say("Without it:")
    _print_splits(reasons.splits)


def _print_topic(reasons: TopicReasons) -> None:
    route = reasons.route
    wanted = numbers.count_of(len(route.subscribers), "broker")
    _say(f"{route.topic} is wanted by {wanted}, with QoS {route.qos}. Its tree begins at {route.root}.")
    if route.publishers != route.subscribers:
        _say(f"It is published at {', '.join(route.publishers)}.")
    _say(f"From one end to the other it is {numbers.count_of(route.diameter, 'link')}.")
    if route.relays:
        _say(f"It is relayed by {', '.join(route.relays)}, as its subscribers are in pieces without.")
    for (upper, lower), behind in reasons.behind:
        _say(f"  {'  ' * route.levels[upper]}{upper} - {lower}: without it {', '.join(behind)} would be cut off")


def _print_broker(reasons: BrokerReasons) -> None:
    wants, relays = numbers.count_of(len(reasons.wants), "topic"), numbers.count_of(len(reasons.relays), "topic")
    _say(f"{reasons.broker} wants {wants} and relays {relays}, over {numbers.count_of(len(reasons.links), 'link')}:")
    for first, second in reasons.links:
        other = second if first == reasons.broker else first
        _say(f"  {other}, opened by {first}")
    _say(f"Without it {numbers.count_of(len(reasons.splits), 'topic')} would fall apart:")
    _print_splits(reasons.splits)


def _print_splits(splits: Sequence[Split]) -> None:
    for split in splits:
        _say(f"  {split.topic}: {' | '.join(', '.join(names) for names in split.groups)}")


def _say(text: str) -> None:
    output.say(output.one_line(text))
