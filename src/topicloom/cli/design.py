"""`topicloom design`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.design_work import constraints_of, designer_options, run_designer, tell_of_blocked
from topicloom.cli.options import given
from topicloom.cli.spark_work import spark_work
from topicloom.cli.typer_options import taking
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.designers import Designer
    from topicloom.model import Overlay, Provenance
    from topicloom.registry import Prepared


EXAMPLES = """\b
Example:
  topicloom design subs.parquet --algorithm gm --out overlay.parquet
  topicloom design subs.csv.gz --algorithm gpm --max-degree 8 \\
      --out overlay.parquet
  topicloom design subs.parquet --algorithm gpa --budget-ratio 0.5 \\
      --out overlay.parquet --json
  topicloom design subs.parquet --algorithm low-oda --fleet fleet.toml \\
      --out overlay.parquet
  topicloom design subs.parquet --algorithm gm --fleet fleet.toml \\
      --prices latency.csv --out overlay.parquet
  topicloom design fleet --algorithm backbone --spark \\
      --out overlay.parquet
"""


@taking(designer_options)
def command(
    *,
    subs: options.InterestFile,
    algorithm: Annotated[
        str, typer.Option("--algorithm", "-a", metavar="NAME", help="One of those that `topicloom designers` lists.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="OVERLAY",
            help="Parquet file to write the links to; on Spark a name without ending is a folder of them.",
        ),
    ],
    seed: options.Seed = 0,
    on_spark: Annotated[
        bool, typer.Option("--spark", help="Design on Spark what `topicloom ingest` wrote, for backbone: same links.")
    ] = False,
    limits: options.FleetLimits,
    costs: options.PriceFile,
    messages: options.RateFile,
    spark: options.Spark,
    printing: options.Printing,
    **parameters: Any,
) -> None:
    """Build an overlay: links that connect every topic.

    Links join nodes that want the same topic, until each topic is connected or the budget is spent.
    """
    from topicloom.designers import DESIGNERS, DesignProblem
    from topicloom.designers.contract import asked_for
    from topicloom.designers.run import require_honoured

    prepared = DESIGNERS.prepare(algorithm, seed, given(parameters))
    fleet = limits.read()
    require_honoured(prepared.algorithm, asked_for(fleet, costs.prices, messages.rates))
    if on_spark:
        _require_not_on_spark(fleet=limits.fleet, prices=costs.prices, rates=messages.rates, filters=subs.filters)
        facts = _design_on_spark(prepared, subs.path, out, spark, printing)
    else:
        _require_no_spark(spark)
        checked_paths.require_writable(out, subs.path)
        with printing.working() as working:
            interest = subs.read(working)
            constraints = constraints_of(fleet, interest)
            prices = costs.read(fleet, interest)
            problem = DesignProblem.of(
                interest, constraints=constraints, prices=prices, rates=messages.read(), seed=seed
            )
            result = run_designer(working, prepared, problem)
            facts = working.do("measuring", lambda: _facts(result.overlay)) | {"seconds": result.seconds}
        result.overlay.write(out)
    facts["out"] = str(out)
    if printing.json:
        output.print_json(facts)
    else:
        _print(facts)
        printing.written(out)
    if facts["topic_connected"]:
        return
    if fleet is not None and tell_of_blocked(result.overlay, fleet.constraints):
        raise typer.Exit(1)
    if prepared.name == "backbone":
        _tell_of_pieces(facts)


def _require_not_on_spark(**given: object) -> None:
    from topicloom.errors import InputError

    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} is not for designs on Spark; leave out spark, or {name}", name, "spark")


def _require_no_spark(spark: options.Spark) -> None:
    from topicloom.errors import InputError

    for name in ("master", "spark_conf", "driver_memory", "verbose"):
        if getattr(spark, name):
            raise InputError(f"{name} is for designs on Spark; give spark too, or leave it out", name, "spark")


def _design_on_spark(
    prepared: Prepared[Designer], folder: Path, out: Path, spark: options.Spark, printing: options.Printing
) -> dict[str, Any]:
    from topicloom.spark.design import design_on_spark, is_file, require_backbone, require_place, write_design
    from topicloom.spark.ingest import Ingested

    require_backbone(prepared.name)
    if is_file(out):
        checked_paths.require_writable(out, folder)
    else:
        require_place(out)
    Ingested.open(folder)
    doing = [prepared.name]
    with spark_work(spark, printing, "topicloom design") as work:
        began = time.perf_counter()
        result = work.do(lambda: doing[-1], lambda session: design_on_spark(session, folder, prepared, doing.append))
        work.do(lambda: f"writing {out.name}", lambda session: write_design(session, folder, result, out))
        seconds = time.perf_counter() - began
    mergeable = result.subscriptions - result.topics
    support = result.merged / mergeable if mergeable else 1.0
    sizes = {"nodes": result.nodes, "topics": result.topics, "subscriptions": result.subscriptions}
    return _shown(result.provenance, sizes, len(result.links.source), result.max_degree, support) | {"seconds": seconds}


def _tell_of_pieces(facts: dict[str, Any]) -> None:
    """The limit was kept and the overlay is written, but it is not all that was asked for."""
    limit = facts["parameters"].get("max_degree")
    typer.echo(f"not all topics are connected: there is no room for more within --max-degree {limit}", err=True)
    raise typer.Exit(1)


def _facts(overlay: Overlay) -> dict[str, Any]:
    from topicloom.metrics import support_curve

    interest = overlay.interest
    support = float(support_curve(interest, overlay)[-1])
    sizes = {
        "nodes": interest.node_count,
        "topics": interest.topic_count,
        "subscriptions": interest.subscription_count,
    }
    assert overlay.provenance is not None
    facts = _shown(overlay.provenance, sizes, len(overlay), int(overlay.degrees.max()), support)
    if interest.roles is not None:
        facts |= {
            "published_unheard": interest.roles.unheard,
            "wanted_unpublished": interest.roles.unspoken,
            "of_brokers_alone": interest.roles.staying,
        }
    return facts


def _shown(
    provenance: Provenance, sizes: dict[str, int], links: int, max_degree: int, support: float
) -> dict[str, Any]:
    return {
        "designer": provenance.algorithm,
        "parameters": dict(provenance.parameters),
        "seed": provenance.seed,
        **sizes,
        "links": links,
        "average_degree": 2 * links / sizes["nodes"],
        "max_degree": max_degree,
        "support": support,
        "topic_connected": support == 1,
        **provenance.facts,
    }


# What roles left out or took for granted, where there is any.
_ROLES = {
    "published_unheard": "published, wanted by nobody",
    "wanted_unpublished": "wanted, subscribers taken to publish",
    "of_brokers_alone": "$SYS, left to each broker",
}


def _print(facts: dict[str, Any]) -> None:
    proved = []
    if "lower_bound" in facts:
        proved = [
            ("lower bound", numbers.count(facts["lower_bound"])),
            ("optimal", "yes" if facts["optimal"] else "no"),
        ]
    output.print_facts(
        [
            ("links", numbers.count(facts["links"])),
            ("average degree", numbers.mean(facts["average_degree"])),
            ("max degree", numbers.count(facts["max_degree"])),
            ("support", numbers.share(facts["support"])),
            *proved,
            *((label, numbers.count(facts[key])) for key, label in _ROLES.items() if facts.get(key)),
            ("seconds", numbers.seconds(facts["seconds"])),
        ]
    )
