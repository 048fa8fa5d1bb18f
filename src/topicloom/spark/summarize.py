"""Message histories to rates: a log of (user, attributes, time) becomes what each user publishes in each channel.

One pass over the log counts messages by user and channel; the counts come back to the driver, a row for each user and
channel that it published in. Messages that cannot be placed are counted by reason and set aside.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom._version import __version__
from topicloom.content.space import Space
from topicloom.content.tables import read_space
from topicloom.errors import InputError
from topicloom.io.tables import require_columns, write_parquet
from topicloom.io.whole import MANIFEST, replacing_folder
from topicloom.spark.ingest import IngestOptions
from topicloom.spark.places import spark_path
from topicloom.spark.raw import list_files

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


_SEPARATORS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True)
class Summary:
    """What a log came to: messages read, those set aside by reason, users, channels, and the time they span."""

    messages: int
    bad: int
    bad_by_reason: dict[str, int]
    users: int
    channels: int
    seconds: float


def summarize(
    spark: SparkSession,
    inputs: Sequence[str | os.PathLike[str]],
    space: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    user_column: str = "user",
    time_column: str = "time",
    seconds: float | None = None,
    max_bad: float = 0.1,
) -> Summary:
    """Write the folder `out` with `rates` (user, channel, rate), and sums by user and by channel.

    Args:
        spark: the session to run on.
        inputs: files, folders or globs; CSV or TSV with a header, JSON Lines or Parquet.
        space: the table `space.parquet` of a network; its attributes are columns of the log.
        out: folder to write; a summary there is replaced.
        user_column: the column that names the publisher.
        time_column: the column of times: numbers of seconds, or dates with times.
        seconds: the time that the log spans; unless given, from its first message to its last.
        max_bad: the largest share of messages that may be set aside.
    """
    cells = read_space(Path(space))
    if seconds is not None and not 0 < seconds < float("inf"):
        raise InputError(f"seconds is {seconds}; give a number above 0")
    if not 0 <= max_bad <= 1:
        raise InputError(f"max_bad is {max_bad}; give a share from 0 to 1")
    columns = [user_column, *(attribute.name for attribute in cells.attributes)]
    if seconds is None:
        columns.append(time_column)
    rows = _placed(_read(spark, inputs, columns), cells, user_column, time_column if seconds is None else None)
    with replacing_folder(out) as folder:
        counts = _counted(rows)
        summary = _summary(counts, seconds, max_bad)
        bad = rows.where("reason is not null")
        if summary.bad:
            bad.select("file", "reason", "raw").write.parquet(spark_path(folder / "quarantine"))
        for name, table in _tables(counts, summary.seconds).items():
            write_parquet(table, folder / f"{name}.parquet")
        manifest = {"kind": "topicloom summary", "fingerprint": None, "version": __version__, **asdict(summary)}
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return summary


def _read(spark: SparkSession, inputs: Sequence[str | os.PathLike[str]], columns: list[str]) -> DataFrame:
    """The columns of all files as text, and the file of each row."""
    from pyspark.sql import functions as sql

    frames = []
    places = [os.fspath(place) for place in inputs]
    for format_, paths in list_files(spark, places, IngestOptions()).by_format.items():
        if format_ == "parquet":
            frame = spark.read.parquet(*paths)
        elif format_ == "json":
            frame = spark.read.json(list(paths), primitivesAsString=True)
        else:
            frame = spark.read.csv(list(paths), header=True, sep=_SEPARATORS[format_], escape='"')
        require_columns(frame.columns, columns, os.fspath(paths[0]).removeprefix("file://"))
        chosen = [sql.col(f"`{name}`").cast("string").alias(name) for name in columns]
        frames.append(frame.select(sql.col("_metadata.file_path").alias("file"), *chosen))
    return reduce(lambda one, other: one.union(other), frames)


def _placed(rows: DataFrame, space: Space, user_column: str, time_column: str | None) -> DataFrame:
    """Rows with `user`, `channel` and `at`, seconds since some time; or with the `reason` why they have none."""
    from pyspark.sql import functions as sql

    reason = sql.when(sql.coalesce(sql.trim(sql.col(f"`{user_column}`")), sql.lit("")) == "", "no user")
    names = []
    for attribute in space.attributes:
        value = sql.col(f"`{attribute.name}`").try_cast("double")
        reason = reason.when(value.isNull() | sql.isnan(value), f"{attribute.name} is no number")
        reason = reason.when(
            (value < attribute.low) | (value > attribute.high), f"{attribute.name} is outside the space"
        )
        width = (attribute.high - attribute.low) / attribute.cells
        # The highest value belongs to the last cell.
        cell = sql.least(sql.floor((value - attribute.low) / width), sql.lit(attribute.cells - 1)).cast("long")
        names.append(sql.lpad((cell + 1).cast("string"), len(str(attribute.cells)), "0"))
    at: Column = sql.lit(0.0)
    if time_column is not None:
        text = sql.col(f"`{time_column}`")
        moment = sql.unix_micros(text.try_cast("timestamp")).cast("double") / 1e6
        at = sql.coalesce(text.try_cast("double"), moment)
        reason = reason.when(at.isNull(), "no time")
    raw = sql.to_json(sql.struct(*(sql.col(f"`{name}`") for name in rows.columns if name != "file")))
    return rows.select(
        "file",
        sql.trim(sql.col(f"`{user_column}`")).alias("user"),
        sql.concat(sql.lit("c"), sql.concat_ws(".", *names)).alias("channel"),
        at.alias("at"),
        reason.alias("reason"),
        raw.alias("raw"),
    )


def _counted(rows: DataFrame) -> pa.Table:
    """Messages by user and channel, or by reason, with their first and last time."""
    from pyspark.sql import functions as sql

    good = sql.col("reason").isNull()
    keys = [sql.when(good, sql.col(name)).alias(name) for name in ("user", "channel")]
    counted = rows.groupBy(*keys, "reason").agg(
        sql.count("*").alias("messages"), sql.min("at").alias("first"), sql.max("at").alias("last")
    )
    return counted.toArrow().sort_by([("user", "ascending"), ("channel", "ascending"), ("reason", "ascending")])


def _summary(counts: pa.Table, seconds: float | None, max_bad: float) -> Summary:
    good = counts.filter(pc.is_null(counts["reason"]))
    bad = counts.filter(pc.is_valid(counts["reason"]))
    reasons = dict(zip(bad["reason"].to_pylist(), bad["messages"].to_pylist(), strict=True))
    wrong, total = sum(reasons.values()), pc.sum(counts["messages"]).as_py() or 0
    if total == 0:
        raise InputError("nothing to summarize: there are no messages")
    if wrong == total or wrong / total > max_bad:
        listed = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
        limit = "" if wrong == total else f", more than max_bad {max_bad:g} accepts"
        raise InputError(f"{wrong:,} of {total:,} messages are bad{limit} ({listed})", "max_bad")
    if seconds is None:
        seconds = pc.max(good["last"]).as_py() - pc.min(good["first"]).as_py()
        if seconds <= 0:
            raise InputError("all messages have the same time; give how long the log spans, as seconds", "seconds")
    users, channels = (len(pc.unique(good[name])) for name in ("user", "channel"))
    return Summary(total, wrong, reasons, users, channels, float(seconds))


def _tables(counts: pa.Table, seconds: float) -> dict[str, pa.Table]:
    good = counts.filter(pc.is_null(counts["reason"])).select(["user", "channel", "messages"])
    rates = good.append_column("rate", pa.array(good["messages"].to_numpy() / seconds))
    tables = {"rates": rates.select(["user", "channel", "rate"])}
    for key, other in (("user", "channel"), ("channel", "user")):
        sums = good.group_by(key).aggregate([("messages", "sum"), (other, "count")]).sort_by(key)
        count = {"user": "channels", "channel": "publishers"}[key]
        sums = pa.table(
            {
                key: sums[key],
                "messages": sums["messages_sum"],
                count: sums[f"{other}_count"],
                "rate": np.asarray(sums["messages_sum"]) / seconds,
            }
        )
        tables[f"{key}s"] = sums
    return tables
