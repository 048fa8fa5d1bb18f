"""Name columns from Parquet, CSV and TSV files, checked, with one-line errors."""

from __future__ import annotations

import csv
import gzip
import os
import re
import shutil
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from topicloom.errors import InputError
from topicloom.files.limits import NAME_BYTES
from topicloom.files.name_cleaning import clean_names
from topicloom.files.parquet import read_parquet
from topicloom.files.temporary import scratch_folder

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
        return _header(file, delimiter)[0] if delimiter else list(pyarrow.parquet.read_schema(file).names)


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


def names_column(table: pa.Table, column: str, where: str, *, before: int = 0) -> pa.ChunkedArray:
    """One column as strings, refusing null, empty and all too long names.

    `where` names the source in errors; `before` rows of it precede those of the table.
    """
    values = text_column(table, column, where)
    lengths = pc.binary_length(values)
    bad = pc.fill_null(pc.or_(pc.equal(lengths, 0), pc.greater(lengths, NAME_BYTES)), True)
    first = pc.index(bad, True).as_py()
    if first >= 0:
        place, length = f"{where}: row {before + first + 1}", lengths[first].as_py()
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
    header, filters = _header(file, delimiter)
    picked = _pick(file, header, columns, optional)
    table = pyarrow.csv.read_csv(
        file,
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


def _header(file: Path, delimiter: str) -> tuple[list[str], str | None]:
    """The names of the columns, and the protocol that the line before them names."""
    with _open_text(file) as text:
        first = text.readline()
        filters = filters_said(first)
        return next(csv.reader(text if filters else chain([first], text), delimiter=delimiter), []), filters


def _open_text(file: Path) -> IO[str]:
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")
