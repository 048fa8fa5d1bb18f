"""`topicloom explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

if TYPE_CHECKING:
    from topicloom.brokers.plan import Plan


EXAMPLES = """
  topicloom explain plan.json --link berlin,paris
  topicloom explain plan.json --topic site/alarms
  topicloom explain plan.json --broker berlin
"""


@command("explain", examples=EXAMPLES)
@options.plan
@options.option("--link", metavar="A,B", help="Two brokers, with a comma between.")
@options.option("--topic", metavar="NAME", help="A topic.")
@options.option("--broker", metavar="NAME", help="A broker.")
def explain(run: Run, link: str | None, topic: str | None, broker: str | None) -> View:
    """Show what a link, a topic or a broker of a plan is for.

    What it carries, and which subscribers are cut off without it.
    """
    from topicloom.brokers import explain
    from topicloom.errors import InputError
    from topicloom.views import plans

    if sum(given is not None for given in (link, topic, broker)) != 1:
        raise InputError("give one of link, topic and broker", "link", "topic", "broker")
    plan = run.plan
    if link is not None:
        return plans.link_reasons(explain.explain_link(plan, *_ends(plan, link)))
    if topic is not None:
        return plans.topic_reasons(explain.explain_topic(plan, topic))
    assert broker is not None
    return plans.broker_reasons(explain.explain_broker(plan, broker))


def _ends(plan: Plan, text: str) -> tuple[str, str]:
    """The two brokers that a text names; names may hold commas themselves."""
    from topicloom.errors import InputError

    parts = text.split(",")
    splits = [(",".join(parts[:i]), ",".join(parts[i:])) for i in range(1, len(parts))]
    known = [split for split in splits if set(split) <= plan.broker.keys()]
    if not splits:
        raise InputError(f"link '{text}': give two brokers with a comma between", "link")
    return (known or splits)[0]
