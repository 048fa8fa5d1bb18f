"""Tables of names and numbers in Parquet, CSV and TSV files: read, checked and written.

Every error is one line that names the file, the row and the column. Names are trimmed and in Unicode's composed form,
neither empty nor too long. Ids are dense, in the order of the names by code point. docs/limits.md lists how much of
what a table may hold; it is refused before work begins.

Parquet pages have checksums, which are verified before a page is decoded: Arrow decodes some damaged pages into other
values, and a few end the process. Files of others may have no checksums; then indices into dictionaries are checked,
as Arrow does not.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import shutil
import sys
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from topicloom.errors import InputError
from topicloom.io.whole import scratch_folder

# Ids of nodes and topics, and rows of a table that is held in memory, are numbers of 32 bits.
NODES = TOPICS = 100_000_000
SUBSCRIPTIONS = LINKS = 2**31 - 1
# The longest topic of MQTT.
NAME_BYTES = 65_535
USERS, BROKERS, CHANNELS = 100_000_000, 20_000, 10_000_000
# Prices between users and brokers, which are held as one table.
ACCESS_PRICES = 2**31 - 1
EVENTS = 100_000_000
BOUND_ROUNDS = 100_000
PLAN_BYTES = 1 << 30
TOML_BYTES = 64 << 20


def require_at_most(number: int, most: int, what: str, *parameters: str, file: str | None = None) -> None:
    """Refuse more of something than there may be."""
    if number > most:
        raise InputError(f"{number:,} {what} are too many; the most are {most:,}", *parameters, file=file)


def read_limited(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """What a file holds; one that is too large or cannot be read is an `InputError`."""
    file = Path(path)
    try:
        size = file.stat().st_size
        if size > most_bytes:
            raise InputError(f"has {size:,} bytes; the most are {most_bytes:,}", file=file)
        return file.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", file=file) from None
    except IsADirectoryError:
        raise InputError("is a folder; give a file", file=file) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=file) from None


def clean_names(names: pa.StringArray | pa.LargeStringArray) -> pa.StringArray | pa.LargeStringArray:
    """Names without white space around them, NFC-normalised."""
    trimmed = pc.utf8_trim_whitespace(names)
    # Most data is ASCII, which is NFC already. Arrow's utf8_normalize decomposes where it should compose
    # (apache/arrow#51225), so Python does the rest, each name of a batch once.
    if pc.all(pc.string_is_ascii(trimmed)).as_py() is not False:
        return trimmed
    encoded = trimmed.dictionary_encode()
    composed = [unicodedata.normalize("NFC", name) for name in encoded.dictionary.to_pylist()]
    return pa.array(composed, names.type).take(encoded.indices)


def problems(names: pa.StringArray, what: str, max_bytes: int) -> dict[str, npt.NDArray[np.bool_]]:
    """Which cleaned names cannot be used, by reason; `what` they name is part of the reason."""
    length = np.asarray(pc.fill_null(pc.binary_length(names), -1))
    return {f"missing {what}": length < 0, f"empty {what}": length == 0, f"over-long {what}": length > max_bytes}


def intern_names(column: pa.ChunkedArray) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """Sorted distinct names of a string column, and each row's id among them."""
    names, ids = sorted_names(column)
    return tuple(names.to_pylist()), ids


def sorted_names(column: pa.ChunkedArray) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """The names of `intern_names` as an array, and each row's id among them.

    Arrow compares strings by their UTF-8 bytes, which is the order of code points.
    """
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    order = pc.sort_indices(encoded.dictionary)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return encoded.dictionary.take(order), rank[codes]


