"""Reading what `ingest` wrote: the tables of a folder as Spark data frames, and its manifest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.errors import InputError
from topicloom.files.ingest_folder import IngestedManifest, read_manifest, require_all_rows
from topicloom.model.filters import PLAIN
from topicloom.pipeline.ingesting.raw_files import spark_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
