"""The cases of `pairs.py`, each timed in a process that has one of two trees on its path.

`pairs.py` runs this as a script. A line on standard input names a case: what its work needs is made, and compiled
unless it is a first use. Each empty line after it has the work done once; the answer is processor seconds as JSON.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicloom import Interest, Prices

Seconds = dict[str, float]
Work = Callable[[], Seconds]
Case = tuple[str, Callable[[], Work]]

POPULARITIES = ("zipf", "exponential", "uniform")
GREEDY = ("gm", "minmax-oda", "low-oda")
# Budgets in links a node, and the parameters that they are given by.
DESIGNERS: dict[str, dict[str, int]] = {
    **{name: {} for name in (*GREEDY, "gm-fold", "cd-oda", "cd-oda-1", "cd-oda-2", "ring-per-topic", "spidercast")},
    **{name: {"max_edges": 2} for name in ("gpa", "random-a")},
    **{name: {"max_degree": 4} for name in ("gpm", "spidercast-m", "random-m")},
    "backbone": {},
}
REAL = ("youtube", "slashdot", "deezer")
NETWORKS: dict[str, dict[str, float]] = {"plane": {}, "narrow": {"width": 0.01}, "dear access": {"access_to_core": 2.0}}
ASSIGNED: tuple[tuple[str, dict[str, str]], ...] = (
    ("packing", {}),
    ("clustering", {}),
    ("steiner-mixing", {}),
    ("migration", {}),
    ("migration", {"start": "random"}),
)
FIRST_USE = "first use"
# Shorter work is repeated within one timing.
_LEAST_SECONDS = 0.1


def timed(work: Callable[[], object]) -> Work:
    """Compile some work by doing it once, then time it, several times in a row if it is short."""
    work()
    times = math.ceil(_LEAST_SECONDS / max(1e-6, _processor_seconds(work, 1)))
    return lambda: {"": _processor_seconds(work, times)}


def _processor_seconds(work: Callable[[], object], times: int) -> float:
    gc.collect()
    began = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - began) / times


@dataclass(frozen=True)
class Cases:
    """All cases, at full size or at a fifth of it."""

    quick: bool
    data: Path

    def listed(self) -> Iterator[Case]:
        """Yield the name of each case, and the function that prepares its work."""
        parts = (self.designs, self.sparse, self.real, self.priced, self.constrained, self.spidercast, self.backbone)
        for part in (*parts, self.measures, self.routing, self.churn, self.content, self.first_use):
            yield from part()

    def size(self, full: int) -> int:
        """Return the number of nodes or users."""
        return max(1, full // 5) if self.quick else full

    def designs(self) -> Iterator[Case]:
        for popularity in POPULARITIES:
            for name in DESIGNERS:
                interest = partial(dense, self.size(10_000), popularity)
                yield f"design, {popularity}, {name}", partial(_design, interest, name, **DESIGNERS[name])
        yield "design, 150 nodes, tree", partial(_design, partial(dense, 150, "zipf"), "tree")
        yield "design, 20 nodes, exact", partial(_design, partial(dense, 20, "zipf", most=60), "exact")

    def sparse(self) -> Iterator[Case]:
        for name in GREEDY:
            yield f"design, sparse, {name}", partial(_design, partial(sparse, self.size(50_000)), name)

    def real(self) -> Iterator[Case]:
        for source in REAL if self.data.is_dir() else ():
            for name in ("gm",) if self.quick else GREEDY:
                yield f"design, {source}, {name}", partial(_design, partial(real, self.data, source), name)

    def priced(self) -> Iterator[Case]:
        by_node, by_region = self.size(4000), self.size(10_000)
        workloads: dict[str, Callable[[int], Interest]] = {
            "zipf": partial(dense, popularity="zipf"),
            "uniform": partial(dense, popularity="uniform"),
            "sparse": sparse,
        }
        for kind, interest in workloads.items():
            for name in GREEDY:
                for by, nodes in (("node", by_node), ("region", by_region * (2 if kind == "sparse" else 1))):
                    prices = prices_by_node if by == "node" else prices_by_region
                    work = partial(_design, partial(interest, nodes), name, prices=prices)
                    yield f"design by prices of {by}s, {kind}, {name}", work

    def constrained(self) -> Iterator[Case]:
        interests = {"zipf": partial(dense, self.size(10_000), "zipf"), "sparse": partial(sparse, self.size(50_000))}
        for kind, interest in interests.items():
            for name in GREEDY:
                yield f"design within constraints, {kind}, {name}", partial(_constrained, interest, name)

    def spidercast(self) -> Iterator[Case]:
        for popularity in POPULARITIES:
            yield (
                f"spidercast, {popularity}, 3,000 nodes",
                partial(_design, partial(dense, self.size(3000), popularity), "spidercast"),
            )
        many = partial(dense, self.size(10_000), "uniform", topics=10_000)
        yield "spidercast, uniform, 10,000 topics", partial(_design, many, "spidercast")
        for exponent, name in ((0.9, "zipf"), (0.0, "uniform")):
            interest = partial(sparse, self.size(50_000), exponent=exponent)
            yield f"spidercast, sparse {name}", partial(_design, interest, "spidercast")
            yield f"spidercast-m, sparse {name}", partial(_design, interest, "spidercast-m", max_degree=4)
        few = partial(sparse, 300, topics=1000, exponent=0.0)
        yield "spidercast, 300 nodes", partial(_design, few, "spidercast")

    def backbone(self) -> Iterator[Case]:
        for limit in ({}, {"max_degree": 40}):
            words = "with a limit" if limit else "without limit"
            sparsely = partial(sparse, self.size(50_000))
            yield f"backbone, sparse, {words}", partial(_design, sparsely, "backbone", **limit)
            densely = partial(dense, self.size(20_000), "zipf")
            yield f"backbone, zipf, {words}", partial(_design, densely, "backbone", **limit)

    def measures(self) -> Iterator[Case]:
        interest = partial(dense, self.size(10_000), "zipf")
        for name in ("gm", "gpm"):
            for diameters in (False, True):
                words = "with diameters" if diameters else "without diameters"
                yield f"measure, {name}, {words}", partial(_measured, interest, name, "measure", diameters=diameters)
            yield f"measure, {name}, support", partial(_measured, interest, name, "support_curve")
        few = partial(dense, self.size(3000), "zipf")
        yield "measure, gm, diameters through any node", partial(_measured, few, "gm", "soc_diameters")
        yield "measure, gm, prices", partial(_measured, few, "gm", "measure_prices")
        yield "measure, gm, traffic", partial(_measured, few, "gm", "measure_traffic")
        yield "measure, bound", partial(_bound, partial(dense, self.size(1000), "zipf", most=60))

    def routing(self) -> Iterator[Case]:
        interest = partial(dense, self.size(10_000), "zipf")
        for name in ("gm", "gpm"):
            yield f"route, {name}", partial(_measured, interest, name, "route", relays=True)

    def churn(self) -> Iterator[Case]:
        for nodes, topics in ((2000, 200), (self.size(10_000), 1000)):
            for popularity in ("uniform", "zipf"):
                for settings in ({}, {"prune": True}, {"method": "naive"}):
                    words = ", ".join(f"{key}={value}" for key, value in settings.items()) or "shadow"
                    case = f"churn, {nodes:,} x {topics:,} {popularity}, {words}"
                    yield case, partial(_churn, nodes, topics, popularity, settings)
        yield "improve, spidercast towards gm", partial(_improve, partial(dense, self.size(1000), "zipf", most=60))

    def content(self) -> Iterator[Case]:
        users = self.size(10_000)
        for kind, shape in NETWORKS.items():
            for name, parameters in ASSIGNED:
                words = ", ".join([kind, name, *parameters.values()])
                yield f"content, {words}", partial(_content, users, shape, name, parameters)
            yield f"content, {kind}, cost", partial(_content, users, shape, "packing", {}, cost=True)

    def first_use(self) -> Iterator[Case]:
        for name in ("gm", "minmax-oda"):
            yield f"{FIRST_USE}, {name}", partial(_first_use, name)


@lru_cache(1)
def dense(nodes: int, popularity: str, topics: int = 1000, most: int = 600) -> Interest:
    """Return the workload of Partial 2016, section IX: from 20 topics a node, by a power law."""
    from topicloom import synthetic

    shape: dict[str, Any] = {"sizes": "power-law", "min_topics": 20, "max_topics": most, "seed": 1}
    return synthetic(nodes, topics, popularity=popularity, **shape)


@lru_cache(1)
def sparse(nodes: int, topics: int = 10_000, exponent: float = 0.9) -> Interest:
    """Return an interest with 5 to 50 topics a node by a power law, and topics by Zipf."""
    import numpy as np

    from topicloom import Interest

    rng = np.random.default_rng(1)
    sizes = np.arange(5, 51)
    drawn = rng.choice(sizes, size=nodes, p=sizes**-2.0 / (sizes**-2.0).sum())
    popularity = np.cumsum(np.arange(1, topics + 1) ** -exponent)
    chosen = np.searchsorted(popularity, rng.random(int(drawn.sum())) * popularity[-1])
    names = (tuple(f"n{k:08}" for k in range(nodes)), tuple(f"t{k:05}" for k in range(topics)))
    return Interest.from_ids(*names, np.repeat(np.arange(nodes), drawn), np.minimum(chosen, topics - 1))


@lru_cache(1)
def real(data: Path, source: str) -> Interest:
    """Return one of the real data sets: users and their groups, their friends, or the genres that they like."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    from topicloom import Interest

    if source == "deezer":
        file = data / "subscriptions" / "deezer_genres.tsv.gz"
        return Interest.read(file, node_column="user", topic_column="genre")
    if source == "youtube":
        table = pyarrow.csv.read_csv(
            data / "subscriptions" / "youtube_groups.tsv.gz",
            read_options=pyarrow.csv.ReadOptions(column_names=["node", "topic"]),
            parse_options=pyarrow.csv.ParseOptions(delimiter="\t"),
        )
        return Interest.from_arrow(table)
    table = pyarrow.csv.read_csv(data / "graphs" / "slashdot_followers.csv.gz")
    table = table.filter(pc.not_equal(table["src"], table["dst"]))
    return Interest.from_arrow(pa.table({"node": table["src"], "topic": table["dst"]}))


