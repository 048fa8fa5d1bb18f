"""Data frames of Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TYPES = {
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.bool_(): "boolean",
    pa.binary(): "binary",
}


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Make a data frame of a table, which may be empty; Spark Connect then asks for types."""
    return spark.createDataFrame(table.replace_schema_metadata(None), types_of(table.schema))


def types_of(schema: pa.Schema) -> str:
    """The columns of a schema as Spark writes them."""
    return ", ".join(f"`{field.name}` {_TYPES[field.type]}" for field in schema)
