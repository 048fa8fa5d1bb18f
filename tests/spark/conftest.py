"""One Spark session for all tests in this folder; starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from topicloom.pipeline import SparkOptions, spark_session

# Java's thorough compiler does not pay in runs of a second.
HASTY = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
CONF = {"spark.sql.shuffle.partitions": "2", "spark.driver.extraJavaOptions": HASTY}
OPTIONS = SparkOptions(master="local[2]", driver_memory="1g", conf=CONF)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with spark_session(OPTIONS, "tests") as session:
        yield session
