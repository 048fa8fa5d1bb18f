"""Clean raw rows: names trimmed and normalised, and what cannot be used rejected with a reason.

Rows are cleaned in Arrow, where Spark would need several functions of its own for white space and normal forms. Counts
come from the rows themselves, not from observed metrics, so they are right when tasks are repeated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from topicloom.model.roles import BOTH, Bits, known_roles
from topicloom.spark.frames import types_of
from topicloom.spark.interned import ROLE
from topicloom.spark.lines import BLANK, FILE, LINE, NOT_UTF8, WRONG, Splitting, readable_path, runs, text_of
from topicloom.spark.packs import COUNTED_PAIRS, ROWS, SAID, Packer, Pair, counted_pairs, sampled_pairs

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

Row = dict[str, Any]


@dataclass(frozen=True)
class Tally:
    """What became of raw rows: rows = filtered + rejected + self_loops + good.

    There are `pairs` of names, of which some may be repeats, and `samples` of them.
    """

    rows: int
    filtered: int
    rejected_by_reason: Mapping[str, int]
    self_loops: int
    pairs: int
    samples: Sequence[Pair]
    has_roles: bool

    @property
    def rejected(self) -> int:
        """Rows that cannot be used, for whatever reason."""
        return sum(self.rejected_by_reason.values())


@dataclass(frozen=True, eq=False)
class Cleaned:
    """Clean pairs of names, and the rows that were rejected.

    - `rows`: packs of good pairs, and rejected rows; for `intern`.
    - `graph`, `filters`: what they were cleaned as.
    """

    rows: DataFrame
    graph: Graph | None = None
    filters: str | None = None

    @property
    def packs(self) -> DataFrame:
        """Packs of good pairs, in which pairs may be repeated."""
        return self.rows.where("reason IS NULL").select("pairs")

    @property
    def pairs(self) -> DataFrame:
        """Distinct pairs: `node`, `topic`, `role` if roles are known, and `rows`, the number of raw rows of each."""
        from pyspark.sql import functions as sql

        role = sql.expr("element_at(array('sub', 'pub', 'both'), bit_or(bits))").alias(ROLE)
        columns = [*([role] if self.tally.has_roles else []), sql.sum("rows").alias("rows")]
        return self.packs.mapInArrow(counted_pairs, COUNTED_PAIRS).groupBy("node", "topic").agg(*columns)

    @property
    def rejected(self) -> DataFrame:
        """Rejected rows: `reason`, `text`, `file`."""
        return self.rows.where(f"reason NOT IN {_COUNTED!r}").select("reason", "text", "file")

    @cached_property
    def tally(self) -> Tally:
        """Count rows by what became of them; a job."""
        from pyspark.sql import functions as sql

        found = self.rows.groupBy("reason").agg(
            sql.sum("rows").alias("rows"),
            sql.sum("size").alias("pairs"),
            sql.max("said").alias("said"),
            sql.collect_list("sample").alias("samples"),
        )
        by_reason = {row["reason"]: row for row in found.collect()}
        counts = {reason: int(row["rows"]) for reason, row in by_reason.items()}
        good = by_reason.get(None)
        return Tally(
            rows=sum(counts.values()),
            filtered=counts.get(FILTERED, 0),
            rejected_by_reason={reason: counts[reason] for reason in sorted({*counts} - {None, *_COUNTED})},
            self_loops=counts.get(SELF_LOOP, 0),
            pairs=0 if good is None else int(good["pairs"]),
            samples=[] if good is None else sampled_pairs(good["samples"]),
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
    return Cleaned(keep(picked.mapInArrow(rows, types_of(ROWS))), graph, filters)


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


def quoted(name: str) -> str:
    """A column as SQL names it."""
    return "`" + name.replace("`", "``") + "`"


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

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Give packs of good pairs, and all other rows."""
        packer = Packer()
        for batch in self._named(batches):
            good, others = self._cleaned(batch)
            if others:
                yield pa.RecordBatch.from_pylist(others, ROWS)
            yield from packer.add(good)
        yield from packer.rest()

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

    def _cleaned(self, batch: pa.RecordBatch) -> tuple[pa.Table, list[Row]]:
        """Good pairs, and rows for all that is none."""
        node, topic, role = (clean_names(batch[name]) for name in ("node", "topic", ROLE))
        bits = known_roles(role) if self.has_roles else np.full(len(node), BOTH)
        reason = self._reasons(batch, node, topic, bits)
        others: list[Row] = []
        if reason.null_count < len(reason):
            good = pc.is_null(reason)
            others = _others(batch, reason)
            node, topic, role = (column.filter(good) for column in (node, topic, role))
            bits = bits[np.asarray(good)]
        if self.graph is not None:
            pairs, loops = _edges(node, topic, self.graph, include_self=self.include_self)
            return pairs, others + [{"reason": SELF_LOOP, "text": user, "rows": 1} for user in loops.to_pylist()]
        pairs = _pairs(node, topic, 1)
        if self.has_roles:
            said = np.asarray(pc.fill_null(pc.greater(pc.binary_length(role), 0), False))
            pairs = pairs.append_column(ROLE, pa.array(bits | said * SAID))
        return pairs, others

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


def _others(batch: pa.RecordBatch, reason: pa.StringArray) -> list[Row]:
    """Rejected rows with their text and file, and one row for all that are left out."""
    reasons = reason.to_pylist()
    rejected = [row for row, why in enumerate(reasons) if why not in (None, FILTERED, BLANK)]
    files = {file: file and readable_path(file) for file in batch[FILE].unique().to_pylist()}
    rows: list[Row] = [
        {"reason": reasons[row], "text": _raw_text(batch, row), "file": files[batch[FILE][row].as_py()], "rows": 1}
        for row in rejected
    ]
    left_out = reasons.count(FILTERED)
    return [*rows, {"reason": FILTERED, "rows": left_out}] if left_out else rows


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


def _edges(source: pa.Array, target: pa.Array, graph: Graph, *, include_self: bool) -> tuple[pa.Table, pa.Array]:
    """Subscriptions of edges, and the users of self-loops.

    The source wants the target, and the target the source if undirected. Each edge is counted in one of its rows.
    """
    loops = pc.equal(source, target)
    others = pc.invert(loops)
    node, topic = source.filter(others), target.filter(others)
    tables = [_pairs(node, topic, 1)]
    if graph == "undirected":
        tables.append(_pairs(topic, node, 0))
    if include_self:
        users = pc.unique(pa.concat_arrays([source, target]))
        tables.append(_pairs(users, users, 0))
    return pa.concat_tables(tables), source.filter(loops)


def _pairs(node: pa.Array, topic: pa.Array, rows: int) -> pa.Table:
    return pa.table({"node": node, "topic": topic, "rows": np.full(len(node), rows)})
