"""Raw data, large data and many runs on Spark. No other room imports pyspark.

- `session`: sessions, settings, Java. `preparing`: work done before a first run.
- `interned`: an interest as data frames, which steps take and give. `shared`: what every task of a job needs.
- `ingest`: raw files to an interest; `clean`, `raw_rows` and `intern` are its steps.
- `profile`, `profile_folder`, `neighbours`: distributions. `sample`: parts of a graph.
- `links`: links by id and by topic. `evaluate`: measures, topic by topic. `design`: the backbone designer.
- `summarize`: rates from message histories. `stream`: an overlay repaired by batches of events.
- `cells`: many runs that can be stopped and go on. `sweep`, `sweep_spec`: grids that users describe.
- `grid`: the same for the figures of papers, on folders of one machine.
"""

from __future__ import annotations

from topicloom.spark.clean import IngestOptions
from topicloom.spark.design import design
from topicloom.spark.evaluate import Evaluation, evaluate
from topicloom.spark.ingest import Counts, Manifest, ingest
from topicloom.spark.interned import Interned, Totals
from topicloom.spark.sample import sample
from topicloom.spark.session import SparkOptions, spark_session
from topicloom.spark.stream import current, event_lines, follow
from topicloom.spark.summarize import Summary, rates, summarize
from topicloom.spark.sweep import sweep

__all__ = [
    "Counts",
    "Evaluation",
    "IngestOptions",
    "Interned",
    "Manifest",
    "SparkOptions",
    "Summary",
    "Totals",
    "current",
    "design",
    "evaluate",
    "event_lines",
    "follow",
    "ingest",
    "rates",
    "sample",
    "spark_session",
    "summarize",
    "sweep",
]
