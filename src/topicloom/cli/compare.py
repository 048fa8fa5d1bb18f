"""`topicloom compare`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli import output
from topicloom.cli import typer_options as options
from topicloom.cli.design_work import constraints_of, designer_options, proved, run_designer, tell_of_blocked
from topicloom.cli.options import prepared_each
from topicloom.cli.progress import Working
from topicloom.cli.typer_options import taking
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.designers import DesignRun
    from topicloom.model import Prices


EXAMPLES = """\b
Example:
  topicloom compare subs.parquet
  topicloom compare subs.parquet --algorithms gpm,random-m --max-degree 8
  topicloom compare subs.parquet --fleet fleet.toml --prices latency.csv
"""

DEFAULT_ALGORITHMS = "gm,minmax-oda,low-oda,cd-oda-2,ring-per-topic"


@taking(designer_options)
def command(
    *,
    subs: options.InterestFile,
    algorithms: Annotated[
        str,
        typer.Option("--algorithms", "-a", metavar="NAMES", help="Names of designers, with commas between them."),
    ] = DEFAULT_ALGORITHMS,
    seed: options.Seed = 0,
    no_diameters: options.NoDiameters = False,
    bound: options.Bound = False,
    limits: options.FleetLimits,
    costs: options.PriceFile,
    printing: options.Printing,
    **parameters: Any,
) -> None:
    """Measure several designers side by side.

    Builds an overlay with each and writes nothing. Each designer gets those of the given options that it takes. With
    a fleet or prices, those of the usual ones are compared that know them.
    """
    from topicloom.designers import DESIGNERS, DesignProblem
    from topicloom.designers.contract import asked_for
    from topicloom.designers.run import require_honoured

    fleet = limits.read()
    asked = asked_for(fleet, costs.prices)
    if algorithms == DEFAULT_ALGORITHMS:
        algorithms = ",".join(name for name in algorithms.split(",") if asked <= DESIGNERS[name].honours)
    each = prepared_each(DESIGNERS, algorithms, seed, parameters)
    for prepared in each:
        require_honoured(prepared.algorithm, asked)
    with printing.working() as working:
        interest = subs.read(working)
        constraints = constraints_of(fleet, interest)
        prices = costs.read(fleet, interest)
        problem = DesignProblem.of(interest, constraints=constraints, prices=prices, seed=seed)
        results = [run_designer(working, prepared, problem) for prepared in each]
        rows = [_measured(working, result, prices, diameters=not no_diameters) for result in results]
        bounds = proved(working, interest) if bound else {}
    rows = [row | bounds for row in rows]
    if printing.json:
        output.print_json(rows)
    else:
        _print(rows, diameters=not no_diameters)
    if constraints is not None:
        any(tell_of_blocked(result.overlay, constraints) for result in results)


def _measured(working: Working, result: DesignRun, prices: Prices | None, *, diameters: bool) -> dict[str, Any]:
    from topicloom.metrics import measure, measure_prices

    overlay = result.overlay
    interest, provenance = overlay.interest, overlay.provenance
    assert provenance is not None
    name = provenance.algorithm
    measures = working.do(f"measuring {name}", lambda: measure(interest, overlay, diameters=diameters))
    return {
        "designer": name,
        "parameters": dict(provenance.parameters),
        "seed": provenance.seed,
        **measures.to_dict(),
        **({} if prices is None else measure_prices(interest, overlay, prices).to_dict()),
        "seconds": result.seconds,
    }


def _print(rows: Sequence[dict[str, Any]], *, diameters: bool) -> None:
    columns: list[tuple[str, str, Callable[[Any], output.Cell]]] = [
        ("designer", "designer", str),
        ("links", "links", numbers.count),
        ("avg\ndegree", "average_degree", numbers.mean),
        ("max\ndegree", "max_degree", numbers.count),
        ("support", "support", numbers.share),
        ("mean\ndiam.", "mean_topic_diameter", numbers.mean),
        ("max\ndiam.", "max_topic_diameter", numbers.count),
        ("relays", "relays", numbers.count),
        ("unreach-\nable", "unreachable", numbers.count),
        ("seconds", "seconds", numbers.seconds),
    ]
    if "price" in rows[0]:
        columns[-1:-1] = [("price", "price", numbers.mean), ("longest\nway", "longest_way", numbers.mean)]
    columns = [column for column in columns if diameters or "diameter" not in column[1]]
    for title, measure, least in (("links", "links", "links_bound"), ("max deg.", "max_degree", "max_degree_bound")):
        if least in rows[0]:
            columns.append((f"{title}\n/ bound", f"{measure} / bound", numbers.mean))
            rows = [row | {f"{measure} / bound": _ratio(row, measure, least)} for row in rows]
    output.print_table(
        [header for header, _, _ in columns],
        [[show(row[key]) for _, key, show in columns] for row in rows],
    )


def _ratio(row: dict[str, Any], measure: str, least: str) -> float | None:
    """How far from the best an overlay may be; what leaves topics in pieces is not compared with what does not."""
    return row[measure] / row[least] if row["topic_connected"] and row[least] else None
