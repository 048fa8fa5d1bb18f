"""Made-up results of kinds that would take long to make, for tests of pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from topicloom.metrics import TopicMeasures
from topicloom.spark.distributions import Distribution, designer_memory
from topicloom.spark.profile import CommonTopics, Profile
from topicloom.spark.sweep_spec import SCHEMA

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="432pt" height="288pt" viewBox="0 0 432 288">'
    '<script>document.title = "broken out"</script>'
    '<rect id="s1" x="20" y="20" width="392" height="248" fill="#0072B2"/></svg>'
)


def claim(which: int, **more: Any) -> dict[str, Any]:
    """A claim that holds, unless more is said."""
    return {
        "id": f"low-2010-fig-1.{which}",
        "figure": "low-2010-fig-1",
        "paper": "Low 2010",
        "place": "section V-A",
        "says": "The average degree is at most 1.8 times that of the designer with the least.",
        "rule": "at most",
        "published": 1.8,
        "unit": "times",
        "number": 1.75,
        "low": 1.7,
        "high": 1.8,
        "repetitions": 5,
        "holds": True,
        "sentence": "",
    } | more


CLAIMS = (
    claim(1),
    claim(2, holds=False, number=2.25, low=2.25, high=2.25, sentence="Sizes are drawn in another way."),
    claim(3, rule="falls", published=None, unit="", number=None, low=None, high=None, holds=None),
    claim(1, id="gm-2007-fig-3.1", figure="gm-2007-fig-3", paper="GM 2007", place="section 6", number=123456.7),
    claim(2, paper="GM 2007", rule="always", published=None, unit="", number=0.96, low=0.8, high=1.0, holds=False),
    claim(3, paper="GM 2007", rule="equal", published=25, unit="%", number=6.52, low=6.5201, high=6.5202),
    claim(1, id="gm-2007-table-9.1", figure="gm-2007-table-9", paper="GM 2007", says="About a table not here."),
)


def figure(of: str, number: int, **more: Any) -> dict[str, Any]:
    """A figure of a paper."""
    made = f"{of.lower().replace(' ', '-')}-fig-{number}"
    return {
        "id": made,
        "paper": of,
        "place": f"figure {number}",
        "title": "average degree against nodes",
        "about": "Three designers on fleets of 100 to 1,000 nodes.",
        "picture": f"{made}.svg",
        "data": f"{made}.parquet",
        "runs": 75,
        "failed": 0,
        "repetitions": 5,
    } | more


FIGURES = (figure("Low 2010", 1), figure("Low 2010", 2, failed=2), figure("GM 2007", 3))


def write_reproduction(
    folder: Path,
    figures: Sequence[dict[str, Any]] = FIGURES,
    claims: Sequence[dict[str, Any]] = CLAIMS,
    *,
    quick: bool = False,
) -> Path:
    """A folder like those of `topicloom reproduce`."""
    folder.mkdir()
    for each in figures:
        (folder / each["picture"]).write_text(SVG, encoding="utf-8")
        (folder / each["data"]).write_text("never read", encoding="utf-8")
    both = {"version": "0.1.0", "quick": quick}
    whole = {"kind": "topicloom reproduction", **both, "figures": list(figures)}
    (folder / "reproduction.json").write_text(json.dumps(whole), encoding="utf-8")
    told = {"kind": "topicloom claims", **both, "claims": list(claims)}
    (folder / "claims.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


def write_network(folder: Path, *, user: str = "u", broker: str = "b", users: int = 6) -> Path:
    """A network of three brokers, by channel; user number k pays 1, 2 and 3, from broker k on."""
    folder.mkdir()
    names = [f"{user}{k}" for k in range(users)]
    brokers = [f"{broker}{k}" for k in range(3)]
    tables = {
        "brokers": [{"broker": name, "capacity": 10.0 * k} for k, name in enumerate(brokers, start=1)],
        "access": [
            {"user": name, "broker": other, "price": 1.0 + (j - k) % 3}
            for k, name in enumerate(names)
            for j, other in enumerate(brokers)
        ],
        "core": [{"broker": brokers[j], "other": brokers[k], "price": 1.0} for j in range(3) for k in range(j)],
        "rates": [{"user": name, "channel": f"c{k % 2}", "rate": 1.0} for k, name in enumerate(names)],
        "subscriptions": [{"user": name, "channel": "c9"} for name in names],
    }
    for name, rows in tables.items():
        pyarrow.parquet.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")
    return folder


def write_assignment(path: Path, brokers: Sequence[int], *, user: str = "u", broker: str = "b", **told: str) -> Path:
    """Users of such a network, each at the broker of that number; `told` is the metadata."""
    columns = {"user": [f"{user}{k}" for k in range(len(brokers))], "broker": [f"{broker}{k}" for k in brokers]}
    pyarrow.parquet.write_table(pa.table(columns, metadata=told), path)
    return path


def cost_facts(brokers: int = 3, **more: Any) -> dict[str, Any]:
    """What `topicloom content cost --json` prints, with made-up numbers."""
    return {
        "users": 6,
        "brokers": brokers,
        "channels": 3,
        "total": 15.0,
        "access": 12.0,
        "core": 3.0,
        "cost_reduction_ratio": 1.5,
        "demand": 30.0,
        "capacity": 60.0,
        "overloaded_brokers": 0,
        "unwanted_share": 0.25,
        "by_broker": [
            {"broker": f"b{k}", "users": k, "load": 5.0 * k, "capacity": 20.0, "access": 2.0 * k, "core": 1.0}
            for k in range(brokers)
        ],
    } | more


def write_cost(path: Path, **more: Any) -> Path:
    """Such costs in a file."""
    path.write_text(json.dumps(cost_facts(**more)), encoding="utf-8")
    return path


def write_trees(path: Path, broker: str = "b") -> Path:
    """Two trees in two channels, which share a link in different directions."""
    a, b, c = (f"{broker}{k}" for k in range(3))
    rows = [("c1", a, a, b, 2.0, 10.0), ("c1", a, b, c, 1.0, 10.0), ("c2", b, b, a, 2.0, 0.5)]
    names = ("channel", "source", "broker", "other", "price", "rate")
    pyarrow.parquet.write_table(pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows]), path)
    return path


def write_profile(folder: Path, *, sampled: bool = False) -> Path:
    """A profile of three nodes and four topics, as `topicloom profile` writes it."""
    nodes = Distribution(np.array([1, 4]), np.array([2, 1]))
    topics = Distribution(np.array([1, 2]), np.array([2, 2]))
    pairs = Distribution(np.array([1]), np.array([2]))
    shared = CommonTopics(2, 2, pairs, 2 if sampled else None, 0.5 if sampled else 0.0, 0 if sampled else None)
    Profile("3-abc", None, nodes, topics, shared, designer_memory(nodes, topics)).write(folder)
    return folder


def sweep_rows(
    nodes: Sequence[int] = (100, 200), designers: Sequence[str] = ("gm", "minmax-oda"), **more: Any
) -> list[dict[str, Any]]:
    """Rows of a sweep with two seeds, whose measures grow with the nodes and the seed."""
    return [
        {
            "workload": "synthetic",
            "workload_nodes": size,
            "workload_seed": seed,
            "designer": designer,
            "support": 0.5 + seed / 10,
            "average_degree": size / 100 + seed,
            "max_degree": seed,
            "links": size,
            "seconds": 0.25 * seed,
        }
        | more
        for size in nodes
        for designer in designers
        for seed in (1, 2)
    ]


def write_sweep(path: Path, rows: Sequence[dict[str, Any]] | None = None) -> Path:
    """Results of a sweep in a file."""
    pyarrow.parquet.write_table(pa.Table.from_pylist(list(sweep_rows() if rows is None else rows), SCHEMA), path)
    return path


def write_topics(path: Path, names: Sequence[str] = ("a", "b", "c"), *, diameters: bool = True) -> Path:
    """Measures of topics; topic number k is in k pieces of two nodes each, joined by relays."""
    counted = np.arange(1, len(names) + 1)
    diameter = np.ones(len(names), np.int64) if diameters else None
    TopicMeasures(tuple(names), 2 * counted, counted, counted, diameter, counted - 1, 0 * counted).write(path)
    return path


def write_every_kind(folder: Path, *, name: str = "plain") -> Path:
    """A folder with results of all kinds but fleets and traces; `name` is in everything that has a name."""
    folder.mkdir()
    told = dict.fromkeys(("paper", "place", "title", "about"), name)
    said = dict.fromkeys(("paper", "place", "says", "rule", "unit", "sentence"), name)
    claims = [claim(1, number=10.5), claim(2, number=9.5, **said), claim(3, number=None)]
    write_reproduction(folder / "reproduction", [figure("Low 2010", 1, **told)], claims)
    write_network(folder / "network", user=name, broker=name)
    made = {"algorithm": name, "parameters": json.dumps({name: name}), "seed": "1", "version": name}
    write_assignment(folder / "assignment.parquet", [0, 1, 2, 0, 1, 1], user=name, broker=name, **made)
    by_broker = [{**each, "broker": f"{name}{each['broker']}"} for each in cost_facts()["by_broker"]]
    write_cost(folder / "cost.json", by_broker=by_broker, core_on_one_tree=4.0, core_with_relays=2.5)
    write_cost(folder / "other.json", by_broker=by_broker, total=14.0, access=11.0)
    write_cost(folder / "many.json", brokers=40)
    write_trees(folder / "trees.parquet", broker=name)
    write_profile(folder / "profile")
    rows = sweep_rows(workload=name) + sweep_rows(workload="w", error=name)
    write_sweep(folder / "sweep.parquet", rows)
    write_topics(folder / "topics.parquet", (name, f"{name} too"))
    return folder
