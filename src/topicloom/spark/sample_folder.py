"""A sample of an ingested folder, written as another one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from topicloom.io.ingest_folder import TABLES, write_manifest
from topicloom.io.whole import replacing_folder
from topicloom.spark.ingest import Ingested, versions
from topicloom.spark.intern import SEEN_SCHEMA, Staged, StagePairs, clear_attempts, write_interest
from topicloom.spark.sample import sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Sample:
    """What was written.

    `nodes` is as many as asked for, or fewer where `sample` could not have exactly as many.
    """

    nodes: int
    topics: int
    subscriptions: int
    fingerprint: str


def write_sample(
    spark: SparkSession,
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    nodes: int,
    seeds: int = 3,
    seed: int = 0,
    uniform: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Sample:
    """Write a part of an ingest folder as another one.

    Args:
        spark: the session to run on.
        folder: what `ingest` or `sample` wrote.
        out: folder to write; an earlier one there is replaced when all is done, and not before.
        nodes: how many nodes the sample has.
        seeds: how many users to begin with.
        seed: of the random order of users.
        uniform: visit users at random instead of breadth-first.
        progress: told what is being done.
    """
    ingested = Ingested.open(folder)
    interned = ingested.interned(spark)
    pairs = sample(interned, nodes, seeds=seeds, seed=seed, uniform=uniform, progress=progress)
    with replacing_folder(out) as temporary:
        for table in (*TABLES, "staged", "staged/pairs"):
            (temporary / table).mkdir()
        scratch = temporary / "staged"
        told = pairs.mapInArrow(StagePairs(scratch / "pairs"), SEEN_SCHEMA)
        staged = Staged.by_tasks(told, scratch / "pairs")
        progress("interning and writing")
        written = write_interest(spark, staged, temporary, scratch)
        found = Sample(written.nodes, written.topics, written.subscriptions, written.fingerprint)
        shutil.rmtree(scratch)
        clear_attempts(temporary)
        manifest = _manifest(ingested, found, {"nodes": nodes, "seeds": seeds, "seed": seed, "uniform": uniform})
        manifest["versions"] = versions(spark.version)
        write_manifest(temporary, manifest)
    return found


def _manifest(ingested: Ingested, found: Sample, options: dict[str, Any]) -> dict[str, Any]:
    counts = asdict(found)
    fingerprint = counts.pop("fingerprint")
    filters = ingested.manifest.options.filters
    said = {} if filters is None else {"filters": filters}
    return {
        "kind": "topicloom sample",
        "source": str(ingested.path),
        "source_fingerprint": ingested.fingerprint,
        "options": {**options, "graph": ingested.graph, **said},
        "counts": counts,
        "fingerprint": fingerprint,
    }
