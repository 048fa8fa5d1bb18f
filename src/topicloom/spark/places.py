"""Places: paths of any file system that Spark knows, and tables of its catalog; and the interests kept there.

An interest at a path such as `fleet`, `hdfs://...` or `s3a://...` is the folders `subscriptions`, `nodes`, `topics`,
`rejected` if rows were, and `manifest`. At `table:NAME` it is the tables `NAME_subscriptions` and so on.

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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom._version import __version__
from topicloom.errors import InputError
from topicloom.io.ingest_folder import (
    COMPLETE,
    INTEREST,
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
    "number bigint, kind string, state string, fingerprint string, nodes bigint, topics bigint, subscriptions bigint, "
    "links bigint, about string"
)


def has_scheme(place: str) -> bool:
    """Tell whether a place names its file system, or is in the catalog."""
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


def require_path(place: str) -> None:
    """Refuse a table of the catalog for what is written as folders."""
    if place.startswith(_TABLE):
        raise InputError("is a table of the catalog; give a folder on any file system", file=place)


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
    """A place of tables, with a manifest that says whether they are whole."""

    spark: SparkSession
    name: str

    @property
    def catalog(self) -> str | None:
        """The name that tables of the catalog begin with; None for a path."""
        if self.name == _TABLE:
            raise InputError("names no table; give one, such as table:fleet", file=self.name)
        return self.name.removeprefix(_TABLE) if self.name.startswith(_TABLE) else None

    def find(self, table: str | None, schema: str | None = None) -> DataFrame | None:
        """One of the tables, or what is at the place itself, if it is there.

        With a schema, files that cannot be read count as missing, and rows may come twice.
        """
        from pyspark.errors import AnalysisException

        try:
            if self.catalog is not None:
                frame = self.spark.table(self._of_catalog(table))
            else:
                reader, paths = self.spark.read, [self._path(table)]
                if schema is not None:
                    # Spark prints a stack trace if a single path is not there.
                    reader, paths = reader.schema(schema).option("ignoreCorruptFiles", "true"), paths * 2
                frame = reader.json(paths) if table == MANIFEST_FOLDER else reader.parquet(*paths)
            _ = frame.columns  # Spark Connect looks for it only when it is asked something
            return frame
        except AnalysisException as error:
            if error.getCondition() in ("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND"):
                return None
            raise

    def read(self, table: str) -> DataFrame:
        """One of the tables, which is there."""
        frame = self.find(table)
        if frame is None:
            raise InputError(f"has no table {table}", file=self.name)
        return frame

    def write(self, frame: DataFrame, table: str, mode: str) -> None:
        """Write one of the tables; `mode` is that of Spark's writers."""
        writer = (frame.coalesce(1) if table == MANIFEST_FOLDER else frame).write.mode(mode)
        if self.catalog is not None:
            writer.saveAsTable(self._of_catalog(table))
        else:
            writer.format("json" if table == MANIFEST_FOLDER else "parquet").save(self._path(table))

    def _of_catalog(self, table: str | None) -> str:
        return f"{self.catalog}" if table is None else f"{self.catalog}_{table.removesuffix('.parquet')}"

    def _path(self, table: str | None) -> str:
        return location(self.name) if table is None else f"{location(self.name)}/{table}"

    def manifest(self) -> dict[str, Any] | None:
        """The newest row of the manifest; None if there is none."""
        rows = self.find(MANIFEST_FOLDER, _MANIFEST)
        newest = None if rows is None else rows.where("kind IS NOT NULL").orderBy("number", ascending=False).first()
        return None if newest is None else newest.asDict()

    def require_writable(self, kind: str, *, overwrite: bool) -> int:
        """Refuse a place that is taken, unless it is to be replaced; return the number of its manifest's next row."""
        before = self.manifest()
        if before is None:
            return 0
        if before["kind"] != kind:
            raise InputError(f"holds an {before['kind']}; give another place", file=self.name)
        if not overwrite:
            raise InputError(f"holds an {kind} already; give another place, or overwrite", "overwrite", file=self.name)
        return int(before["number"]) + 1

    def commit(
        self,
        kind: str,
        tables: Mapping[str, DataFrame],
        counts: Mapping[str, Any],
        about: Mapping[str, Any],
        *,
        overwrite: bool,
    ) -> None:
        """Write tables, then the row of the manifest that says that they are whole."""
        number = self.require_writable(kind, overwrite=overwrite)
        if overwrite:
            self._add_to_manifest({"number": number, "kind": kind, "state": WRITING})
            number += 1
        for name, frame in tables.items():
            self.write(frame, name, "overwrite" if overwrite else "error")
        text = json.dumps({"version": __version__, "spark": self.spark.version, **about}, ensure_ascii=False)
        self._add_to_manifest({"number": number, "kind": kind, "state": COMPLETE, **counts, "about": text})

    def _add_to_manifest(self, row: Mapping[str, Any]) -> None:
        self.write(self.spark.createDataFrame([row], _MANIFEST), MANIFEST_FOLDER, "append")

    def require_whole(self, row: Mapping[str, Any], kind: str, again: str) -> None:
        """Refuse a place whose manifest, of this row, is of another kind or says that it is being written."""
        if row["kind"] != kind:
            raise InputError(f"holds an {row['kind']}, not an {kind}", file=self.name)
        if row["state"] != COMPLETE:
            raise InputError(f"was not written to its end, or is being written; {again}", file=self.name)


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
    tables = {
        SUBSCRIPTIONS: interned.subscriptions.sortWithinPartitions("node_id", "topic_id"),
        NODES: interned.nodes.sortWithinPartitions("id"),
        TOPICS: interned.topics.sortWithinPartitions("id"),
    }
    if rejected is not None:
        tables[REJECTED] = rejected
    options = {"options": {"graph": interned.graph, "filters": interned.filters}}
    where = Place(interned.spark, place)
    where.commit(INTEREST, tables, asdict(interned.totals), {**options, **(about or {})}, overwrite=overwrite)


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
    where.require_whole(manifest, INTEREST, "ingest the data again")
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
