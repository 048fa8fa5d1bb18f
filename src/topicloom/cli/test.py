"""`topicloom test`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import FOUND, Run, read_plan
from topicloom.errors import InputError
from topicloom.views.view import View

EXAMPLES = """
  topicloom test plan.json
  topicloom test plan.json --messages 100000 --json
  topicloom test plan.json --kill berlin
  topicloom test plan.json --change new.json
"""


@command("test", examples=EXAMPLES)
@options.plan
@options.option(
    "--messages",
    metavar="N",
    type=options.WHOLE,
    default=1000,
    show_default=True,
    help="Messages in all; at least one from every publisher of a topic.",
)
@options.option("--kill", metavar="BROKER", help="Then stop this broker, repair the network, and test again.")
@options.file("--change", metavar="PLAN", help="Change the running fleet to this plan while messages flow.")
def test(run: Run, messages: int, kill: str | None, change: Path | None) -> View:
    """Run a plan with real brokers on this machine, and count every message.

    Starts a Mosquitto, NATS or RabbitMQ for every broker, and publishes numbered messages at all of them. Exit status 1
    if any is lost, doubled or unwanted. Leaves no process and no file behind.
    """
    from topicloom.brokers.live import LiveWatch, prove
    from topicloom.brokers.live_change import prove_change
    from topicloom.views import deliveries

    if messages < 0:
        raise InputError(f"messages must be 0 or more, not {messages}", "messages")
    plan, watch = run.plan, LiveWatch()
    if change is None:
        with _telling_of_the_end():
            proof = run.step(
                lambda: watch.doing, lambda: prove(plan, messages=messages, kill=kill, watch=watch), watch=watch
            )
        run.status = 0 if proof.perfect else FOUND
        return deliveries.proof(proof)
    if kill is not None:
        raise InputError("kill and change are two tests; give one of them", "kill", "change")
    new = read_plan(change)
    with _telling_of_the_end():
        changed = run.step(lambda: watch.doing, lambda: prove_change(plan, new, watch=watch), watch=watch)
    run.status = FOUND if changed.counts.lost or changed.counts.unwanted else 0
    return deliveries.change(changed)


@contextmanager
def _telling_of_the_end() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; all brokers were ended") from None