def prices_by_region(interest: Interest) -> Prices:
    """Return prices between 20 regions, of 2.5 decimal places as latencies have."""
    import numpy as np

    from topicloom import Prices

    latency = np.round(np.random.default_rng(2).uniform(1, 200, (20, 20)), 2)
    between = {(f"r{a}", f"r{b}"): float(latency[a, b]) for a in range(20) for b in range(a, 20)}
    return Prices(between, {name: f"r{number % 20}" for number, name in enumerate(interest.node_names)})


def prices_by_node(interest: Interest) -> Prices:
    """Return a price for each of ten random nodes of every node, and one for all other pairs."""
    import numpy as np

    from topicloom import Prices

    names = interest.node_names
    rng = np.random.default_rng(2)
    ends = rng.integers(0, len(names), (10 * len(names), 2)).tolist()
    values = np.round(rng.uniform(1, 200, len(ends)), 2).tolist()
    between = {(names[a], names[b]): value for (a, b), value in zip(ends, values, strict=True) if a < b}
    return Prices({("*", "*"): 100.0, **between})


def _design(
    make: Callable[[], Interest], name: str, prices: Callable[[Interest], Prices] | None = None, **parameters: int
) -> Work:
    from topicloom import design

    interest = make()
    budget = {key: value * interest.node_count if key == "max_edges" else value for key, value in parameters.items()}
    priced = {"prices": prices(interest)} if prices else {}
    return timed(lambda: design(interest, name, **budget, **priced))


