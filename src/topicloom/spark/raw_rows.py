"""Raw files as rows, counted, with rejected rows set aside.

Which files an ingest reads, and what kind each of them is.

Raw rows of files as Spark reads them, in one shape for all formats.

Bad rows with their file, line, reason and text.

How many rows of each kind an ingest has seen, and whether they are good enough to go on.
"""

from __future__ import annotations

import glob
import gzip
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet

from topicloom.errors import InputError
from topicloom.io.ingest_folder import ROLE
from topicloom.io.tables import FILTERS, filters_said, require_columns
from topicloom.model.filters import agreed_filters
from topicloom.spark.clean import (
    BLANK,
    COUNTED,
    FILTERED,
    FORMATS,
    HEADER,
    INTERNAL,
    LINES,
    OTHER_HEADER,
    IngestOptions,
    Layout,
    SplitRows,
    Splitting,
    split_header,
)
from topicloom.spark.intern import PAIRS, SELF_LOOPS, WITH_ROLES, part_number, write_part

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession


_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_COMPRESSED = {".gz", ".bz2", ".zst"}
# Spark has another .lz4 than the lz4 program, and takes files of that for empty ones.
_MISREAD = ".lz4"
_LOCAL = "file://"
# What of a first line is looked at for the filters that it may name.
_LONGEST_LINE = 1000
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def files_by_format(inputs: Sequence[str | os.PathLike[str]], options: IngestOptions) -> dict[str, list[str]]:
    """Spark's paths of all files, by format.

    An input is a file, a folder with all that lies in it, or a glob. Those with a scheme, such as hdfs://, are left
    to Spark. Names that begin with a dot or an underscore are not data, as everywhere in Spark.
    """
    if not inputs:
        raise InputError("no input given; expected files, folders or globs")
    found: dict[str, list[str]] = {}
    for one in inputs:
        text = os.fspath(one)
        if _REMOTE.match(text) and not text.startswith("file:"):
            found.setdefault(_format_of(text, options), []).append(text)
            continue
        for file in _local_files(text.removeprefix("file://")):
            found.setdefault(_format_of(file, options), []).append(spark_path(file))
    return {name: sorted(set(found[name])) for name in FORMATS if name in found}


def filters_of(files: Mapping[str, Sequence[str]], given: str | None) -> str | None:
    """The protocol whose wildcards topics may have, as it is given or as any of the files on this machine says."""
    for format_ in ("csv", "tsv", "parquet"):
        for path in files.get(format_, ()):
            if path.startswith(_LOCAL):
                file = re.sub(r"\\(.)", r"\1", path.removeprefix(_LOCAL))
                given = agreed_filters(given, _said(file, format_), file)
    return given


def _said(file: str, format_: str) -> str | None:
    """What a file says of its filters; nothing if it cannot be read, which Spark tells."""
    with suppress(OSError, EOFError, zlib.error, pa.ArrowException):
        if format_ == "parquet":
            said = (pyarrow.parquet.read_schema(file).metadata or {}).get(FILTERS.encode())
            return None if said is None else said.decode(errors="replace")
        with (gzip.open if file.lower().endswith(".gz") else open)(file, "rb") as opened:
            return filters_said(opened.readline(_LONGEST_LINE).decode(errors="replace"))
    return None


def spark_path(path: str | os.PathLike[str]) -> str:
    """A local path as Spark takes it literally, whatever its default file system."""
    return _LOCAL + re.sub(r"([\\\[\]{}*?])", r"\\\1", os.path.abspath(path))  # noqa: PTH100  keeps links


def _local_files(text: str) -> list[str]:
    path = Path(text)
    if path.is_dir():
        files = sorted(str(file) for file in _data_files(path))
        if not files:
            raise InputError("the folder has no files to read", file=text)
        return files
    if path.exists():
        return [text]
    matches = sorted(glob.glob(text, recursive=True))  # noqa: PTH207  takes absolute patterns too
    files = [file for match in matches for file in (_local_files(match) if Path(match).is_dir() else [match])]
    if not files:
        kind = "no file matches" if glob.has_magic(text) else "no such file or folder"
        raise InputError(kind, file=text)
    return files


def _data_files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        if file.is_file() and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts):
            yield file


def _format_of(file: str, options: IngestOptions) -> str:
    if file.lower().endswith(_MISREAD):
        raise InputError(f"Spark cannot read {_MISREAD}; compress it as {', '.join(sorted(_COMPRESSED))}", file=file)
    if options.format is not None:
        return options.format
    name = PurePosixPath(file)
    if name.suffix.lower() in _COMPRESSED:
        name = name.with_suffix("")
    # A separator says that it is delimited text, whatever its name.
    kind = _ENDINGS.get(name.suffix.lower(), "csv" if options.separator else None)
    if kind is None:
        raise InputError(
            f"its name does not tell what it holds; endings are {', '.join(_ENDINGS)}, "
            f"each also with {', '.join(sorted(_COMPRESSED))}; or give separator or format",
            *("separator", "format"),
            file=file,
        )
    return kind


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
    from topicloom.spark.session import in_one_line

    return in_one_line(error)


