"""Everything that touches Spark: from raw data to interests, and work spread over many tasks.

No other package imports pyspark, and nothing here imports it before a session is asked for.

The session:

- `session`: one Spark session for a run, quiet, stopped at the end.
- `settings`: which master, and the configuration a session starts with.
- `jvm`: starting Java, and saying in one line why it does not start.

Ingest, from raw files to an interest:

- `ingest`: the whole of it.
- `options`: what a person can choose.
- `inputs`: which files, and what kind each of them is.
- `reading`: raw rows of files as Spark reads them, in one shape for all formats.
- `rows`: raw rows to clean subscriptions and notes, in the tasks.
- `delimited`: lines to columns.
- `cleaning`: names that are trimmed, composed, neither empty nor too long.
- `graphs`: social graphs as subscriptions.
- `tally`: how many rows of each kind, and whether they are good enough.
- `quarantine`: bad rows with their file, line and reason.
- `interning`: names to dense ids in name order.
- `parts`: Parquet tables that tasks write part by part.
- `manifest`: what an ingest says about itself.
- `folder`: output folders that are whole or absent. `ingested`: reading what is in one.

Work on what ingest wrote:

- `evaluate`: the measures of an overlay, topic by topic.
- `sample`: a part of an interest. `neighbours`: who is next to whom. `shuffling`: a random order all agree on.
- `profile`: what an interest looks like. `distribution`: sizes and their CCDFs. `common_topics`: what pairs share.
  `designer_memory`: what designing it would take. `plots`: pictures of it.

Events as they come:

- `stream`: an overlay mended by micro-batches of events.

Content-based networks:

- `summarize`: message histories to rates. `content_sweep`: many generated networks.

Many runs:

- `jobs`: cells of work, each kept as soon as it is done.
- `sweep`: a grid of workloads, designers, parameters and seeds. `sweep_spec`: the file that says which.
  `sweep_plan`: what is left to do. `sweep_cells`: one run. `sweep_table`: the results. `sweep_watch`: how far it is.
"""

from topicloom.pipeline.ingest import ingest
from topicloom.pipeline.manifest import Counts, Manifest
from topicloom.pipeline.options import IngestOptions
from topicloom.pipeline.session import SparkOptions, spark_session

__all__ = ["Counts", "IngestOptions", "Manifest", "SparkOptions", "ingest", "spark_session"]
