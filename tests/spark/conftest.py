"""One Spark session for all tests in this folder; starting one takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from topicloom.pipeline import SparkOptions, spark_session

OPTIONS = SparkOptions(master="local[2]", driver_memory="1g", conf={"spark.sql.shuffle.partitions": "4"})


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with spark_session(OPTIONS, "tests") as session:
        yield session