def _measured(make: Callable[[], Interest], name: str, measure: str, **given: bool) -> Work:
    import topicloom
    from public_names import public

    interest = make()
    overlay = topicloom.design(interest, name, **DESIGNERS[name])
    arguments: list[Any] = [interest, overlay]
    if measure == "measure_prices":
        arguments.append(prices_by_region(interest))
    if measure == "measure_traffic":
        rates = {topic: 0.5 + number % 7 for number, topic in enumerate(interest.topic_names)}
        arguments += [topicloom.Rates(rates), prices_by_region(interest)]
    call = topicloom.measure if measure == "measure" else public(measure)
    return timed(lambda: call(*arguments, **given))


def _bound(make: Callable[[], Interest]) -> Work:
    from topicloom import bound

    interest = make()
    return timed(lambda: bound(interest, rounds=20))


def _improve(make: Callable[[], Interest]) -> Work:
    from public_names import public
    from topicloom import design

    improve, overlay = public("improve"), design(make(), "spidercast")
    return timed(lambda: improve(overlay, 200))


def _churn(nodes: int, topics: int, popularity: str, settings: Mapping[str, Any]) -> Work:
    """Time a start, joins, leaves and the upkeep after them."""
    from public_names import public
    from topicloom import design, synthetic

    shape: dict[str, Any] = {"popularity": popularity, "sizes": "power-law", "min_topics": 10, "max_topics": 90}
    interest = synthetic(nodes, topics, seed=1, **shape)
    events = public("churn_trace")(interest, 40 if settings.get("method") == "naive" else 300, seed=3)
    overlay = design(interest, "low-oda")

    least: dict[tuple[str, int], float] = {}

    def note(kind: str, number: int, seconds: float) -> None:
        least[kind, number] = min(seconds, least.get((kind, number), seconds))

    def run() -> Seconds:
        """Return sums over the events, each with the least that it has taken yet: every round has the same ones."""
        gc.collect()
        began = time.process_time()
        maintained = public("maintainer")(overlay, public("Settings")(**settings))
        note("start", 0, time.process_time() - began)
        for number, event in enumerate(events):
            began = time.process_time()
            maintained.apply(event)
            applied = time.process_time()
            maintained.settle()
            note("upkeep", number, time.process_time() - applied)
            note(event.kind, number, applied - began)
        totals: Seconds = {}
        for (kind, _), seconds in least.items():
            totals[kind] = totals.get(kind, 0.0) + seconds
        # A naive maintainer has next to nothing to start with or to keep up.
        return {kind: seconds for kind, seconds in totals.items() if seconds > _LEAST_SECONDS / 100}

    run()
    return run


