"""Message histories to rates: a log of (user, attributes, time) becomes what each user publishes in each channel.

One pass over the log counts messages by user and channel; the counts come back to the driver, a row for each user and
channel that it published in. Messages that cannot be placed are counted by reason and set aside.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.content.space import Space
from topicloom.content.tables import read_space
from topicloom.errors import InputError
from topicloom.io.tables import require_columns
from topicloom.spark.frames import frame_of
from topicloom.spark.ingest import IngestOptions
from topicloom.spark.raw import SEPARATORS, list_files

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# The column of the file that a message is from, if it is from one.
FILE = "__file"


@dataclass(frozen=True)
class Summary:
    """Summary of a log: messages, those set aside by reason, users, channels, and the seconds that they span."""

    messages: int
    bad: int
    bad_by_reason: dict[str, int]
    users: int
    channels: int
    seconds: float
    counts: pa.Table = field(repr=False, compare=False)
    _rows: DataFrame = field(repr=False, compare=False)

    @property
    def rates(self) -> pa.Table:
        """Messages a second by `user` and `channel`, as a network has them."""
        good = self.counts.select(["user", "channel", "messages"])
        rates = good.append_column("rate", pa.array(good["messages"].to_numpy() / self.seconds))
        return rates.select(["user", "channel", "rate"])

    def by(self, key: str) -> pa.Table:
        """Sums by `user` or by `channel`."""
        other, count = {"user": ("channel", "channels"), "channel": ("user", "publishers")}[key]
        sums = self.counts.group_by(key).aggregate([("messages", "sum"), (other, "count")]).sort_by(key)
        return pa.table(
            {
                key: sums[key],
                "messages": sums["messages_sum"],
                count: sums[f"{other}_count"],
                "rate": np.asarray(sums["messages_sum"]) / self.seconds,
            }
        )

    @property
    def rejected(self) -> DataFrame:
        """Messages that were set aside: `reason`, `text`, `file`."""
        return self._rows.where("reason IS NOT NULL").select("reason", "text", "file")


def summarize(
    messages: DataFrame,
    space: Space | str | os.PathLike[str],
    *,
    user: str = "user",
    time: str = "time",
    seconds: float | None = None,
    max_bad: float = 0.1,
) -> Summary:
    """Count the messages of each user in each channel of a content space.

    Args:
        messages: a row a message; the attributes of the space are columns.
        space: the content space, or the table `space.parquet` of a network.
        user: the column that names the publisher.
        time: the column of times: numbers of seconds, or dates with times.
        seconds: the time that the log spans; unless given, from its first message to its last.
        max_bad: the largest share of messages that may be set aside.
    """
    cells = space if isinstance(space, Space) else read_space(Path(space))
    if seconds is not None and not 0 < seconds < float("inf"):
        raise InputError(f"seconds is {seconds}; give a number above 0", "seconds")
    if not 0 <= max_bad <= 1:
        raise InputError(f"max_bad is {max_bad}; give a share from 0 to 1", "max_bad")
    columns = [user, *(attribute.name for attribute in cells.attributes), *([time] if seconds is None else [])]
    require_columns(messages.columns, columns, "messages")
    kept = [name for name in messages.columns if name in (*columns, FILE)]
    rows = _placed(messages.select(*(f"`{name}`" for name in kept)), cells, user, time if seconds is None else None)
    return _summary(rows, _counted(rows), seconds, max_bad)


def rates(messages: DataFrame, space: Space | str | os.PathLike[str], **options: Any) -> DataFrame:
    """Return messages a second by `user` and `channel`; arguments and options are those of `summarize`.

    Example:
        >>> from topicloom.content.space import Attribute, Space
        >>> from topicloom.spark import rates
        >>> space = Space((Attribute("size", 0.0, 10.0, 2),))
        >>> log = [("u", 1.0, 0.0), ("u", 9.0, 5.0), ("u", 2.0, 10.0)]
        >>> messages = spark.createDataFrame(log, "user string, size double, time double")
        >>> [tuple(row) for row in rates(messages, space).collect()]
        [('u', 'c1', 0.2), ('u', 'c2', 0.1)]
    """
    return frame_of(messages.sparkSession, summarize(messages, space, **options).rates)


def read_messages(spark: SparkSession, places: Sequence[str], form: str | None = None) -> DataFrame:
    """Read a log: CSV or TSV with a header, JSON Lines or Parquet, by the endings of names unless `form` is given."""
    frames = []
    for each, paths in list_files(spark, places, IngestOptions(format=form)).groups:
        if each in SEPARATORS:
            reader = spark.read.options(header="true", sep=SEPARATORS[each], escape='"')
            columns = reader.csv(paths[0]).columns
            # Spark gives the columns of the first file to all, whatever their headers say, unless it is to check them.
            schema = ", ".join(f"`{name}` string" for name in columns)
            frame = reader.schema(schema).option("enforceSchema", "false").csv(list(paths))
        elif each == "json":
            frame = spark.read.json(list(paths), primitivesAsString=True)
        else:
            frame = spark.read.format(each).load(list(paths))
        frames.append(frame.select("*", frame["_metadata.file_path"].alias(FILE)))
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _text(name: str) -> Column:
    from pyspark.sql import functions as sql

    return sql.col(f"`{name}`").cast("string")


def _placed(rows: DataFrame, space: Space, user: str, time: str | None) -> DataFrame:
    """Rows with `user`, `channel` and `at`, seconds since some time; or with the `reason` why they have none."""
    from pyspark.sql import functions as sql

    reason = sql.when(sql.coalesce(sql.trim(_text(user)), sql.lit("")) == "", "no user")
    names = []
    for attribute in space.attributes:
        value = _text(attribute.name).try_cast("double")
        reason = reason.when(value.isNull() | sql.isnan(value), f"{attribute.name} is no number")
        reason = reason.when(
            (value < attribute.low) | (value > attribute.high), f"{attribute.name} is outside the space"
        )
        width = (attribute.high - attribute.low) / attribute.cells
        # The highest value belongs to the last cell.
        cell = sql.least(sql.floor((value - attribute.low) / width), sql.lit(attribute.cells - 1)).cast("long")
        names.append(sql.lpad((cell + 1).cast("string"), len(str(attribute.cells)), "0"))
    at: Column = sql.lit(0.0)
    if time is not None:
        text = _text(time)
        moment = sql.unix_micros(text.try_cast("timestamp")).cast("double") / 1e6
        at = sql.coalesce(text.try_cast("double"), moment)
        reason = reason.when(at.isNull(), "no time")
    raw = sql.to_json(sql.struct(*(_text(name).alias(name) for name in rows.columns if name != FILE)))
    return rows.select(
        sql.col(FILE).alias("file") if FILE in rows.columns else sql.lit(None).cast("string").alias("file"),
        sql.trim(_text(user)).alias("user"),
        sql.concat(sql.lit("c"), sql.concat_ws(".", *names)).alias("channel"),
        at.alias("at"),
        reason.alias("reason"),
        raw.alias("text"),
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


def _summary(rows: DataFrame, counts: pa.Table, seconds: float | None, max_bad: float) -> Summary:
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
    return Summary(total, wrong, reasons, users, channels, float(seconds), good, rows)
