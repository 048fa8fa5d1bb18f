"""An overlay: undirected links over the nodes of an interest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from topicloom.errors import InputError
from topicloom.io.ingest_folder import MANIFEST_FOLDER, OVERLAY, newest_row
from topicloom.io.tables import (
    FILTERS,
    LINKS,
    ids_of,
    metadata_texts,
    names_column,
    read_table,
    require_at_most,
    require_columns,
    text_table,
    write_parquet,
)
from topicloom.io.uris import local_path
from topicloom.io.whole import replacing
from topicloom.model.interest import Ids, Interest
from topicloom.model.provenance import Provenance
from topicloom.views.html import Cell, links_html
from topicloom.views.numbers import count
from topicloom.views.overlay_picture import overlay_figure

if TYPE_CHECKING:
    import networkx
    import pandas
    from matplotlib.figure import Figure


# What files of overlays call the algorithm that made them.
_KIND = "designer"

# How many links a notebook shows.
_SHOWN_LINKS = 10

# Overlays that Spark wrote are folders: Parquet files, and a manifest whose newest row says that they are whole.
FOLDER_LINKS = "links"
FOLDER_PARTS = (FOLDER_LINKS, MANIFEST_FOLDER)


@dataclass(frozen=True, eq=False, repr=False)
class Overlay:
    """Links over the nodes of an interest, in the order they were added.

    Link `i` joins node `source[i]` with node `target[i]` (ids, source < target). `contribution[i]` is how many
    components it merged away when it was added; None where nobody recorded it.
    """

    interest: Interest
    source: Ids
    target: Ids
    contribution: Ids | None = None
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        for array in (self.source, self.target, self.contribution):
            if array is not None:
                array.setflags(write=False)

    @classmethod
    def from_links(cls, interest: Interest, links: Iterable[tuple[str, str]]) -> Overlay:
        """From pairs of node names, in the order given; a network that exists already, for instance."""
        table = text_table(links, ("source", "target"), "links")
        return cls.from_arrow(interest, table)

    @classmethod
    def from_arrow(cls, interest: Interest, table: pa.Table, *, where: str = "links", changed: bool = False) -> Overlay:
        """From a table with the columns `source` and `target`, and `contribution` where it is known.

        With `changed` the links may be those of earlier subscriptions; links of nodes that are gone are left out.
        """
        require_columns(table.column_names, ["source", "target"], where)
        require_at_most(table.num_rows, LINKS, "links", file=where)
        metadata = metadata_texts(table)
        expected, filters = metadata.get("fingerprint"), metadata.get(FILTERS)
        if filters is not None and filters != interest.filters:
            problem = f"was designed for subscriptions with wildcards of {filters}; read them with filters {filters}"
            raise InputError(problem, "filters", file=where)
        if changed and expected != interest.fingerprint:
            return cls._of_earlier(interest, table, where)
        if expected is not None and expected != interest.fingerprint:
            raise InputError(
                f"{where}: was designed for other subscriptions (fingerprint {expected}, "
                f"these have {interest.fingerprint}); give the subscriptions it was designed for"
            )
        ends = []
        for column in ("source", "target"):
            names = names_column(table, column, where)
            ids = ids_of(names, interest.node_names)
            unknown = np.flatnonzero(ids < 0)
            if len(unknown):
                row = int(unknown[0])
                raise InputError(f"{where}: row {row + 1}: {column} '{names[row]}' is not a node of the subscriptions")
            ends.append(ids)
        _check_links(interest, ends[0], ends[1], where)
        contribution = _contribution(table, where) if "contribution" in table.column_names else None
        return cls(
            interest,
            np.minimum(ends[0], ends[1]).astype(np.int32),
            np.maximum(ends[0], ends[1]).astype(np.int32),
            contribution,
            Provenance.from_metadata(metadata, _KIND, where),
        )

    @classmethod
    def _of_earlier(cls, interest: Interest, table: pa.Table, where: str) -> Overlay:
        """From links of earlier subscriptions: those between nodes that are still there."""
        names = [names_column(table, column, where) for column in ("source", "target")]
        ends = [ids_of(column, interest.node_names) for column in names]
        there = (ends[0] >= 0) & (ends[1] >= 0)
        if len(there) and not there.any():
            raise InputError(f"{where}: no link joins two nodes of the subscriptions; give those that it was made for")
        _check_links(interest, ends[0][there], ends[1][there], where, np.flatnonzero(there))
        low, high = (pick(*ends)[there].astype(np.int32) for pick in (np.minimum, np.maximum))
        return cls(interest, low, high)

    @classmethod
    def read(cls, path: str | os.PathLike[str], interest: Interest, *, changed: bool = False) -> Overlay:
        """From what `design` wrote, a Parquet file or a folder of Spark, or any file with `source` and `target`.

        The path may be a URI of a file system that Arrow knows. With `changed` the subscriptions may have changed
        since; links of nodes that are gone are left out.
        """
        with local_path(path, FOLDER_PARTS) as file:
            if is_overlay_folder(file):
                table = _read_folder(file)
            else:
                table = read_table(file, ["source", "target"], optional=["contribution"])
            return cls.from_arrow(interest, table, where=os.fspath(file), changed=changed)

    @classmethod
    def given(cls, overlay: Overlay | str | os.PathLike[str], interest: Interest) -> Overlay:
        """An overlay as functions take it: itself, or the file or folder that it is in."""
        if isinstance(overlay, Overlay):
            return overlay
        if isinstance(overlay, (str, os.PathLike)):
            return cls.read(overlay, interest)
        raise InputError(f"{overlay!r} is no overlay; give one, as `design` makes it, or the file that it is in")

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """The links by the names of their ends, in the order they were added."""
        names = self.interest.node_names
        return ((names[u], names[v]) for u, v in zip(self.source.tolist(), self.target.tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        """Whether both link the same nodes in the same way, in whatever order and whoever designed them."""
        if not isinstance(other, Overlay):
            return NotImplemented
        return self.interest.node_names == other.interest.node_names and set(self) == set(other)

    def __hash__(self) -> int:
        return hash((len(self), self.interest.node_count))

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """How many links each node has, by node id."""
        ends = np.concatenate([self.source, self.target])
        return np.bincount(ends, minlength=self.interest.node_count)

    def to_arrow(self) -> pa.Table:
        """The links as a table: `source`, `target` (names), `contribution`; provenance in its metadata."""
        names = pa.array(self.interest.node_names, pa.string())
        columns = {"source": names.take(pa.array(self.source)), "target": names.take(pa.array(self.target))}
        if self.contribution is not None:
            columns["contribution"] = pa.array(self.contribution)
        metadata = overlay_metadata(self.interest.fingerprint, self.provenance)
        if self.interest.filters is not None:
            metadata[FILTERS] = self.interest.filters
        return pa.table(columns, metadata=metadata)

    def to_pandas(self) -> pandas.DataFrame:
        """The links as a data frame: `source`, `target` (names), `contribution`."""
        return self.to_arrow().to_pandas()

    def to_spark(self, spark: Any) -> Any:
        """The links as a Spark data frame: `source`, `target` (names), `contribution`."""
        types = "source string, target string" + ("" if self.contribution is None else ", contribution int")
        return spark.createDataFrame(self.to_arrow().replace_schema_metadata(None), types)

    def to_networkx(self) -> networkx.Graph:
        """A networkx graph of all nodes by name; each edge has its `order` and `contribution`."""
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(self.interest.node_names)
        names = self.interest.node_names
        ends = zip(self.source.tolist(), self.target.tolist(), strict=True)
        graph.add_edges_from((names[u], names[v], {"order": order}) for order, (u, v) in enumerate(ends))
        if self.contribution is not None:
            contribution = self.contribution.tolist()
            for _, _, link in graph.edges(data=True):
                link["contribution"] = contribution[link["order"]]
        return graph

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the links as Parquet, with provenance and the interest's fingerprint in its metadata."""
        with replacing(path) as temporary:
            write_parquet(self.to_arrow(), temporary)

    def plot(self) -> Figure:
        """A matplotlib figure: the links drawn up to 60 nodes, beyond that a matrix of who is linked with whom."""
        return overlay_figure(self)

    def explore(self) -> Any:
        """The network to point at, inside a notebook: click a node or a link, find a topic to see its tree.

        It holds everything that it needs; `html` of what is given is the page. Needs the extra `explore`.
        """
        # By name, since whatever shows overlays is above them.
        return import_module("topicloom.views.static_page").overlay_view(self)

    def _repr_html_(self) -> str:
        known = self.contribution is not None
        shown = self.to_arrow().slice(0, _SHOWN_LINKS).to_pylist()
        rows: list[list[Cell]] = [[row["source"], row["target"]] for row in shown]
        if known:
            rows = [[*cells, count(row["contribution"])] for cells, row in zip(rows, shown, strict=True)]
        left = f"{len(self) - len(shown):,}" if len(self) > len(shown) else ""
        headers = ["source", "target", *(["contribution"] if known else [])]
        return links_html(repr(self)[1:-1], headers, rows, left)

    def __repr__(self) -> str:
        made = f" by {self.provenance.algorithm}" if self.provenance else ""
        return f"<Overlay{made}: {len(self):,} links over {self.interest.node_count:,} nodes>"


