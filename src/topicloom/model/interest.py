"""Who wants what: the relation of nodes and topics."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.errors import InputError
from topicloom.io.ingest_folder import MANIFEST_FOLDER, TABLES, FolderRows, read_folder
from topicloom.io.tables import (
    FILTERS,
    NODES,
    SUBSCRIPTIONS,
    TOPICS,
    intern_names,
    metadata_texts,
    names_column,
    read_table,
    require_at_most,
    require_columns,
    sorted_names,
    text_column,
    text_table,
    write_parquet,
)
from topicloom.io.uris import local_path
from topicloom.io.whole import replacing
from topicloom.model import fingerprint
from topicloom.model.filters import PLAIN, agreed_filters, first_wildcard, protocol_of, require_plain_names
from topicloom.model.roles import BOTH, Patterns, Roles, resolve, role_bits
from topicloom.views.html import facts_html
from topicloom.views.numbers import count, mean

if TYPE_CHECKING:
    import pandas


Ids = npt.NDArray[np.int32]
Starts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Interest:
    """Which node wants which topic; immutable.

    Nodes and topics have dense ids in the order of their names by code point. Both directions are kept in
    compressed sparse rows: the topics of node `u` are `node_topics[node_start[u]:node_start[u + 1]]`, the nodes
    of topic `t` are `topic_nodes[topic_start[t]:topic_start[t + 1]]`, each in rising order.

    Make one with `from_pairs`, `read`, `from_arrow`, `from_pandas` or `from_ids`.
    """

    node_names: tuple[str, ...]
    topic_names: tuple[str, ...]
    node_start: Starts
    node_topics: Ids
    topic_start: Starts
    topic_nodes: Ids
    roles: Roles | None = None

    @classmethod
    def from_ids(
        cls,
        node_names: tuple[str, ...],
        topic_names: tuple[str, ...],
        nodes: npt.NDArray[np.integer],
        topics: npt.NDArray[np.integer],
        roles: Roles | None = None,
    ) -> Interest:
        """From subscriptions as ids into sorted names; repeats and order do not matter."""
        n, m = len(node_names), len(topic_names)
        require_at_most(n, NODES, "nodes")
        require_at_most(m, TOPICS, "topics")
        require_at_most(len(nodes), SUBSCRIPTIONS, "subscriptions")
        keys = np.unique(nodes.astype(np.int64) * m + topics) if m else np.empty(0, np.int64)
        by_node, node_topics = (keys // m, (keys % m).astype(np.int32)) if m else (keys, keys.astype(np.int32))
        by_topic = np.argsort(node_topics, kind="stable")
        arrays = (
            _starts(by_node, n),
            node_topics,
            _starts(node_topics, m),
            by_node[by_topic].astype(np.int32),
        )
        for array in arrays:
            array.setflags(write=False)
        return cls(node_names, topic_names, *arrays, roles)

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], *, filters: str | None = None) -> Interest:
        """From (node, topic) pairs of names; `filters` as for `from_arrow`."""
        table = text_table(pairs, ("node", "topic"), "subscriptions")
        return cls.from_arrow(table, filters=filters)

    @classmethod
    def from_roles(
        cls, rows: Iterable[tuple[str, str, str]], *, filters: str | None = None, assume_publishers: bool = True
    ) -> Interest:
        """From (node, topic, role) rows, a role being `sub`, `pub` or `both`.

        `filters` is that of `from_arrow`. Topics without a known publisher are taken to be published by their
        subscribers, or need no links if `assume_publishers` is false.
        """
        listed = list(rows)
        table = text_table([row[:2] for row in listed], ("node", "topic"), "subscriptions")
        roles = text_table([row[1:] for row in listed], ("topic", "role"), "subscriptions")
        rowed = table.append_column("role", roles["role"])
        return cls.from_arrow(rowed, filters=filters, assume_publishers=assume_publishers)

    @classmethod
    def from_arrow(
        cls,
        table: pa.Table,
        *,
        node_column: str = "node",
        topic_column: str = "topic",
        role_column: str = "role",
        filters: str | None = None,
        where: str = "subscriptions",
        assume_publishers: bool = True,
    ) -> Interest:
        """From an Arrow table with a column of nodes and a column of topics; `where` names it in errors.

        A column of roles may be there: `sub`, `pub` or `both`, which all are without it. With `filters`, one of
        `mqtt`, `nats` and `amqp`, topics may hold that protocol's wildcards; with `none` they are plain names. Without
        it the metadata `filters` of the table holds. `assume_publishers` is that of `from_roles`.
        """
        filters = agreed_filters(filters, metadata_texts(table).get(FILTERS), where)
        if node_column == topic_column:
            raise InputError(f"{where}: nodes and topics cannot both be in column '{node_column}'")
        require_columns(table.column_names, [node_column, topic_column], where)
        node_names, nodes = intern_names(names_column(table, node_column, where))
        topic_array, topics = sorted_names(names_column(table, topic_column, where))
        topic_names = tuple(topic_array.to_pylist())
        if filters is None:
            require_plain_names(topic_array, where)
        elif filters != PLAIN:
            _require_filters(filters, topic_names, topics, where)
        if role_column not in table.column_names:
            return cls._resolved(node_names, topic_names, nodes, topics, None, filters)
        bits = role_bits(text_column(table, role_column, where), where)
        return cls._resolved(node_names, topic_names, nodes, topics, bits, filters, assume_publishers=assume_publishers)

    @classmethod
    def _resolved(
        cls,
        node_names: tuple[str, ...],
        topic_names: tuple[str, ...],
        nodes: npt.NDArray[np.integer],
        topics: npt.NDArray[np.integer],
        bits: npt.NDArray[np.uint8] | None,
        filters: str | None,
        *,
        assume_publishers: bool = True,
    ) -> Interest:
        """From what was read, where roles and filters are known or not."""
        protocol = None if filters in (None, PLAIN) else protocol_of(filters)
        if bits is None and protocol is None:
            return cls.from_ids(node_names, topic_names, nodes, topics)
        bits = np.full(len(nodes), BOTH) if bits is None else bits
        ids = (nodes.astype(np.int64), topics.astype(np.int64))
        rows = resolve(topic_names, *ids, bits, protocol, assume_publishers=assume_publishers)
        return cls.from_ids(node_names, *rows)

    @classmethod
    def from_pandas(
        cls,
        frame: pandas.DataFrame,
        *,
        node_column: str = "node",
        topic_column: str = "topic",
        role_column: str = "role",
        filters: str | None = None,
    ) -> Interest:
        """From a pandas data frame with a column of nodes and one of topics, and perhaps one of roles.

        `filters` is that of `from_arrow`; without it `frame.attrs["filters"]` holds.
        """
        try:
            table = pa.Table.from_pandas(frame, preserve_index=False)
        except pa.ArrowException as error:
            raise InputError(f"data frame: cannot be read ({' '.join(str(error).split())})") from None
        return cls.from_arrow(
            table,
            node_column=node_column,
            topic_column=topic_column,
            role_column=role_column,
            filters=agreed_filters(filters, frame.attrs.get(FILTERS), "data frame"),
            where="data frame",
        )

    @classmethod
    def from_spark(
        cls,
        frame: Any,
        *,
        node_column: str = "node",
        topic_column: str = "topic",
        role_column: str = "role",
        filters: str | None = None,
    ) -> Interest:
        """From a Spark data frame, whose rows are collected; columns and `filters` are those of `from_arrow`."""
        wanted = [name for name in (node_column, topic_column, role_column) if name in frame.columns]
        return cls.from_arrow(
            frame.select(*wanted).toArrow(),
            node_column=node_column,
            topic_column=topic_column,
            role_column=role_column,
            filters=filters,
            where="data frame",
        )

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        node_column: str = "node",
        topic_column: str = "topic",
        role_column: str = "role",
        filters: str | None = None,
    ) -> Interest:
        """From a Parquet, CSV or TSV file (the latter two plain or .gz), or what `topicloom spark ingest` wrote.

        The path may be a URI of a file system that Arrow knows, such as s3:// or gs://. `from_arrow` tells what the
        columns and `filters` mean.
        """
        with local_path(path, (*TABLES, MANIFEST_FOLDER)) as file:
            if file.is_dir():
                return cls._from_folder(read_folder(file), filters, os.fspath(file))
            table = read_table(file, list(dict.fromkeys([node_column, topic_column])), [role_column])
            if table.num_rows == 0:
                raise InputError(f"{file}: has no rows; expected one subscription a row")
            return cls.from_arrow(
                table,
                node_column=node_column,
                topic_column=topic_column,
                role_column=role_column,
                filters=filters,
                where=os.fspath(file),
            )

    @classmethod
    def given(cls, interest: Interest | str | os.PathLike[str]) -> Interest:
        """An interest as functions take it: itself, or the file or folder that it is in."""
        if isinstance(interest, Interest):
            return interest
        if isinstance(interest, (str, os.PathLike)):
            return cls.read(interest)
        raise InputError(f"{interest!r} is no interest; give one, or the file or folder that it is in")

    @classmethod
    def _from_folder(cls, read: FolderRows, filters: str | None, where: str) -> Interest:
        bits = None if read.roles is None else role_bits(read.roles, where)
        # The topics of a social graph are users.
        filters = agreed_filters(filters, PLAIN if read.graph else read.filters, where)
        if filters is None:
            require_plain_names(read.topic_names, where)
        interest = cls._resolved(read.node_names, read.topic_names, read.nodes, read.topics, bits, filters)
        # Roles and filters make other topics of the rows. The fingerprint is kept, and most who read need it anyway.
        if interest.roles is None and read.fingerprint != interest.fingerprint:
            raise InputError("its subscriptions are not those it was written with; ingest the data again", file=where)
        return interest

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.node_names)

    @property
    def topic_count(self) -> int:
        """How many topics there are."""
        return len(self.topic_names)

    @property
    def subscription_count(self) -> int:
        """How many (node, topic) pairs there are."""
        return len(self.node_topics)

    @property
    def filters(self) -> str | None:
        """The protocol whose wildcards topics may have; None if they are plain names."""
        return None if self.roles is None or self.roles.protocol is None else self.roles.protocol.name

    @cached_property
    def node_ids(self) -> dict[str, int]:
        """Id of each node name."""
        return {name: i for i, name in enumerate(self.node_names)}

    @cached_property
    def topic_ids(self) -> dict[str, int]:
        """Id of each topic name."""
        return {name: i for i, name in enumerate(self.topic_names)}

    def patterns_of(self, topic: int) -> tuple[Patterns, Patterns]:
        """What each node of a topic wants, and what it publishes: the topic itself unless roles say otherwise."""
        if self.roles is not None:
            return self.roles.of(topic)
        itself: tuple[str, ...] = (self.topic_names[topic],)
        all_of_it = dict.fromkeys(self.nodes_of(topic).tolist(), itself)
        return all_of_it, all_of_it

    def topics_of(self, node: int | str) -> Ids:
        """Ids of the topics that a node, given by id or name, wants; rising."""
        node = _id_of(node, self.node_ids, "node")
        return self.node_topics[self.node_start[node] : self.node_start[node + 1]]

    def nodes_of(self, topic: int | str) -> Ids:
        """Ids of the nodes that want a topic, given by id or name; rising."""
        topic = _id_of(topic, self.topic_ids, "topic")
        return self.topic_nodes[self.topic_start[topic] : self.topic_start[topic + 1]]

    @cached_property
    def fingerprint(self) -> str:
        """One text for this set of subscriptions, the same whatever the order of their rows."""
        hashes = fingerprint.name_hashes(self.node_names), fingerprint.name_hashes(self.topic_names)
        nodes = np.repeat(np.arange(self.node_count, dtype=np.int32), np.diff(self.node_start))
        total = fingerprint.subscriptions_sum(*hashes, nodes, self.node_topics)
        return fingerprint.digest(total, self.subscription_count)

    def to_arrow(self) -> pa.Table:
        """The subscriptions as a table with the columns `node` and `topic`, and `role` where it is known; sorted.

        Its metadata hold `filters` if topics may have wildcards, or are plain names that look like some.
        """
        said = None if self._said is None else {FILTERS: self._said}
        if self.roles is not None:
            return self.roles.to_arrow(self.node_names).replace_schema_metadata(said)
        nodes = np.repeat(np.arange(self.node_count), np.diff(self.node_start))
        return pa.table(
            {
                "node": pa.array(self.node_names, pa.string()).take(pa.array(nodes)),
                "topic": pa.array(self.topic_names, pa.string()).take(pa.array(self.node_topics)),
            },
            metadata=said,
        )

    @property
    def _said(self) -> str | None:
        """What a table of these subscriptions says of filters."""
        looks_wild = self.filters is None and first_wildcard(self.topic_names) is not None
        return PLAIN if looks_wild else self.filters

    def to_pandas(self) -> pandas.DataFrame:
        """The table of `to_arrow` as a data frame, with `filters` in its `attrs`."""
        frame = self.to_arrow().to_pandas()
        if self._said is not None:
            frame.attrs[FILTERS] = self._said
        return frame

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the subscriptions as Parquet."""
        with replacing(path) as temporary:
            write_parquet(self.to_arrow(), temporary)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interest):
            return NotImplemented
        return (
            self.node_names == other.node_names
            and self.topic_names == other.topic_names
            and np.array_equal(self.node_start, other.node_start)
            and np.array_equal(self.node_topics, other.node_topics)
            and self.roles == other.roles
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _repr_html_(self) -> str:
        nodes, topics = max(1, self.node_count), max(1, self.topic_count)
        return facts_html(
            [
                ("nodes", count(self.node_count)),
                ("topics", count(self.topic_count)),
                ("subscriptions", count(self.subscription_count)),
                ("topics a node, mean", mean(self.subscription_count / nodes)),
                ("topics a node, most", count(int(np.diff(self.node_start).max(initial=0)))),
                ("nodes a topic, mean", mean(self.subscription_count / topics)),
                ("nodes a topic, most", count(int(np.diff(self.topic_start).max(initial=0)))),
            ]
        )

    def __repr__(self) -> str:
        return (
            f"<Interest: {self.node_count:,} nodes, {self.topic_count:,} topics, "
            f"{self.subscription_count:,} subscriptions>"
        )


def _require_filters(protocol: str, names: tuple[str, ...], topics: npt.NDArray[np.integer], where: str) -> None:
    """An error that names the row of a filter which is none."""
    known = protocol_of(protocol)
    for number, name in enumerate(names):
        try:
            known.require(name)
        except InputError as error:
            row = int(np.flatnonzero(topics == number)[0]) + 1
            raise InputError(str(error), file=where, row=row) from None


def _id_of(given: int | str, ids: Mapping[str, int], kind: str) -> int:
    """The id of what is given by its name or by its id."""
    if isinstance(given, str) and given in ids:
        return ids[given]
    if isinstance(given, str) or not 0 <= given < len(ids):
        raise InputError(f"there is no {kind} {given!r} in these subscriptions")
    return given


def _starts(rows: npt.NDArray[np.integer], count: int) -> Starts:
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=starts[1:])
    return starts
