"""A short form of every benchmark, as ratios: work against a yardstick of the same run.

Ratios of processor time, work and yardstick in turns, the best of each; those of Spark, which works in other processes,
are of seconds on the clock, against DuckDB.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import brokers, churn, content, designs, evaluate, ingest, real_data
from benchmarks.alone import in_own_process
from benchmarks.backbone import sparse
from benchmarks.yardsticks import counting_pass
from topicloom.brokers import make_plan, read_plan, route, write_plan
from topicloom.brokers.diff import compare_plans
from topicloom.content import assign, cost
from topicloom.designers import DESIGNERS, design
from topicloom.metrics import bound, measure
from topicloom.model import Interest
from topicloom.workloads import synthetic
from topicloom.workloads.content import content_network

_ROUNDS = 3
_SECONDS = 2.0
_NODES = 2000
# The network of a tree is improved by all grafts, which takes minutes where others take a tenth of a second.
_TREE_NODES = 150
_ROWS = 100_000


@dataclass(frozen=True)
class Ratio:
    """What is compared; `measure` gives the ratio as measured now."""

    name: str
    measure: Callable[[], float]


def processor_ratio(work: Callable[[], object], yardstick: Callable[[], object]) -> float:
    """The processor time of some work against that of a yardstick, in turns, after a first run that compiles both."""
    work()
    best = [float("inf"), float("inf")]
    began = time.process_time()
    for _ in range(_ROUNDS):
        for place, timed in enumerate((work, yardstick)):
            start = time.process_time()
            timed()
            best[place] = min(best[place], time.process_time() - start)
        if time.process_time() - began > _SECONDS:
            break
    return best[0] / best[1]


def _papers(nodes: int, popularity: str = "zipf") -> Interest:
    return synthetic(nodes, 1000, popularity=popularity, sizes="power-law", min_topics=20, max_topics=600, seed=1)


def _designs() -> Iterator[Ratio]:
    for popularity, names in (("zipf", [*DESIGNERS]), ("uniform", ["gm", "minmax-oda", "low-oda", "spidercast"])):
        interest = _papers(_NODES, popularity)
        count = counting_pass(interest)
        for name in names:
            if name not in ("exact", "tree"):
                work = partial(design, interest, name, **designs.budget(name, interest.node_count))
                yield Ratio(f"{name}, {popularity} / counting pass", partial(processor_ratio, work, count))

    few = _papers(_TREE_NODES)
    yield Ratio("tree / gm", partial(processor_ratio, partial(design, few, "tree"), partial(design, few, "gm")))


def _backbone() -> Iterator[Ratio]:
    interest = sparse(5000, 1000)
    gm = partial(design, interest, "gm")
    yield Ratio("backbone, sparse / gm", partial(processor_ratio, partial(design, interest, "backbone"), gm))
    limited = partial(design, interest, "backbone", max_degree=40)
    yield Ratio("backbone with a limit, sparse / gm", partial(processor_ratio, limited, gm))
    yield Ratio("gm, sparse / counting pass", partial(processor_ratio, gm, counting_pass(_papers(_NODES))))


def _bounds() -> Iterator[Ratio]:
    interest = synthetic(400, 100, popularity="zipf", min_topics=10, seed=1)
    yield Ratio("bound / gm", partial(processor_ratio, partial(bound, interest), partial(design, interest, "gm")))


def _measures() -> Iterator[Ratio]:
    interest = _papers(_NODES)
    for name, parameters in (("gm", {}), ("gpm", {"max_degree": 4})):
        overlay = design(interest, name, **parameters)
        for diameters in (False, True):
            work = partial(measure, interest, overlay, diameters=diameters)
            kind = "with diameters" if diameters else "without"
            yield Ratio(
                f"measure {name} {kind} / counting pass", partial(processor_ratio, work, counting_pass(interest))
            )


def _real_data() -> Iterator[Ratio]:
    if real_data.FOLDER.is_dir():
        interest = real_data.youtube_groups()
        backbone, gm = (partial(design, interest, name) for name in ("backbone", "gm"))
        yield Ratio("backbone, YouTube groups / gm", partial(processor_ratio, backbone, gm))


def _ingest() -> Iterator[Ratio]:
    yield Ratio("ingest on Spark / DuckDB", lambda: float(in_own_process(ingest.__name__, rows=_ROWS)["ratio"]))


def _evaluate() -> Iterator[Ratio]:
    yield Ratio("evaluate on Spark / ingest in DuckDB", _evaluated)


def _evaluated() -> float:
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.csv"
        ingest.write_raw(raw, _ROWS)
        before = ingest.with_duckdb(raw, Path(folder) / "before")
        found = in_own_process(evaluate.__name__, nodes=1000, workload="pieces")
        after = ingest.with_duckdb(raw, Path(folder) / "after")
    return float(found["seconds"]["with_diameters"] / min(before, after))


def _churn() -> Iterator[Ratio]:
    for kind in ("join", "leave", "upkeep"):
        yield Ratio(f"{kind} / low-oda build", partial(_event, kind))


def _event(kind: str) -> float:
    row = churn.main(1000, 100, "uniform", "shadow", prune=False, rounds=100)
    return float(row[kind] / row["build"])


def _brokers() -> Iterator[Ratio]:
    interest = _papers(1000)
    fleet = brokers.fleet_of(interest)
    overlays = {name: design(interest, name) for name in ("gm", "ring-per-topic")}
    yardstick = partial(measure, interest, overlays["gm"], diameters=False)
    plans = {name: make_plan(interest, overlay, fleet) for name, overlay in overlays.items()}
    works: dict[str, Callable[[], object]] = {
        "route": partial(route, interest, overlays["gm"]),
        "plan": partial(make_plan, interest, overlays["gm"], fleet),
        "diff": lambda: compare_plans(*(make_plan(interest, overlay, fleet) for overlay in overlays.values())),
        "write and read a plan": partial(_written, plans["gm"]),
    }
    for name, work in works.items():
        yield Ratio(f"{name} / measure", partial(processor_ratio, work, yardstick))


def _written(plan: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_plan(plan, Path(folder) / "plan.json")
        read_plan(Path(folder) / "plan.json")


def _content() -> Iterator[Ratio]:
    for setting in ("random subscriptions", "access links twice as dear"):
        network = content_network(1000, 10, content.CHANNELS, seed=1, **content.SETTINGS[setting]).network  # type: ignore[arg-type]
        yardstick = partial(cost, assign(network, "packing"))
        for label, (name, parameters) in content.ALGORITHMS.items():
            work = partial(assign, network, name, **parameters)
            yield Ratio(f"{label}, {setting} / cost", partial(processor_ratio, work, yardstick))


PARTS: dict[str, Callable[[], Iterator[Ratio]]] = {
    "designs": _designs,
    "backbone": _backbone,
    "bounds": _bounds,
    "measures": _measures,
    "real-data": _real_data,
    "ingest": _ingest,
    "evaluate": _evaluate,
    "churn": _churn,
    "brokers": _brokers,
    "content": _content,
}
