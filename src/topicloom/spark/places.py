"""Places: paths of any file system that Spark knows, and tables of its catalog; and the interests kept there.

A path such as `fleet`, `hdfs://...` or `s3a://...` holds the folders `subscriptions`, `nodes`, `topics`, `rejected` if
rows were, and `manifest`. `table:NAME` stands for the tables `NAME_subscriptions` and so on.

The manifest is the commit: a row that is written last says that the tables are whole. Rows are only ever added, since
object stores have no renames, and the newest counts. Before tables are written over, a row says that they are being
written, so that readers refuse them until the last row follows.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom._version import __version__
from topicloom.errors import InputError
from topicloom.io.ingest_folder import (
    COMPLETE,
    MANIFEST_FOLDER,
    NODES,
    REJECTED,
    SUBSCRIPTIONS,
    TABLES,
    TOPICS,
    WRITING,
)
from topicloom.io.tables import require_columns
from topicloom.spark.interned import ROLE, Interned, Totals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TABLE = "table:"
_LOCAL = "file://"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_COLUMNS = {
    NODES: ("id", "name", "topics"),
    TOPICS: ("id", "name", "nodes"),
    SUBSCRIPTIONS: ("node", "topic", "node_id", "topic_id"),
}
_MANIFEST = (
    "number bigint, state string, fingerprint string, nodes bigint, topics bigint, subscriptions bigint, about string"
)


def has_scheme(place: str) -> bool:
    """Whether a place says itself which file system or catalog it is in."""
    return place.startswith(_TABLE) or bool(_SCHEME.match(place))


def location(place: str) -> str:
    """A place as Spark takes it, whatever its default file system: what has no scheme is on this machine."""
    return place if has_scheme(place) else spark_path(place)


def spark_path(path: str | os.PathLike[str]) -> str:
    """A local path as Spark takes it literally, whatever its default file system."""
    return _LOCAL + re.sub(r"([\\\[\]{}*?])", r"\\\1", os.path.abspath(path))  # noqa: PTH100  keeps links


def input_location(place: str) -> str:
    """A place to read, which may be a pattern, as Spark takes it."""
    if has_scheme(place) or Path(place).exists() or not glob.has_magic(place):
        return location(place)
    return _LOCAL + os.path.abspath(place)  # noqa: PTH100


def require_place(place: str) -> None:
    """Refuse a place to write that is a file on this machine."""
    if not has_scheme(place) and Path(place).is_file():
        raise InputError("is a file; give a folder", file=place)


def require_inputs(places: list[str]) -> None:
    """Refuse inputs on this machine that are not there, before Spark starts."""
    if not places:
        raise InputError("no input given; expected files, folders or patterns")
    for place in places:
        if not has_scheme(place) and not Path(place).exists() and not glob.glob(place, recursive=True):  # noqa: PTH207
            kind = "no file matches" if glob.has_magic(place) else "no such file or folder"
            raise InputError(kind, file=place)


@dataclass(frozen=True)
class Place:
    """Where tables are."""

    spark: SparkSession
    name: str

    def read(self, table: str) -> DataFrame:
        """One of the tables."""
        if self._catalog is not None:
            return self.spark.table(f"{self._catalog}_{table}")
        return self.spark.read.parquet(f"{location(self.name)}/{table}")

    def write(self, frame: DataFrame, table: str, mode: str) -> None:
        """Write one of the tables; `mode` is that of Spark's writers."""
        if self._catalog is not None:
            frame.write.mode(mode).saveAsTable(f"{self._catalog}_{table}")
        elif table == MANIFEST_FOLDER:
            frame.coalesce(1).write.mode(mode).json(f"{location(self.name)}/{table}")
        else:
            frame.write.mode(mode).parquet(f"{location(self.name)}/{table}")

    @property
    def _catalog(self) -> str | None:
        return self.name.removeprefix(_TABLE) if self.name.startswith(_TABLE) else None

    def manifest(self) -> dict[str, Any] | None:
        """The newest row of the manifest; None if there is none."""
        from pyspark.errors import AnalysisException

        try:
            if self._catalog is not None:
                rows = self.read(MANIFEST_FOLDER)
            else:
                rows = self.spark.read.schema(_MANIFEST).json(f"{location(self.name)}/{MANIFEST_FOLDER}")
            newest = rows.orderBy("number", ascending=False).first()
        except AnalysisException as error:
            if error.getCondition() in ("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND"):
                return None
            raise
        return None if newest is None else newest.asDict()

    def add_to_manifest(self, number: int, state: str, totals: Totals | None, about: Mapping[str, Any]) -> None:
        """Add a row to the manifest."""
        counts = (
            (None,) * 4 if totals is None else (totals.fingerprint, totals.nodes, totals.topics, totals.subscriptions)
        )
        text = json.dumps({"version": __version__, "spark": self.spark.version, **about}, ensure_ascii=False)
        row = self.spark.createDataFrame([(number, state, *counts, text)], _MANIFEST)
        self.write(row, MANIFEST_FOLDER, "append")


