"""Raw files as rows, whatever their format.

Delimited text and JSON Lines are read as lines, so that every row keeps its text and a broken one its reason; other
formats, and text with options of their own, by Spark's readers. Files of one run may differ in format, and delimited
files in the order of their columns.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet

from topicloom.errors import InputError
from topicloom.io.tables import FILTERS, filters_said, require_columns
from topicloom.model.filters import agreed_filters
from topicloom.spark.clean import CleanRows, picked_columns, quoted
from topicloom.spark.interned import ROLE
from topicloom.spark.lines import (
    BLANK,
    BLOCK,
    BOM,
    FILE,
    LINE,
    WRONG,
    FirstLines,
    SplitRows,
    Splitting,
    readable_path,
    split_header,
)
from topicloom.spark.places import has_scheme, input_location

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from topicloom.spark.ingest import IngestOptions

CSV, TSV, JSON, PARQUET = "csv", "tsv", "json", "parquet"
_ENDINGS = {
    ".csv": CSV,
    ".tsv": TSV,
    ".tab": TSV,
    ".jsonl": JSON,
    ".ndjson": JSON,
    ".json": JSON,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".orc": "orc",
    ".avro": "avro",
}
_COMPRESSED = {".gz", ".bz2", ".zst"}
# Spark has another .lz4 than the lz4 program, and takes files of that for empty ones.
_MISREAD = ".lz4"
SEPARATORS = {CSV: ",", TSV: "\t"}
NOT_JSON = "not a JSON object"
MALFORMED = "malformed row"
# Options of all readers of files; with others, text is read by Spark's own reader of its format.
_OF_FILES = {
    *("pathglobfilter", "recursivefilelookup", "modifiedbefore", "modifiedafter", "basepath", "linesep"),
    *("ignorecorruptfiles", "ignoremissingfiles"),
}
_CORRUPT = "__corrupt"
_LARGE_BYTES = 32 << 20


@dataclass(frozen=True)
class Files:
    """Files that can be read together, as Spark names them.

    `groups` are files of one format, below folders that name the same columns: of several with different columns in
    one reading, Spark leaves files out without a word. `base` is the folder below which folders name columns, if any.
    `large` are those that take time to read.
    """

    groups: Sequence[tuple[str, Sequence[str]]]
    base: str | None
    large: frozenset[str]

    @property
    def count(self) -> int:
        """How many files there are."""
        return sum(len(paths) for _, paths in self.groups)


def list_files(spark: SparkSession, inputs: Sequence[str], options: IngestOptions) -> Files:
    """List files of any file system; folders with all that lies in them.

    Names that begin with a dot or an underscore are not data, as everywhere in Spark.
    """
    places = [input_location(place) for place in inputs]
    listing = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    for key, value in options.reader.items():
        if key.lower() in _OF_FILES - {"basepath", "linesep"}:
            listing = listing.option(key, value)
    sizes = dict(sorted(map(tuple, listing.load(places).select("path", "length").collect())))
    paths = list(sizes)
    if not paths:
        raise InputError("is empty; expected files with a subscription a row", file=", ".join(inputs))
    # Folders named KEY=VALUE below the only input are columns.
    itself = readable_path(re.sub(r"\\(.)", r"\1", places[0]))
    is_folder = len(inputs) == 1 and not glob.has_magic(inputs[0]) and readable_path(paths[0]) != itself
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for path in paths:
        file = readable_path(path)
        keys = _column_folders(file.removeprefix(itself)) if is_folder else ()
        found.setdefault((_format_of(file, options), keys), []).append(_literal(path))
    groups = [(format_, together) for (format_, _), together in found.items()]
    large = frozenset(_literal(path) for path, size in sizes.items() if size >= _LARGE_BYTES)
    return Files(groups, places[0] if is_folder else None, large)


def _column_folders(file: str) -> tuple[str, ...]:
    """The columns that the folders of a file name: the innermost folders KEY=VALUE that follow each other."""
    folders = [folder.partition("=") for folder in PurePosixPath(file).parent.parts]
    innermost = dropwhile(lambda parts: not parts[1], reversed(folders))
    return tuple(key for key, _, _ in takewhile(lambda parts: parts[1], innermost))


def _literal(uri: str) -> str:
    """A path that Spark takes for itself, not for a pattern."""
    return re.sub(r"([\\\[\]{}*?])", r"\\\1", unquote(uri))


def format_by_name(name: str) -> str | None:
    """What a file holds, by the ending of its name; None if that does not tell."""
    path = PurePosixPath(name.lower())
    return _ENDINGS.get((path.with_suffix("") if path.suffix in _COMPRESSED else path).suffix)


def _format_of(file: str, options: IngestOptions) -> str:
    if file.lower().endswith(_MISREAD):
        raise InputError(f"Spark cannot read {_MISREAD}; compress it as {', '.join(sorted(_COMPRESSED))}", file=file)
    if options.format is not None:
        return {"jsonl": JSON}.get(options.format, options.format)
    # A separator says that it is delimited text, whatever its name.
    kind = format_by_name(file) or (CSV if options.separator else None)
    if kind is None:
        raise InputError(
            f"its name does not tell what it holds; endings are {', '.join(_ENDINGS)}, "
            f"each also with {', '.join(sorted(_COMPRESSED))}; or give separator or input_format",
            *("separator", "input_format"),
            file=file,
        )
    return kind


@dataclass(frozen=True)
class RawRows:
    """Rows of files of one format, and the function that cleans them in tasks."""

    frame: DataFrame
    clean: CleanRows
    filters: str | None


def raw_rows(spark: SparkSession, format_: str, paths: Sequence[str], files: Files, options: IngestOptions) -> RawRows:
    """Rows of files of one format; missing columns are reported before any large file is read as a whole."""
    base = files.base
    own_reader = any(key.lower() not in _OF_FILES for key in options.reader)
    if format_ in SEPARATORS and not own_reader:
        return _delimited(spark, format_, paths, files, options)
    if format_ == JSON and not own_reader:
        return _named(_json_lines(spark, paths, base, options), readable_path(paths[0]), options, options.filters)
    frame = _by_reader(spark, format_, paths, base, options)
    said = options.filters if format_ != PARQUET else _said_in_parquet(paths, options.filters)
    return _named(frame, readable_path(paths[0]), options, said)


def _named(frame: DataFrame, where: str, options: IngestOptions, filters: str | None) -> RawRows:
    """Rows with named columns."""
    columns = [name for name in frame.columns if name not in (LINE, FILE, WRONG, BLOCK)]
    node, topic, role = chosen_columns(columns, options, where)
    try:
        picked = picked_columns(frame, node, topic, role, options.where)
    except InputError as error:
        raise error if error.file or "where" in error.parameters else InputError(error.problem, file=where) from None
    return RawRows(picked, options.cleaning(role is not None), filters)


def chosen_columns(columns: Sequence[str], options: IngestOptions, where: str) -> tuple[str, str, str | None]:
    """The columns of nodes, topics and roles, by name; or by position if there are no names."""
    if len(columns) < 2:
        hint = f"is separator '{options.separator or ','}' right?" if options.format in (None, CSV, TSV) else ""
        raise InputError(f"has one column, '{columns[0]}'; {hint}", "separator", file=where)
    usual = columns[:2] if options.graph is not None or not options.header else ["node", "topic"]
    given = (options.node_column, options.topic_column)
    node, topic = (_column(name, columns, options, where) or usual[at] for at, name in enumerate(given))
    if node == topic:
        raise InputError(f"nodes and topics cannot both be in column '{node}'", file=where)
    role = _column(options.role_column, columns, options, where) if options.role_column else None
    if role is None and options.role_column is None and options.graph is None and options.header and ROLE in columns:
        role = ROLE
    require_columns(columns, [node, topic, *([role] if role else [])], where)
    return node, topic, role


def _column(given: str | None, columns: Sequence[str], options: IngestOptions, where: str) -> str | None:
    if given is None or options.header:
        return given
    if not given.isdecimal():
        raise InputError(f"column '{given}': without a header columns are numbers, the first being 1")
    if not 1 <= int(given) <= len(columns):
        raise InputError(f"no column {given}; it has {len(columns)}", file=where)
    return columns[int(given) - 1]


def _lines(spark: SparkSession, paths: Sequence[str], base: str | None, options: IngestOptions) -> DataFrame:
    """Lines of text files, each with its file and block, and columns of partitions."""
    reader = spark.read.options(**({"basePath": base} if base else {}), **options.reader)
    lines = reader.text(list(paths))
    known = f"value AS {LINE}", f"_metadata.file_path AS {FILE}", f"_metadata.file_block_start AS {BLOCK}"
    return lines.selectExpr(*known, *(quoted(name) for name in lines.columns if name != "value"))


def _delimited(
    spark: SparkSession, format_: str, paths: Sequence[str], files: Files, options: IngestOptions
) -> RawRows:
    separator = options.separator or SEPARATORS[format_]
    lines = _lines(spark, paths, files.base, options)
    partitions = [name for name in lines.columns if name not in (LINE, FILE, BLOCK)]
    first = _first_lines(spark, paths, files, options)
    headers, said, filters = _headers(first, separator, options, readable_path(paths[0]))
    usual = next(iter(headers.values()))
    chosen = {
        file: chosen_columns([*names, *partitions], options, readable_path(file)) for file, names in headers.items()
    }
    (node, topic, _), role = next(iter(chosen.values())), next((each[2] for each in chosen.values() if each[2]), None)
    for file, each in chosen.items():
        if each[:2] != (node, topic):
            problem = f"its columns, {separator.join(headers[file])}, are not those of the other files"
            raise InputError(f"{problem}; ingest files with other columns apart", file=readable_path(file))
    wanted = [node, topic, *([role] if role else [])]
    others = {file: names for file, names in headers.items() if names != usual}
    plain = options.where is None and not partitions
    columns = tuple(wanted) if plain else tuple(dict.fromkeys(name for names in headers.values() for name in names))
    if not plain:
        require_columns(columns, columns, readable_path(paths[0]))
    splitting = Splitting(separator, columns, usual, others, said, options.header)
    cleaning = options.cleaning(role is not None, splitting if plain else None)
    if plain:
        return RawRows(lines, cleaning, filters)
    kinds = dict(lines.dtypes)
    schema = [(LINE, "string"), (FILE, "string"), (WRONG, "string"), *((name, "string") for name in columns)]
    schema += [(name, kinds[name]) for name in partitions]
    split = lines.mapInArrow(
        SplitRows(splitting, tuple(partitions)), ", ".join(f"{quoted(name)} {kind}" for name, kind in schema)
    )
    return RawRows(picked_columns(split, node, topic, role, options.where), cleaning, filters)


def _first_lines(
    spark: SparkSession, paths: Sequence[str], files: Files, options: IngestOptions
) -> dict[str, list[str]]:
    """The first two lines of each file."""
    large = files.large.intersection(paths)
    small = [path for path in paths if path not in large]
    rows = []
    # Small files are read to their ends, many by one job; of a large one, a job reads the beginning.
    for path in sorted(large):
        begin = _lines(spark, [path], files.base, options).where(f"{BLOCK} = 0").limit(2)
        rows += begin.selectExpr(f"{FILE} AS file", f"{LINE} AS line").collect()
    if small:
        lines = _lines(spark, small, files.base, options).select(LINE, FILE, BLOCK)
        rows += lines.mapInArrow(FirstLines(), FirstLines.SCHEMA).collect()
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["file"], []).append(row["line"].removeprefix(BOM))
    return found


def _headers(
    first: Mapping[str, Sequence[str]], separator: str, options: IngestOptions, where: str
) -> tuple[dict[str, tuple[str, ...]], frozenset[str], str | None]:
    """Names of the columns of each file, the files whose first line names filters, and the filters."""
    headers: dict[str, tuple[str, ...]] = {}
    said, filters = [], options.filters
    for file in sorted(first):
        named = filters_said(first[file][0])
        if named:
            filters = agreed_filters(filters, named, readable_path(file))
            said.append(file)
        rest = first[file][1 if named else 0 :]
        if rest:
            names = split_header(rest[0], separator)
            headers[file] = tuple(names if options.header else (f"_{place + 1}" for place in range(len(names))))
    if not headers:
        raise InputError("is empty; expected a subscription a line", file=where)
    if not options.header:
        # Without names there is nothing to tell columns apart by; the first file says how many there are.
        headers = dict.fromkeys(headers, next(iter(headers.values())))
    return headers, frozenset(said), filters


def _json_lines(spark: SparkSession, paths: Sequence[str], base: str | None, options: IngestOptions) -> DataFrame:
    """Lines that are JSON objects, with their fields as columns of text."""
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType, StructField, StructType

    if options.graph is not None and (options.node_column is None or options.topic_column is None):
        raise InputError(
            "JSON Lines have no first and second column; name them with node_column and topic_column",
            *("node_column", "topic_column"),
        )
    names = [options.node_column or "node", options.topic_column or "topic"]
    if options.graph is None and options.role_column != "":
        names.append(options.role_column or ROLE)
    if options.where is not None:
        # A condition may name any field, so all of them must be found first.
        found = spark.read.json(list(paths), primitivesAsString=True, mode="PERMISSIVE").columns
        names += [name for name in found if name not in (*names, "_corrupt_record")]
    names = list(dict.fromkeys(names))
    schema = StructType([StructField(name, StringType()) for name in [*names, _CORRUPT]])
    parsed = sql.from_json(LINE, schema, {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT})
    rows = _lines(spark, paths, base, options).withColumn("__parsed", parsed)
    wrong = sql.when(sql.col(LINE) == "", BLANK).when(
        sql.col("__parsed").isNull() | sql.col(f"__parsed.{_CORRUPT}").isNotNull(), NOT_JSON
    )
    partitions = [name for name in rows.columns if name not in (LINE, FILE, BLOCK, "__parsed", *names)]
    fields = (sql.col(f"__parsed.{quoted(name)}").alias(name) for name in names)
    return rows.select(LINE, FILE, wrong.alias(WRONG), *fields, *partitions)


def _by_reader(
    spark: SparkSession, format_: str, paths: Sequence[str], base: str | None, options: IngestOptions
) -> DataFrame:
    """Rows by Spark's reader of a format."""
    from pyspark.sql import functions as sql

    settings = ({"basePath": base} if base else {}) | dict(options.reader)
    kind = CSV if format_ == TSV else format_
    if kind == CSV:
        # Without these, columns are told apart by position, and pruning them makes the corrupt ones null.
        separator = options.separator or SEPARATORS[format_]
        usual = {"header": str(options.header).lower(), "sep": separator, "escape": '"'}
        settings = usual | {"columnPruning": "false", "enforceSchema": "false"} | settings
    reader = spark.read.format(kind).options(**settings)
    rows = reader.load(list(paths))
    if kind in (CSV, JSON):
        schema = ", ".join(f"{quoted(name)} {type_}" for name, type_ in rows.dtypes if name != "_corrupt_record")
        rows = (
            reader.schema(f"{schema}, {_CORRUPT} string")
            .option("columnNameOfCorruptRecord", _CORRUPT)
            .load(list(paths))
        )
        if kind == CSV and not options.header:
            rows = rows.toDF(*(f"_{place + 1}" for place in range(len(rows.columns) - 1)), _CORRUPT)
    text = sql.col(_CORRUPT) if _CORRUPT in rows.columns else sql.lit(None).cast("string")
    wrong = sql.when(text.isNotNull(), MALFORMED)
    columns = [sql.col(quoted(name)) for name in rows.columns if name != _CORRUPT]
    known = text.alias(LINE), sql.col("_metadata.file_path").alias(FILE), wrong.alias(WRONG)
    return rows.select(*known, *columns)


def _said_in_parquet(paths: Sequence[str], given: str | None) -> str | None:
    """The filters that Parquet files on this machine name; Spark does not show what their metadata say."""
    for path in paths:
        file = readable_path(re.sub(r"\\(.)", r"\1", path))
        if has_scheme(file):
            continue
        with suppress(OSError, pa.ArrowException):
            said = (pyarrow.parquet.read_schema(file).metadata or {}).get(FILTERS.encode())
            if said is not None:
                given = agreed_filters(given, said.decode(errors="replace"), file)
    return given
