"""A part of an ingested interest, grown breadth-first from a few nodes: Partial 2016, section IX-B.

Some random users are the seeds. Level by level all their neighbours are visited, then the neighbours of these, until
there are as many nodes as asked for; all relations among the visited are kept. Where everything that can be reached
is visited too early, twice as many new seeds are drawn as the time before. `neighbours` says who is next to whom.

The paper's samples have about so many nodes, these have exactly as many. Users stand in a random order made of the
seed and their names. Of the last level, users are visited in this order as long as there are not too many nodes. One
that would add more nodes than are missing, because several visited users want nobody else, is left out, and users
that add exactly one are visited instead. Where there are none it goes on without that user; only where twenty had to
be left out, or nobody is left, does the sample stay smaller.

With `uniform`, all users are visited in the random order, near or far.

Nothing here depends on partitions or on ids, so the same subscriptions and seed give the same sample.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from topicloom.errors import InputError
from topicloom.files.ingest_folder import TABLES, write_manifest
from topicloom.files.whole_folder import replacing_folder
from topicloom.pipeline.analysis.neighbours import Neighbours, SharedTopics, SocialGraph
from topicloom.pipeline.analysis.shuffling import require_seed
from topicloom.pipeline.ingesting.ingested import Ingested
from topicloom.pipeline.ingesting.interning import write_interest
from topicloom.pipeline.ingesting.manifest import versions
from topicloom.pipeline.ingesting.table_parts import clear_attempts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Sample:
    """What was written.

    `nodes` is as many as asked for, or fewer where `sample` could not have exactly as many. `visited` counts the
    users; in a social graph those that no visited one wants, and that want none, are in no table.
    """

    nodes: int
    topics: int
    subscriptions: int
    visited: int
    fingerprint: str


def sample(
    spark: SparkSession,
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    nodes: int,
    seeds: int = 3,
    seed: int = 0,
    uniform: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Sample:
    """Write a part of an ingest folder as another one.

    Args:
        spark: the session to run on.
        folder: what `ingest` or `sample` wrote.
        out: folder to write; an earlier one there is replaced when all is done, and not before.
        nodes: how many nodes the sample has.
        seeds: how many users to begin with.
        seed: of the random order of users.
        uniform: visit users at random instead of breadth-first.
        progress: told what is being done.
    """
    require_seed(seed)
    for name, number in (("nodes", nodes), ("seeds", seeds)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise InputError(f"{name} must be a whole number, 1 or more, not {number!r}", name)
    ingested = Ingested.open(folder)
    present = ingested.table(spark, "nodes").count()
    if nodes > present:
        raise InputError(f"{ingested.path}: has {present:,} nodes; a sample cannot have {nodes:,}")
    with replacing_folder(out) as temporary:
        progress("spreading from the seeds" if not uniform else "drawing users")
        graph: Neighbours = (SocialGraph if ingested.graph else SharedTopics)(spark, ingested, seed)
        visited = visit_uniformly(graph, nodes) if uniform else visit_breadth_first(graph, nodes, seeds)
        pairs = graph.induced(ingested.table(spark, "subscriptions"), visited).drop("node_id", "topic_id").cache()
        rows = pairs.count()
        if not rows:
            raise InputError(f"{ingested.path}: no sample of {nodes:,} nodes was found; ask for more, or another seed")
        progress("interning and writing")
        for table in (*TABLES, "staged"):
            (temporary / table).mkdir()
        written = write_interest(pairs, rows, temporary, temporary / "staged")
        found = Sample(written.nodes, written.topics, written.subscriptions, visited.count(), written.fingerprint)
        pairs.unpersist()
        graph.forget()
        shutil.rmtree(temporary / "staged")
        clear_attempts(temporary)
        manifest = _manifest(ingested, found, {"nodes": nodes, "seeds": seeds, "seed": seed, "uniform": uniform})
        manifest["versions"] = versions(spark.version)
        write_manifest(temporary, manifest)
    return found


def _manifest(ingested: Ingested, found: Sample, options: dict[str, Any]) -> dict[str, Any]:
    counts = asdict(found)
    fingerprint = counts.pop("fingerprint")
    return {
        "kind": "topicloom sample",
        "source": str(ingested.path),
        "source_fingerprint": ingested.fingerprint,
        "options": {**options, "graph": ingested.graph},
        "counts": counts,
        "fingerprint": fingerprint,
    }


# Leaving a user out costs two joins.
_PATIENCE = 20
# Users, of 16 bytes each, that are rather sent to all tasks than shuffled with the relations.
_FEW = 1_000_000


class _Visits:
    """The users visited so far, and how many nodes the sample still lacks."""

    def __init__(self, graph: Neighbours, nodes: int) -> None:
        self.graph = graph
        self.missing = nodes
        self.users = _computed(graph.users.select("user").limit(0))
        self._left_out: list[int] = []

    @property
    def done(self) -> bool:
        """Whether there are as many nodes as asked for, or too many users had to be left out to get there."""
        return self.missing == 0 or len(self._left_out) >= _PATIENCE

    def neighbours(self) -> DataFrame:
        """Who may be visited next."""
        return _computed(self._allowed(self.graph.next_to(self.users)))

    def others(self, users: DataFrame, most: int | None = None) -> DataFrame:
        """Of some users those that may be visited yet; the first of them, where at most so many are wanted."""
        fresh = self._allowed(users.select("user", "place").join(self.users, "user", "left_anti"))
        return _computed(fresh if most is None else fresh.orderBy("place").limit(most))

    def add(self, level: DataFrame) -> None:
        """Visit a level, or the first of it where all would be too many."""
        marked = _computed(self.users.selectExpr("user", "-1L AS at").union(level.selectExpr("user", "place AS at")))
        new = self.graph.nodes_at(marked).where("at >= 0").select("at").orderBy("at").limit(self.missing + 1)
        at = new.toArrow()["at"].to_pylist()
        if len(at) <= self.missing:
            self._visit(marked, len(at))
            return
        too_many = at[-1]
        self._visit(marked.where(f"at < {too_many}"), sum(place < too_many for place in at))
        if self.missing:
            one_each = self.others(self.graph.adding_one(self.users), self.missing)
            self._visit(self.users.union(one_each.select("user")), one_each.count())
        if self.missing:
            self._left_out.append(too_many)

    def _allowed(self, users: DataFrame) -> DataFrame:
        return users.where(~users["place"].isin(self._left_out)) if self._left_out else users

    def _visit(self, users: DataFrame, new_nodes: int) -> None:
        self.users = _computed(users.select("user"))
        self.missing -= new_nodes


def _computed(users: DataFrame) -> DataFrame:
    """The same users, computed now and not again, to be broadcast where they are few."""
    from pyspark.sql import functions as sql

    computed = users.localCheckpoint()
    return sql.broadcast(computed) if computed.count() <= _FEW else computed


def visit_breadth_first(graph: Neighbours, nodes: int, seeds: int) -> DataFrame:
    """Users visited from random seeds, level by level, until that many are nodes."""
    visits = _Visits(graph, nodes)
    wanting = graph.users.where("is_node")
    level = visits.others(wanting, seeds)
    while not level.isEmpty():
        visits.add(level)
        if visits.done:
            break
        level = visits.neighbours()
        if level.isEmpty():
            seeds *= 2
            level = visits.others(wanting, seeds)
    return visits.users


def visit_uniformly(graph: Neighbours, nodes: int) -> DataFrame:
    """Users in the random order, until that many are nodes."""
    visits = _Visits(graph, nodes)
    while not visits.done:
        level = visits.others(graph.users)
        if level.isEmpty():
            break
        visits.add(level)
    return visits.users
