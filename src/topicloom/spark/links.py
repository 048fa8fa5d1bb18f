"""Links of an overlay by the ids of their ends, and by topic.

A link serves the topics that both its ends want. So links are joined with the topics of one end, best the one with
fewer topics, and what is left of that with the topics of the other: no process holds all links and all subscriptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.designers.contract import Links
from topicloom.errors import InputError
from topicloom.io.ingest_folder import OVERLAY
from topicloom.io.tables import require_columns
from topicloom.kernels.components import merge_links
from topicloom.model.filters import PLAIN
from topicloom.model.interest import Ids
from topicloom.model.overlay import FOLDER_LINKS, Overlay, read_fingerprint
from topicloom.spark.frames import frame_of
from topicloom.spark.places import Place, location
from topicloom.spark.raw import SEPARATORS, format_by_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from topicloom.spark.interned import Interned


class LinkIds(NamedTuple):
    """Links by the ids of their ends, source < target."""

    source: Ids
    target: Ids

    def degrees(self, nodes: int) -> npt.NDArray[np.int64]:
        """Number of links of each node, by id."""
        return np.bincount(np.concatenate(self), minlength=nodes)


def require_plain(interned: Interned) -> None:
    """Refuse topics with wildcards, of which several may match one name."""
    if interned.filters not in (None, PLAIN):
        raise InputError("topics with wildcards are not for Spark; design, measure, compare and plan take them")


def link_ids(interned: Interned, links: DataFrame | Overlay) -> LinkIds:
    """Check links of an interest, and return them by ids."""
    require_plain(interned)
    if isinstance(links, Overlay):
        if links.interest.fingerprint != interned.fingerprint:
            raise InputError(
                f"the overlay was designed for other subscriptions (fingerprint {links.interest.fingerprint}, "
                f"these have {interned.fingerprint}); give the subscriptions it was designed for"
            )
        return LinkIds(links.source, links.target)
    require_columns(links.columns, ["source", "target"], "links")
    rows = links.select("source", "target")
    for end in ("source", "target"):
        names = interned.nodes.selectExpr(f"id as {end}_id", f"name as {end}")
        rows = rows.join(names, end, "left")
    # Only names of unknown nodes come back, for an error.
    found = rows.selectExpr(
        "source_id", "target_id", *(f"if({end}_id is null, {end}, null) as {end}" for end in ("source", "target"))
    ).toArrow()
    for end in ("source", "target"):
        _require_nodes(found, end)
    ends = [found[f"{end}_id"].to_numpy() for end in ("source", "target")]
    ids = LinkIds(np.minimum(*ends).astype(np.int32), np.maximum(*ends).astype(np.int32))
    _require_links(interned, ids)
    return ids


def _require_nodes(links: pa.Table, end: str) -> None:
    unknown = links.filter(pc.is_null(links[f"{end}_id"]))[end]
    if len(unknown):
        name = pc.min(unknown).as_py()
        said = "is null" if name is None else f"'{name}' is not a node of the subscriptions"
        raise InputError(f"links: {end} {said}; give links between these nodes")


def _require_links(interned: Interned, links: LinkIds) -> None:
    loops = links.source[links.source == links.target]
    if len(loops):
        raise InputError(f"links: '{_name(interned, loops[0])}' is linked with itself; a link needs two nodes")
    keys, counts = np.unique(links.source.astype(np.int64) << 32 | links.target, return_counts=True)
    repeated = keys[counts > 1]
    if len(repeated):
        names = [_name(interned, end) for end in divmod(int(repeated[0]), 1 << 32)]
        raise InputError(f"links: the link '{names[0]}' - '{names[1]}' is there more than once; leave one of them")


def _name(interned: Interned, node: int) -> str:
    row = interned.nodes.where(f"id = {node}").first()
    return "" if row is None else str(row["name"])


def read_links(interned: Interned, place: str) -> DataFrame:
    """Read links of an interest: what `write_links` wrote, a Parquet, CSV or TSV file, or a table of the catalog."""
    where = Place(interned.spark, place)
    separator = SEPARATORS.get(format_by_name(place) or "")
    if separator is not None:
        return where.spark.read.options(header="true", sep=separator, escape='"').csv(location(place))
    row = where.manifest()
    if row is not None:
        where.require_whole(row, OVERLAY, "design the overlay again")
        links, fingerprint = where.read(FOLDER_LINKS), row["fingerprint"]
        if links.count() != row["links"]:
            raise InputError(f"has lost some of its {row['links']:,} links; design the overlay again", file=place)
    else:
        found = where.find(None)
        if found is None:
            raise InputError("no such file, folder or table", file=place)
        links = found
        fingerprint = read_fingerprint(place) if Path(place).is_file() else None
    if fingerprint not in (None, interned.fingerprint):
        raise InputError(
            f"was designed for other subscriptions (fingerprint {fingerprint}, these have {interned.fingerprint}); "
            "give the subscriptions it was designed for",
            file=place,
        )
    return links


def write_links(links: DataFrame, place: str, count: int, metadata: Mapping[str, str], *, overwrite: bool) -> None:
    """Write so many links to a place, with what they are made for and by."""
    counts = {"fingerprint": metadata["fingerprint"], "links": count}
    about = {"metadata": dict(metadata)}
    Place(links.sparkSession, place).commit(OVERLAY, {FOLDER_LINKS: links}, counts, about, overwrite=overwrite)


def node_sizes(interned: Interned) -> Ids:
    """Number of topics of each node, by id."""
    return _by_id(interned.nodes, "topics").astype(np.int32)


def topic_sizes(interned: Interned) -> npt.NDArray[np.int64]:
    """Number of subscribers of each topic, by id."""
    return _by_id(interned.topics, "nodes")


def _by_id(frame: DataFrame, column: str) -> npt.NDArray[np.int64]:
    table = frame.select("id", column).toArrow()
    values = np.empty(table.num_rows, np.int64)
    values[table["id"].to_numpy()] = table[column].to_numpy()
    return values


def links_by_topic(subscriptions: DataFrame, links: LinkIds, sizes: Ids) -> DataFrame:
    """Links by topic: `topic_id`, `link` (its number), `one`, `other`; `sizes` are the topics of each node."""
    fewer = np.where(sizes[links.source] <= sizes[links.target], links.source, links.target)
    other = np.where(fewer == links.source, links.target, links.source)
    rows = frame_of(
        subscriptions.sparkSession, pa.table({"link": np.arange(len(links.source)), "one": fewer, "other": other})
    )
    of_one = subscriptions.selectExpr("node_id as one", "topic_id")
    of_other = subscriptions.selectExpr("node_id as other", "topic_id")
    return rows.join(of_one, "one").join(of_other, ["other", "topic_id"])


def with_contributions(interned: Interned, links: LinkIds, sizes: Ids) -> Links:
    """The links in the order given, each with the number of components that it merges."""
    rows = links_by_topic(interned.subscriptions, links, sizes)
    merging = rows.groupBy("topic_id").applyInArrow(_merging, "link long")
    counts = merging.groupBy("link").count().toArrow()
    contribution = np.zeros(len(links.source), np.int32)
    contribution[counts["link"].to_numpy()] = counts["count"].to_numpy()
    return Links(links.source, links.target, contribution)


def _merging(topic: pa.Table) -> pa.Table:
    """Links of one topic that merge two of its components, if links are added in the order of their numbers."""
    order = np.argsort(topic["link"].to_numpy())
    one, other = (topic[end].to_numpy()[order] for end in ("one", "other"))
    nodes, places = np.unique(np.concatenate([one, other]), return_inverse=True)
    alone = np.arange(len(nodes) + 1, dtype=np.int64)
    ends = places.astype(np.int32).reshape(2, -1)
    merged, _ = merge_links(alone, np.zeros(len(nodes), np.int32), ends[0], ends[1])
    return pa.table({"link": topic["link"].to_numpy()[order][merged > 0]})
