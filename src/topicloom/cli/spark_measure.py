"""`topicloom spark measure`."""

from __future__ import annotations

from pathlib import Path

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom spark measure fleet overlay.parquet
  topicloom spark measure s3a://data/fleet s3a://data/overlay \\
      --topics topics.parquet --master spark://host:7077
"""


@command("measure", examples=EXAMPLES)
@options.place
@options.links_place
@options.file("--topics", help="Parquet file for the measures of each topic.")
@options.no_diameters
@options.spark
def measure(run: Run, overlay: str, topics: Path | None, no_diameters: bool) -> View:
    """Measure an overlay of large subscriptions, topic by topic.

    Prints what `topicloom measure` prints, to the last digit, for subscriptions of any size.
    """
    from topicloom.spark import evaluate
    from topicloom.spark.links import read_links
    from topicloom.views import designs

    if topics is not None:
        output.require_writable(topics)
    doing = ["measuring"]
    with run.on_spark("measure") as work:
        interned = work.interned(run.place)
        links = work.do(f"reading {overlay}", lambda _: read_links(interned, overlay))
        found = work.do(
            lambda: doing[-1],
            lambda _: evaluate(interned, links, diameters=not no_diameters, progress=doing.append),
        )
    if topics is not None:
        found.topics.write(topics)
    return designs.measures(found.measures, topics=topics)