def ids_of(names: pa.ChunkedArray, known: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """Id of each row's name among the known names; -1 where it is unknown."""
    found: Any = pc.index_in(names, value_set=pa.array(known, type=names.type))
    ids: npt.NDArray[np.int64] = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    return ids


def write_parquet(table: pa.Table, file: str | Path | BinaryIO, **options: Any) -> None:
    """Write a table, with further options of Arrow."""
    pyarrow.parquet.write_table(table, file, write_page_checksum=True, **options)


def parquet_writer(file: str | Path, schema: pa.Schema, **options: Any) -> pyarrow.parquet.ParquetWriter:
    """A file that is written table by table."""
    return pyarrow.parquet.ParquetWriter(file, schema, write_page_checksum=True, **options)


def read_parquet(file: str | Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a file, or all files of a folder; Arrow's own errors come through."""
    picked = None if columns is None else list(columns)
    table = pyarrow.parquet.read_table(file, columns=picked, page_checksum_verification=True)
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            column.validate(full=True)
    return table


def open_parquet(file: str | Path, **options: Any) -> pyarrow.parquet.ParquetFile:
    """A file that is read part by part."""
    return pyarrow.parquet.ParquetFile(file, page_checksum_verification=True, **options)


# Given as a path, it stands for what is piped in.
STANDARD_INPUT = "-"

# What the metadata of Parquet files of subscriptions call the protocol whose wildcards topics may have. In CSV and TSV
# files a first line `# filters=mqtt` says it; spreadsheets may put it in quotes and separators behind it.
FILTERS = "filters"
_FILTERS_LINE = re.compile(r"""\ufeff?"?#\s*filters\s*=\s*([\w-]+)"?[\s,;]*""")

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_READABLE = "Parquet (.parquet), CSV (.csv, .csv.gz) or TSV (.tsv, .tsv.gz)"


def read_table(path: str | os.PathLike[str], columns: Sequence[str], optional: Sequence[str] = ()) -> pa.Table:
    """The named columns of a Parquet, CSV or TSV file; those in `optional` only where they exist.

    The metadata of the table are those of a Parquet file, and `filters` if the first line of a CSV or TSV file says it.
    """
    file = Path(path)
    if os.fspath(path) == STANDARD_INPUT or file.is_fifo() or file.is_char_device() or _is_open(file):
        with _spooled(file) as spool:
            return read_table(spool, columns, optional)
    if file.is_dir():
        raise InputError(f"{file}: is a folder; give one file as {_READABLE}")
    if not file.exists():
        raise InputError(f"{file}: no such file")
    if file.stat().st_size == 0:
        raise InputError(f"{file}: is empty; expected the columns {', '.join(columns)}")
    with _reading(file):
        delimiter = _delimiter(file)
        if delimiter:
            return _read_delimited(file, delimiter, columns, optional)
        return _read_parquet(file, columns, optional)


def _is_open(file: Path) -> bool:
    """Whether it names what a process has opened, such as /dev/stdin, whose name says nothing of its kind."""
    return str(file.parent) in ("/dev", "/dev/fd", "/proc/self/fd") and file.exists()


@contextmanager
def _spooled(pipe: Path) -> Iterator[Path]:
    """What comes out of a pipe as a file, which exists meanwhile; its name tells whether it is Parquet, CSV or TSV."""
    with scratch_folder("piped") as folder:
        given = folder / "given"
        with given.open("wb") as spool, sys.stdin.buffer if str(pipe) == STANDARD_INPUT else pipe.open("rb") as piped:
            shutil.copyfileobj(piped, spool)
        with given.open("rb") as spool:
            begin = spool.readline(1 << 16)
            if filters_said(begin.decode(errors="replace")):
                begin = spool.readline(1 << 16)
        packed = ".gz" if begin.startswith(b"\x1f\x8b") else ""
        kind = ".parquet" if begin.startswith(b"PAR1") else ".tsv" if b"\t" in begin and not packed else ".csv"
        named = given.rename(f"{given}{kind}{packed}")
        try:
            yield named
        except InputError as error:
            name = "standard input" if str(pipe) == STANDARD_INPUT else str(pipe)
            raise InputError(str(error).replace(str(named), name)) from None


def column_names(path: str | os.PathLike[str]) -> list[str]:
    """The columns of a Parquet, CSV or TSV file, whose rows are not read."""
    file = Path(path)
    with _reading(file):
        delimiter = _delimiter(file)
        if delimiter is None:
            return list(pyarrow.parquet.read_schema(file).names)
        with _open_text(file) as text:
            return _header(text, delimiter)[0]


def text_rows(path: str | os.PathLike[str]) -> list[list[str]]:
    """The rows of a CSV or TSV file, plain or .gz, but for empty ones."""
    file = Path(path)
    delimiter = "\t" if file.name.removesuffix(".gz").endswith(".tsv") else ","
    with _reading(file), _open_text(file) as text:
        return [row for row in csv.reader(text, delimiter=delimiter) if row]


def text_table(rows: Iterable[tuple[str, str]], columns: tuple[str, str], where: str) -> pa.Table:
    """A table of two string columns from pairs; `where` names the source in errors."""
    listed = list(rows)
    try:
        arrays = [pa.array([row[k] for row in listed], pa.large_string()) for k in range(2)]
    except (pa.ArrowException, TypeError, IndexError, UnicodeEncodeError):
        raise InputError(f"{where}: every {columns[0]} and every {columns[1]} must be a string") from None
    return pa.table(arrays, names=list(columns))


def metadata_texts(table: pa.Table) -> dict[str, str]:
    """What the metadata of a table say; bytes that are no text are replaced."""
    found = table.schema.metadata or {}
    return {key.decode(errors="replace"): value.decode(errors="replace") for key, value in found.items()}


def require_columns(present: Sequence[str], columns: Sequence[str], where: str) -> None:
    """Refuse a table that lacks a column or has it twice; `where` names the source in errors."""
    for column in columns:
        if column not in present:
            has = ", ".join(map(repr, present)) or "none"
            raise InputError(f"no column '{column}'; it has {has}", file=where)
        if list(present).count(column) > 1:
            raise InputError(f"has more than one column '{column}'", file=where)


def names_column(table: pa.Table, column: str, where: str, *, row_offset: int = 0) -> pa.ChunkedArray:
    """One column as strings, without null, empty and overlong names.

    `where` names the source in errors; `row_offset` rows of it precede those of the table.
    """
    values = text_column(table, column, where)
    lengths = pc.binary_length(values)
    bad = pc.fill_null(pc.or_(pc.equal(lengths, 0), pc.greater(lengths, NAME_BYTES)), True)
    first = pc.index(bad, True).as_py()
    if first >= 0:
        place, length = f"{where}: row {row_offset + first + 1}", lengths[first].as_py()
        if length:
            raise InputError(f"{place}: name of {length:,} bytes in column '{column}'; the most are {NAME_BYTES:,}")
        kind = "null" if length is None else "empty"
        raise InputError(f"{place}: {kind} name in column '{column}'; every row needs a name")
    return values


def text_column(table: pa.Table, column: str, where: str) -> pa.ChunkedArray:
    """One column as strings, whole numbers as their digits; `where` names the source in errors."""
    values = table[column]
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if not (_is_text(values.type) or pa.types.is_integer(values.type)):
        raise InputError(f"{where}: column '{column}' holds {values.type}, not names (strings)")
    text = values.cast(pa.large_string())
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        raise InputError(f"{where}: column '{column}' holds text that is not UTF-8") from None
    return text


def _delimiter(file: Path) -> str | None:
    """What is between the columns of a text file; None for Parquet; an error for anything else."""
    suffix = Path(file.stem).suffix.lower() if file.suffix.lower() == ".gz" else file.suffix.lower()
    if suffix in _DELIMITERS:
        return _DELIMITERS[suffix]
    if suffix in (".parquet", ".pq") or _begins_as_parquet(file):
        return None
    raise InputError(f"{file}: unknown kind of file {suffix or 'without an ending'}; give {_READABLE}")


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Turn what goes wrong while a file is read into one line."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, csv.Error, zlib.error) as error:
        raise InputError(f"{file}: cannot be read ({' '.join(str(error).split())})") from None


def _begins_as_parquet(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"PAR1"


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _pick(file: Path, present: Sequence[str], columns: Sequence[str], optional: Sequence[str]) -> list[str]:
    picked = [*columns, *(column for column in optional if column in present)]
    require_columns(present, picked, str(file))
    return picked


def _read_parquet(file: Path, columns: Sequence[str], optional: Sequence[str]) -> pa.Table:
    schema = pyarrow.parquet.read_schema(file)
    picked = _pick(file, schema.names, columns, optional)
    return read_parquet(file, columns=picked)


def _read_delimited(file: Path, delimiter: str, columns: Sequence[str], optional: Sequence[str]) -> pa.Table:
    with _open_bytes(file) as opened:
        text = io.TextIOWrapper(opened, encoding="utf-8-sig", newline="")
        header, filters = _header(text, delimiter)
        picked = _pick(file, header, columns, optional)
        text.detach().seek(0)
        table = pyarrow.csv.read_csv(
            opened,
            read_options=pyarrow.csv.ReadOptions(use_threads=False, skip_rows=0 if filters is None else 1),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=picked, column_types={name: pa.large_string() for name in picked}
            ),
        )
    # Text is typed and pasted by people, so it is cleaned as `ingest` cleans it; what a program wrote stays as it is.
    chunks = [[clean_names(chunk) for chunk in column.chunks] for column in table.columns]
    return pa.table(
        [pa.chunked_array(column, pa.large_string()) for column in chunks],
        names=table.column_names,
        metadata=None if filters is None else {FILTERS: filters},
    )


def filters_said(line: str) -> str | None:
    """The protocol that a line such as `# filters=mqtt` names; None if it is another line."""
    said = _FILTERS_LINE.fullmatch(line)
    return None if said is None else said[1]


def _header(text: IO[str], delimiter: str) -> tuple[list[str], str | None]:
    """The names of the columns, and the protocol that the line before them names."""
    first = text.readline()
    filters = filters_said(first)
    return next(csv.reader(text if filters else chain([first], text), delimiter=delimiter), []), filters


def _open_text(file: Path) -> IO[str]:
    return io.TextIOWrapper(_open_bytes(file), encoding="utf-8-sig", newline="")


def _open_bytes(file: Path) -> Any:
    return gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb")


Floats = npt.NDArray[np.float64]


def in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    joined = column.combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined


def known_names(
    table: pa.Table,
    column: str,
    known: tuple[str, ...],
    kind: str,
    where: str,
    *,
    row_offset: int = 0,
    unknown: type[InputError] = InputError,
) -> npt.NDArray[np.int64]:
    """Ids of the names in a column. A name that is not known raises `unknown`; `row_offset` rows precede the table."""
    names = names_column(table, column, where, row_offset=row_offset)
    ids = ids_of(names, known)
    missing = np.flatnonzero(ids < 0)
    if len(missing):
        row = int(missing[0])
        raise unknown(f"{where}: row {row_offset + row + 1}: unknown {kind} '{names[row]}'")
    return ids


def numbers(
    table: pa.Table,
    column: str,
    where: str,
    *,
    minimum: float | None = 0.0,
    row_offset: int = 0,
    allow_infinity: bool = False,
) -> Floats:
    """A column of numbers, none below the minimum, finite unless `allow_infinity`; `row_offset` rows precede."""
    values = table[column]
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise InputError(f"{where}: column '{column}' holds {values.type}, not numbers")
    # Whole numbers that a float cannot hold are rounded; null becomes NaN.
    found: Floats = values.cast(pa.float64(), safe=False).to_numpy()
    wrong = np.isnan(found) if allow_infinity else ~np.isfinite(found)
    if minimum is not None:
        wrong |= found < minimum
    if wrong.any():
        row = int(wrong.argmax())
        value = "null" if values[row].as_py() is None else f"{found[row]:g}"
        needed = "a number" if minimum is None else f"a number of at least {minimum:g}"
        raise InputError(f"{where}: row {row_offset + row + 1}: {column} is {value}; give {needed}")
    return found


def whole_numbers(table: pa.Table, column: str, where: str, *, minimum: float = 0.0) -> npt.NDArray[np.int64]:
    """A column of whole numbers, none below the minimum."""
    values = numbers(table, column, where, minimum=minimum)
    whole = values.astype(np.int64)
    if (whole != values).any():
        row = int((whole != values).argmax())
        raise InputError(f"{where}: row {row + 1}: {column} is {values[row]:g}; give a whole number")
    return whole


def require_distinct(keys: npt.NDArray[np.int64], what: str, where: str) -> None:
    """Refuse a row that says again what an earlier one said."""
    _, earliest, inverse = np.unique(keys, return_index=True, return_inverse=True)
    again = np.flatnonzero(earliest[inverse] != np.arange(len(keys)))
    if len(again):
        row = int(again[0])
        raise InputError(f"{where}: row {row + 1}: repeats the {what} of row {int(earliest[inverse[row]]) + 1}")


def distinct_names(columns: Sequence[pa.ChunkedArray]) -> tuple[str, ...]:
    """All names in some columns, in order."""
    return tuple(sorted({name for column in columns for name in pc.unique(column).to_pylist()}))
