"""`topicloom spark rates`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom spark rates log.csv.gz --space net/space.parquet --out summary
  cp summary/rates.parquet net
"""


@command("rates", examples=EXAMPLES)
@click.argument("inputs", metavar="LOG...", nargs=-1, required=True, help="CSV, TSV, JSON Lines or Parquet files.")
@options.file("--space", required=True, help="Table of the content space; its attributes are columns of LOG.")
@options.file("--out", "-o", metavar="DIR", required=True, help="Local folder to write.")
@options.raw_rows("messages")
@options.option("--user-column", metavar="NAME", default="user", show_default=True, help="Column that names the user.")
@options.option(
    "--time-column", metavar="NAME", default="time", show_default=True, help="Seconds, or dates with times."
)
@options.option("--seconds", metavar="X", type=options.NUMBER, help="Time that LOG spans.  [default: first to last]")
@options.spark
def rates(
    run: Run,
    inputs: tuple[str, ...],
    space: Path,
    out: Path,
    input_format: str | None,
    user_column: str,
    time_column: str,
    seconds: float | None,
    max_bad: float,
) -> View:
    """Turn message histories into rates.

    LOG has a row for each message: its user, its attributes and its time. DIR gets rates.parquet, as a network has it,
    and sums by user and by channel. Messages that cannot be placed go to DIR/rejected with the reason.
    """
    from topicloom._version import __version__
    from topicloom.content.tables import read_space
    from topicloom.io.tables import write_parquet
    from topicloom.io.whole import MANIFEST, replacing_folder, require_replaceable
    from topicloom.spark.places import location, require_inputs
    from topicloom.spark.summarize import read_messages, summarize
    from topicloom.views import summaries

    output.require_readable(space)
    cells = read_space(space)
    require_replaceable(out)
    require_inputs(list(inputs))
    with run.on_spark("rates") as work, replacing_folder(out) as folder:
        found = work.do(
            "counting messages",
            lambda session: summarize(
                read_messages(session, inputs, input_format),
                cells,
                user=user_column,
                time=time_column,
                seconds=seconds,
                max_bad=max_bad,
            ),
        )
        if found.bad:
            work.do("writing", lambda _: found.rejected.write.parquet(location(str(folder / "rejected"))))
        for name, table in (("rates", found.rates), ("users", found.by("user")), ("channels", found.by("channel"))):
            write_parquet(table, folder / f"{name}.parquet")
        facts = summaries.facts(found)
        manifest = {"kind": "topicloom summary", "fingerprint": None, "version": __version__, **facts}
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return summaries.summary(found, out)
