"""Writing what was designed on Spark: a Parquet file by the driver, or a folder of them by the executors.

A name that ends in .parquet is a file, the very one that a design on one machine writes: the driver then holds the
names of all nodes, and of both ends of all links. Any other name is a folder, made of parts of 1,048,576 links in
their order, whose names are joined and written by tasks; it has to be on a disk that executors share.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from topicloom.errors import InputError
from topicloom.files.atomic import replacing
from topicloom.files.parquet import write_parquet
from topicloom.files.whole_folder import MANIFEST, replacing_folder, require_replaceable
from topicloom.model.interest import Interest
from topicloom.model.overlay import PART_LINKS, Overlay, overlay_metadata, part_name
from topicloom.pipeline.designing.design_on_spark import SparkDesign
from topicloom.pipeline.ingesting.ingested import Ingested

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WRITTEN = "part int, links long"


def is_file(out: str | os.PathLike[str]) -> bool:
    """Whether a design of that name is one file."""
    return Path(out).suffix.lower() == ".parquet"


def require_place(out: str | os.PathLike[str]) -> None:
    """Refuse a folder to write to where there is something else than an overlay."""
    require_replaceable(Path(out))
    if Path(out).is_dir() and any(Path(out).iterdir()) and not Path(out, part_name(0)).exists():
        raise InputError(f"{out}: is a folder with other things in it; give a new folder or an overlay's")


def write_design(
    spark: SparkSession, folder: str | os.PathLike[str], design: SparkDesign, out: str | os.PathLike[str]
) -> None:
    """Write the links of a design of an ingest folder to a file or a new folder, whole or not at all."""
    ingested = Ingested.open(folder)
    if is_file(out):
        overlay_of(spark, ingested, design).write(out)
        return
    require_place(out)
    with replacing_folder(out) as temporary:
        _write_parts(spark, ingested, design, temporary)
        manifest = {"fingerprint": ingested.fingerprint, "links": len(design.links.source)}
        (temporary / MANIFEST).write_text(json.dumps(manifest) + "\n", encoding="utf-8")


def overlay_of(spark: SparkSession, ingested: Ingested, design: SparkDesign) -> Overlay:
    """The design as an overlay of nodes without subscriptions, but with the fingerprint of those that there are."""
    names = ingested.table(spark, "nodes").select("id", "name").toArrow().sort_by("id")["name"]
    none = np.empty(0, np.int32)
    nodes = Interest.from_ids(tuple(names.to_pylist()), (), none, none)
    vars(nodes)["fingerprint"] = ingested.fingerprint
    links = design.links
    return Overlay(nodes, links.source, links.target, links.contribution, design.provenance)


def _write_parts(spark: SparkSession, ingested: Ingested, design: SparkDesign, folder: Path) -> None:
    from pyspark.sql import functions as sql

    links = design.links
    parts = max(1, -(-len(links.source) // PART_LINKS))
    metadata = overlay_metadata(ingested.fingerprint, design.provenance) | {"parts": str(parts)}
    ids = pa.table(
        {
            "link": np.arange(len(links.source)),
            "source_id": links.source,
            "target_id": links.target,
            "contribution": links.contribution,
        }
    )
    named = spark.createDataFrame(ids)
    for end in ("source", "target"):
        names = ingested.table(spark, "nodes").selectExpr(f"id as {end}_id", f"name as {end}")
        named = named.join(names, f"{end}_id")
    part = (sql.col("link") / sql.lit(PART_LINKS)).cast("int").alias("part")
    dealt = named.select(part, "link", "source", "target", "contribution").repartitionById(parts, "part")
    written = dealt.mapInArrow(_writing(str(folder), metadata), _WRITTEN).toArrow()
    if written.num_rows == 0:
        none = pa.table({"source": pa.array([], pa.string()), "target": pa.array([], pa.string())})
        write_parquet(none.replace_schema_metadata(metadata), folder / part_name(0))


def _writing(
    folder: str, metadata: Mapping[str, str]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does with the links of its parts. One that runs again replaces what it wrote before."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = list(batches)
        if not given:
            return
        table = pa.Table.from_batches(given)
        given.clear()
        dealt = table["part"].to_numpy()
        for part in np.unique(dealt).tolist():
            mine = table.filter(pa.array(dealt == part)).sort_by("link").select(["source", "target", "contribution"])
            with replacing(Path(folder, part_name(part))) as temporary:
                write_parquet(mine.replace_schema_metadata(dict(metadata)), temporary)
            yield pa.record_batch({"part": pa.array([part], pa.int32()), "links": pa.array([len(mine)])})

    return write
