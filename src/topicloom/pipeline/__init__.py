"""Everything that touches Spark: from raw data to interests, and work spread over many tasks.

No other package imports pyspark, and nothing here imports it before a session is asked for.

- `spark`: the session. `preparing`: what is done before a first run, so that it waits for less.
- `ingesting`: from raw files to an interest.
- `designing`: overlays designed on Spark.
- `analysis`: profiles, samples and evaluation of what was ingested; rates from message histories.
- `stream`: events as they come, an overlay mended by micro-batches of them.
- `grids`: the engine of many runs: cells, what is left of them, keeping what is done.
- `sweeps`: grids that users describe: of designers, and of content-based networks.
"""

from topicloom.pipeline.ingesting.ingest import ingest
from topicloom.pipeline.ingesting.ingest_options import IngestOptions
from topicloom.pipeline.ingesting.manifest import Counts, Manifest
from topicloom.pipeline.spark.session import SparkOptions, spark_session

__all__ = ["Counts", "IngestOptions", "Manifest", "SparkOptions", "ingest", "spark_session"]
