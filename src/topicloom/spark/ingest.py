"""Raw files to an interest at a place: list, read, clean, intern, write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from topicloom.errors import InputError
from topicloom.io.ingest_folder import INTEREST
from topicloom.model.filters import PLAIN, first_wildcard, protocol_of, require_plain_names
from topicloom.spark.clean import Cleaned, CleanRows, Graph
from topicloom.spark.frames import types_of
from topicloom.spark.intern import intern, keeping
from topicloom.spark.interned import Interned
from topicloom.spark.lines import Splitting
from topicloom.spark.packs import ROWS
from topicloom.spark.places import Place, write_interest
from topicloom.spark.raw import RawRows, list_files, raw_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class IngestOptions:
    """How raw files are read and cleaned.

    - `node_column`, `topic_column`, `role_column`: names of columns, or positions from 1 without a header. They are
      `node`, `topic` and `role` unless given, or the first two columns for graphs and without a header.
    - `filters`: the protocol whose wildcards topics may have, or `none`; what the files say unless given.
    - `format`: of all files; by the endings of their names unless given. `reader`: options of Spark's reader of it.
    - `separator`, `header`: of text files.
    - `where`, `graph`, `include_self`, `max_name_bytes`: as for `clean`, which calls the last `max_name_length`.
    - `max_bad`: the largest share of rejected rows that is accepted.
    """

    node_column: str | None = None
    topic_column: str | None = None
    role_column: str | None = None
    filters: str | None = None
    separator: str | None = None
    header: bool = True
    where: str | None = None
    format: str | None = None
    reader: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    graph: Graph | None = None
    include_self: bool = False
    max_name_bytes: int = 1024
    max_bad: float = 0.1

    def __post_init__(self) -> None:
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\n\r\0'):
            raise InputError(f"separator '{self.separator}': expected one character, not a quote", "separator")
        if self.separator is not None and not self.separator.isascii():
            raise InputError(f"separator '{self.separator}': expected an ASCII character", "separator")
        if self.graph not in (None, "directed", "undirected"):
            raise InputError(f"graph '{self.graph}': expected directed or undirected", "graph")
        if self.include_self and self.graph is None:
            problem = "include_self: only for graphs, with graph directed or undirected"
            raise InputError(problem, "include_self", "graph")
        if self.graph is not None and (self.role_column or self.filters):
            raise InputError("graphs have neither roles nor filters", "graph", "role_column", "filters")
        usual = ("node", "topic") if self.header else ("1", "2")
        if self.role_column in (self.node_column or usual[0], self.topic_column or usual[1]):
            raise InputError(f"column '{self.role_column}' cannot hold both names and roles", "role_column")
        if self.filters not in (None, PLAIN):
            protocol_of(self.filters)
        if not 0 <= self.max_bad <= 1:
            raise InputError(f"max_bad {self.max_bad}: expected a share from 0 to 1", "max_bad")
        if self.max_name_bytes < 1:
            raise InputError(f"max_name_bytes {self.max_name_bytes}: expected at least 1", "max_name_bytes")
        if self.where is not None and not self.where.strip():
            raise InputError("where: the condition is empty", "where")

    def cleaning(self, has_roles: bool, splitting: Splitting | None = None) -> CleanRows:
        """The function that cleans rows in tasks; filters are known when all files have been looked at."""
        return CleanRows(self.max_name_bytes, self.graph, self.include_self, None, has_roles, splitting)


@dataclass(frozen=True)
class Counts:
    """What became of the rows: rows = filtered + rejected + self_loops + unheard + repeats + those that are left.

    Unheard rows publish what has no subscriber. What is left is a subscription a row; in an undirected graph two, and
    perhaps one more for each user.
    """

    rows: int
    filtered: int
    rejected: int
    rejected_by_reason: Mapping[str, int]
    self_loops: int
    unheard: int
    repeats: int
    users: int | None
    nodes: int
    topics: int
    subscriptions: int


@dataclass(frozen=True)
class Ingest:
    """What was written: inputs, options, counts, and the fingerprint of the interest."""

    inputs: tuple[str, ...]
    files: int
    options: Mapping[str, Any]
    counts: Counts
    fingerprint: str

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self)


def ingest(
    spark: SparkSession,
    inputs: Sequence[str],
    out: str,
    options: IngestOptions | None = None,
    *,
    overwrite: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Ingest:
    """Write the interest of raw files to a place, and return what became of each row.

    Args:
        spark: the session.
        inputs: files, folders or patterns, of any file system that Spark knows.
        out: the place; see `write_interest`.
        options: how rows are read and cleaned.
        overwrite: replace an interest that is there.
        progress: called with what is being done.
    """
    options = options or IngestOptions()
    Place(spark, out).require_writable(INTEREST, overwrite=overwrite)
    files = list_files(spark, inputs, options)
    with keeping() as keep:
        progress("reading and cleaning")
        raw: list[RawRows] = []
        for format_, paths in files.groups:
            raw.append(raw_rows(spark, format_, paths, files, options))
            options = replace(options, filters=raw[-1].filters)
        cleaned = _cleaned(raw, options, keep)
        tally = cleaned.tally
        _require_usable(cleaned, options)
        progress("interning")
        interned = intern(cleaned, keep=keep)
        if cleaned.filters is None and options.graph is None:
            _require_plain(interned, ", ".join(inputs))
        counts = _counts(cleaned, interned, options)
        said = {each.name: getattr(options, each.name) for each in fields(options)}
        said |= {"filters": cleaned.filters, "reader": dict(options.reader)}
        result = Ingest(tuple(inputs), files.count, said, counts, interned.fingerprint)
        progress("writing")
        rejected = cleaned.rejected if tally.rejected or overwrite else None
        about = {"kind": "topicloom spark ingest", **result.to_dict()}
        write_interest(interned, out, overwrite=overwrite, rejected=rejected, about=about)
    return result


def _cleaned(raw: Sequence[RawRows], options: IngestOptions, keep: Callable[[Any], Any]) -> Cleaned:
    """Rows of all formats together, cleaned."""
    protocol = None if options.filters == PLAIN else options.filters
    frames = [each.frame.mapInArrow(replace(each.clean, filters=protocol), types_of(ROWS)) for each in raw]
    return Cleaned(keep(reduce(lambda one, other: one.union(other), frames)), options.graph, options.filters)


def _require_usable(cleaned: Cleaned, options: IngestOptions) -> None:
    """Refuse rows that are all rejected, or more of them than accepted."""
    tally = cleaned.tally
    good = tally.rows - tally.filtered - tally.rejected
    if good == 0 and tally.rejected == 0:
        what = f"all {tally.rows:,} rows are left out by where" if tally.filtered else "there are no rows"
        raise InputError(f"nothing to ingest: {what}", "where")
    if tally.pairs == 0 and good:
        raise InputError(f"nothing to ingest: all {good:,} edges are self-loops")
    if good and tally.rejected / (good + tally.rejected) <= options.max_bad:
        return
    first = cleaned.rejected.orderBy("file", "text").first()
    assert first is not None
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in tally.rejected_by_reason.items())
    limit = f", more than max_bad {options.max_bad:g} accepts" if good else ""
    raise InputError(
        f"{tally.rejected:,} of {good + tally.rejected:,} rows are bad{limit} ({reasons}); "
        f"one is in {first['file']}: {first['text'][:80]!r}",
        "max_bad",
    )


def _wild(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The first name of each batch that looks like a filter."""
    import pyarrow as pa

    for batch in batches:
        found = first_wildcard(batch["name"].cast(pa.large_string()))
        if found is not None:
            yield pa.record_batch({"name": pa.array([found[0]])})


