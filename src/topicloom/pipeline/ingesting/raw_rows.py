"""Raw rows of files as Spark reads them, in one shape for all formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from topicloom.errors import InputError
from topicloom.files.ingest_folder import ROLE
from topicloom.files.name_tables import filters_said, require_columns
from topicloom.pipeline.ingesting.delimited import BLANK, Layout, split_header
from topicloom.pipeline.ingesting.ingest_options import IngestOptions
from topicloom.pipeline.ingesting.row_cleaning import INTERNAL, SplitRows, Splitting

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_SEPARATORS = {"csv": ",", "tsv": "\t"}
NOT_JSON = "not a JSON object"
_PLACE = ("_metadata.file_path as file", "_metadata.file_block_start as block")
# Types that are names, be it as their digits.
_NAME_TYPES = ("string", "tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True)
class RawRows:
    """Rows as `rows.CleanRows` takes them, and how it is to split them if they are still lines."""

    frame: DataFrame
    splitting: Splitting | None = None


def raw_rows(spark: SparkSession, format_: str, paths: Sequence[str], options: IngestOptions) -> RawRows:
    """The rows of files of one format."""
    from pyspark.errors import AnalysisException, ParseException

    read = {"parquet": _parquet, "jsonl": _json_lines}.get(format_, _delimited)
    try:
        return read(spark, format_, list(paths), options)
    except ParseException as error:
        problem = f'where "{options.where}": is not a condition of Spark SQL ({_first_line(error)})'
        raise InputError(problem, "where") from None
    except AnalysisException as error:
        if options.where is None:
            raise
        raise InputError(f'where "{options.where}": {_first_line(error)}', "where") from None


def readable_path(uri: str) -> str:
    """A path as a person writes it, from what Spark calls a file."""
    return unquote(re.sub(r"^file:/+", "/", uri))


def _delimited(spark: SparkSession, format_: str, paths: list[str], options: IngestOptions) -> RawRows:
    separator = options.separator or _SEPARATORS[format_]
    first = _first_line_of(spark, paths)
    where = readable_path(first[0])
    fields = split_header(first[1].removeprefix("\ufeff"), separator)
    header = tuple(fields) if options.header else None
    if len(fields) < 2:
        raise InputError(f"has one column, '{fields[0]}'; is separator '{separator}' right?", "separator", file=where)
    wanted = _positions(fields, options, where)
    lines = spark.read.text(paths).selectExpr("value", *_PLACE)
    if options.where is None:
        return RawRows(lines, Splitting(Layout(separator, len(fields), wanted), header))
    names = tuple(fields) if options.header else tuple(f"_{position + 1}" for position in range(len(fields)))
    require_columns(names, names, where)
    split = SplitRows(Splitting(Layout(separator, len(fields), tuple(range(len(fields)))), header), names)
    types = ["string", "bigint", "string", "string", *("string" for _ in names)]
    columns = ", ".join(f"{_quoted(name)} {kind}" for name, kind in zip([*INTERNAL, *names], types, strict=True))
    return RawRows(_picked(lines.mapInArrow(split, columns), options, *(names[place] for place in wanted)))


def _json_lines(spark: SparkSession, _: str, paths: list[str], options: IngestOptions) -> RawRows:
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType, StructField, StructType

    if options.graph is not None and (options.node_column is None or options.topic_column is None):
        raise InputError(
            "JSON Lines have no first and second column; name them with node_column and topic_column",
            *("node_column", "topic_column"),
        )
    wanted = _two_names(options, ["node", "topic"])
    if options.graph is None and options.role_column != "":
        wanted = (*wanted, options.role_column or ROLE)
    names = list(wanted)
    if options.where is not None:
        # A condition may name any column, so all of them must be found first.
        found = spark.read.json(paths, primitivesAsString=True, mode="PERMISSIVE").columns
        names += [name for name in found if name not in (*names, "_corrupt_record")]
    schema = StructType([StructField(name, StringType()) for name in [*names, "_corrupt_record"]])
    parsed = sql.from_json("value", schema, {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt_record"})
    rows = spark.read.text(paths).selectExpr("value", *_PLACE).withColumn("parsed", parsed)
    wrong = sql.when(sql.col("value") == "", BLANK).when(
        sql.col("parsed").isNull() | sql.col("parsed._corrupt_record").isNotNull(), NOT_JSON
    )
    known = _internal(sql.col("file"), sql.col("block"), sql.col("value"), wrong)
    rows = rows.select(*known, *(sql.col(f"parsed.{_quoted(name)}") for name in names))
    return RawRows(_picked(rows, options, *wanted))


def _parquet(spark: SparkSession, _: str, paths: list[str], options: IngestOptions) -> RawRows:
    from pyspark.sql import functions as sql

    rows = spark.read.parquet(*paths)
    where = readable_path(paths[0])
    if len(rows.columns) < 2:
        raise InputError("has one column; expected nodes in one and topics in another", file=where)
    wanted = _two_names(options, rows.columns[:2] if options.graph else ["node", "topic"])
    if options.graph is None and (options.role_column or (options.role_column is None and ROLE in rows.columns)):
        wanted = (*wanted, options.role_column or ROLE)
    require_columns(rows.columns, wanted, where)
    for name in wanted:
        kind = dict(rows.dtypes)[name]
        if kind not in _NAME_TYPES:
            raise InputError(f"column '{name}' holds {kind}, not names (strings)", file=where)
    nothing = sql.lit(None).cast("string")
    known = _internal(sql.col("_metadata.file_path"), sql.col("_metadata.file_block_start"), nothing, nothing)
    return RawRows(_picked(rows.select(*known, *map(_column, rows.columns)), options, *wanted))


def _internal(*columns: Column) -> list[Column]:
    return [column.alias(name) for column, name in zip(columns, INTERNAL, strict=True)]


def _two_names(options: IngestOptions, default: list[str]) -> tuple[str, ...]:
    node, topic = options.node_column or default[0], options.topic_column or default[1]
    if node == topic:
        raise InputError(f"nodes and topics cannot both be in column '{node}'")
    return node, topic


def _picked(rows: DataFrame, options: IngestOptions, node: str, topic: str, role: str | None = None) -> DataFrame:
    """The columns that cleaning needs, and whether the condition holds."""
    from pyspark.sql import functions as sql

    kept = (sql.lit(True) if options.where is None else sql.expr(f"({options.where})")).alias("kept")
    kind = dict(rows.select(kept).dtypes)["kept"]
    if kind != "boolean":
        raise InputError(f'where "{options.where}": is {kind}, not a condition', "where")
    return rows.select(
        *(sql.col(name).alias(name.strip("_")) for name in INTERNAL),
        _column(node).cast("string").alias("node"),
        _column(topic).cast("string").alias("topic"),
        (sql.lit(None) if role is None else _column(role)).cast("string").alias("role"),
        kept,
    )


def _positions(fields: list[str], options: IngestOptions, where: str) -> tuple[int, ...]:
    """Where the columns of nodes and topics are, from 0, and that of roles if there is one."""
    given = (options.node_column, options.topic_column)
    by_place = not options.header or options.graph is not None
    default = (None, None) if by_place else ("node", "topic")
    places = []
    for place, (column, name) in enumerate(zip(given, default, strict=True)):
        wanted = column or name
        if wanted is None:
            places.append(place)
        else:
            places.append(_place_of(wanted, fields, options, where))
    if places[0] == places[1]:
        raise InputError(f"nodes and topics cannot both be in column {places[0] + 1}", file=where)
    if options.role_column:
        places.append(_place_of(options.role_column, fields, options, where))
    elif options.role_column is None and not by_place and ROLE in fields:
        places.append(fields.index(ROLE))
    return tuple(places)


def _place_of(column: str, fields: list[str], options: IngestOptions, where: str) -> int:
    if not options.header:
        return _position(column, len(fields), where)
    require_columns(fields, [column], where)
    return fields.index(column)


def _position(text: str, width: int, where: str) -> int:
    if not text.isdecimal():
        raise InputError(f"column '{text}': without a header columns are numbers, the first being 1")
    if not 1 <= int(text) <= width:
        raise InputError(f"no column {text}; it has {width}", file=where)
    return int(text) - 1


def _first_line_of(spark: SparkSession, paths: list[str]) -> tuple[str, str]:
    """The first of the files that is not empty, and its first line but for one that names filters."""
    for path in paths:
        top = spark.read.text(path).selectExpr("_metadata.file_path", "value").head(2)
        if len(top) == 2 and filters_said(str(top[0][1])):
            top = top[1:]
        if top:
            return str(top[0][0]), str(top[0][1])
    raise InputError("is empty; expected a subscription a line", file=readable_path(paths[0]))


def _column(name: str) -> Column:
    from pyspark.sql import functions as sql

    return sql.col(_quoted(name))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _first_line(error: Exception) -> str:
    from topicloom.pipeline.spark.session import in_one_line

    return in_one_line(error)
