"""Makes the archive of Spark's Java classes, unless it is there: `./dev test` starts a dozen sessions of Spark."""

from __future__ import annotations

import sys

from topicloom import InputError
from topicloom.spark import SparkOptions
from topicloom.spark.preparing import archive_classes
from topicloom.spark.session import archive_file, require_java, spark_home

try:
    if not archive_file(spark_home(), require_java()).is_file():
        archive_classes(SparkOptions(driver_memory="1g"))
except (InputError, OSError, RuntimeError) as error:
    print(f"dev: Spark starts slowly: {error}", file=sys.stderr)