def write_links(links: Iterable[tuple[str, str]], path: str | os.PathLike[str]) -> None:
    """Write links that are not known to be for any subscriptions, by the names of their ends."""
    with replacing(path) as temporary:
        write_parquet(text_table(links, ("source", "target"), "links"), temporary)


def overlay_metadata(fingerprint: str, provenance: Provenance | None) -> dict[str, str]:
    """What a file of links says of them: the subscriptions that they are for, and where they come from."""
    made = {} if provenance is None else provenance.metadata(_KIND)
    return {"fingerprint": fingerprint} | made


def is_overlay_folder(path: Path) -> bool:
    """Whether a path is a folder of links that Spark wrote."""
    return all((path / part).is_dir() for part in FOLDER_PARTS)


def _read_folder(path: Path) -> pa.Table:
    """The links of a folder, with the metadata that a file has."""
    count, metadata = _read_manifest(path)
    files = sorted((path / FOLDER_LINKS).glob("*.parquet"))
    tables = [read_table(file, ["source", "target"], optional=["contribution"]) for file in files]
    rows = sum(table.num_rows for table in tables)
    if not tables or rows != count:
        raise InputError(f"{path}: has {rows:,} links and its manifest says {count:,}; design the overlay again")
    return pa.concat_tables(tables).replace_schema_metadata(metadata)


