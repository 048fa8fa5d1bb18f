"""What tests of the explorer look at."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from topicloom import Interest, Overlay, design, synthetic
from topicloom.churn.trace import SCHEMA
from topicloom.spark.sweep_spec import SCHEMA as SWEEP_SCHEMA
from topicloom.views.explorer import Explorer, collect
from topicloom.views.page import find_files, read_results

NASTY = (
    "<script>document.title = 'broken out'</script>",
    "\" onmouseover=\"document.title = 'broken out'",
    "</script><img src=x onerror=\"document.title = 'broken out'\">",
    "שלום עולם",
    "$$x^2$$ {{ braces }} @name{safe}",
    "line\nbreak\ttab\u202eturned",
    "long " * 2000,
    "'; document.title = 'broken out'; '",
)


def write_demo(folder: Path) -> Path:
    """Subscriptions of 30 nodes and two overlays over them, one in pieces; and subscriptions by nasty names."""
    folder.mkdir()
    fleet = synthetic(30, 12, sizes="uniform", min_topics=2, max_topics=5, seed=1)
    fleet.write(folder / "subs.parquet")
    design(fleet, "gm").write(folder / "gm.parquet")
    design(fleet, "gpm", max_degree=1).write(folder / "gpm.parquet")
    maintained(design(fleet, "gm"), folder / "trace.parquet")
    write_reproduction(folder / "papers")
    write_content(folder / "net", NASTY[0])
    write_sweep(folder / "sweep.parquet")
    nasty = Interest.from_pairs([(a, b) for i, a in enumerate(NASTY) for k, b in enumerate(NASTY) if (i + k) % 3])
    nasty.write(folder / "with nasty <b>names.parquet")
    return folder


def write_content(folder: Path, user: str = "u") -> None:
    """A content-based network of three brokers and three users, each with a cheapest broker of its own."""
    folder.mkdir()
    users, brokers = [f"{user}{k}" for k in range(3)], [f"b{k}" for k in range(3)]
    pairs = [(j, k) for j in range(3) for k in range(3)]
    tables = {
        "brokers": {"broker": brokers, "capacity": [10.0, 20.0, 30.0]},
        "access": {
            "user": [users[j] for j, _ in pairs],
            "broker": [brokers[k] for _, k in pairs],
            "price": [float("inf") if (j, k) == (0, 2) else 1.0 + (j - k) % 3 for j, k in pairs],
        },
        "core": {
            "broker": [brokers[j] for j, k in pairs if j < k],
            "other": [brokers[k] for j, k in pairs if j < k],
            "price": [1.0, 2.0, 1.0],
        },
        "rates": {"user": users, "channel": ["c"] * 3, "rate": [1.0] * 3},
        "subscriptions": {"user": users, "channel": ["c"] * 3},
    }
    for name, columns in tables.items():
        pyarrow.parquet.write_table(pa.table(columns), folder / f"{name}.parquet")


def write_sweep(path: Path) -> None:
    """Two designers, one by a nasty name, on two workloads."""
    rows = [
        {
            "workload": "synthetic",
            "workload_nodes": nodes,
            "designer": designer,
            "support": 1.0,
            "average_degree": 2.0,
            "max_degree": 3,
            "links": nodes,
            "seconds": 0.1,
        }
        for nodes in (10, 20)
        for designer in ("gm", NASTY[0])
    ]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, SWEEP_SCHEMA), path)


def maintained(overlay: Overlay, trace: Path) -> None:
    """Write the trace of two nodes that leave, one of them twice."""
    rows = [
        {"event": 1, "kind": "leave", "node": NASTY[0], "links_added": 2, "links_removed": 3, "error": None},
        {"event": 2, "kind": "leave", "node": "b", "links_added": 0, "links_removed": 1, "error": None},
        {"event": 3, "kind": "leave", "node": "b", "links_added": 0, "links_removed": 0, "error": "is not there"},
    ]
    same = {"seconds": 0.001, "upkeep_seconds": 0.0, "repair_ratio": 0.1, "shadow": 3, "nodes": 29}
    sizes = {"links": len(overlay), "average_degree": 3.0, "max_degree": 7, "support": 0.75}
    pyarrow.parquet.write_table(pa.Table.from_pylist([row | same | sizes for row in rows], SCHEMA), trace)


def write_reproduction(folder: Path) -> None:
    """A reproduction of one figure with one claim, by nasty names; one that names a file elsewhere as its data."""
    folder.mkdir()
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40"/></svg>'
    figures = []
    for number, data in enumerate(["one.parquet", "../subs.parquet"], start=1):
        (folder / f"{number}.svg").write_text(svg, encoding="utf-8")
        figures.append(
            {
                "id": f"fig-{number}",
                "paper": "Low 2010",
                "place": f"figure {number}",
                "title": NASTY[0],
                "about": "Few nodes.",
                "picture": f"{number}.svg",
                "data": data,
                "runs": 2,
                "failed": 0,
                "repetitions": 1,
                "readings": [{"name": "plain", "source": "as printed", "chosen_after": False}],
            }
        )
    pyarrow.parquet.write_table(pa.table({"nodes": [10, 20], "name": ["a", NASTY[0]]}), folder / "one.parquet")
    claim = {
        "id": "fig-1.1",
        "figure": "fig-1",
        "paper": "Low 2010",
        "place": "section 2",
        "says": NASTY[0],
        "rule": "at most",
        "published": 1.8,
        "unit": "times",
        "number": 1.7,
        "low": 1.6,
        "high": 1.8,
        "repetitions": 5,
        "holds": True,
        "sentence": "",
    }
    told = {"version": "0.1.0", "quick": True}
    whole = {"kind": "topicloom reproduction", **told, "figures": figures}
    (folder / "reproduction.json").write_text(json.dumps(whole), encoding="utf-8")
    claims = {"kind": "topicloom claims", **told, "claims": [claim]}
    (folder / "claims.json").write_text(json.dumps(claims), encoding="utf-8")


def explorer_of(*paths: Path) -> Explorer:
    """An explorer of these files, as the command makes it."""
    found = find_files(paths)
    return Explorer(collect(read_results(found, diameters=False), found), lambda question, named: ["topicloom design"])
