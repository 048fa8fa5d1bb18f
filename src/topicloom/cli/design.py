"""`topicloom design`."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.errors import InputError
from topicloom.views.view import View

if TYPE_CHECKING:
    from topicloom.designers import Designer
    from topicloom.model import Overlay
    from topicloom.registry import Prepared, Value


EXAMPLES = """
  topicloom design subs.parquet --algorithm gm --out overlay.parquet
  topicloom design subs.csv.gz --algorithm gpm --max-degree 8 \\
      --out overlay.parquet
  topicloom design subs.parquet --algorithm gpa --budget-ratio 0.5 \\
      --out overlay.parquet --json
  topicloom design subs.parquet --algorithm low-oda --fleet fleet.toml \\
      --out overlay.parquet
  topicloom design subs.parquet --algorithm gm --fleet fleet.toml \\
      --prices latency.csv --out overlay.parquet
  topicloom design subs.parquet --algorithm search --seconds 30 \\
      --out overlay.parquet
  topicloom design subs.parquet --algorithm search --from overlay.parquet \\
      --out better.parquet
  topicloom design fleet --algorithm backbone --spark \\
      --out overlay.parquet
"""


@command("design", examples=EXAMPLES, late=options.of_designers)
@options.subscriptions
@options.option("--algorithm", "-a", metavar="NAME", required=True, help="Designer; `topicloom designers` lists them.")
@options.file(
    "--out",
    "-o",
    metavar="OVERLAY",
    required=True,
    help="Parquet file for the links; on Spark also a folder.",
)
@options.file("--from", "begin", metavar="OVERLAY", help="Overlay to begin with, for search.")
@options.seed
@options.fleet
@options.prices
@options.rates
@options.flag("--spark", "on_spark", help="Design on Spark, with backbone; SUBS is a folder of `topicloom ingest`.")
@options.spark
def design(
    run: Run, algorithm: str, out: Path, begin: Path | None, seed: int, on_spark: bool, **parameters: Any
) -> View:
    """Choose the links that connect every topic.

    A link joins two nodes that want the same topic. The designer adds links until every topic is connected or its
    budget is spent. Exit status 1 if limits of the fleet or of nodes keep a topic from being connected. Ctrl-C ends
    search with its best links so far.
    """
    from topicloom.designers import DESIGNERS
    from topicloom.designers.contract import BEGIN
    from topicloom.views import designs

    prepared = DESIGNERS.prepare(algorithm, seed, parameters)
    run.require_honoured(prepared.algorithm, frozenset() if begin is None else BEGIN)
    if on_spark:
        view, support = _design_on_spark(run, prepared, out)
    else:
        run.require_no_spark()
        output.require_writable(out, run.subscriptions, *([] if begin is None else [begin]))
        problem = run.problem(seed)
        if begin is not None:
            problem = replace(problem, begin=run.overlay(begin))
        made = run.design(prepared, problem)
        made.overlay.write(out)
        view, support = designs.design(made, out), made.support
        if support < 1:
            run.report_blocked(made.overlay)
    if support < 1 and not run.status and prepared.name == "search":
        run.finding(_unconnected(made.overlay, prepared.parameters.get("max_degree")))
    if support < 1 and not run.status and prepared.name == "backbone":
        run.finding(f"not all topics are connected: --max-degree {prepared.parameters.get('max_degree')} is too low")
    return view


def _unconnected(overlay: Overlay, max_degree: Value | None) -> str:
    from topicloom.designers import blocked_topics
    from topicloom.model import Constraints
    from topicloom.views.numbers import count_of

    topics = blocked_topics(overlay, Constraints()).topics
    shown = ", ".join(f"'{topic}'" for topic in topics[:3])
    more = f" and {len(topics) - 3:,} more" if len(topics) > 3 else ""
    reason = "as in the overlay to begin with" if max_degree is None else f"--max-degree {max_degree} is too low"
    return f"{count_of(len(topics), 'topic')} not connected: {shown}{more}; {reason}"


def _design_on_spark(run: Run, prepared: Prepared[Designer], out: Path) -> tuple[View, float]:
    from topicloom.cli.spark_work import on_spark
    from topicloom.spark.design import design_on_spark, is_file, require_backbone, require_place, write_design
    from topicloom.spark.ingest import Ingested
    from topicloom.views import designs

    for name in ("fleet", "prices", "rates", "filters"):
        if run.shared[name] is not None:
            raise InputError(f"{name} is not for designs on Spark; leave out spark, or {name}", name, "spark")
    settings = run.spark_options()
    require_backbone(prepared.name)
    folder = run.subscriptions
    if is_file(out):
        output.require_writable(out, folder)
    else:
        require_place(out)
    Ingested.open(folder)
    doing = [prepared.name]
    with on_spark(run.working, settings, "topicloom design") as work:
        began = time.perf_counter()
        made = work.do(lambda: doing[-1], lambda session: design_on_spark(session, folder, prepared, doing.append))
        work.do(lambda: f"writing {out.name}", lambda session: write_design(session, folder, made, out))
        seconds = time.perf_counter() - began
    return designs.design_on_spark(made, seconds, out), made.support
