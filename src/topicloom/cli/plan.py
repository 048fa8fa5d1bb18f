"""`topicloom plan`."""

from __future__ import annotations

from pathlib import Path

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom plan subs.parquet overlay.parquet --fleet fleet.toml \\
      --out plan.json
  topicloom plan subs.parquet overlay.parquet --fleet fleet.toml \\
      --target rabbitmq --relays --out plan.json
  topicloom plan subs.parquet overlay.parquet --fleet fleet.toml \\
      --prices latency.csv --rates rates.csv --out plan.json
"""


@command("plan", examples=EXAMPLES)
@options.subscriptions
@options.overlay
@options.out("PLAN", "JSON file for the plan.")
@options.brokers
@options.prices
@options.rates
@options.target
@options.flag("--relays", help="Let brokers forward topics without subscribers there, if a topic needs it.")
def plan(run: Run, overlay: Path, out: Path, target: str, relays: bool) -> View:
    """Route every topic over a tree of links.

    Every message then reaches every subscriber once, without loops. Trees are shallow; with --prices each topic takes
    its cheapest, with --rates too the one of least traffic times price. The plan holds no passwords; `topicloom render`
    makes configurations of it.
    """
    from topicloom.brokers import BrokenTopicsError, make_plan, write_plan
    from topicloom.brokers.plan_costs import plan_prices, plan_traffic
    from topicloom.cli.progress import COMPILING
    from topicloom.views import plans

    fleet, interest = run.brokers, run.interest
    output.require_writable(out, run.subscriptions, overlay, run.shared["fleet"], ending=".json")
    links = run.overlay(overlay)
    prices, rates = run.prices, run.rates
    try:
        made = run.step(
            "routing topics",
            make_plan,
            interest,
            links,
            fleet,
            target=target,
            relays=relays,
            prices=prices,
            rates=rates,
            if_slow=COMPILING,
        )
    except BrokenTopicsError as error:
        run.refuse(error, plans.not_connected(error.broken))
    write_plan(made, out)
    traffic = None if rates is None else rates.over(interest)
    costs: dict[str, float | None] = {} if prices is None else {**plan_prices(made, interest, prices).to_dict()}
    costs |= {} if traffic is None else plan_traffic(made, interest, traffic, prices).to_dict()
    return plans.plan(made, links, fleet, costs, traffic, out)
