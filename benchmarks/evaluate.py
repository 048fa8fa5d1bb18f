"""Measuring an overlay on Spark: a million nodes, ten million subscriptions, two million links.

Nodes run applications, each of which has some topics; few applications are popular and most are rare, by Zipf's law.
The nodes of an application are linked as a random tree, so all topics are connected, and then some links fail: most
popular topics fall into pieces and need relays. The most popular topic has every seventh node.

The worst case follows, small and large: links between random nodes of a topic leave every topic in pieces, so that each
needs a search for its relays.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet
from rich.console import Console
from rich.table import Table

from benchmarks.alone import in_own_process
from benchmarks.memory import peak_memory
from topicloom.io.ingest_folder import IngestedManifest, TableCounts, write_manifest

Ids = npt.NDArray[np.int64]

RUNS = {
    "applications": {"nodes": 1_000_000, "workload": "applications"},
    "in pieces": {"nodes": 30_000, "workload": "pieces"},
    "in pieces, large": {"nodes": 1_000_000, "workload": "pieces"},
}
_TOPICS_PER_APPLICATION = 5
_FAILED_LINKS = 100


def main(nodes: int, workload: str, master: str = "local[2]") -> dict[str, Any]:
    """Write the folder and the overlay, evaluate, and say how long each stage took."""
    from topicloom.spark import SparkOptions, read_interest, spark_session
    from topicloom.spark.evaluate import evaluate
    from topicloom.spark.links import read_links

    with tempfile.TemporaryDirectory(prefix="topicloom-bench-") as scratch:
        folder, overlay = Path(scratch) / "folder", Path(scratch) / "overlay.parquet"
        subscriptions, links = WORKLOADS[workload](nodes, np.random.default_rng(1))
        write_folder(folder, subscriptions)
        write_links(overlay, links)
        seconds = {}
        began = time.perf_counter()
        with (
            peak_memory() as peak,
            spark_session(SparkOptions(master=master, conf={"spark.driver.memory": "2g"}), "evaluate") as spark,
        ):
            seconds["session"] = time.perf_counter() - began
            interned = read_interest(spark, str(folder))
            frame = read_links(interned, str(overlay))
            for stage, diameters in (("without_diameters", False), ("with_diameters", True)):
                began = time.perf_counter()
                found = evaluate(interned, frame, diameters=diameters)
                seconds[stage] = time.perf_counter() - began
        return {
            **found.measures.to_dict(),
            "largest_topic": int(found.topics.subscribers.max()),
            "in_pieces": int(np.count_nonzero(found.topics.components > 1)),
            "seconds": seconds,
            "peak_bytes_of_all": peak[0],
        }


def report(console: Console) -> list[dict[str, Any]]:
    """Run them and print a table."""
    table = Table(title="evaluate on two cores: seconds, and peak memory of all processes", title_justify="left")
    table.add_column("overlay")
    for heading in ("nodes", "subscriptions", "links", "topics", "in pieces", "largest"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("session", "without", "with diam.", "peak"):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = []
    for name, arguments in RUNS.items():
        row = {"overlay": name, **in_own_process(__name__, **arguments)}
        rows.append(row)
        counts = [row[key] for key in ("nodes", "subscriptions", "links", "topics", "in_pieces", "largest_topic")]
        table.add_row(
            name,
            *(f"{count:,}" for count in counts),
            *(f"{seconds:.1f}" for seconds in row["seconds"].values()),
            f"{row['peak_bytes_of_all'] / 1e9:.1f} GB",
        )
    console.print(table)
    return rows


def applications(nodes: int, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Subscriptions (node, topic) and links (node, node), one a row: in each application a random tree, less some
    links that failed, and a few more that make it two links a node in all."""
    member, application = _memberships(nodes, 2 * nodes, nodes // 50, rng)
    topics = application[:, None] * _TOPICS_PER_APPLICATION + np.arange(_TOPICS_PER_APPLICATION)
    subscriptions = np.column_stack([np.repeat(member, _TOPICS_PER_APPLICATION), topics.ravel()])
    # Members are shuffled within their application; each but the first is linked with a random earlier one.
    order = np.lexsort((rng.random(len(member)), application))
    member, application = member[order], application[order]
    first = np.searchsorted(application, application)
    at = np.arange(len(member))
    earlier = first + (rng.random((2, len(member))) * (at - first)).astype(np.int64)
    tree, more = (np.column_stack([member, member[other]])[at > first] for other in earlier)
    left = _distinct(tree, nodes)[_FAILED_LINKS:]
    few = rng.permutation(more)[: 2 * nodes - len(left)]
    return subscriptions, _distinct(np.concatenate([left, few]), nodes)


def pieces(nodes: int, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Subscriptions and links: two links a node, each between two random nodes of a random topic."""
    member, topic = _memberships(nodes, 10 * nodes, nodes // 10, rng)
    first, count = np.searchsorted(topic, topic), np.bincount(topic)[topic]
    one = rng.integers(0, len(member), 4 * nodes)
    other = first[one] + (rng.random(len(one)) * count[one]).astype(np.int64)
    links = np.column_stack([member[one], member[other]])
    return np.column_stack([member, topic]), _distinct(links[links[:, 0] != links[:, 1]], nodes)[: 2 * nodes]


WORKLOADS = {"applications": applications, "pieces": pieces}


def _memberships(nodes: int, count: int, groups: int, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """That many different (node, group) pairs by group, at least one a node; nodes by a power law, groups by Zipf's."""
    groups_below = np.cumsum(1 / np.arange(1, groups + 1))
    nodes_below = np.cumsum(rng.pareto(1.5, nodes) + 1)
    keys = np.empty(0, np.int64)
    owners = np.arange(nodes)
    while len(keys) < count:
        group = np.searchsorted(groups_below, rng.random(len(owners)) * groups_below[-1])
        fresh = np.setdiff1d(group * nodes + owners, keys)
        keys = np.union1d(keys, fresh if not len(keys) else rng.permutation(fresh)[: count - len(keys)])
        owners = np.searchsorted(nodes_below, rng.random(count - len(keys) + 1000) * nodes_below[-1])
    return keys % nodes, keys // nodes


def _distinct(links: Ids, nodes: int) -> Ids:
    """Links in random order, each once, lower end first."""
    keys = np.unique(links.min(axis=1) * nodes + links.max(axis=1))
    keys = np.random.default_rng(2).permutation(keys)
    return np.column_stack([keys // nodes, keys % nodes])


def write_folder(folder: Path, subscriptions: Ids) -> None:
    """What ingest would write, of subscriptions (node, topic) as numbers, one a row."""
    nodes, node_ids = np.unique(subscriptions[:, 0], return_inverse=True)
    topics, topic_ids = np.unique(subscriptions[:, 1], return_inverse=True)
    order = np.lexsort((topic_ids, node_ids))
    node_ids, topic_ids = node_ids[order].astype(np.int32), topic_ids[order].astype(np.int32)
    node_names, topic_names = _names("n", nodes), _names("t", topics)
    tables = {
        "subscriptions": pa.table(
            {
                "node": node_names.take(pa.array(node_ids)),
                "topic": topic_names.take(pa.array(topic_ids)),
                "node_id": node_ids,
                "topic_id": topic_ids,
            }
        ),
        "nodes": pa.table({"id": np.arange(len(nodes)), "name": node_names, "topics": np.bincount(node_ids)}),
        "topics": pa.table({"id": np.arange(len(topics)), "name": topic_names, "nodes": np.bincount(topic_ids)}),
    }
    for name, table in tables.items():
        (folder / name).mkdir(parents=True)
        parts = 8 if name == "subscriptions" else 1
        step = -(-table.num_rows // parts)
        for part in range(parts):
            pyarrow.parquet.write_table(table.slice(part * step, step), folder / name / f"part-{part}.parquet")
    counts = TableCounts(**{name: table.num_rows for name, table in tables.items()})
    write_manifest(folder, IngestedManifest("1-2", counts))


def write_links(file: Path, links: Ids) -> None:
    """Links of nodes as numbers, under the names that `write_folder` gives them."""
    table = {"source": _names("n", links[:, 0]), "target": _names("n", links[:, 1])}
    pyarrow.parquet.write_table(pa.table(table), file)


def _names(letter: str, numbers: Ids) -> pa.Array:
    """Names in the order of the numbers."""
    return pa.array([f"{letter}{number:09}" for number in numbers.tolist()], pa.string())
