"""Clean raw rows: names trimmed and normalised, repeats counted, and what cannot be used rejected with a reason.

Rows are cleaned in Arrow, where Spark would need several functions of its own for white space and normal forms, then
dealt by hash of the pair and counted, so that neither a node nor a topic with most of the rows is a task by itself.
Counts come from the rows that were dealt, not from observed metrics, so they are right when tasks are repeated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.io.tables import clean_names, problems, require_columns
from topicloom.model.filters import PLAIN, protocol_of
from topicloom.model.roles import PUBLISHES, SUBSCRIBES, Bits, known_roles
from topicloom.spark.interned import ROLE
from topicloom.spark.lines import BLANK, FILE, LINE, NOT_UTF8, WRONG, Splitting, readable_path, runs, text_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Graph = Literal["directed", "undirected"]
Keep = Callable[["DataFrame"], "DataFrame"]

# Kinds of rows that are neither good nor rejected.
FILTERED = "filtered"
SELF_LOOP = "self-loop"
_COUNTED = (FILTERED, SELF_LOOP)
_RAW_CHARACTERS = 4096
# Types that are names, possibly as their digits.
_NAME_TYPES = ("string", "tinyint", "smallint", "int", "bigint")
# Repeats are counted before rows are dealt if that saves this share of them.
_WORTH_COUNTING = 0.2

# Of a good row: its names, and how many rows say this. Of another: its text, its file and the reason.
_ROWS = "node string, topic string, reason string, rows bigint"
_ROLES = "hears boolean, speaks boolean, said boolean"


@dataclass(frozen=True)
class Tally:
    """What became of raw rows: rows = filtered + rejected + self_loops + good."""

    rows: int
    filtered: int
    rejected_by_reason: Mapping[str, int]
    self_loops: int
    pairs: int
    has_roles: bool

    @property
    def rejected(self) -> int:
        """Rows that cannot be used, for whatever reason."""
        return sum(self.rejected_by_reason.values())


@dataclass(frozen=True, eq=False)
class Cleaned:
    """Clean pairs of names, and the rows that were rejected.

    - `rows`: good and rejected rows together, each distinct one once; for `intern`.
    - `graph`, `filters`: what they were cleaned as.
    """

    rows: DataFrame
    graph: Graph | None = None
    filters: str | None = None

    @property
    def pairs(self) -> DataFrame:
        """Distinct pairs: `node`, `topic`, `role` if roles are known, and `rows`, the number of raw rows of each."""
        from pyspark.sql import functions as sql

        good = self.rows.where("reason IS NULL")
        if not self.tally.has_roles:
            return good.select("node", "topic", "rows")
        role = sql.expr("CASE WHEN hears AND speaks THEN 'both' WHEN hears THEN 'sub' ELSE 'pub' END")
        return good.select("node", "topic", role.alias(ROLE), "rows")

    @property
    def rejected(self) -> DataFrame:
        """Rejected rows: `reason`, `text`, `file`."""
        bad = self.rows.where(f"reason IS NOT NULL AND reason NOT IN {_COUNTED!r}")
        return bad.selectExpr("reason", "node AS text", "topic AS file", "explode(sequence(1L, rows)) AS one").drop(
            "one"
        )

    @cached_property
    def tally(self) -> Tally:
        """Count rows by what became of them; a job."""
        said = "coalesce(max(said), false)" if "said" in self.rows.columns else "false"
        counted = self.rows.groupBy("reason").agg(*map(_expression, ("sum(rows) n", "count(*) pairs", f"{said} said")))
        by_reason = {row["reason"]: row for row in counted.collect()}
        counts = {reason: int(row["n"]) for reason, row in by_reason.items()}
        good = by_reason.get(None)
        return Tally(
            rows=sum(counts.values()),
            filtered=counts.get(FILTERED, 0),
            rejected_by_reason={reason: counts[reason] for reason in sorted({*counts} - {None, *_COUNTED})},
            self_loops=counts.get(SELF_LOOP, 0),
            pairs=0 if good is None else int(good["pairs"]),
            has_roles=good is not None and bool(good["said"]),
        )


def clean(
    raw: DataFrame,
    *,
    node: str = "node",
    topic: str = "topic",
    role: str | None = None,
    where: str | None = None,
    graph: Graph | None = None,
    include_self: bool = False,
    filters: str | None = None,
    max_name_length: int = 1024,
    keep: Keep = lambda frame: frame,
) -> Cleaned:
    """Clean raw subscriptions or the edges of a social graph.

    Args:
        raw: a row a subscription, with columns of names.
        node: the column of nodes.
        topic: the column of topics.
        role: the column that says `sub`, `pub` or `both`; `role` unless given, if there is one; empty for none.
        where: a Spark SQL condition on the columns; other rows are left out and counted.
        graph: rows are edges, and every user is a topic. In a directed graph `node` follows, so subscribes to, `topic`;
            undirected edges count both ways. Self-loops are dropped.
        include_self: in a graph, subscribe each user to its own topic.
        filters: the protocol whose wildcards topics may have: `mqtt`, `nats` or `amqp`.
        max_name_length: bytes of the longest name in UTF-8; rows with longer ones are rejected.
        keep: called with the rows to keep them for several jobs, such as `DataFrame.persist`.

    Returns:
        Pairs and rejected rows, each worked out when used.

    Example:
        >>> from topicloom.spark import clean
        >>> raw = spark.createDataFrame([(" a", "x"), ("a", "x "), ("b", "")], "node string, topic string")
        >>> cleaned = clean(raw)
        >>> cleaned.pairs.collect()
        [Row(node='a', topic='x', rows=2)]
        >>> cleaned.rejected.select("reason", "text").collect()
        [Row(reason='empty topic', text='["b", ""]')]
    """
    require_columns(raw.columns, [node, topic], "data frame")
    if role is None and graph is None and ROLE in raw.columns:
        role = ROLE
    if role:
        require_columns(raw.columns, [role], "data frame")
    picked = picked_columns(raw, node, topic, role or None, where)
    rows = CleanRows(max_name_length, graph, include_self, None if filters == PLAIN else filters, bool(role))
    return Cleaned(keep(counted(picked.mapInArrow(rows, rows.schema), bool(role))), graph, filters)


def picked_columns(raw: DataFrame, node: str, topic: str, role: str | None, where: str | None) -> DataFrame:
    """The columns that cleaning needs, and whether the condition holds."""
    from pyspark.errors import AnalysisException, ParseException
    from pyspark.sql import functions as sql

    kinds = dict(raw.dtypes)
    for name in (node, topic):
        if kinds[name] not in _NAME_TYPES:
            raise InputError(f"column '{name}' holds {kinds[name]}, not names (strings)")
    if node == topic:
        raise InputError(f"nodes and topics cannot both be in column '{node}'")
    nothing = sql.lit(None).cast("string")
    known = [sql.col(name) if name in raw.columns else nothing.alias(name) for name in (LINE, FILE, WRONG)]
    try:
        kept = (sql.lit(True) if where is None else sql.expr(f"({where})")).alias("kept")
        rows = raw.select(
            *known,
            *(
                (nothing if column is None else sql.col(quoted(column)).cast("string")).alias(name)
                for name, column in (("node", node), ("topic", topic), (ROLE, role))
            ),
            kept,
        )
        kind = dict(rows.dtypes)["kept"]
    except ParseException as error:
        raise InputError(f'where "{where}": is not a condition of Spark SQL ({_first_line(error)})', "where") from None
    except AnalysisException as error:
        if where is None:
            raise
        raise InputError(f'where "{where}": {_first_line(error)}', "where") from None
    if kind != "boolean":
        raise InputError(f'where "{where}": is {kind}, not a condition', "where")
    return rows


def counted(rows: DataFrame, has_roles: bool) -> DataFrame:
    """Deal rows by hash of the pair and count equal ones; a hot node or topic is spread over all tasks."""
    return rows.repartition("node", "topic").mapInArrow(_counted_partition, _schema(has_roles))


def quoted(name: str) -> str:
    """A column as SQL names it."""
    return "`" + name.replace("`", "``") + "`"


def _schema(has_roles: bool) -> str:
    return f"{_ROWS}, {_ROLES}" if has_roles else _ROWS


def _expression(text: str) -> Any:
    from pyspark.sql import functions as sql

    return sql.expr(text.rpartition(" ")[0]).alias(text.rpartition(" ")[2])


def _first_line(error: Exception) -> str:
    from topicloom.spark.session import in_one_line

    return in_one_line(error)


@dataclass(frozen=True)
class CleanRows:
    """Clean raw rows in a task.

    Rows are lines (`__line`, `__file`, `__block`) if there is a `splitting`, whose columns are node, topic and perhaps
    role; else they have `__line`, `__file`, `__wrong`, `node`, `topic`, `role` and `kept`.
    """

    max_name_bytes: int
    graph: Graph | None
    include_self: bool
    filters: str | None
    has_roles: bool
    splitting: Splitting | None = None

    @property
    def schema(self) -> str:
        """The columns of the rows that are given."""
        return _schema(self.has_roles)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Give good pairs, rejected rows, and counts of the others."""
        worth_counting = True
        for batch in self._named(batches):
            if not batch.num_rows:
                continue
            table = self._cleaned(batch)
            if worth_counting:
                given = table.num_rows
                table = _added_up(table)
                worth_counting = table.num_rows < given * (1 - _WORTH_COUNTING)
            yield from table.to_batches()

    def _named(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if self.splitting is None:
            yield from batches
            return
        for run in runs(batches):
            rows, columns, wrong = self.splitting(run)
            node, topic, *more = columns
            nothing = pa.nulls(rows.num_rows, pa.string())
            there = pa.array(np.ones(rows.num_rows, np.bool_))
            yield pa.record_batch(
                {
                    LINE: rows[LINE],
                    FILE: rows[FILE],
                    WRONG: wrong,
                    "node": node,
                    "topic": topic,
                    ROLE: more[0] if more else nothing,
                    "kept": there,
                }
            )

    def _cleaned(self, batch: pa.RecordBatch) -> pa.Table:
        node, topic, role = (clean_names(batch[name]) for name in ("node", "topic", ROLE))
        bits = known_roles(role)
        reason = self._reasons(batch, node, topic, bits)
        if reason.null_count == len(reason):
            return self._good(node, topic, role, bits)
        good = pc.is_null(reason)
        others = self._others(batch, reason)
        kept = np.asarray(good)
        return pa.concat_tables(
            [self._good(node.filter(good), topic.filter(good), role.filter(good), bits[kept]), others]
        )

    def _reasons(self, batch: pa.RecordBatch, node: pa.Array, topic: pa.Array, bits: Bits) -> pa.StringArray:
        """Why each row is not good; null for those that are."""
        reason = batch[WRONG]
        reason = pc.coalesce(reason, _where(np.asarray(pc.fill_null(batch["kept"], False)) == 0, FILTERED))
        found = problems(node, "node", self.max_name_bytes) | problems(topic, "topic", self.max_name_bytes)
        found |= {NOT_UTF8: _replaced(node) | _replaced(topic), "unknown role": bits == 0}
        found |= {"malformed filter": self._malformed(topic)}
        for text, mask in found.items():
            if mask.any():
                reason = pc.coalesce(reason, _where(mask, text))
        return reason

    def _malformed(self, topic: pa.Array) -> npt.NDArray[np.bool_]:
        if self.filters is None:
            return np.zeros(len(topic), np.bool_)
        protocol = protocol_of(self.filters)
        encoded = topic.dictionary_encode()
        wrong = [name for name in encoded.dictionary.to_pylist() if protocol.problem(name) is not None]
        return np.asarray(pc.is_in(topic, value_set=pa.array(wrong, pa.string())))

    def _good(self, node: pa.Array, topic: pa.Array, role: pa.Array, bits: Bits) -> pa.Table:
        if self.graph is not None:
            return _edges(node, topic, self.graph, include_self=self.include_self)
        columns = _row_columns(node, topic, pa.nulls(len(node), pa.string()), np.ones(len(node), np.int64))
        if self.has_roles:
            said = pc.fill_null(pc.greater(pc.binary_length(role), 0), False)
            columns |= {"hears": (bits & SUBSCRIBES) > 0, "speaks": (bits & PUBLISHES) > 0, "said": said}
        return pa.table(columns)

    def _others(self, batch: pa.RecordBatch, reason: pa.StringArray) -> pa.Table:
        """Rejected rows with their text and file, and one row for all that are left out."""
        reasons = reason.to_pylist()
        rows = [row for row, why in enumerate(reasons) if why not in (None, FILTERED, BLANK)]
        texts = pa.array([_raw_text(batch, row) for row in rows], pa.string())
        files = batch[FILE].take(pa.array(rows, pa.int64())).dictionary_encode()
        readable = pa.array(map(readable_path, files.dictionary.to_pylist()), pa.string()).take(files.indices)
        ones, left_out = np.ones(len(rows), np.int64), reasons.count(FILTERED)
        rejected = _row_columns(texts, readable, pa.array([reasons[row] for row in rows], pa.string()), ones)
        nothing = pa.nulls(1, pa.string())
        filtered = _row_columns(nothing, nothing, pa.array([FILTERED]), np.array([left_out]))
        tables = [pa.table(rejected), *([pa.table(filtered)] if left_out else [])]
        return pa.concat_tables([self._without_role(table) for table in tables])

    def _without_role(self, table: pa.Table) -> pa.Table:
        for name in ("hears", "speaks", "said") if self.has_roles else ():
            table = table.append_column(name, pa.nulls(table.num_rows, pa.bool_()))
        return table


def _row_columns(node: pa.Array, topic: pa.Array, reason: pa.Array, rows: npt.NDArray[np.int64]) -> dict[str, Any]:
    return {"node": node, "topic": topic, "reason": reason, "rows": pa.array(rows)}


def _where(mask: npt.NDArray[np.bool_], text: str) -> pa.StringArray:
    return pc.if_else(pa.array(mask), pa.scalar(text), pa.scalar(None, pa.string()))


def _replaced(names: pa.Array) -> npt.NDArray[np.bool_]:
    """Names with the character that stands for bytes that were not UTF-8."""
    if pc.all(pc.string_is_ascii(names)).as_py() is not False:
        return np.zeros(len(names), np.bool_)
    return np.asarray(pc.fill_null(pc.match_substring(names, "\ufffd"), False))


def _raw_text(batch: pa.RecordBatch, row: int) -> str:
    """A row as it was; if it never was a line, its names as JSON."""
    if batch[LINE][row].is_valid:
        return text_of(batch[LINE][row])[:_RAW_CHARACTERS]
    names = [batch[name][row].as_py() for name in ("node", "topic")]
    return json.dumps(names, ensure_ascii=False)[:_RAW_CHARACTERS]


def _edges(source: pa.Array, target: pa.Array, graph: Graph, *, include_self: bool) -> pa.Table:
    """Subscriptions of edges: the source wants the target, and the target the source if undirected.

    Each edge is counted in one of its rows. A self-loop is a row of its own kind, so that its user is known.
    """
    loops = pc.equal(source, target)
    nothing = pa.scalar(None, pa.string())
    nodes, topics, ones = [source], [pc.if_else(loops, nothing, target)], [np.ones(len(source), np.int64)]
    reasons = [pc.if_else(loops, pa.scalar(SELF_LOOP), nothing)]
    more = []
    if graph == "undirected":
        forward = pc.invert(loops)
        more.append((target.filter(forward), source.filter(forward)))
    if include_self:
        users = pc.unique(pa.concat_arrays([source, target]))
        more.append((users, users))
    for node, topic in more:
        nodes.append(node)
        topics.append(topic)
        reasons.append(pa.nulls(len(node), pa.string()))
        ones.append(np.zeros(len(node), np.int64))
    node, topic, reason = (pa.concat_arrays(arrays) for arrays in (nodes, topics, reasons))
    return pa.table(_row_columns(node, topic, reason, np.concatenate(ones)))


def _added_up(table: pa.Table) -> pa.Table:
    """Each distinct row once."""
    keys = ["node", "topic", "reason"]
    roles = [name for name in ("hears", "speaks", "said") if name in table.column_names]
    grouped = table.group_by(keys).aggregate([("rows", "sum"), *((name, "max") for name in roles)])
    return grouped.rename_columns([*keys, "rows", *roles])


# Rows of a task that wait to be counted.
_WAITING = 1 << 20
_BATCH_ROWS = 1 << 16


def _counted_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the rows of one task; its memory grows with its distinct rows, not with its repeats."""
    held: list[pa.RecordBatch] = []
    rows, most = 0, _WAITING
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows > most:
            held = _added_up(pa.Table.from_batches(held)).to_batches()
            rows = sum(batch.num_rows for batch in held)
            most = max(_WAITING, 2 * rows)
    if held:
        yield from _added_up(pa.Table.from_batches(held)).to_batches(max_chunksize=_BATCH_ROWS)