def _content(
    users: int, shape: Mapping[str, float], name: str, parameters: Mapping[str, str], *, cost: bool = False
) -> Work:
    from public_names import public

    network = public("content_network")(users, max(1, users // 100), 100, seed=1, **shape).network
    assign = partial(public("assign"), network, name, **parameters)
    if not cost:
        return timed(assign)
    assignment = assign()
    return timed(lambda: public("cost")(assignment))


def _constrained(interest_of: Callable[[], Interest], name: str) -> Work:
    """Design with limits of degrees, regions that are not linked, and links that are kept."""
    from topicloom import Constraints, NodeRule, design

    interest = interest_of()
    nodes = interest.node_names
    rules = {node: NodeRule(max_links=10 + number % 30, region="abcd"[number % 4]) for number, node in enumerate(nodes)}
    kept = tuple((nodes[number], nodes[number + 4]) for number in range(0, len(nodes) - 4, 100))
    constraints = Constraints(rules, forbid_regions=(("a", "c"),), keep=kept)
    return timed(lambda: design(interest, name, constraints=constraints))


def _first_use(name: str) -> Work:
    """Time a whole process: imports, compilation and a small design."""

    def run() -> Seconds:
        from topicloom import Interest, design

        design(Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")]), name)
        return {"": time.process_time()}

    return run


def main() -> None:
    """List the cases, or do their work."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=Path, help="where topicloom must come from; without it the cases are listed")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    cases = dict(Cases(given.quick, given.data).listed())
    if given.tree is None:
        print(json.dumps(list(cases)))
        return
    work: Work | None = None
    for line in sys.stdin:
        if line.strip():
            work = None  # frees what the case before it used
            work = cases[line.strip()]()
            print("ready", flush=True)
        elif work is not None:
            print(json.dumps(work()), flush=True)
            where = Path(sys.modules["topicloom"].__file__)
            if not where.is_relative_to(given.tree.resolve()):
                sys.exit(f"topicloom was imported from {where}, not from {given.tree}")


if __name__ == "__main__":
    main()
