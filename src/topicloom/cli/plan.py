"""`topicloom plan`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.progress import COMPILING
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.brokers import Fleet, Plan
    from topicloom.brokers.plan import Message, Route
    from topicloom.metrics.trees import BrokenTopic
    from topicloom.model import Interest, Overlay, Prices, Rates


EXAMPLES = """\b
Example:
  topicloom plan subs.parquet overlay.parquet --fleet fleet.toml \\
      --out plan.json
  topicloom plan subs.parquet overlay.parquet --fleet fleet.toml \\
      --target rabbitmq --relays allow --out plan.json
  topicloom plan subs.parquet overlay.parquet --fleet fleet.toml \\
      --prices latency.csv --rates rates.csv --out plan.json
"""

_SHOWN_PIECES = 4
_SHOWN_NAMES = 6
_SHOWN_RELAYED = 20


def command(
    *,
    subs: options.InterestFile,
    overlay: options.OverlayFile,
    fleet: Annotated[
        Path, typer.Option("--fleet", "-f", metavar="FILE", help="TOML file that says where each broker is.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="PLAN", help="JSON file to write the plan to.")],
    target: options.Target = "mosquitto",
    relays: Annotated[
        Literal["forbid", "allow"],
        typer.Option("--relays", help="Whether brokers may pass on what they do not want, where a topic needs it."),
    ] = "forbid",
    costs: options.PriceFile,
    messages: options.RateFile,
    printing: options.Printing,
) -> None:
    """Plan the links of real brokers, free of loops.

    Each topic gets a shallow tree of links, or with prices its cheapest, by traffic times price where rates are known.
    So every message reaches every subscriber once. The plan holds no passwords; `topicloom render` makes configurations
    from it.
    """
    from topicloom.brokers import BrokenTopicsError, make_plan, write_plan
    from topicloom.brokers.fleet_file import read_fleet
    from topicloom.model import Overlay

    checked_paths.require_writable(out, subs.path, overlay, fleet, ending=".json")
    checked_paths.require_readable(fleet)
    places = read_fleet(fleet)
    with printing.working() as working:
        interest = subs.read(working)
        links = working.do(f"reading {overlay.name}", lambda: Overlay.read(overlay, interest))
        prices, rates = costs.read(places, interest), messages.read()
        try:
            plan = working.do(
                "routing topics",
                lambda: make_plan(
                    interest, links, places, target=target, relays=relays == "allow", prices=prices, rates=rates
                ),
                if_slow=COMPILING,
            )
        except BrokenTopicsError as error:
            _print_broken(error.broken, json=printing.json)
            raise
    write_plan(plan, out)
    facts = _facts(plan, links, places) | _costs(plan, interest, prices, rates) | {"out": str(out)}
    if printing.json:
        output.print_json(facts)
    else:
        _print(facts)
        printing.written(out)


def _facts(plan: Plan, overlay: Overlay, fleet: Fleet) -> dict[str, Any]:
    carried = [len(lines) for lines in plan.lines_of_link.values()]
    patterns = {
        pattern for route in plan.routes for side in route.sides for names in side.values() for pattern in names
    }
    relays = [{"topic": route.topic, "relays": list(route.relays)} for route in plan.routes if route.relays]
    return {
        "target": plan.target,
        "brokers": len(plan.brokers),
        "brokers_without_topics": len(fleet.brokers) - len(plan.brokers),
        "topics": len(plan.routes),
        "links": len(plan.links),
        "links_unused": len(overlay) - len(plan.links),
        "topics_per_link": sum(carried) / len(carried) if carried else 0.0,
        "max_topics_per_link": max(carried, default=0),
        "max_hops": max((route.diameter for route in plan.routes), default=0),
        "relays": relays,
        "topics_nobody_wants": sorted(fleet.topic_qos.keys() - patterns),
        "passed_on": sum(len(_passing(route, message, name)) for route, message, name in _followed(plan)),
    }


def _costs(plan: Plan, interest: Interest, prices: Prices | None, rates: Rates | None) -> dict[str, Any]:
    """What the plan's links, ways and messages come to, where prices and rates tell."""
    from topicloom.brokers.plan_costs import plan_prices, plan_traffic

    costs: dict[str, Any] = {} if prices is None else plan_prices(plan, interest, prices).to_dict()
    if rates is not None:
        traffic = rates.over(interest)
        costs |= plan_traffic(plan, interest, traffic, prices).to_dict()
        costs |= {"topics_without_rate": traffic.unrated, "rates_idle": traffic.idle}
    return costs


def _followed(plan: Plan) -> Iterator[tuple[Route, Message, str]]:
    """Where plans have filters: a message of every kind from every publisher."""
    for route in plan.routes:
        if route.filters is not None:
            yield from ((route, message, source) for message in route.messages for source in message.sources)


def _passing(route: Route, message: Message, source: str) -> set[str]:
    """The brokers that a message comes by on its way to others, though they do not want it."""
    return {to for _, to in route.ways_in(source, message.name)}.difference(message.wanting)


def _print(facts: dict[str, Any]) -> None:
    from topicloom.metrics.summary import cost_facts

    output.print_facts(
        [
            ("brokers", numbers.count(facts["brokers"])),
            ("brokers without topics", numbers.count(facts["brokers_without_topics"])),
            ("topics", numbers.count(facts["topics"])),
            ("links", numbers.count(facts["links"])),
            ("links no topic needs", numbers.count(facts["links_unused"])),
            ("average topics a link", numbers.mean(facts["topics_per_link"])),
            ("max topics a link", numbers.count(facts["max_topics_per_link"])),
            ("max hops", numbers.count(facts["max_hops"])),
            ("topics with relays", numbers.count(len(facts["relays"]))),
            *([("passed on where nobody wants it", numbers.count(facts["passed_on"]))] if facts["passed_on"] else []),
            *cost_facts(facts),
            *_unless_zero("topics without a rate", facts.get("topics_without_rate", 0)),
            *_unless_zero("rates of what nobody wants or publishes", facts.get("rates_idle", 0)),
        ]
    )
    for topic in facts["topics_nobody_wants"]:
        output.say(output.one_line(f"  {topic}: is in the fleet file, and nobody wants or publishes it"))
    for row in facts["relays"][:_SHOWN_RELAYED]:
        output.say(output.one_line(f"  {row['topic']}: relayed by {_some(row['relays'])}"))
    if len(facts["relays"]) > _SHOWN_RELAYED:
        output.say(f"  and {numbers.count(len(facts['relays']) - _SHOWN_RELAYED)} more, which --json lists")


def _unless_zero(label: str, number: int) -> list[tuple[str, output.Cell]]:
    return [(label, numbers.count(number))] if number else []


def _print_broken(broken: tuple[BrokenTopic, ...], *, json: bool) -> None:
    """Which topics are in pieces, and who cannot reach whom."""
    if json:
        rows = [{"topic": one.topic, "pieces": [list(names) for names in one.pieces]} for one in broken]
        output.print_json({"broken": rows})
        return
    for one in broken:
        shown = [_some(names) for names in one.pieces[:_SHOWN_PIECES]]
        if len(one.pieces) > _SHOWN_PIECES:
            shown.append(f"and {numbers.count_of(len(one.pieces) - _SHOWN_PIECES, 'piece')} more")
        output.say(output.one_line(f"{one.topic}: {' | '.join(shown)}"))


def _some(names: Sequence[str]) -> str:
    more = f", and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(names[:_SHOWN_NAMES]) + more
