"""What topicloom computes, as one hash a case: two trees whose files are equal give the same results.

    PYTHONPATH=TREE/src python tools/fingerprints.py OUT.json [--only PART] [--quick]
    python tools/fingerprints.py --compare OLD.json NEW.json [--subset]

A case is a blake2b of ids and contributions in order, of facts and of parameters, not of the bytes of files: these hold
the version. Costs of content networks are numbers, which are compared to a share of 1e-12.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from public_names import public
from sample_interests import INTERESTS, constraints, interest, prices, rates
from topicloom import InputError, Interest, Overlay, bound, compare, design, measure, synthetic

Hash = str | list[float]
Case = tuple[str, Hash]

TOLERANCE = 1e-12


def digest(*values: Any) -> str:
    """Return a hash of numbers of any width, texts, arrays, and sequences and mappings of these."""
    found = hashlib.blake2b(digest_size=6)
    _feed(found, values)
    return found.hexdigest()


def _feed(found: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        kind = {"b": np.int64, "i": np.int64, "u": np.int64, "f": np.float64}[value.dtype.kind]
        found.update(f"array {value.shape} {kind.__name__} ".encode() + np.ascontiguousarray(value, kind).tobytes())
    elif isinstance(value, np.generic):
        _feed(found, value.item())
    elif isinstance(value, Mapping):
        _feed(found, sorted((str(key), each) for key, each in value.items()))
    elif isinstance(value, (tuple, list)):
        found.update(f"[{len(value)} ".encode())
        for each in value:
            _feed(found, each)
    elif isinstance(value, float):
        found.update(f"{value.hex()} ".encode())
    elif value is None or isinstance(value, (bool, int, str)):
        found.update(f"{value!r} ".encode())
    else:
        raise TypeError(f"no fingerprint of {value!r}")


def of_overlay(overlay: Overlay) -> str:
    """Return the hash of links in their order, what each contributed, and where they come from."""
    made = overlay.provenance
    facts = (made.algorithm, made.parameters, made.seed, made.facts) if made else ()
    return digest(overlay.source, overlay.target, overlay.contribution, facts)


def attempt(work: Callable[[], Hash]) -> Hash:
    """Return what some work gives, or that it was refused; texts of errors may change."""
    try:
        return work()
    except InputError:
        return "refused"


# Parameters by designer. Every choice of every parameter is among them.
RANDOM = ("spidercast", "spidercast-m", "random-a", "random-m")
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "gm": ({}, {"ties": "names"}, {"ties": "hash"}),
    "minmax-oda": ({}, {"matching": "maximal"}, {"ties": "hash"}),
    "low-oda": (
        {},
        *({"k": k, "strict": strict} for k in (1, 10) for strict in (False, True)),
        {"k": 3, "strict": True},
        {"k": 1.5, "ties": "hash"},
    ),
    "gpa": (
        {"max_edges": 60},
        {"max_edges": 60, "ties": "hash"},
        {"budget_ratio": 0.5},
        {"budget_ratio": 0.3, "matching": "maximal"},
    ),
    "gpm": (
        {"max_degree": 4},
        {"max_degree": 4, "matching": "maximal"},
        {"max_degree": 3, "ties": "hash"},
        {"budget_ratio": 0.5},
        {"budget_ratio": 0.5, "matching": "maximal"},
    ),
    "cd-oda": ({},),
    "cd-oda-1": ({},),
    "cd-oda-2": ({},),
    "ring-per-topic": ({},),
    "spidercast": ({}, {"greedy": 1, "random": 0}, {"greedy": 0, "random": 2}, {"greedy": 2, "random": 3}),
    "spidercast-m": (
        {"max_degree": 4},
        {"max_degree": 4, "turns": "links"},
        {"budget_ratio": 0.5, "greedy": 2, "random": 2},
        {"budget_ratio": 0.5, "matching": "maximal", "turns": "links"},
    ),
    "random-a": ({"max_edges": 60}, {"budget_ratio": 0.5}, {"budget_ratio": 0.5, "matching": "maximal"}),
    "random-m": ({"max_degree": 4}, {"budget_ratio": 0.5}, {"budget_ratio": 0.5, "matching": "maximal"}),
    "gm-fold": ({}, {"folds": 3}, {"folds": 2, "ties": "hash"}),
    "exact": ({}, {"minimise": "max_degree"}),
    "backbone": (
        {},
        *({"core": core, "core_size": 9} for core in ("gm", "minmax-oda", "low-oda")),
        {"max_degree": 8},
        {"core": "gm", "core_size": 2, "max_degree": 6},
    ),
    "tree": ({}, {"rounds": 0}, {"rounds": 2}),
}
# Interests on which all variants are run; on the others only the first variant.
VARIED = ("zipf", "uniform", "small", "sparse", "mqtt", "cuboid", "two nodes")
# Interests with prices and constraints, and the designers that take them.
PRICED = ("small", "uniform", "sparse", "few topics", "mqtt")
CONSTRAINABLE = ("gm", "minmax-oda", "low-oda", "gpa", "gpm", "gm-fold", "backbone", "tree")
# `tree` and `exact` take long on large interests.
MOST_NODES = {"tree": 100, "exact": 15}


def designs(name: str) -> Iterator[Case]:
    """Overlays of all designers on one interest."""
    given = interest(name)
    if name == "blocks":
        for parameters in ({}, {"max_degree": 30}):
            yield _designed(name, "backbone", parameters)
        return
    for designer, variants in VARIANTS.items():
        if given.node_count <= MOST_NODES.get(designer, given.node_count):
            for parameters in variants if name in VARIED else variants[:1]:
                for seed in (0, 1) if designer in RANDOM else (0,):
                    yield _designed(name, designer, parameters, seed)


def limited_designs(name: str) -> Iterator[Case]:
    """Overlays of one interest with prices, with constraints, with both, and with rates."""
    given = interest(name)
    everything = constraints(given)
    for designer in CONSTRAINABLE:
        if given.node_count > MOST_NODES.get(designer, given.node_count):
            continue
        parameters = VARIANTS[designer][0]
        for priced, each in prices(given).items():
            yield _designed(name, designer, parameters, prices=(priced, each))
            both = {"prices": (priced, each), "constraints": ("all", everything["all"])}
            yield _designed(name, designer, parameters, **both)
            if "ties" in {key for variant in VARIANTS[designer] for key in variant}:
                yield _designed(name, designer, {**parameters, "ties": "names"}, prices=(priced, each))
        for limits in everything.items():
            yield _designed(name, designer, parameters, constraints=limits)
    for parameters in ({"k": 1, "strict": True}, {"k": 1.5}):
        yield _designed(name, "low-oda", parameters, prices=("by region", prices(given)["by region"]))
    for designer in ("minmax-oda", "gpm"):
        parameters = {**VARIANTS[designer][0], "matching": "maximal"}
        yield _designed(name, designer, parameters, constraints=("all", everything["all"]))
    if given.node_count <= MOST_NODES["tree"]:
        rated = {"rates": ("some", rates(given))}
        yield _designed(name, "tree", {}, **rated)
        yield _designed(name, "tree", {}, prices=("by node", prices(given)["by node"]), **rated)


def _designed(name: str, designer: str, parameters: Mapping[str, Any], seed: int = 0, **within: Any) -> Case:
    words = [name, designer, *(f"{key}={value}" for key, value in parameters.items())]
    words += [f"seed={seed}"] if seed else []
    words += [f"{key} {kind}" for key, (kind, _) in within.items()]
    given = {key: value for key, (_, value) in within.items()}
    return (
        "designs: " + ", ".join(words),
        attempt(lambda: of_overlay(design(interest(name), designer, seed=seed, **parameters, **given))),
    )


MEASURED = ("zipf", "uniform", "small", "sparse", "mqtt", "nats", "amqp", "ego", "unicode", "one node")
OVERLAYS: dict[str, dict[str, Any]] = {
    "gm": {},
    "gpm": {"max_degree": 3},
    "ring-per-topic": {},
    "random-m": {"max_degree": 4},
}


def measures(name: str) -> Iterator[Case]:
    """Tables, bounds, prices and traffic of several overlays of one interest."""
    given = interest(name)
    overlays = {designer: design(given, designer, **parameters) for designer, parameters in OVERLAYS.items()}
    for designer, overlay in overlays.items():
        case = f"measures: {name}, {designer}"
        by_topic = public("topic_measures")(given, overlay)
        columns = (by_topic.subscribers, by_topic.links, by_topic.components, by_topic.diameter)
        yield f"{case}, topics", digest(columns, by_topic.relays, by_topic.unreachable)
        whole = [measure(given, overlay, diameters=diameters).to_dict() for diameters in (True, False)]
        yield f"{case}, summary", digest(whole)
        curve = public("support_curve")(given, overlay)
        yield f"{case}, support and diameters", digest(curve, public("soc_diameters")(given, overlay))
        paid = [public("measure_prices")(given, overlay, each) for each in prices(given).values()]
        yield f"{case}, prices", digest([list(each.to_dict().values()) for each in paid])
        if name != "sparse":
            priced = (None, prices(given)["by node"])
            traffic = [public("measure_traffic")(given, overlay, rates(given), each) for each in priced]
            yield f"{case}, traffic", digest([(each.carried, each.relayed, each.money) for each in traffic])
    for rounds in (0, 10):
        bounds = bound(given, rounds=rounds)
        arguments = [(argument.of, argument.value) for argument in bounds.arguments]
        yield f"measures: {name}, bounds, rounds={rounds}", digest(bounds.links, bounds.max_degree, arguments)
    compared = compare(given, overlays).measures
    yield f"measures: {name}, comparison", digest([(label, each.to_dict()) for label, each in compared.items()])


EVENTS = 300
TOGETHER = 7
RULES = ("low-oda", "gm", "minmax-oda")


@cache
def _fleet(shape: str) -> tuple[Interest, list[Any]]:
    """An interest in which backups are kept as bits, as members, or one that is quick to design; and its events."""
    given = {
        "dense": lambda: synthetic(200, 40, popularity="zipf", alpha=0.7, sizes="uniform", min_topics=3, max_topics=9),
        "sparse": lambda: synthetic(250, 400, sizes="uniform", min_topics=2, max_topics=6, seed=1),
        "small": lambda: synthetic(60, 25, popularity="exponential", sizes="uniform", min_topics=2, max_topics=6),
    }[shape]()
    return given, public("churn_trace")(given, EVENTS, join_share=0.5, change_share=0.3, seed=2)


def churn(shape: str, settings: Mapping[str, Any]) -> Iterator[Case]:
    """Links, backups and primaries through events, one by one and several at a time; with constraints and prices."""
    given, events = _fleet(shape)
    words = ", ".join(f"{key}={value}" for key, value in settings.items())
    for limits, priced in product((None, "regions", "all"), (None, "by region", "by node")):
        if None not in (limits, priced) and (limits, priced) != ("all", "by node"):
            continue
        limit = constraints(given)[limits] if limits else None
        price = prices(given)[priced] if priced else None
        overlay = design(given, "low-oda", constraints=limit, prices=price)
        for jointly in (False, True):
            case = f"churn: {shape}, {words}, constraints {limits}, prices {priced}{', jointly' if jointly else ''}"
            start = (overlay, public("Settings")(**settings), limit, price)
            yield case, attempt(lambda start=start, jointly=jointly: _maintained(start, events, jointly))


def _maintained(start: tuple[Any, ...], events: list[Any], jointly: bool) -> Hash:
    maintained = public("maintainer")(*start)
    happened: list[Any] = []
    if jointly:
        for begin in range(0, len(events), TOGETHER):
            change, refused = maintained.apply_jointly(events[begin : begin + TOGETHER])
            happened.append((change.added, change.removed, change.shadow, sorted(refused)))
    else:
        for event in events:
            change = maintained.apply(event)
            happened.append((change.added, change.removed, change.shadow))
    after = maintained.overlay()
    counts = (maintained.link_count, maintained.node_count, maintained.max_degree, maintained.support)
    backups = [getattr(maintained, name)() for name in ("backups", "primaries") if hasattr(maintained, name)]
    known = (after.interest.node_names, after.interest.topic_names, after.interest.node_topics)
    return digest(happened, of_overlay(after), counts, backups, known, maintained.parameters)


def _settings() -> Iterator[tuple[str, dict[str, Any]]]:
    """Shapes of interests, and the settings with which they are maintained."""
    for backups, rule, prune in product(public("BACKUPS"), RULES, (False, True)):
        yield "dense", {"backups": backups, "rule": rule, "prune": prune}
    for backups in public("BACKUPS"):
        yield "sparse", {"backups": backups, "seed": 1}
    for coverage in (0, 1, 5):
        yield "sparse", {"coverage": coverage, "rho": 1.0}
    for rule, prune in product(RULES, (False, True)):
        yield "dense", {"method": "naive", "rule": rule, "prune": prune}
    for rule in RULES:
        yield "small", {"method": "rebuild", "rule": rule}


NETWORKS: dict[str, dict[str, Any]] = {
    "plane": {"users": 120, "brokers": 6, "channels": 20, "seed": 1},
    "dear access, narrow": {"users": 120, "brokers": 8, "channels": 20, "access_to_core": 2.0, "width": 0.1, "seed": 2},
    "independent": {"users": 90, "brokers": 7, "channels": 12, "prices": "independent", "core_price": 0.7, "seed": 3},
    "few known brokers": {"users": 100, "brokers": 9, "channels": 10, "known_brokers": 3, "seed": 4},
    "latencies, two attributes": {"users": 80, "brokers": 5, "channels": 4, "attributes": 2, "latency": 9, "seed": 5},
    "one broker": {"users": 20, "brokers": 1, "channels": 5, "seed": 6},
    # Enough users for several threads.
    "many users": {"users": 4200, "brokers": 5, "channels": 6, "width": 0.2, "access_to_core": 1.5, "seed": 7},
    "tiny": {"users": 7, "brokers": 3, "channels": 4, "seed": 8},
}
ASSIGNED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("random", {}),
    ("packing", {}),
    ("clustering", {}),
    ("clustering", {"price": "end-to-end"}),
    ("steiner-mixing", {}),
    ("steiner-mixing", {"trees": "closure"}),
    ("migration", {}),
    *(("migration", {"start": start}) for start in ("random", "clustering", "steiner-mixing")),
    ("migration", {"decide": "at-once", "periods": 30}),
    ("migration", {"decide": "at-once", "periods": 5, "start": "random", "history": 2.0}),
    ("migration", {"history": 5.0}),
    ("migration", {"start": "random", "decline": 0.3}),
)
ROUTINGS = ("shared", "unicast", "tree")
PROGRAMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("exact", {}),
    ("sub-channel", {}),
    ("sub-channel", {"whole": True}),
)


def _network(name: str, **other: Any) -> Any:
    shape = {**NETWORKS[name], **other}
    if "latency" in shape:
        sites = np.random.default_rng(shape["latency"]).integers(1, 100, (8, 8)).astype(float)
        shape["latency"] = np.triu(sites, 1) + np.triu(sites, 1).T
    return public("content_network")(shape.pop("users"), shape.pop("brokers"), shape.pop("channels"), **shape)


def content(name: str) -> Iterator[Case]:
    """Brokers of users, facts and costs of one network by all algorithms."""
    drawn = _network(name)
    network = drawn.network
    yield f"content: {name}", digest(*_arrays(network))
    with tempfile.TemporaryDirectory() as folder:
        drawn.write(Path(folder))
        yield f"content: {name}, written and read", digest(*_arrays(public("read_network")(folder)))
    later = [_network(name, width=0.3).network, _network(name, width=0.6).network]
    jobs = [(algorithm, parameters, 0, ()) for algorithm, parameters in ASSIGNED]
    jobs += [(algorithm, {}, 1, ()) for algorithm in ("random", "steiner-mixing")]
    jobs += [("migration", {"start": "random", "decline": 0.3}, 1, ())]
    jobs += [("migration", parameters, 0, later) for parameters in ({}, {"start": "random"}, {"decide": "at-once"})]
    if name == "tiny":
        jobs += [(algorithm, parameters, 0, ()) for algorithm, parameters in PROGRAMS]
    for algorithm, parameters, seed, then in jobs:
        if name == "many users" and algorithm == "migration" and (parameters or then):
            continue
        words = [algorithm, *(f"{key}={value}" for key, value in parameters.items())]
        words += [f"seed={seed}"] if seed else []
        words += ["then others"] if then else []
        yield from _assigned(f"content: {name}, {', '.join(words)}", network, algorithm, seed, then, parameters)


def _assigned(
    case: str, network: Any, algorithm: str, seed: int, then: Any, parameters: Mapping[str, Any]
) -> Iterator[Case]:
    try:
        done = public("run_content")(network, algorithm, seed=seed, then=then, **parameters)
    except InputError:
        yield case, "refused"
        return
    made, trees = done.assignment.provenance, public("core_trees")(done.assignment)
    links = [trees[column].to_pylist() for column in ("channel", "source", "broker", "other")]
    yield case, digest(done.assignment.brokers, done.facts, made.parameters, made.seed, links)
    yield f"{case}, costs", [public("cost")(done.assignment, routing=each).total for each in ROUTINGS]


def _arrays(network: Any) -> Iterator[Any]:
    yield from (network.user_names, network.broker_names, network.channel_names)
    yield from (*network.rates, *network.wants, network.access, network.core, network.capacity)


def workloads() -> Iterator[Case]:
    """Interests, events and newcomers from all generators."""
    for popularity in ("uniform", "zipf", "exponential", "steep-exponential"):
        for sizes, most in (
            ("fixed", None),
            ("uniform", 20),
            ("power-law", 20),
            ("shifted-zipf", 20),
            ("by-chance", None),
        ):
            for seed in (0, 1):
                shape = {"popularity": popularity, "sizes": sizes, "max_topics": most, "min_topics": 4, "seed": seed}
                drawn = synthetic(150, 60, alpha=0.8, size_exponent=1.5, **shape)
                yield f"workloads: {popularity}, {sizes}, seed={seed}", _of_interest(drawn)
    given = interest("small")
    newcomers = public("drawn_newcomers")(50, 40, seed=3, min_topics=4)
    yield "workloads: newcomers", _of_interest(newcomers)
    for joins, changes, others in product((0.0, 0.5, 1.0), (0.0, 0.6), (None, newcomers)):
        events = public("churn_trace")(given, 200, join_share=joins, change_share=changes, newcomers=others, seed=4)
        rows = [(event.id, event.kind, event.node, event.add, event.remove) for event in events]
        kind = "drawn alike" if others is None else "given"
        yield f"workloads: events, {joins} joins, {changes} changes, newcomers {kind}", digest(rows)


def interests() -> Iterator[Case]:
    """The interests themselves, with the roles of their nodes."""
    for name in INTERESTS:
        yield f"workloads: interest {name}", _of_interest(interest(name))


def _of_interest(given: Interest) -> str:
    rows = given.to_arrow() if given.roles is not None else None
    roles = [rows[column].to_pylist() for column in rows.column_names] if rows is not None else None
    arrays = (given.node_start, given.node_topics, given.topic_start, given.topic_nodes)
    return digest(given.node_names, given.topic_names, arrays, roles)


@dataclass(frozen=True)
class Task:
    """Cases that one process computes after each other."""

    part: str
    cases: Callable[..., Iterator[Case]]
    arguments: tuple[Any, ...] = ()
    quick: bool = False

    def run(self) -> dict[str, Hash]:
        """Compute the cases."""
        return dict(self.cases(*self.arguments))


QUICK = (
    "small",
    "tiny",
    "equal rows",
    "one node",
    "two nodes",
    "hub",
    "unicode",
    "mqtt",
    "cuboid",
    "lemma",
    "ego",
    "uniform",
)


def tasks() -> list[Task]:
    """All tasks, long ones first."""
    listed = [Task("content", content, (name,), name in ("plane", "tiny")) for name in reversed(NETWORKS)]
    listed += [Task("designs", limited_designs, (name,), name in ("small", "mqtt")) for name in PRICED]
    listed += [Task("designs", designs, (name,), name in QUICK) for name in reversed(INTERESTS)]
    listed += [
        Task("churn", churn, (shape, settings), number in (0, 13, 24))
        for number, (shape, settings) in enumerate(_settings())
    ]
    listed += [Task("measures", measures, (name,), name in ("small", "mqtt", "one node")) for name in MEASURED]
    return [*listed, Task("workloads", workloads, quick=True), Task("workloads", interests)]


# Cases of which the file of 0.2 holds newer hashes, as they differ on purpose: texts in their names, and why.
CHANGED = {
    ", bounds": "proves more, by spanning trees of topics",
    "churn: improve ": "no longer compared: it searches for the best changes, which tests check with a slow twin",
}
PARTS = ("designs", "measures", "churn", "content", "workloads")


def compute(part: str | None, *, quick: bool, processes: int) -> dict[str, Hash]:
    """Compute all cases, or those of a part, or only the quick ones."""
    wanted = [task for task in tasks() if (part is None or task.part == part) and (task.quick or not quick)]
    found: dict[str, Hash] = {}
    if processes == 1:
        for task in wanted:
            found |= task.run()
        return found
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for each in pool.map(Task.run, wanted):
            found |= each
    return found


def differences(old: Mapping[str, Hash], new: Mapping[str, Hash], *, subset: bool) -> list[str]:
    """List the cases that differ, and those of one side alone; with `subset` the new side may have fewer."""
    found = [f"differs: {case}" for case in old if case in new and not _equal(old[case], new[case])]
    found += [f"only new: {case}" for case in new if case not in old]
    return found + ([] if subset else [f"only old: {case}" for case in old if case not in new])


def _equal(one: Hash, other: Hash) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return len(one) == len(other) and all(map(partial(math.isclose, rel_tol=TOLERANCE), one, other))


def main() -> int:
    """Write the fingerprints of the tree that is imported, or compare two files."""
    parser = argparse.ArgumentParser(description="Hash what topicloom computes, to compare two trees case by case.")
    parser.add_argument("file", metavar="OUT.json", nargs="?", help="write the hashes there")
    parser.add_argument("--only", choices=PARTS, help="compute one part only")
    parser.add_argument("--quick", action="store_true", help="compute the cases of half a minute only")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="default: %(default)s")
    parser.add_argument(
        "--compare", nargs=2, metavar=("OLD", "NEW"), help="print cases that differ; status 1 if any do"
    )
    parser.add_argument("--subset", action="store_true", help="with --compare: NEW may have fewer cases")
    given = parser.parse_args()
    if (given.file is None) == (given.compare is None):
        parser.error("give either OUT.json or --compare OLD NEW")
    if given.compare:
        old, new = (json.loads(Path(file).read_text(encoding="utf-8")) for file in given.compare)
        for text, reason in CHANGED.items():
            print(f"cases with '{text}' differ from 0.2 on purpose: {reason}")
        found = differences(old, new, subset=given.subset)
        print("\n".join([*found, f"{len(new)} cases compared, {len(found)} differ"]))
        return 1 if found else 0
    cases = compute(given.only, quick=given.quick, processes=given.processes)
    Path(given.file).write_text(
        json.dumps(cases, indent=0, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
