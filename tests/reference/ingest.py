"""Ingest in plain Python: a row at a time, all in memory."""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.spark.ingest import Ingest, IngestOptions, ingest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_BYTES = 1024


@dataclass
class Ingested:
    """Subscriptions of good rows, and what became of the others."""

    pairs: list[tuple[str, str]] = field(default_factory=list)
    bad: list[tuple[str, int, str, str]] = field(default_factory=list)

    @property
    def subscriptions(self) -> list[tuple[str, str]]:
        return sorted(set(self.pairs))

    @property
    def reasons(self) -> dict[str, int]:
        return dict(Counter(reason for _, _, reason, _ in self.bad))


def run(spark: SparkSession, inputs: Sequence[Path], out: Path, options: IngestOptions | None = None) -> Ingest:
    """Ingest on Spark, over what is there."""
    return ingest(spark, [str(path) for path in inputs], str(out), options, overwrite=out.exists())


def clean_name(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip())


def problem(name: str, what: str) -> str | None:
    if not name:
        return f"empty {what}"
    if len(name.encode()) > MAX_BYTES:
        return f"over-long {what}"
    return None


def fields_of(line: str, separator: str) -> list[str] | None:
    """The fields of a line; None where a quote is not closed."""
    rows = list(csv.reader([line + "\n", "next"], delimiter=separator))
    return rows[0] if len(rows) == 2 and rows[1] == ["next"] else None


def ingest_lines(files: dict[str, Sequence[str]], *, separator: str = ",") -> Ingested:
    """What delimited files hold, each given as its lines, of which the first names the columns."""
    result = Ingested()
    for file, (first, *lines) in sorted(files.items()):
        header = [name.strip() for name in fields_of(first.removeprefix("\ufeff"), separator) or ()]
        for number, line in enumerate(lines, start=2):
            if not line:
                continue
            cells, reason = fields_of(line, separator), None
            if cells is None:
                reason = "unclosed quote"
            elif len(cells) != len(header):
                reason = "too few columns" if len(cells) < len(header) else "too many columns"
            else:
                node, topic = (clean_name(cells[header.index(name)]) for name in ("node", "topic"))
                reason = problem(node, "node") or problem(topic, "topic")
            if reason:
                result.bad.append((file, number, reason, line))
            else:
                result.pairs.append((node, topic))
    return result


def interned(pairs: Iterable[tuple[str, str]]) -> dict[str, list[tuple[object, ...]]]:
    """The three tables of an interest, as rows."""
    subscriptions = sorted(set(pairs))
    nodes, topics = (sorted({pair[side] for pair in subscriptions}) for side in (0, 1))
    node_ids, topic_ids = ({name: i for i, name in enumerate(names)} for names in (nodes, topics))
    per_node, per_topic = (Counter(pair[side] for pair in subscriptions) for side in (0, 1))
    return {
        "subscriptions": [(node, topic, node_ids[node], topic_ids[topic]) for node, topic in subscriptions],
        "nodes": [(node_ids[name], name, per_node[name]) for name in nodes],
        "topics": [(topic_ids[name], name, per_topic[name]) for name in topics],
    }


def graph_pairs(edges: Iterable[tuple[str, str]], *, directed: bool, include_self: bool) -> set[tuple[str, str]]:
    """Subscriptions of a social graph."""
    edges = list(edges)
    pairs = {(a, b) for a, b in edges if a != b}
    if not directed:
        pairs |= {(b, a) for a, b in pairs}
    if include_self:
        pairs |= {(user, user) for edge in edges for user in edge}
    return pairs
