"""Ingest raw subscriptions into a folder of tables.

What an ingest says about itself: where rows came from and what became of each.

Reading what `ingest` wrote: the tables of a folder as Spark data frames, and its manifest.

Raw subscriptions and social graphs to an interest: read, clean, intern, write.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from topicloom._version import __version__
from topicloom.errors import InputError
from topicloom.io.ingest_folder import (
    NODES,
    SUBSCRIPTIONS,
    TABLES,
    TOPICS,
    IngestedManifest,
    read_manifest,
    require_all_rows,
    write_manifest,
)
from topicloom.io.whole import replacing_folder
from topicloom.model.filters import PLAIN, require_plain_names
from topicloom.spark import interned
from topicloom.spark.clean import NOTE_SCHEMA, CleanRows, IngestOptions, repeated_edges
from topicloom.spark.intern import SEEN_SCHEMA, Interned, Staged, clear_attempts, write_interest
from topicloom.spark.raw_rows import (
    Tally,
    files_by_format,
    filters_of,
    raw_rows,
    require_usable,
    spark_path,
    tally_of,
    write_empty_quarantine,
    write_quarantine,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Counts:
    """What became of the rows.

    rows = filtered + bad + self_loops + unheard + repeats + those that are left. Unheard are those that publish what
    nobody wants. Each of these is a subscription; in an
    undirected graph it is two, and there may be one more for each user.
    """

    rows: int
    filtered: int
    bad: int
    bad_by_reason: Mapping[str, int]
    self_loops: int
    unheard: int
    repeats: int
    users: int | None
    nodes: int
    topics: int
    subscriptions: int


@dataclass(frozen=True)
class Manifest:
    """The inputs and options of an ingest, its counts, the fingerprint of the interest, and who made it."""

    inputs: tuple[str, ...]
    files: int
    options: IngestOptions
    counts: Counts
    fingerprint: str
    versions: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """As it is written."""
        return {"kind": "topicloom ingest", **asdict(self)}


def versions(spark: str) -> dict[str, str]:
    """Of all that may matter to what is written."""
    return {
        "topicloom": __version__,
        "spark": spark,
        "pyarrow": pa.__version__,
        "python": platform.python_version(),
    }


@dataclass(frozen=True)
class Ingested:
    """A folder that `ingest` wrote."""

    path: Path
    manifest: IngestedManifest

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Ingested:
        """Check that the folder is whole, and read its manifest. Filters are refused: Spark sees plain names."""
        manifest = read_manifest(Path(folder))
        require_all_rows(Path(folder), manifest)
        if manifest.options.filters not in (None, PLAIN):
            problem = "its topics are filters, which are not for Spark; design, measure, compare and plan take them"
            raise InputError(problem, file=folder)
        return cls(Path(folder), manifest)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of its interest."""
        return self.manifest.fingerprint

    @property
    def graph(self) -> str | None:
        """`directed` or `undirected` where the topics are users too; None where topics are just topics."""
        return self.manifest.options.graph

    def table(self, spark: SparkSession, name: str) -> DataFrame:
        """One of its tables: `subscriptions`, `nodes` or `topics`."""
        return spark.read.parquet(spark_path(self.path / name))

    def interned(self, spark: SparkSession) -> interned.Interned:
        """Its tables as an interest."""
        counts = self.manifest.counts
        totals = None
        if counts is not None:
            totals = interned.Totals(counts.nodes, counts.topics, counts.subscriptions, self.fingerprint)
        subscriptions, nodes, topics = (self.table(spark, name) for name in (SUBSCRIPTIONS, NODES, TOPICS))
        return interned.Interned(subscriptions, nodes, topics, graph=self.graph, known_totals=totals)


def ingest(
    spark: SparkSession,
    inputs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    options: IngestOptions | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Manifest:
    """Write the interest that raw files tell of to the folder `out`, and say what became of each row.

    Args:
        spark: the session to work with.
        inputs: files, folders or globs.
        out: folder to write; an earlier ingest there is replaced when all is done, and not before.
        options: how rows are read and cleaned.
        progress: told what is being done.
    """
    options = options or IngestOptions()
    files = files_by_format(inputs, options)
    if options.graph is None:
        options = replace(options, filters=filters_of(files, options.filters))
    with replacing_folder(out) as folder:
        progress("reading and cleaning")
        # Text is parsed once. Pairs of names are needed several times, and Parquet is read much faster.
        scratch = folder / "staged"
        for table in (*TABLES, "quarantine", "staged/pairs", "staged/notes"):
            (folder / table).mkdir(parents=True)
        told = _clean_rows(spark, files, options, scratch / "pairs", scratch / "notes")
        staged = Staged.by_tasks(told, scratch / "pairs")
        tally = tally_of(staged.counts)
        if options.filters is None and options.graph is None:
            require_plain_names(staged.topics["name"].combine_chunks(), ", ".join(os.fspath(each) for each in inputs))
        notes = spark.read.schema(NOTE_SCHEMA).parquet(spark_path(scratch / "notes"))
        require_usable(tally, notes, options.max_bad)
        write_empty_quarantine(folder / "quarantine")
        if tally.bad:
            progress("setting bad rows aside")
            write_quarantine(notes, folder / "quarantine")
        progress("interning and writing")
        written = write_interest(
            *(spark, staged, folder, scratch), filters=options.protocol is not None, users=options.graph is not None
        )
        manifest = Manifest(
            inputs=tuple(os.fspath(one) for one in inputs),
            files=sum(map(len, files.values())),
            options=options,
            counts=_counts(tally, written, options),
            fingerprint=written.fingerprint,
            versions=versions(spark.version),
        )
        shutil.rmtree(scratch)
        clear_attempts(folder)
        write_manifest(folder, manifest.as_dict())
    return manifest


def _clean_rows(
    spark: SparkSession, files: Mapping[str, Sequence[str]], options: IngestOptions, pairs: Path, notes: Path
) -> DataFrame:
    """What tasks tell of the rows of all files, whose pairs of names and notes are written on the way."""
    frames = []
    for format_, paths in files.items():
        raw = raw_rows(spark, format_, paths, options)
        clean = CleanRows(
            *(pairs, notes, options.max_name_bytes, options.graph, options.include_self),
            *(raw.splitting, options.protocol),
        )
        frames.append(raw.frame.mapInArrow(clean, SEEN_SCHEMA))
    return reduce(lambda one, other: one.union(other), frames)


def _counts(tally: Tally, interned: Interned, options: IngestOptions) -> Counts:
    users = interned.users
    if options.graph is None or users is None:
        repeats = tally.good - interned.unheard - interned.subscriptions
    else:
        edges = tally.good - tally.self_loops
        repeats = repeated_edges(edges, interned.subscriptions, users, options.graph, include_self=options.include_self)
    return Counts(
        rows=tally.rows,
        filtered=tally.filtered,
        bad=tally.bad,
        bad_by_reason=tally.reasons,
        self_loops=tally.self_loops,
        unheard=interned.unheard,
        repeats=repeats,
        users=users,
        nodes=interned.nodes,
        topics=interned.topics,
        subscriptions=interned.subscriptions,
    )
