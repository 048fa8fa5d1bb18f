"""`topicloom compare`."""

from __future__ import annotations

from typing import Any

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom compare subs.parquet
  topicloom compare subs.parquet --algorithms gpm,random-m --max-degree 8
  topicloom compare subs.parquet --fleet fleet.toml --prices latency.csv
"""

DEFAULT_ALGORITHMS = "gm,minmax-oda,low-oda,cd-oda-2,ring-per-topic,search"


@command("compare", examples=EXAMPLES, late=options.of_designers)
@options.subscriptions
@options.option(
    "--algorithms",
    "-a",
    metavar="NAMES",
    default=DEFAULT_ALGORITHMS,
    show_default=True,
    help="Names of designers, separated by commas.",
)
@options.seed
@options.no_diameters
@options.bound
@options.fleet
@options.prices
def compare(run: Run, algorithms: str, seed: int, no_diameters: bool, bound: bool, **parameters: Any) -> View:
    """Measure several designers side by side.

    Build an overlay with each; nothing is written. Each designer gets those of the given parameters that it takes.
    With a fleet or prices, the default is those designers of the list that honour them.
    """
    from topicloom.designers import DESIGNERS
    from topicloom.designers.search import SEARCHED_NODES
    from topicloom.metrics import bound as lower_bounds
    from topicloom.metrics import measure, measure_prices
    from topicloom.views import designs

    if algorithms == DEFAULT_ALGORITHMS:
        usual = [name for name in algorithms.split(",") if run.asks <= DESIGNERS[name].honours]
        if run.interest.node_count > SEARCHED_NODES:
            usual.remove("search")
        algorithms = ",".join(usual)
    each = options.prepared_each(DESIGNERS, algorithms, seed, parameters)
    for prepared in each:
        run.require_honoured(prepared.algorithm)
    problem = run.problem(seed)
    made = [run.design(prepared, problem) for prepared in each]
    rows = []
    for prepared, one in zip(each, made, strict=True):
        measures = run.step(
            f"measuring {prepared.name}", measure, run.interest, one.overlay, diameters=not no_diameters
        )
        prices = None if run.prices is None else measure_prices(run.interest, one.overlay, run.prices)
        rows.append((one, measures, prices))
    bounds = run.step("computing bounds", lower_bounds, run.interest, prices=run.prices) if bound else None
    any(run.report_blocked(one.overlay, status=0) for one in made)
    return designs.comparison(rows, bounds, diameters=not no_diameters)