_SCHEMA = pa.schema([("file", pa.string()), ("line", pa.int64()), ("reason", pa.string()), ("raw", pa.string())])


def write_empty_quarantine(folder: Path) -> None:
    """Write a table without rows, for readers that want its columns."""
    write_part(folder, 0, _SCHEMA.empty_table())


def write_quarantine(notes: DataFrame, folder: Path) -> None:
    """Write the bad rows that notes tell of, in the order of files and lines."""
    _located(notes).orderBy("file", "line").mapInArrow(_WriteBadRows(str(folder)), "rows bigint").collect()


def first_bad_row(notes: DataFrame) -> Row | None:
    """The bad row that comes first, as a row of the quarantine."""
    return _located(notes).orderBy("file", "line").first()


def _located(notes: DataFrame) -> DataFrame:
    """Bad rows with line numbers within their files: those within blocks, and the lines of the blocks before."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    earlier = Window.partitionBy("file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    blocks = notes.where(sql.col("kind") == LINES).select(
        "file", "block", sql.coalesce(sql.sum("number").over(earlier), sql.lit(0)).alias("before")
    )
    bad = notes.where(~sql.col("kind").isin(*COUNTED))
    return bad.join(sql.broadcast(blocks), ["file", "block"]).select(
        "file", (sql.col("before") + sql.col("number")).alias("line"), sql.col("kind").alias("reason"), "raw"
    )


@dataclass(frozen=True)
class _WriteBadRows:
    """Write a part of the quarantine; give how many rows it has."""

    folder: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = [batch for batch in batches if batch.num_rows]
        if given:
            table = pa.Table.from_batches(given)
            files = table["file"].dictionary_encode().combine_chunks()
            readable = pa.array([readable_path(file) for file in files.dictionary.to_pylist()], pa.string())
            table = table.set_column(0, "file", readable.take(files.indices)).cast(_SCHEMA)
            write_part(Path(self.folder), part_number(), table)
            yield pa.record_batch({"rows": pa.array([table.num_rows])})


@dataclass(frozen=True)
class Tally:
    """How many rows were read, left out by the condition, and bad; pairs that came of the others."""

    rows: int
    filtered: int
    reasons: Mapping[str, int]
    pairs: int
    self_loops: int

    @property
    def bad(self) -> int:
        """Rows that cannot be used, for whatever reason."""
        return sum(self.reasons.values())

    @property
    def good(self) -> int:
        """Rows that are neither left out nor bad."""
        return self.rows - self.filtered - self.bad


def tally_of(counts: Mapping[str, int]) -> Tally:
    """The tally of what tasks counted."""
    known = {*COUNTED, PAIRS, SELF_LOOPS, WITH_ROLES}
    return Tally(
        rows=counts.get(LINES, 0) - counts.get(HEADER, 0) - counts.get(BLANK, 0),
        filtered=counts.get(FILTERED, 0),
        reasons={kind: counts[kind] for kind in sorted(set(counts) - known)},
        pairs=counts.get(PAIRS, 0),
        self_loops=counts.get(SELF_LOOPS, 0),
    )


def require_usable(tally: Tally, notes: DataFrame, max_bad: float) -> None:
    """Refuse rows that are all bad, or more of them than accepted, and files that do not fit together."""
    if OTHER_HEADER in tally.reasons:
        odd = notes.where(notes.kind == OTHER_HEADER).orderBy("file").first()
        assert odd is not None
        raise InputError(
            f"its columns, {odd['raw']}, are not those of the other files; ingest files with other columns apart",
            file=readable_path(odd["file"]),
        )
    if tally.good == 0 and tally.bad == 0:
        what = f"all {tally.rows:,} rows are left out by where" if tally.filtered else "there are no rows"
        raise InputError(f"nothing to ingest: {what}", "where")
    if tally.pairs == 0 and tally.good:
        raise InputError(f"nothing to ingest: all {tally.good:,} edges are self-loops")
    share = tally.bad / (tally.good + tally.bad)
    if tally.good and share <= max_bad:
        return
    first = first_bad_row(notes)
    assert first is not None
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in tally.reasons.items())
    limit = f", more than max_bad {max_bad:g} accepts" if tally.good else ""
    raise InputError(
        f"{tally.bad:,} of {tally.good + tally.bad:,} rows are bad{limit} ({reasons}); "
        f"the first is {readable_path(first['file'])}, line {first['line']}: {first['raw'][:80]!r}",
        "max_bad",
    )
