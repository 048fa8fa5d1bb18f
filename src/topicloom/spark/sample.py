"""A part of an interest, grown breadth-first from a few nodes: Partial 2016, section IX-B.

Some random users are the seeds. Level by level all their neighbours are visited, then the neighbours of these, until
there are as many nodes as asked for; all relations among the visited are kept. If everything that can be reached is
visited too early, twice as many new seeds are drawn as the time before.

In a social graph every user is a topic, and two users are neighbours if one wants the other, whichever way: a sample
spreads along relations, not along messages. A user is a node of the sample only once a user that it wants is visited
too. In any other interest, nodes are neighbours if they have a common topic, and a visited node keeps all its topics.

The paper's samples have about as many nodes as asked for; these have exactly as many. Users have a random order, made
of the seed and their names. Users of the last level are visited in this order until there are enough nodes. A user that
would add more nodes than are missing is left out, and users that add exactly one are visited instead. If there are
none, the sample goes on without that user. It stays smaller only if twenty users had to be left out, or no user is
left. With `uniform`, all users are visited in the random order.

Nothing here depends on partitions or on ids, so the same subscriptions and seed give the same sample. The driver holds
the visited users and their neighbours, 16 bytes each; relations stay on executors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from topicloom.errors import InputError
from topicloom.spark.frames import frame_of
from topicloom.spark.interned import Interned
from topicloom.spark.links import require_plain

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# The most users that are left out; each costs two joins.
_PATIENCE = 20
# Up to so many users, of 16 bytes each, are sent to all tasks instead of shuffled.
_FEW = 1_000_000

Longs = npt.NDArray[np.int64]


def place(name: Column, seed: int) -> Column:
    """Place of a name in the random order of a seed: 60 bits of a hash of both, as a long."""
    from pyspark.sql import functions as sql

    digest = sql.md5(sql.concat(sql.lit(f"{seed} "), name))
    return sql.conv(sql.substring(digest, 1, 15), 16, 10).cast("long")


def require_seed(seed: int) -> None:
    """Refuse what is not a seed."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, not {seed!r}", "seed")


