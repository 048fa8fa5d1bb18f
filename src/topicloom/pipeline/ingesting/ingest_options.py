"""What a person can choose about an ingest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from topicloom.errors import InputError
from topicloom.model.filters import PLAIN, protocol_of

Graph = Literal["directed", "undirected"]
FORMATS = ("csv", "tsv", "jsonl", "parquet")


@dataclass(frozen=True)
class IngestOptions:
    """How raw rows are read and cleaned.

    Args:
        node_column: column that names the node, by name; by position from 1 where there is no header. `node` unless
            given; the first column of graphs and of files without a header.
        topic_column: column that names the topic, likewise. `topic` unless given, or the second column.
        role_column: column that says whether the node subscribes, publishes or both, likewise. `role` unless given,
            where there is such a column and no graph; empty for none.
        filters: the protocol whose wildcards topics may have: `mqtt`, `nats` or `amqp`; rows with others are bad.
            `none` for plain names. Unless given, what the files say.
        separator: between the columns of text files; a comma for .csv and a tab for .tsv unless given.
        header: whether text files begin with the names of their columns.
        where: a Spark SQL condition on the raw columns; rows that do not fulfil it are left out. Columns without
            names are called `_1`, `_2` and so on.
        format: one of csv, tsv, jsonl, parquet; by the ending of each file's name unless given.
        graph: rows are the edges of a social graph, and every user is a topic. In a directed one the first column
            follows, so subscribes to, the second; undirected edges count both ways. Self-loops are dropped.
        include_self: in a graph, subscribe each user to its own topic.
        max_name_bytes: the longest name, in UTF-8; rows with longer ones are bad.
        max_bad: the largest share of bad rows that is accepted.
    """

    node_column: str | None = None
    topic_column: str | None = None
    role_column: str | None = None
    filters: str | None = None
    separator: str | None = None
    header: bool = True
    where: str | None = None
    format: str | None = None
    graph: Graph | None = None
    include_self: bool = False
    max_name_bytes: int = 1024
    max_bad: float = 0.1

    def __post_init__(self) -> None:
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\n\r\0'):
            raise InputError(f"separator '{self.separator}': expected one character, not a quote", "separator")
        if self.separator is not None and not self.separator.isascii():
            raise InputError(f"separator '{self.separator}': expected an ASCII character", "separator")
        if self.format is not None and self.format not in FORMATS:
            raise InputError(f"format '{self.format}': unknown; known are {', '.join(FORMATS)}", "format")
        if self.graph not in (None, "directed", "undirected"):
            raise InputError(f"graph '{self.graph}': expected directed or undirected", "graph")
        if self.include_self and self.graph is None:
            raise InputError(
                "include_self: only for graphs, with graph directed or undirected", "include_self", "graph"
            )
        if self.graph is not None and (self.role_column or self.filters):
            raise InputError("graphs have neither roles nor filters", "graph", "role_column", "filters")
        usual = ("node", "topic") if self.header else ("1", "2")
        if self.role_column in (self.node_column or usual[0], self.topic_column or usual[1]):
            raise InputError(f"column '{self.role_column}' cannot hold both names and roles", "role_column")
        if self.protocol is not None:
            protocol_of(self.protocol)
        if not 0 <= self.max_bad <= 1:
            raise InputError(f"max_bad {self.max_bad}: expected a share from 0 to 1", "max_bad")
        if self.max_name_bytes < 1:
            raise InputError(f"max_name_bytes {self.max_name_bytes}: expected at least 1", "max_name_bytes")
        if self.where is not None and not self.where.strip():
            raise InputError("where: the condition is empty", "where")

    @property
    def protocol(self) -> str | None:
        """The protocol whose wildcards topics may have; None for plain names."""
        return None if self.filters == PLAIN else self.filters
