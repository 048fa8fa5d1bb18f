"""`topicloom design`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run, unconnected_line
from topicloom.views.view import View

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
"""


@command("design", examples=EXAMPLES, late=options.of_designers)
@options.subscriptions
@options.option("--algorithm", "-a", metavar="NAME", required=True, help="Designer; `topicloom designers` lists them.")
@options.file(
    "--out",
    "-o",
    metavar="OVERLAY",
    required=True,
    help="Parquet file for the links.",
)
@options.file("--from", "begin", metavar="OVERLAY", help="Overlay to begin with, for search.")
@options.seed
@options.fleet
@options.prices
@options.rates
def design(run: Run, algorithm: str, out: Path, begin: Path | None, seed: int, **parameters: Any) -> View:
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
    output.require_writable(out, run.subscriptions, *([] if begin is None else [begin]))
    problem = run.problem(seed)
    if begin is not None:
        problem = replace(problem, begin=run.overlay(begin))
    made = run.design(prepared, problem)
    made.overlay.write(out)
    if made.support < 1:
        run.report_blocked(made.overlay)
    if made.support < 1 and not run.status and prepared.name == "search":
        most = prepared.parameters.get("max_degree")
        reason = (
            "as in the overlay to begin with" if most is None else f"search found no way within --max-degree {most}"
        )
        run.finding(unconnected_line(made.overlay, reason))
    if made.support < 1 and not run.status and prepared.name == "backbone":
        run.finding(f"not all topics are connected: --max-degree {prepared.parameters.get('max_degree')} is too low")
    return designs.design(made, out)
