"""`topicloom evaluate`."""

from __future__ import annotations

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.spark_work import spark_work

EXAMPLES = """\b
Example:
  topicloom evaluate fleet overlay.parquet
  topicloom evaluate fleet overlay.parquet --topics topics.parquet \\
      --master spark://host:7077
"""


def command(
    *,
    folder: options.IngestFolder,
    overlay: options.OverlayFile,
    topics: options.TopicsOut = None,
    no_diameters: options.NoDiameters = False,
    spark: options.Spark,
    printing: options.Printing,
) -> None:
    """Measure an overlay on Spark, topic by topic.

    Gives what `measure` gives, to the last digit, for subscriptions that need not fit into the memory of one machine.
    """
    from topicloom.model.overlay import part_name
    from topicloom.spark.evaluate import evaluate
    from topicloom.spark.ingest import Ingested
    from topicloom.views import designs

    Ingested.open(folder)
    checked_paths.require_readable(overlay / part_name(0) if overlay.is_dir() else overlay)
    if topics is not None:
        checked_paths.require_writable(topics, overlay)
    with spark_work(spark, printing, "topicloom evaluate") as work:
        doing = ["measuring"]
        result = work.do(
            lambda: doing[-1],
            lambda session: evaluate(session, folder, overlay, diameters=not no_diameters, progress=doing.append),
        )
    if topics is not None:
        result.topics.write(topics)
    if printing.json:
        output.print_json(result.measures.to_dict())
        return
    output.show(designs.measures(result.measures))
    if topics is not None:
        printing.written(topics, "topics")