def sample(
    interned: Interned,
    nodes: int,
    *,
    seeds: int = 3,
    seed: int = 0,
    uniform: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> DataFrame:
    """Take a part of an interest.

    Args:
        interned: the subscriptions; a social graph if it has a `graph`.
        nodes: how many nodes the sample has; fewer if there is no sample of exactly as many.
        seeds: how many users to begin with.
        seed: the seed of the random order of users.
        uniform: visit users at random instead of breadth-first.
        progress: called with what is being done.

    Returns:
        A data frame with `node`, `topic`, and `role` if roles are known, as `intern` takes it.

    Example:
        >>> from topicloom import Interest
        >>> from topicloom.spark import Interned, sample
        >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")])
        >>> part = sample(Interned.of(spark, interest), 2, seeds=1)
        >>> sorted(tuple(row) for row in part.collect())
        [('a', 'x'), ('b', 'x')]
    """
    require_plain(interned)
    require_seed(seed)
    for name, number in (("nodes", nodes), ("seeds", seeds)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise InputError(f"{name} must be a whole number, 1 or more, not {number!r}", name)
    present = interned.totals.nodes
    if nodes > present:
        raise InputError(f"there are {present:,} nodes; a sample cannot have {nodes:,}", "nodes")
    progress("drawing users" if uniform else "spreading from the seeds")
    graph = (_SocialGraph if interned.graph else _SharedTopics)(interned, seed)
    try:
        visits = _Visits(graph, nodes)
        if uniform:
            visits.uniformly()
        else:
            visits.breadth_first(seeds)
        if visits.missing == nodes:
            raise InputError(f"no sample of {nodes:,} nodes was found; ask for more, or another seed", "nodes")
        return graph.induced(visits.visited)
    finally:
        graph.forget()


class _Level(NamedTuple):
    """Users in their random order, and their places in it."""

    users: Longs
    places: Longs

    def upto(self, count: int) -> _Level:
        return _Level(self.users[:count], self.places[:count])


class _Visits:
    """The users visited so far, and how many nodes the sample still lacks."""

    def __init__(self, graph: _SharedTopics | _SocialGraph, nodes: int) -> None:
        self.missing = nodes
        self.visited: Longs = np.empty(0, np.int64)
        self._graph = graph
        self._left_out: list[int] = []

    def breadth_first(self, seeds: int) -> None:
        """Visit users from random seeds, level by level."""
        wanting = self._graph.users.where("is_node")
        level = self._others(wanting, seeds)
        while len(level.users):
            self._add(level)
            if self._done:
                break
            level = self._ordered(self._graph.next_to(self._frame(self.visited)))
            if not len(level.users):
                seeds *= 2
                level = self._others(wanting, seeds)

    def uniformly(self) -> None:
        """Visit users in the random order."""
        while not self._done:
            level = self._others(self._graph.users)
            if not len(level.users):
                break
            self._add(level)

    @property
    def _done(self) -> bool:
        """True if there are as many nodes as asked for, or too many users had to be left out."""
        return self.missing == 0 or len(self._left_out) >= _PATIENCE

    def _add(self, level: _Level) -> None:
        """Visit a level, or the first of it if all would be too many."""
        before = np.full(len(self.visited), -1)
        marked = self._frame(np.concatenate([self.visited, level.users]), at=np.concatenate([before, level.places]))
        new = self._graph.nodes_at(marked).where("at >= 0").select("at").orderBy("at").limit(self.missing + 1)
        at = new.toArrow()["at"].to_numpy()
        if len(at) <= self.missing:
            self._visit(level, len(at))
            return
        too_many = int(at[-1])
        self._visit(level.upto(int(np.searchsorted(level.places, too_many))), int(np.searchsorted(at, too_many)))
        if self.missing:
            one_each = self._others(self._graph.adding_one(self._frame(self.visited)), self.missing)
            self._visit(one_each, len(one_each.users))
        if self.missing:
            self._left_out.append(too_many)

    def _visit(self, level: _Level, new_nodes: int) -> None:
        self.visited = np.concatenate([self.visited, level.users])
        self.missing -= new_nodes

    def _others(self, users: DataFrame, most: int | None = None) -> _Level:
        """Of some users those that may be visited yet; the first of them, if at most so many are wanted."""
        fresh = users.select("user", "place").join(self._frame(self.visited), "user", "left_anti")
        return self._ordered(fresh, most)

    def _ordered(self, users: DataFrame, most: int | None = None) -> _Level:
        allowed = users.where(~users["place"].isin(self._left_out)) if self._left_out else users
        ordered = allowed.select("user", "place").orderBy("place")
        table = (ordered if most is None else ordered.limit(most)).toArrow()
        return _Level(table["user"].to_numpy(), table["place"].to_numpy())

    def _frame(self, users: Longs, **columns: Longs) -> DataFrame:
        from pyspark.sql import functions as sql

        frame = frame_of(self._graph.users.sparkSession, pa.table({"user": users, **columns}))
        return sql.broadcast(frame) if len(users) <= _FEW else frame


class _SharedTopics:
    """Nodes with common topics; users are nodes.

    `users` has all users, their places, and `is_node` for those that subscribe to anything. Frames of visited users
    have a column `at` if it matters when they were visited.
    """

    def __init__(self, interned: Interned, seed: int) -> None:
        from pyspark.sql import functions as sql

        self._interned = interned
        self.users = interned.nodes.select(
            sql.expr("bigint(id) AS user"), sql.expr("true AS is_node"), place(sql.col("name"), seed).alias("place")
        ).cache()
        wants = interned.subscriptions.selectExpr("bigint(node_id) AS user", "topic_id")
        self._wants = wants.join(self.users.select("user", "place"), "user").cache()

    def next_to(self, visited: DataFrame) -> DataFrame:
        """Neighbours of visited users that are not visited, each once, with their places: nodes with a common topic."""
        topics = self._wants.join(visited, "user", "left_semi").select("topic_id").distinct()
        fresh = self._wants.join(visited, "user", "left_anti")
        return fresh.join(topics, "topic_id", "left_semi").select("user", "place").distinct()

    def nodes_at(self, visited: DataFrame) -> DataFrame:
        """Visited users that are nodes of the sample, and since when: all, since they were visited."""
        return visited

    def adding_one(self, visited: DataFrame) -> DataFrame:
        """Users that each add one node, also if others of them are visited, with their places: all others."""
        return self.users.select("user", "place").join(visited, "user", "left_anti")

    def induced(self, visited: Longs) -> DataFrame:
        """Subscriptions of the sample: all of the visited."""
        return _of_some(self._interned, "node_id", visited).select(*_pair_columns(self._interned))

    def forget(self) -> None:
        """Free what Spark keeps for this."""
        self._wants.unpersist()
        self.users.unpersist()


class _SocialGraph:
    """Users that subscribe to users, with the methods of `_SharedTopics`.

    The id of a user that is a node is that of the node; that of another is -1 less the id of its topic.
    """

    def __init__(self, interned: Interned, seed: int) -> None:
        from pyspark.sql import functions as sql

        self._interned = interned
        nodes = interned.nodes.selectExpr("bigint(id) AS node_id", "name")
        topics = interned.topics.selectExpr("bigint(id) AS topic_id", "name")
        self.users = (
            nodes.join(topics, "name", "full_outer")
            .select(
                sql.expr("coalesce(node_id, -1 - topic_id) AS user"),
                sql.expr("node_id IS NOT NULL AS is_node"),
                "topic_id",
                place(sql.col("name"), seed).alias("place"),
            )
            .cache()
        )
        self._relations = (
            interned.subscriptions.selectExpr("bigint(node_id) AS user", "bigint(topic_id) AS topic_id")
            .join(self.users.select("user", "place"), "user")
            .join(self.users.selectExpr("topic_id", "user AS wanted", "place AS wanted_place"), "topic_id")
            .drop("topic_id")
            .cache()
        )

    def next_to(self, visited: DataFrame) -> DataFrame:
        """Users that they subscribe to, and their subscribers."""
        wanted = self._relations.join(visited, "user", "left_semi").selectExpr(
            "wanted AS user", "wanted_place AS place"
        )
        return wanted.union(self._wanting(visited)).join(visited, "user", "left_anti").distinct()

    def nodes_at(self, visited: DataFrame) -> DataFrame:
        """Since both the user and the first user that it subscribes to were visited."""
        from pyspark.sql import functions as sql

        wanted = visited.selectExpr("user AS wanted", "at AS wanted_at")
        both = self._relations.join(visited, "user").join(wanted, "wanted")
        return both.groupBy("user").agg(sql.greatest(sql.first("at"), sql.min("wanted_at")).alias("at"))

    def adding_one(self, visited: DataFrame) -> DataFrame:
        """Subscribers of visited users, unless a visited user waits for them to become a node."""
        nodes = self.nodes_at(visited.selectExpr("user", "0 AS at"))
        waiting = visited.join(nodes, "user", "left_anti")
        awaited = self._relations.join(waiting, "user", "left_semi").selectExpr("wanted AS user")
        fresh = self._wanting(visited).join(visited, "user", "left_anti")
        return fresh.join(awaited, "user", "left_anti").distinct()

    def induced(self, visited: Longs) -> DataFrame:
        """Subscriptions of visited users to visited users."""
        spark = self._interned.spark
        users = frame_of(spark, pa.table({"user": visited}))
        topics = self.users.where("topic_id IS NOT NULL").join(users, "user", "left_semi").select("topic_id").toArrow()
        kept = _of_some(self._interned, "node_id", visited[visited >= 0])
        wanted = frame_of(spark, topics)
        return kept.join(wanted, "topic_id", "left_semi").select(*_pair_columns(self._interned))

    def forget(self) -> None:
        """Free what Spark keeps for this."""
        self._relations.unpersist()
        self.users.unpersist()

    def _wanting(self, visited: DataFrame) -> DataFrame:
        return self._relations.join(visited.selectExpr("user AS wanted"), "wanted", "left_semi").select("user", "place")


def _of_some(interned: Interned, column: str, ids: Longs) -> DataFrame:
    listed = frame_of(interned.spark, pa.table({column: ids}))
    return interned.subscriptions.join(listed, column, "left_semi")


def _pair_columns(interned: Interned) -> list[str]:
    return [name for name in ("node", "topic", "role") if name in interned.subscriptions.columns]