def write_interest(
    interned: Interned,
    place: str,
    *,
    overwrite: bool = False,
    rejected: DataFrame | None = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write an interest to a place.

    Args:
        interned: the interest; its subscriptions are written in the order of their ids within each file.
        place: a path of any file system that Spark knows, or `table:NAME`.
        overwrite: replace an interest that is there.
        rejected: rows to write beside it.
        about: more to keep in the manifest.

    Example:
        >>> from topicloom import Interest
        >>> from topicloom.spark import Interned, read_interest, write_interest
        >>> interest = Interest.from_pairs([("a", "x"), ("b", "x")])
        >>> write_interest(Interned.of(spark, interest), "fleet")
        >>> read_interest(spark, "fleet").to_interest() == interest
        True
    """
    where = Place(interned.spark, place)
    before = require_writable(where, overwrite=overwrite)
    totals = interned.totals
    number, mode = (0, "error") if before is None else (int(before["number"]) + 1, "overwrite")
    if overwrite:
        mode = "overwrite"
        where.add_to_manifest(number, WRITING, None, {})
        number += 1
    tables = {
        SUBSCRIPTIONS: interned.subscriptions.sortWithinPartitions("node_id", "topic_id"),
        NODES: interned.nodes.sortWithinPartitions("id"),
        TOPICS: interned.topics.sortWithinPartitions("id"),
    }
    if rejected is not None:
        tables[REJECTED] = rejected
    for name, frame in tables.items():
        where.write(frame, name, mode)
    said = {"graph": interned.graph, "filters": interned.filters}
    where.add_to_manifest(number, COMPLETE, totals, {"options": said, **(about or {})})


def require_writable(place: Place, *, overwrite: bool) -> dict[str, Any] | None:
    """Refuse a place that has an interest, unless it is to be replaced; give its manifest."""
    before = place.manifest()
    if before is not None and not overwrite:
        raise InputError("holds an interest already; give another place, or overwrite", "overwrite", file=place.name)
    return before


def read_interest(spark: SparkSession, place: str, *, verify: bool = False) -> Interned:
    """Read an interest from a place.

    Args:
        spark: the session.
        place: what `write_interest` or `topicloom spark ingest` wrote.
        verify: also compare the fingerprint of the subscriptions with that of the manifest; Parquet has checksums.
    """
    where = Place(spark, place)
    manifest = where.manifest()
    if manifest is None:
        raise InputError("holds no interest; give a place that `topicloom spark ingest` wrote", file=place)
    if manifest["state"] != COMPLETE:
        raise InputError("was not written to its end, or is being written; ingest the data again", file=place)
    options = json.loads(manifest["about"]).get("options", {})
    frames = {name: where.read(name) for name in TABLES}
    for name, frame in frames.items():
        require_columns(frame.columns, _COLUMNS[name], f"{place}/{name}")
    counts = {name: frame.count() for name, frame in frames.items()}
    for name, rows in counts.items():
        if rows != manifest[name]:
            raise InputError(
                f"has {rows:,} rows and its manifest says {manifest[name]:,}; ingest the data again",
                file=f"{place}/{name}",
            )
    totals = Totals(manifest[NODES], manifest[TOPICS], manifest[SUBSCRIPTIONS], manifest["fingerprint"])
    columns = [*_COLUMNS[SUBSCRIPTIONS], *([ROLE] if ROLE in frames[SUBSCRIPTIONS].columns else [])]
    found = Interned(
        frames[SUBSCRIPTIONS].select(*columns),
        frames[NODES],
        frames[TOPICS],
        options.get("graph"),
        options.get("filters"),
        totals,
    )
    if verify and Interned(found.subscriptions, found.nodes, found.topics).totals != totals:
        raise InputError("its subscriptions are not those it was written with; ingest the data again", file=place)
    return found
