"""`topicloom live`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.brokers import Plan
    from topicloom.brokers.live import DeliveryCounts, Proof


EXAMPLES = """\b
Example:
  topicloom live plan.json
  topicloom live plan.json --messages 100000 --json
  topicloom live plan.json --kill berlin
  topicloom live plan.json --change new.json
"""

IMPERFECT = 1
_SHOWN_LINKS = 5
_CHANGE_COUNTS = ("published", "expected", "delivered", "lost", "doubled", "unwanted")


def command(
    *,
    plan: options.PlanFile,
    messages: Annotated[
        int,
        typer.Option(
            "--messages", metavar="N", help="How many in all; at least one from every subscriber of every topic."
        ),
    ] = 1000,
    kill: Annotated[
        str | None,
        typer.Option(
            "--kill",
            metavar="BROKER",
            help="Then stop this broker, mend the overlay, and prove delivery again.",
            show_default=False,
        ),
    ] = None,
    change: Annotated[
        Path | None,
        typer.Option(
            "--change",
            metavar="PLAN",
            help="Change the running fleet to this plan while messages flow, and count what becomes of them.",
            show_default=False,
        ),
    ] = None,
    printing: options.Printing,
) -> None:
    """Prove a plan with real brokers on this machine.

    Starts a Mosquitto, NATS or RabbitMQ for every broker, publishes numbered messages everywhere and counts what
    arrives: status 0 where all arrived once, 1 where any was lost, doubled or unwanted. Leaves no process and no file
    behind.
    """
    from topicloom.brokers import read_plan
    from topicloom.brokers.live import LiveWatch, prove
    from topicloom.errors import InputError

    if messages < 0:
        raise InputError(f"--messages must be 0 or more, not {messages}")
    checked_paths.require_readable(plan)
    content = read_plan(plan)
    if change is not None:
        if kill is not None:
            raise InputError("kill and change are two proofs; give one of them", "kill", "change")
        _change(content, change, printing)
        return
    watch = LiveWatch()
    with _telling_of_the_end(), printing.working() as working:
        proof = working.do(
            lambda: watch.doing,
            lambda: prove(content, messages=messages, kill=kill, watch=watch),
            watch=watch,
        )
    if printing.json:
        output.print_json(_facts(proof))
    else:
        _print(proof)
    if not proof.perfect:
        raise typer.Exit(IMPERFECT)


def _change(old: Plan, path: Path, printing: options.Printing) -> None:
    from topicloom.brokers import read_plan
    from topicloom.brokers.live import LiveWatch
    from topicloom.brokers.live_change import prove_change

    checked_paths.require_readable(path)
    new, watch = read_plan(path), LiveWatch()
    with _telling_of_the_end(), printing.working() as working:
        proof = working.do(lambda: watch.doing, lambda: prove_change(old, new, watch=watch), watch=watch)
    counts = proof.counts
    silent = sorted(counts.silence.items(), key=lambda row: (-row[1], row[0]))
    if printing.json:
        output.print_json(asdict(proof))
    else:
        output.print_facts(
            [
                ("brokers", numbers.count(proof.brokers)),
                ("steps", numbers.count(proof.steps)),
                ("seconds", numbers.seconds(proof.seconds)),
                *((name, numbers.count(getattr(counts, name))) for name in _CHANGE_COUNTS),
                ("longest silence in ms", numbers.mean(1000 * silent[0][1] if silent else 0.0)),
            ]
        )
        output.say("longest silences:")
        for topic, seconds in silent[:_SHOWN_LINKS]:
            output.say(f"  {output.one_line(topic)}: {1000 * seconds:,.0f} ms")
    if counts.lost or counts.unwanted:
        raise typer.Exit(IMPERFECT)


@contextmanager
def _telling_of_the_end() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; all brokers were ended") from None


def _facts(proof: Proof) -> dict[str, Any]:
    """Everything as JSON has it: `lost` to `delivered` over the whole run, then the parts."""
    mending = proof.mending
    parts = [proof.counts, *([mending.counts] if mending else [])]
    facts: dict[str, Any] = {
        "brokers": proof.brokers,
        "links": proof.links,
        "topics": proof.topics,
        **{name: sum(getattr(part, name) for part in parts) for name in ("lost", "doubled", "unwanted", "delivered")},
        "seconds": proof.seconds,
        "seconds_until_up": proof.seconds_until_up,
        **_part(proof.counts),
    }
    if mending is not None:
        facts["kill"] = {
            "broker": mending.broker,
            "seconds": mending.seconds,
            "reloaded": mending.reloaded,
            "links_added": mending.added,
            "links_removed": mending.removed,
            **{name: getattr(mending.counts, name) for name in ("lost", "doubled", "unwanted", "delivered")},
            **_part(mending.counts),
        }
    return facts


def _part(counts: DeliveryCounts) -> dict[str, Any]:
    links = [{"link": link, "messages": number} for link, number in counts.link_messages.items()]
    return {
        "published": counts.published,
        "relayed": counts.relayed,
        "latency_ms": counts.latency_ms,
        "messages_per_link": links,
    }


def _print(proof: Proof) -> None:
    output.print_facts(
        [
            ("brokers", numbers.count(proof.brokers)),
            ("links", numbers.count(proof.links)),
            ("topics", numbers.count(proof.topics)),
            ("seconds until all links were up", numbers.seconds(proof.seconds_until_up)),
            *_rows(proof.counts),
            ("seconds", numbers.seconds(proof.seconds)),
        ]
    )
    busiest = sorted(proof.counts.link_messages.items(), key=lambda row: (-row[1], row[0]))
    if busiest:
        output.say("busiest links:")
    for (first, second), number in busiest[:_SHOWN_LINKS]:
        output.say(f"  {output.one_line(f'{first} - {second}')}: {numbers.count_of(number, 'message')}")
    if proof.mending is not None:
        mending = proof.mending
        output.say(f"\nwithout {output.one_line(mending.broker)}:")
        output.print_facts(
            [
                ("seconds until mended", numbers.seconds(mending.seconds)),
                ("links added", numbers.count(len(mending.added))),
                ("links removed", numbers.count(len(mending.removed))),
                ("brokers restarted", numbers.count(len(mending.reloaded))),
                *_rows(mending.counts),
            ]
        )


def _rows(counts: DeliveryCounts) -> list[tuple[str, output.Cell]]:
    latency = counts.latency_ms
    return [
        ("published", numbers.count(counts.published)),
        ("delivered", numbers.count(counts.delivered)),
        ("lost", numbers.count(counts.lost)),
        ("doubled", numbers.count(counts.doubled)),
        ("unwanted", numbers.count(counts.unwanted)),
        ("relayed", numbers.count(counts.relayed)),
        ("latency in ms, median", numbers.mean(latency.get("median", 0.0))),
        ("latency in ms, p99", numbers.mean(latency.get("p99", 0.0))),
    ]
