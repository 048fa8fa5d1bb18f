"""Raw data, large data and many runs on Spark. No other room imports pyspark.

- `session`: sessions, settings, Java.
- `interned`: an interest as data frames, which steps take and give. `shared`: what every task of a job needs.
- `clean`, `intern`: raw rows to an interest; `packs`: many pairs in one value.
- `places`: where interests are read from and written to.
- `ingest`: raw files to an interest at a place; `raw` reads files of all formats, `lines` delimited text.
- `profile`, `distributions`: what an interest looks like. `sample`: parts of a graph.
- `links`: links by id and by topic. `evaluate`: measures, topic by topic. `design`: the backbone designer.
- `summarize`: rates from message histories. `stream`: an overlay repaired by batches of events.
- `cells`: many runs that can be stopped and go on. `sweep`, `sweep_spec`: grids that users describe.
"""

from __future__ import annotations

from topicloom.spark.clean import Cleaned, clean
from topicloom.spark.design import design
from topicloom.spark.evaluate import Evaluation, evaluate
from topicloom.spark.intern import intern
from topicloom.spark.interned import Interned, Totals
from topicloom.spark.places import read_interest, write_interest
from topicloom.spark.profile import Profile, profile
from topicloom.spark.sample import sample
from topicloom.spark.session import SparkOptions, send_package, spark_session
from topicloom.spark.stream import current, event_lines, follow
from topicloom.spark.summarize import Summary, rates, summarize
from topicloom.spark.sweep import sweep

__all__ = [
    "Cleaned",
    "Evaluation",
    "Interned",
    "Profile",
    "SparkOptions",
    "Summary",
    "Totals",
    "clean",
    "current",
    "design",
    "evaluate",
    "event_lines",
    "follow",
    "intern",
    "profile",
    "rates",
    "read_interest",
    "sample",
    "send_package",
    "spark_session",
    "summarize",
    "sweep",
    "write_interest",
]
