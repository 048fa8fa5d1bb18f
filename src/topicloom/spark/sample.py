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
from topicloom.io.ingest_folder import TABLES, write_manifest
from topicloom.io.whole import replacing_folder
from topicloom.spark.ingest import Ingested, versions
from topicloom.spark.intern import PAIRS, SEEN_SCHEMA, Staged, StagePairs, clear_attempts, write_interest
from topicloom.spark.neighbours import Neighbours, SharedTopics, SocialGraph, require_seed

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
        for table in (*TABLES, "staged", "staged/pairs"):
            (temporary / table).mkdir()
        scratch = temporary / "staged"
        pairs = graph.induced(ingested.table(spark, "subscriptions"), visited.frame).drop("node_id", "topic_id")
        told = pairs.mapInArrow(StagePairs(scratch / "pairs"), SEEN_SCHEMA)
        staged = Staged.by_tasks(told, scratch / "pairs")
        if not staged.counts.get(PAIRS):
            raise InputError(f"{ingested.path}: no sample of {nodes:,} nodes was found; ask for more, or another seed")
        progress("interning and writing")
        written = write_interest(spark, staged, temporary, scratch)
        found = Sample(written.nodes, written.topics, written.subscriptions, visited.count, written.fingerprint)
        graph.forget()
        shutil.rmtree(scratch)
        clear_attempts(temporary)
        manifest = _manifest(ingested, found, {"nodes": nodes, "seeds": seeds, "seed": seed, "uniform": uniform})
        manifest["versions"] = versions(spark.version)
        write_manifest(temporary, manifest)
    return found


def _manifest(ingested: Ingested, found: Sample, options: dict[str, Any]) -> dict[str, Any]:
    counts = asdict(found)
    fingerprint = counts.pop("fingerprint")
    filters = ingested.manifest.options.filters
    said = {} if filters is None else {"filters": filters}
    return {
        "kind": "topicloom sample",
        "source": str(ingested.path),
        "source_fingerprint": ingested.fingerprint,
        "options": {**options, "graph": ingested.graph, **said},
        "counts": counts,
        "fingerprint": fingerprint,
    }


# Leaving a user out costs two joins.
_PATIENCE = 20
# Users, of 16 bytes each, that are rather sent to all tasks than shuffled with the relations.
_FEW = 1_000_000


@dataclass(frozen=True)
class _Users:
    """Users that were computed, and are not again; broadcast where they are few."""

    frame: DataFrame
    count: int

    @classmethod
    def computed(cls, users: DataFrame) -> _Users:
        from pyspark.sql import functions as sql

        # Counting computes them; a checkpoint of its own would be another job.
        kept = users.localCheckpoint(eager=False)
        count = kept.count()
        return cls(sql.broadcast(kept) if count <= _FEW else kept, count)


class _Visits:
    """The users visited so far, and how many nodes the sample still lacks."""

    def __init__(self, graph: Neighbours, nodes: int) -> None:
        self.graph = graph
        self.missing = nodes
        self.visited = _Users.computed(graph.users.select("user").limit(0))
        self._left_out: list[int] = []

    @property
    def done(self) -> bool:
        """Whether there are as many nodes as asked for, or too many users had to be left out to get there."""
        return self.missing == 0 or len(self._left_out) >= _PATIENCE

    def neighbours(self) -> _Users:
        """Who may be visited next."""
        return _Users.computed(self._allowed(self.graph.next_to(self.visited.frame)))

    def others(self, users: DataFrame, most: int | None = None) -> _Users:
        """Of some users those that may be visited yet; the first of them, where at most so many are wanted."""
        fresh = self._allowed(users.select("user", "place").join(self.visited.frame, "user", "left_anti"))
        return _Users.computed(fresh if most is None else fresh.orderBy("place").limit(most))

    def add(self, level: _Users) -> None:
        """Visit a level, or the first of it where all would be too many."""
        before, now = self.visited.frame, level.frame
        marked = _Users.computed(
            before.selectExpr("user", "-1L AS at").union(now.selectExpr("user", "place AS at"))
        ).frame
        new = self.graph.nodes_at(marked).where("at >= 0").select("at").orderBy("at").limit(self.missing + 1)
        at = new.toArrow()["at"].to_pylist()
        if len(at) <= self.missing:
            self._visit(marked, len(at))
            return
        too_many = at[-1]
        self._visit(marked.where(f"at < {too_many}"), sum(place < too_many for place in at))
        if self.missing:
            one_each = self.others(self.graph.adding_one(self.visited.frame), self.missing)
            self._visit(self.visited.frame.union(one_each.frame.select("user")), one_each.count)
        if self.missing:
            self._left_out.append(too_many)

    def _allowed(self, users: DataFrame) -> DataFrame:
        return users.where(~users["place"].isin(self._left_out)) if self._left_out else users

    def _visit(self, users: DataFrame, new_nodes: int) -> None:
        self.visited = _Users.computed(users.select("user"))
        self.missing -= new_nodes


def visit_breadth_first(graph: Neighbours, nodes: int, seeds: int) -> _Users:
    """Users visited from random seeds, level by level, until that many are nodes."""
    visits = _Visits(graph, nodes)
    wanting = graph.users.where("is_node")
    level = visits.others(wanting, seeds)
    while level.count:
        visits.add(level)
        if visits.done:
            break
        level = visits.neighbours()
        if not level.count:
            seeds *= 2
            level = visits.others(wanting, seeds)
    return visits.visited


def visit_uniformly(graph: Neighbours, nodes: int) -> _Users:
    """Users in the random order, until that many are nodes."""
    visits = _Visits(graph, nodes)
    while not visits.done:
        level = visits.others(graph.users)
        if not level.count:
            break
        visits.add(level)
    return visits.visited
