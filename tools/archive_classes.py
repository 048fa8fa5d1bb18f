"""Makes the archive of Spark's Java classes, unless it is there: `./dev test` starts a dozen sessions of Spark."""

from __future__ import annotations

import sys

from topicloom import InputError
from topicloom.pipeline import SparkOptions
from topicloom.pipeline.preparing import archive_classes
from topicloom.pipeline.spark.class_archive import archive_file
from topicloom.pipeline.spark.jvm import require_java, spark_home

try:
    if not archive_file(spark_home(), require_java()).is_file():
        archive_classes(SparkOptions(driver_memory="1g"))
except (InputError, OSError, RuntimeError) as error:
    print(f"dev: Spark starts slowly: {error}", file=sys.stderr)
