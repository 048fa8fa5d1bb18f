"""Small valid files of every format, from a seed."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from campaign.inside import run_inside
from topicloom.io.ingest_folder import IngestedManifest, TableCounts, write_manifest
from topicloom.model.interest import Interest

_LOG = """\
1700000000: mosquitto version 2.0.11 starting
1700000001: New client connected from 10.0.0.1:5000 as app-1 (p2, c1, k60).
1700000002: Received SUBSCRIBE from app-1
1700000002: \t{first} (QoS 1)
1700000003: Received PUBLISH from app-1 (d0, q0, r0, m0, '{second}', ... (5 bytes))
1700000004: Client app-1 disconnected.
"""
_DEFINITIONS = {
    "vhosts": [{"name": "/"}],
    "exchanges": [{"name": "amq.topic", "vhost": "/", "type": "topic", "durable": True}],
    "queues": [{"name": "q", "vhost": "/", "durable": True}],
    "bindings": [
        {"source": "amq.topic", "vhost": "/", "destination": "q", "destination_type": "queue", "routing_key": "a.b"}
    ],
}


def make_files(folder: Path, seed: int) -> None:
    """Write one valid file or folder of each format."""
    dice = random.Random(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    nodes = [f"n{number}" for number in range(dice.randint(4, 8))]
    topics = [f"t/{number}" for number in range(dice.randint(3, 6))]
    pairs = _pairs(dice, nodes, topics)
    _tables(folder, dice, pairs, _pairs(dice, nodes, topics))
    _ingest_folder(folder / "ingested", Interest.from_pairs(pairs))
    _fleet(folder, dice, nodes, topics)
    (folder / "brokers").mkdir()
    _by_commands(folder, dice.randrange(1000))
    (folder / "sweep.toml").write_text(
        'seed = [1, 2]\n[[workload]]\nnodes = [6]\ntopics = 3\nmin_topics = 1\n[[designer]]\nname = ["gm"]\n'
    )


def make_files_that_take_a_while(folder: Path, seed: int) -> None:
    """The same, with a folder of events for streams, and so many events that a run can be caught in the middle."""
    make_files(folder, seed)
    line = "churn subs.csv --rounds 150 --change-share 0.3 --seed 5 --out many.jsonl"
    run_inside(line.split(" "), str(folder))
    (folder / "stream-events").mkdir()
    shutil.copy(folder / "events.jsonl", folder / "stream-events")


def _pairs(dice: random.Random, nodes: list[str], topics: list[str]) -> list[tuple[str, str]]:
    wanted = {node: {dice.choice(topics) for _ in range(3)} | {topics[0]} for node in nodes}
    return [(node, topic) for node in nodes for topic in sorted(wanted[node])]


def _tables(folder: Path, dice: random.Random, pairs: list[tuple[str, str]], later: list[tuple[str, str]]) -> None:
    text = "node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in pairs)
    (folder / "subs.csv").write_text(text)
    (folder / "subs.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    (folder / "subs.tsv").write_text(text.replace(",", "\t"))
    (folder / "later.csv").write_text("node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in later))
    names = {"node": [node for node, _ in pairs], "topic": [topic for _, topic in pairs]}
    pyarrow.parquet.write_table(pa.table(names), folder / "subs.parquet")
    roles = "node,topic,role\n" + "".join(
        f"{node},{topic},{dice.choice(['sub', 'pub', 'both'])}\n" for node, topic in pairs
    )
    (folder / "roles.csv").write_text(roles)
    filters = [(node, dice.choice([topic, "t/+", "#", "t/#"])) for node, topic in pairs]
    (folder / "filters.csv").write_text("node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in filters))


def _ingest_folder(folder: Path, interest: Interest) -> None:
    folder.mkdir()
    table = interest.to_arrow()
    node, topic = table["node"], table["topic"]
    tables = {
        "nodes": {
            "id": range(interest.node_count),
            "name": interest.node_names,
            "topics": [len(interest.topics_of(i)) for i in range(interest.node_count)],
        },
        "topics": {
            "id": range(interest.topic_count),
            "name": interest.topic_names,
            "nodes": [len(interest.nodes_of(i)) for i in range(interest.topic_count)],
        },
        "subscriptions": {
            "node": node,
            "topic": topic,
            "node_id": [interest.node_ids[name] for name in node.to_pylist()],
            "topic_id": [interest.topic_ids[name] for name in topic.to_pylist()],
        },
    }
    for name, rows in tables.items():
        (folder / name).mkdir()
        pyarrow.parquet.write_table(pa.table(rows), folder / name / "part-00000.parquet")
    counts = TableCounts(**{name: len(next(iter(rows.values()))) for name, rows in tables.items()})
    write_manifest(folder, IngestedManifest(interest.fingerprint, counts))


def _fleet(folder: Path, dice: random.Random, nodes: list[str], topics: list[str]) -> None:
    lines = ["[defaults]", "qos = 1", 'apply = { via = "folder", path = "brokers/{broker}", check = "nothing" }', ""]
    for node in nodes:
        lines += [f"[brokers.{node}]", f'host = "{node}.example"', f"port = {dice.randint(1024, 65535)}"]
        if dice.random() < 0.3:
            lines.append('credentials = { username = "bridge", password_env = "PATH_TO_NOWHERE" }')
        if dice.random() < 0.5:
            lines.append(f'region = "{dice.choice(["north", "south"])}"')
        lines.append("")
    (folder / "fleet.toml").write_text("\n".join(line for line in lines if "PATH_TO" not in line))
    (folder / "secret-fleet.toml").write_text("\n".join(lines))
    (folder / "prices.csv").write_text(
        "source,target,price\n" + "".join(f"{a},{b},{dice.randint(1, 9)}\n" for a in nodes for b in nodes if a < b)
    )
    (folder / "rates.csv").write_text("topic,rate\n" + "".join(f"{topic},{dice.random():.3f}\n" for topic in topics))
    (folder / "broker.log").write_text(_LOG.format(first=topics[0], second=topics[-1]))
    (folder / "definitions.json").write_text(json.dumps(_DEFINITIONS))
    (folder / "collect.toml").write_text(
        f'[brokers.{nodes[0]}]\nhost = "h"\ncollect = {{ log = "broker.log" }}\n'
        f'[brokers.{nodes[1]}]\nhost = "h2"\ncollect = {{ definitions = "definitions.json" }}\n'
    )


def _by_commands(folder: Path, seed: int) -> None:
    """Whatever the program itself writes."""
    for line in (
        "design subs.csv --algorithm gm --out overlay.parquet",
        "design subs.csv --algorithm tree --out tree.parquet",
        "design later.csv --algorithm gm --out later.parquet",
        f"churn subs.csv --rounds 8 --change-share 0.3 --seed {seed} --out events.jsonl",
        "plan subs.csv overlay.parquet --fleet fleet.toml --out plan.json",
        "plan later.csv later.parquet --fleet fleet.toml --out later-plan.json",
        "plan subs.csv overlay.parquet --fleet fleet.toml --target rabbitmq --out rabbitmq-plan.json",
        "plan subs.csv tree.parquet --fleet fleet.toml --target nats --relays --out nats-plan.json",
        "render plan.json --out mosquitto",
        "render rabbitmq-plan.json --out rabbitmq",
        "render nats-plan.json --out nats",
        f"content generate --users 6 --brokers 3 --channels 4 --seed {seed} --out net",
        "content assign net --algorithm packing --out assignment.parquet",
        "measure subs.csv overlay.parquet --topics topics.parquet",
        "maintain subs.csv overlay.parquet events.jsonl --state state --trace trace.parquet --out mended.parquet",
        "apply plan.json --fleet fleet.toml --state applied --yes",
    ):
        ended = run_inside(line.split(), str(folder))
        if ended.status != 0:
            raise RuntimeError(f"topicloom {line}: {ended.err}")
