"""`topicloom evaluate`."""

from __future__ import annotations

from topicloom.cli.designs.measure import print_measures
from topicloom.cli.shared import checked_paths, options, output
from topicloom.cli.shared.progress import Working
from topicloom.cli.shared.spark_work import on_spark, spark_options

EXAMPLES = """\b
Example:
  topicloom evaluate fleet overlay.parquet
  topicloom evaluate fleet overlay.parquet --topics topics.parquet \\
      --master spark://host:7077
"""


def command(
    folder: options.IngestFolder,
    overlay: options.OverlayFile,
    topics: options.TopicsOut = None,
    no_diameters: options.NoDiameters = False,
    master: options.Master = None,
    spark_conf: options.SparkConf = None,
    driver_memory: options.DriverMemory = None,
    verbose: options.Verbose = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure an overlay on Spark, topic by topic.

    Gives what `measure` gives, to the last digit, for subscriptions that need not fit into the memory of one machine.
    """
    from topicloom.pipeline.analysis.evaluate import evaluate
    from topicloom.pipeline.ingesting.ingested import Ingested

    settings = spark_options(master, spark_conf, driver_memory, verbose=verbose)
    Ingested.open(folder)
    checked_paths.require_readable(overlay)
    if topics is not None:
        checked_paths.require_writable(topics, overlay)
    with Working(quiet=quiet or verbose) as working, on_spark(working, settings, "topicloom evaluate") as spark:
        result = spark.do("measuring", lambda session: evaluate(session, folder, overlay, diameters=not no_diameters))
    if topics is not None:
        result.topics.write(topics)
    if json:
        output.print_json(result.measures.to_dict())
        return
    print_measures(result.measures)
    if topics is not None:
        output.say(f"topics written to {output.one_line(str(topics))}")
