"""Which files an ingest reads, and what kind each of them is."""

from __future__ import annotations

import glob
import gzip
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet

from topicloom.errors import InputError
from topicloom.files.name_tables import FILTERS, filters_said
from topicloom.model.filters import agreed_filters
from topicloom.pipeline.ingesting.ingest_options import FORMATS, IngestOptions

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
