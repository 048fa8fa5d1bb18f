"""What can be done before a first run, so that it waits for less: Spark's classes in one file."""

from __future__ import annotations

import random
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.designers import design
from topicloom.errors import InputError
from topicloom.io.whole import replacing, scratch_folder
from topicloom.model.interest import Interest
from topicloom.spark.evaluate import evaluate
from topicloom.spark.ingest import Ingested, ingest
from topicloom.spark.profile import profile
from topicloom.spark.session import (
    SparkOptions,
    archive_file,
    making,
    require_java,
    require_pyspark,
    spark_home,
    spark_session,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_OLD_SECONDS = 7 * 24 * 3600


def archive_classes(options: SparkOptions) -> Path:
    """Write the archive of Spark's classes that a small run of the pipeline loads, and give its path."""
    require_pyspark()
    archive = archive_file(spark_home(), require_java())
    with scratch_folder("classes") as folder:
        new = folder / archive.name
        asked = replace(options, master="local[2]", conf={**options.conf, **making(new)})
        with spark_session(asked, "topicloom prepare") as spark:
            _small_run(spark, folder)
        if not new.is_file():
            raise InputError("Java wrote no archive of Spark's classes; that happens where conf/ of Spark holds files")
        archive.parent.mkdir(parents=True, exist_ok=True)
        with replacing(archive) as temporary:
            shutil.copyfile(new, temporary)
    _clear_old(archive)
    return archive


def _clear_old(archive: Path) -> None:
    """Remove archives of other versions, unless they were made lately."""
    for other in archive.parent.glob("spark-classes-*.jsa"):
        if time.time() - other.stat().st_mtime > _OLD_SECONDS:
            other.unlink(missing_ok=True)


def _small_run(spark: SparkSession, folder: Path) -> None:
    dice = random.Random(0)
    rows = [f"n{dice.randrange(200)},t{dice.randrange(50)}" for _ in range(2000)]
    (folder / "raw.csv").write_text("\n".join(["node,topic", *rows]) + "\n")
    ingest(spark, [folder / "raw.csv"], folder / "fleet")
    profile(spark, folder / "fleet")
    interned = Ingested.open(folder / "fleet").interned(spark)
    evaluate(interned, design(Interest.read(folder / "fleet"), "gm"))
