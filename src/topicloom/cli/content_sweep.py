"""`topicloom content sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from topicloom.cli import content_compare, content_options, output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.grid_work import run_and_write
from topicloom.views import numbers

if TYPE_CHECKING:
    import pyarrow


EXAMPLES = """\b
Example:
  topicloom content sweep --users 1000,2000,5000 --users-per-broker 100 \\
      --channels 100 --seeds 20 --out figure9.parquet
  topicloom content sweep --users 10000 --users-per-broker 100 \\
      --channels 100 --access-to-core 1,2,4,8 --seeds 20 \\
      --out figure10.parquet
"""


def command(
    *,
    users: Annotated[str, typer.Option("--users", metavar="N,...", help="Numbers of users.")],
    users_per_broker: Annotated[
        str, typer.Option("--users-per-broker", metavar="N,...", help="Users for each broker.")
    ],
    channels: Annotated[int, typer.Option("--channels", metavar="N", help="How many channels.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Parquet file to write.")],
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="Networks of each kind, with seeds from 1.")] = 10,
    access_to_core: Annotated[
        str, typer.Option("--access-to-core", metavar="X,...", help="Average access by average core price.")
    ] = "1",
    width: Annotated[
        float | None,
        typer.Option("--width", metavar="X", help="How wide subscriptions are, from 0 to 1.", show_default=False),
    ] = None,
    prices: Annotated[
        Literal["plane", "independent"], typer.Option("--prices", help="Points in a plane, or random numbers.")
    ] = "plane",
    algorithms: Annotated[
        str, typer.Option("--algorithms", "-a", metavar="NAMES", help="Names with commas between them.")
    ] = content_compare.DEFAULT_ALGORITHMS,
    routing: content_options.Routing = "shared",
    spark: options.Spark,
    printing: options.Printing,
) -> None:
    """Run algorithms on many generated networks, on Spark.

    Each algorithm on each network is one task, and a row of FILE: its parameters, costs, seconds, and its error if it
    failed. Runs that are done are kept in FILE.cells: after Ctrl-C or a crash the same command goes on, and runs that
    failed are tried again.
    """
    from topicloom.spark.content_sweep import ContentSweep, plan_content_sweep, run_content_sweep, write_content_sweep

    asked = ContentSweep(
        users=tuple(int(number) for number in _numbers("--users", users, whole=True)),
        users_per_broker=tuple(int(number) for number in _numbers("--users-per-broker", users_per_broker, whole=True)),
        channels=channels,
        algorithms=tuple(dict.fromkeys(name.strip() for name in algorithms.split(","))),
        seeds=seeds,
        access_to_core=tuple(_numbers("--access-to-core", access_to_core)),
        width=width,
        prices=prices,
        routing=routing,
    )
    asked.networks()
    checked_paths.require_writable(out)
    with printing.working(spark) as working:
        plan = working.do("looking for finished runs", lambda: plan_content_sweep(asked, out))
        table = run_and_write(
            working,
            spark,
            "content sweep",
            plan.grid,
            lambda session, watch, _: run_content_sweep(session, plan, watch),
            ("writing results", lambda errors: write_content_sweep(plan, errors)),
            "runs",
        )
    rows = _averages(table)
    if printing.json:
        output.print_json({"rows": rows, "out": str(out)})
        return
    output.print_table(
        ["algorithm", "users", "brokers", "access\n/ core", "networks", "random\n/ this", "seconds"],
        [
            [
                row["algorithm"],
                numbers.count(row["users"]),
                numbers.count(row["brokers"]),
                numbers.amount(row["access_to_core"]),
                numbers.count(row["networks"]),
                *("" if row[name] is None else numbers.mean(row[name]) for name in ("cost_reduction_ratio", "seconds")),
            ]
            for row in rows
        ],
    )
    failed = table.num_rows - table["error"].null_count
    if failed:
        output.say(f"{numbers.count_of(failed, 'run')} failed; see the column error")
    printing.written(out)


def _numbers(option: str, text: str, *, whole: bool = False) -> list[float]:
    from topicloom.errors import InputError

    try:
        return [int(part) if whole else float(part) for part in text.split(",")]
    except ValueError:
        kind = "whole numbers" if whole else "numbers"
        raise InputError(f"{option} is '{text}'; give {kind} with commas between them") from None


def _averages(table: pyarrow.Table) -> list[dict[str, Any]]:
    keys = ["algorithm", "users", "brokers", "access_to_core"]
    grouped = table.group_by(keys, use_threads=False).aggregate(
        [("seed", "count"), ("cost_reduction_ratio", "mean"), ("seconds", "mean")]
    )
    renamed = grouped.rename_columns([*keys, "networks", "cost_reduction_ratio", "seconds"])
    rows: list[dict[str, Any]] = renamed.to_pylist()
    return rows
