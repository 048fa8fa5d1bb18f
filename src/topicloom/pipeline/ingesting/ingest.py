"""Raw subscriptions and social graphs to an interest: read, clean, intern, write."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.files.ingest_folder import TABLES, write_manifest
from topicloom.files.whole_folder import replacing_folder
from topicloom.model.filters import require_plain_names
from topicloom.pipeline.ingesting.ingest_options import IngestOptions
from topicloom.pipeline.ingesting.interning import Interned, write_interest
from topicloom.pipeline.ingesting.manifest import Counts, Manifest, versions
from topicloom.pipeline.ingesting.quarantine import write_empty_quarantine, write_quarantine
from topicloom.pipeline.ingesting.raw_files import files_by_format, filters_of, spark_path
from topicloom.pipeline.ingesting.raw_rows import raw_rows
from topicloom.pipeline.ingesting.row_cleaning import NOTE_SCHEMA, CleanRows
from topicloom.pipeline.ingesting.row_tally import Tally, require_usable, tally_of
from topicloom.pipeline.ingesting.social_graphs import repeated_edges
from topicloom.pipeline.ingesting.staging import SEEN_SCHEMA, Staged
from topicloom.pipeline.ingesting.table_parts import clear_attempts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
        interned = write_interest(
            *(spark, staged, folder, scratch), filters=options.protocol is not None, users=options.graph is not None
        )
        manifest = Manifest(
            inputs=tuple(os.fspath(one) for one in inputs),
            files=sum(map(len, files.values())),
            options=options,
            counts=_counts(tally, interned, options),
            fingerprint=interned.fingerprint,
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
