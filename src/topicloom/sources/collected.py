"""What was collected from a fleet, in one file: rows for `ingest` and `design`, and how far each broker was read.

The file is replaced as a whole, so whatever ends a run, rows and positions go together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.files.atomic import replacing
from topicloom.files.name_tables import FILTERS
from topicloom.files.parquet import read_parquet, write_parquet
from topicloom.model.filters import PROTOCOLS
from topicloom.sources.broker_rows import SCHEMA, BrokerRows

FILE = "subscriptions.parquet"
_POSITIONS = b"topicloom.positions"
_COLUMNS = pa.schema([pa.field("node", pa.string()), *SCHEMA])


@dataclass(frozen=True)
class Collected:
    """What each broker told, by its name; `protocol` is that of all brokers, if it is one."""

    brokers: Mapping[str, BrokerRows] = field(default_factory=lambda: MappingProxyType({}))
    protocol: str | None = None

    def of(self, broker: str) -> BrokerRows:
        """What a broker told; nothing where it was not asked yet."""
        return self.brokers.get(broker, BrokerRows())

    def with_broker(self, broker: str, rows: BrokerRows) -> Collected:
        """The same with what one broker tells now."""
        return replace(self, brokers=MappingProxyType({**self.brokers, broker: rows}))

    @property
    def bridges(self) -> dict[str, tuple[str, ...]]:
        """By broker the bridges that it told of and Topicloom did not make."""
        return {name: each.bridges for name, each in sorted(self.brokers.items()) if each.bridges}

    def to_arrow(self) -> pa.Table:
        """All rows: `node`, `topic`, `role`, `client`, `since` and `seen`."""
        tables = [
            each.rows.add_column(0, "node", pa.repeat(pa.scalar(name, pa.string()), len(each.rows))).cast(_COLUMNS)
            for name, each in sorted(self.brokers.items())
        ]
        return pa.concat_tables(tables) if tables else _COLUMNS.empty_table()

    @property
    def filters(self) -> str | None:
        """The protocol of all brokers if topics have its wildcards and none is malformed; else None."""
        if self.protocol is None:
            return None
        protocol = PROTOCOLS[self.protocol]
        topics = self.to_arrow()["topic"].unique().to_pylist()
        wild = any(protocol.has_wildcard(topic) or protocol.own(topic) != topic for topic in topics)
        return self.protocol if wild and not any(map(protocol.problem, topics)) else None

    @classmethod
    def read(cls, folder: Path) -> Collected:
        """From a folder; nothing where it has no such file yet."""
        path = folder / FILE
        if not path.exists():
            return cls()
        try:
            table = read_parquet(path)
            positions = dict(json.loads((table.schema.metadata or {})[_POSITIONS]))
            table = table.select(_COLUMNS.names).cast(_COLUMNS)
        except (pa.ArrowException, OSError, KeyError, ValueError, TypeError):
            raise InputError(f"{path}: is not what 'topicloom collect' wrote; give another folder") from None
        table = table.replace_schema_metadata(None)
        return cls(
            MappingProxyType(
                {
                    name: BrokerRows(table.filter(pc.equal(table["node"], name)).drop_columns(["node"]), position)
                    for name, position in positions.items()
                }
            )
        )

    def write(self, folder: Path) -> None:
        """Into a folder."""
        positions = {name: dict(each.position) for name, each in sorted(self.brokers.items())}
        metadata = {_POSITIONS: json.dumps(positions).encode()}
        if self.filters is not None:
            metadata[FILTERS.encode()] = self.filters.encode()
        table = self.to_arrow().replace_schema_metadata(metadata)
        with replacing(folder / FILE) as temporary:
            write_parquet(table, temporary)