def _require_plain(interned: Interned, where: str) -> None:
    """Refuse topics that look like filters if nothing says what they are."""
    # No wildcard is without one of these.
    suspects = interned.topics.where(r"name RLIKE '[+#*>]'").select("name")
    row = suspects.mapInArrow(_wild, "name string").orderBy("name").first()
    if row is not None:
        require_plain_names([row["name"]], where)


def _counts(cleaned: Cleaned, interned: Interned, options: IngestOptions) -> Counts:
    tally, totals, users = cleaned.tally, interned.totals, None
    good = tally.rows - tally.filtered - tally.rejected - tally.self_loops
    left, unheard = totals.subscriptions, 0
    if options.graph is not None:
        loops = cleaned.rows.where("reason = 'self-loop'").selectExpr("text AS name")
        names = interned.nodes.select("name").union(interned.topics.select("name")).union(loops)
        users = names.distinct().count()
        left -= users if options.include_self else 0
        left //= 2 if options.graph == "undirected" else 1
    elif tally.has_roles:
        kept = cleaned.pairs.join(interned.topics.selectExpr("name AS topic"), "topic", "left_semi")
        unheard = good - (kept.agg({"rows": "sum"}).first() or [0])[0]
    return Counts(
        rows=tally.rows,
        filtered=tally.filtered,
        rejected=tally.rejected,
        rejected_by_reason=tally.rejected_by_reason,
        self_loops=tally.self_loops,
        unheard=unheard,
        repeats=good - unheard - left,
        users=users,
        nodes=totals.nodes,
        topics=totals.topics,
        subscriptions=totals.subscriptions,
    )