def _read_manifest(path: Path) -> tuple[int, dict[str, str]]:
    """How many links a folder has, and their metadata."""
    row = newest_row(path, OVERLAY, "design the overlay again")
    try:
        return int(row["links"]), {**row["about"]["metadata"]}
    except (ValueError, LookupError, TypeError):
        raise InputError(f"{path / MANIFEST_FOLDER}: is not the manifest of an {OVERLAY}") from None


def read_fingerprint(path: str | os.PathLike[str]) -> str | None:
    """Fingerprint of the subscriptions that an overlay in a file was designed for; None where it does not say."""
    if is_overlay_folder(Path(path)):
        return _read_manifest(Path(path))[1].get("fingerprint")
    try:
        metadata = pyarrow.parquet.read_schema(path).metadata or {}
    except pa.ArrowException:
        return None
    found = metadata.get(b"fingerprint")
    return None if found is None else found.decode(errors="replace")


def _contribution(table: pa.Table, where: str) -> Ids:
    column = table["contribution"]
    try:
        if not (pa.types.is_integer(column.type) or pa.types.is_large_string(column.type)):
            raise pa.ArrowInvalid
        numbers = column.cast(pa.int32())
    except pa.ArrowInvalid:
        raise InputError(f"{where}: column 'contribution' does not hold whole numbers") from None
    if numbers.null_count or (len(numbers) and pc.min(numbers).as_py() < 0):
        raise InputError(f"{where}: column 'contribution' holds null or negative numbers")
    return numbers.to_numpy().copy()  # type: ignore[no-any-return]


def _check_links(
    interest: Interest,
    first: npt.NDArray[np.int64],
    second: npt.NDArray[np.int64],
    where: str,
    rows: npt.NDArray[np.int64] | None = None,
) -> None:
    """Refuse loops and repeated links; `rows` are the rows that these links have in `where`, if not all."""
    rows = np.arange(len(first)) if rows is None else rows
    loops = np.flatnonzero(first == second)
    if len(loops):
        row = int(loops[0])
        name = interest.node_names[first[row]]
        raise InputError(f"{where}: row {rows[row] + 1}: links '{name}' with itself; a link needs two nodes")
    keys = np.minimum(first, second) * interest.node_count + np.maximum(first, second)
    _, earliest, inverse = np.unique(keys, return_index=True, return_inverse=True)
    repeats = np.flatnonzero(earliest[inverse] != np.arange(len(keys)))
    if len(repeats):
        row = int(repeats[0])
        names = interest.node_names
        raise InputError(
            f"{where}: row {rows[row] + 1}: repeats the link '{names[first[row]]}' - '{names[second[row]]}' "
            f"of row {rows[earliest[inverse[row]]] + 1}"
        )
