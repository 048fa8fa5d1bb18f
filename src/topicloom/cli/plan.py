"""`topicloom plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run, blocked_line, constraints_of
from topicloom.errors import InputError
from topicloom.views.view import View

if TYPE_CHECKING:
    from topicloom.brokers import Fleet
    from topicloom.model import Overlay, Prices
    from topicloom.registry import Value

EXAMPLES = """
  topicloom plan subs.parquet --out plan.json
  topicloom plan subs.parquet overlay.parquet --fleet fleet.toml \\
      --out plan.json
  topicloom plan subs.parquet overlay.parquet --fleet fleet.toml \\
      --target rabbitmq --relays --out plan.json
  topicloom plan subs.parquet --prices latency.csv --rates rates.csv \\
      --out plan.json
"""


@command("plan", examples=EXAMPLES)
@options.subscriptions
@options.overlay_if_any
@options.out("PLAN", "JSON file for the plan.")
@options.option("--algorithm", "-a", metavar="NAME", help="Designer if there is no OVERLAY.  [default: search]")
@options.brokers
@options.prices
@options.rates
@options.target
@options.flag("--relays", help="Let brokers forward topics without subscribers there, if a topic needs it.")
def plan(run: Run, overlay: Path | None, out: Path, algorithm: str | None, target: str, relays: bool) -> View:
    """Route every topic over a tree of links.

    Every message then reaches every subscriber once, without loops. Trees are shallow; with --prices each topic takes
    its cheapest, with --rates too the one of least traffic times price. The plan holds no passwords; `topicloom render`
    makes configurations of it.

    Without OVERLAY the links are designed, by a fixed number of rounds of search: the same input gives the same plan.
    Fleets with brokers that refuse cycles get a tree, fleets of more than 3,000 brokers the links of low-oda.
    """
    from topicloom.brokers import BrokenTopicsError, make_plan, write_plan
    from topicloom.cli.progress import COMPILING
    from topicloom.metrics.trees import price_trees, tree_messages
    from topicloom.views import plans

    fleet, interest = run.brokers, run.interest
    inputs = [run.subscriptions, run.shared["fleet"], *filter(None, [overlay])]
    output.require_writable(out, *inputs, ending=".json")
    if overlay is not None and algorithm is not None:
        raise InputError("algorithm is for plans without an overlay; leave one of them out", "algorithm", "overlay")
    fleet.require_brokers(interest.node_names)
    if run.given("target") and all(fleet.brokers[name].kind for name in interest.node_names):
        raise InputError(f"{fleet.where}: gives the kind of each broker; leave out target", "target")
    one_tree = _has_one_tree(fleet, run, target)
    links = _designed(run, fleet, algorithm, one_tree=one_tree) if overlay is None else run.overlay(overlay)
    prices, rates = run.prices, run.rates
    # In one tree there is one path, whatever it costs.
    routed_by: Prices | None = None if overlay is None and one_tree else prices
    try:
        made = run.step(
            "routing topics",
            make_plan,
            interest,
            links,
            fleet,
            target=target,
            relays=relays,
            prices=routed_by,
            rates=rates,
            if_slow=COMPILING,
        )
    except BrokenTopicsError as error:
        blocked = None if overlay is not None else blocked_line(links, fleet.constraints)
        run.refuse(error if blocked is None else InputError(blocked), plans.not_connected(error.broken))
    write_plan(made, out)
    traffic = None if rates is None else rates.over(interest)
    costs: dict[str, float | None] = {} if prices is None else {**price_trees(made.trees, prices).to_dict()}
    costs |= {} if traffic is None else tree_messages(made.trees, traffic, prices).to_dict()
    return plans.plan(made, links, fleet, costs, traffic, out, designed=overlay is None)


def _has_one_tree(fleet: Fleet, run: Run, target: str) -> bool:
    """Whether a broker of the plan refuses cycles of links."""
    from topicloom.brokers.kinds import kind_of

    return any(kind_of(fleet.brokers[name], target).one_tree for name in run.interest.node_names)


def _designed(run: Run, fleet: Fleet, algorithm: str | None, *, one_tree: bool) -> Overlay:
    """Links for the subscriptions within the limits of the fleet, by prices if there are any."""
    from topicloom.designers import DESIGNERS, DesignProblem
    from topicloom.designers.contract import RATES
    from topicloom.designers.local_search import ROUNDS_BY_NODE
    from topicloom.designers.run import require_honoured
    from topicloom.designers.search import SEARCHED_NODES

    nodes = run.interest.node_count
    if algorithm is None:
        algorithm = "tree" if one_tree else "search" if nodes <= SEARCHED_NODES else "low-oda"
    # The number of rounds is written into the plan, so that the plan says all that it was made by.
    parameters: dict[str, Value] = {}
    if algorithm == "search":
        parameters = {"rounds": ROUNDS_BY_NODE * nodes, "aim": "links" if run.prices is None else "price"}
    prepared = DESIGNERS.prepare(algorithm, 0, parameters)
    problem = DesignProblem.of(
        run.interest,
        constraints=None if fleet.constraints.empty else constraints_of(fleet, run.interest),
        prices=run.prices,
        rates=run.rates if prepared.algorithm.honours >= RATES else None,
        seed=0,
    )
    require_honoured(prepared.algorithm, problem.asks)
    made = run.design(prepared, problem)
    if run.status:
        # Links of a search that was stopped are not those that the plan says.
        raise KeyboardInterrupt
    return made.overlay
