"""Social graphs as interests, and the real data sets beside the checkout."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from effort import THOROUGH
from real_data import DATA, needs_data
from reference.ingest import graph_pairs, run
from topicloom.model import Interest
from topicloom.spark.ingest import IngestOptions


@pytest.mark.parametrize(("graph", "include_self"), [("directed", False), ("undirected", True)])
def test_graphs_as_the_twin_reads_them(spark: SparkSession, tmp_path: Path, graph: str, include_self: bool) -> None:
    rng = random.Random(5)
    edges = [(f"u{rng.randrange(30)}", f"u{rng.randrange(30)}") for _ in range(200)] + [("alone", "alone")]
    (tmp_path / "edges.csv").write_text("".join(f"{a},{b}\n" for a, b in [("from", "to"), *edges]))
    options = IngestOptions(graph=graph, include_self=include_self)  # type: ignore[arg-type]
    manifest = run(spark, [tmp_path / "edges.csv"], tmp_path / "out", options)
    expected = Interest.from_pairs(graph_pairs(edges, directed=graph == "directed", include_self=include_self))
    assert Interest.read(tmp_path / "out") == expected
    assert manifest.fingerprint == expected.fingerprint
    counts = manifest.counts
    links = [edge for edge in edges if edge[0] != edge[1]]
    distinct = {tuple(sorted(edge)) if graph == "undirected" else edge for edge in links}
    assert counts.rows == len(edges)
    assert counts.self_loops == len(edges) - len(links)
    assert counts.repeats == len(links) - len(distinct)
    assert counts.users == len({user for edge in edges for user in edge})


def undirected(**more: object) -> IngestOptions:
    return IngestOptions(graph="undirected", **more)  # type: ignore[arg-type]


# File, options, and of its README: rows, nodes or users, topics, self-loops.
SETS = [
    ("subscriptions/youtube_groups.tsv.gz", IngestOptions(header=False), (293_360, 94_238, 30_087, 0)),
    (
        "subscriptions/deezer_genres.tsv.gz",
        IngestOptions(node_column="user", topic_column="genre"),
        (284_901, 47_538, 84, 0),
    ),
    ("subscriptions/ros_nodes.csv", IngestOptions(where="role = 'sub'"), (1_921, None, None, 0)),
    ("graphs/ego_facebook.txt.gz", undirected(separator=" ", header=False), (88_234, 4_039, None, 0)),
    ("graphs/facebook_pages.csv.gz", undirected(), (206_259, 27_917, None, 295)),
    ("graphs/twitter_followers.csv.gz", IngestOptions(graph="directed"), (68_328, 13_688, None, 0)),
    ("graphs/slashdot_followers.csv.gz", IngestOptions(graph="directed"), (948_464, 82_168, None, 78_303)),
]
_SMALL = ("ros_nodes.csv", "twitter_followers.csv.gz")
TRIED = [known for known in SETS if THOROUGH or Path(known[0]).name in _SMALL]


@pytest.mark.data
@needs_data
@pytest.mark.parametrize(("file", "options", "known"), TRIED, ids=[Path(file).name for file, _, _ in TRIED])
def test_real_data_has_the_counts_of_its_readme(
    spark: SparkSession,
    tmp_path: Path,
    file: str,
    options: IngestOptions,
    known: tuple[int, int | None, int | None, int],
) -> None:
    manifest = run(spark, [DATA / file], tmp_path / "out", options)
    counts = manifest.counts
    rows, nodes, topics, self_loops = known
    assert (counts.rows, counts.rejected, counts.self_loops) == (rows, 0, self_loops)
    assert nodes is None or (counts.nodes if counts.users is None else counts.users) == nodes
    assert topics is None or counts.topics == topics
    assert Interest.read(tmp_path / "out").fingerprint == manifest.fingerprint
