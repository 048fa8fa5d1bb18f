"""Reading what `ingest` wrote: the tables of a folder as Spark data frames, and its manifest."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.errors import InputError
from topicloom.files.whole_folder import MANIFEST
from topicloom.pipeline.ingesting.raw_files import spark_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TABLES = ("subscriptions", "nodes", "topics")


@dataclass(frozen=True)
class Ingested:
    """A folder that `ingest` wrote."""

    path: Path
    manifest: dict[str, Any]

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Ingested:
        """Check that the folder is whole, and read its manifest."""
        path = Path(folder)
        if not path.is_dir():
            raise InputError(f"{path}: no such folder; give one that `topicloom ingest` wrote")
        missing = [name for name in (*_TABLES, MANIFEST) if not (path / name).exists()]
        if missing:
            raise InputError(f"{path}: has no {missing[0]}; give a folder that `topicloom ingest` wrote")
        try:
            manifest = dict(json.loads((path / MANIFEST).read_text(encoding="utf-8")))
            manifest["fingerprint"]
        except (OSError, ValueError, TypeError, KeyError):
            raise InputError(f"{path / MANIFEST}: is not the manifest of an ingest") from None
        return cls(path, manifest)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of its interest."""
        return str(self.manifest["fingerprint"])

    @property
    def graph(self) -> str | None:
        """`directed` or `undirected` where the topics are users too; None where topics are just topics."""
        options = self.manifest.get("options") or {}
        return options.get("graph")

    def table(self, spark: SparkSession, name: str) -> DataFrame:
        """One of its tables: `subscriptions`, `nodes` or `topics`."""
        return spark.read.parquet(spark_path(self.path / name))
