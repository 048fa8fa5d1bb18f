"""`topicloom plan`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from topicloom.cli.shared import checked_paths, options, output
from topicloom.cli.shared.design_work import COMPILING
from topicloom.cli.shared.progress import Working

if TYPE_CHECKING:
    from topicloom.deploy import Plan
    from topicloom.deploy.planning.routes import BrokenTopic
    from topicloom.model import Overlay

EXAMPLES = """\b
Example:
  topicloom plan subs.parquet overlay.parquet --fleet fleet.toml \\
      --out plan.json
  topicloom plan subs.parquet overlay.parquet --fleet fleet.toml \\
      --target rabbitmq --relays allow --out plan.json
"""

_SHOWN_PIECES = 4
_SHOWN_NAMES = 6
_SHOWN_RELAYED = 20


def command(
    subscriptions: options.Subscriptions,
    overlay: options.OverlayFile,
    fleet: Annotated[
        Path, typer.Option("--fleet", "-f", metavar="FILE", help="TOML file that says where each broker is.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="PLAN", help="JSON file to write the plan to.")],
    target: Annotated[
        Literal["mosquitto", "rabbitmq"], typer.Option("--target", "-t", help="What the brokers are.")
    ] = "mosquitto",
    relays: Annotated[
        Literal["forbid", "allow"],
        typer.Option("--relays", help="Whether brokers may pass on what they do not want, where a topic needs it."),
    ] = "forbid",
    node_column: options.NodeColumn = "node",
    topic_column: options.TopicColumn = "topic",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Plan the links of real brokers, free of loops.

    Each topic gets a shallow tree of links, so that every message reaches every subscriber once. The plan holds no
    passwords; `topicloom render` makes configurations from it.
    """
    from topicloom.deploy import BrokenTopicsError, Fleet, make_plan, write_plan
    from topicloom.model import Interest, Overlay

    checked_paths.require_writable(out, subscriptions, overlay, fleet, ending=".json")
    checked_paths.require_readable(fleet)
    places = Fleet.read(fleet)
    with Working(quiet=quiet) as working:
        interest = working.do(
            f"reading {subscriptions.name}",
            lambda: Interest.read(subscriptions, node_column=node_column, topic_column=topic_column),
        )
        links = working.do(f"reading {overlay.name}", lambda: Overlay.read(overlay, interest))
        try:
            plan = working.do(
                "routing topics",
                lambda: make_plan(interest, links, places, target=target, relays=relays == "allow"),
                if_slow=COMPILING,
            )
        except BrokenTopicsError as error:
            _print_broken(error.broken, json=json)
            raise
    write_plan(plan, out)
    facts = _facts(plan, links, len(places.brokers)) | {"out": str(out)}
    if json:
        output.print_json(facts)
    else:
        _print(facts)


def _facts(plan: Plan, overlay: Overlay, brokers_in_fleet: int) -> dict[str, Any]:
    carried = [len(routes) for routes in plan.routes_of_link.values()]
    relays = [{"topic": route.topic, "relays": list(route.relays)} for route in plan.routes if route.relays]
    return {
        "target": plan.target,
        "brokers": len(plan.brokers),
        "brokers_without_topics": brokers_in_fleet - len(plan.brokers),
        "topics": len(plan.routes),
        "links": len(plan.links),
        "links_unused": len(overlay) - len(plan.links),
        "topics_per_link": sum(carried) / len(carried) if carried else 0.0,
        "max_topics_per_link": max(carried, default=0),
        "max_hops": max((route.diameter for route in plan.routes), default=0),
        "relays": relays,
    }


def _print(facts: dict[str, Any]) -> None:
    output.print_facts(
        [
            ("brokers", output.count(facts["brokers"])),
            ("brokers without topics", output.count(facts["brokers_without_topics"])),
            ("topics", output.count(facts["topics"])),
            ("links", output.count(facts["links"])),
            ("links no topic needs", output.count(facts["links_unused"])),
            ("average topics a link", output.degree(facts["topics_per_link"])),
            ("max topics a link", output.count(facts["max_topics_per_link"])),
            ("max hops", output.count(facts["max_hops"])),
            ("topics with relays", output.count(len(facts["relays"]))),
        ]
    )
    for row in facts["relays"][:_SHOWN_RELAYED]:
        output.say(output.one_line(f"  {row['topic']}: relayed by {_some(row['relays'])}"))
    if len(facts["relays"]) > _SHOWN_RELAYED:
        output.say(f"  and {output.count(len(facts['relays']) - _SHOWN_RELAYED)} more, which --json lists")
    output.say(f"written to {output.one_line(facts['out'])}")


def _print_broken(broken: tuple[BrokenTopic, ...], *, json: bool) -> None:
    """Which topics are in pieces, and who cannot reach whom."""
    if json:
        rows = [{"topic": one.topic, "pieces": [list(names) for names in one.pieces]} for one in broken]
        output.print_json({"broken": rows})
        return
    for one in broken:
        shown = [_some(names) for names in one.pieces[:_SHOWN_PIECES]]
        if len(one.pieces) > _SHOWN_PIECES:
            shown.append(f"and {len(one.pieces) - _SHOWN_PIECES} pieces more")
        output.say(output.one_line(f"{one.topic}: {' | '.join(shown)}"))


def _some(names: Sequence[str]) -> str:
    more = f", and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return ", ".join(names[:_SHOWN_NAMES]) + more
