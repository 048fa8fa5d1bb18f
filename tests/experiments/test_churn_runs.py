"""Runs under churn against slow twins of the maintainers, event by event."""

from __future__ import annotations

import time
from typing import Any

import pytest

from reference.fleets import links_of, topics_of
from reference.greedy import low_oda
from reference.maintainers import MaintainerTwin, link_of
from topicloom import InputError
from topicloom.churn.shadow import MendingMaintainer
from topicloom.designers import DesignProblem, design, greedy
from topicloom.experiments.runs import run_churn
from topicloom.model import Interest
from topicloom.model.events import JOIN, Event
from topicloom.workloads import churn_trace, drawn_newcomers, synthetic

SHAPE: dict[str, Any] = {
    "topics": 12,
    "popularity": "zipf",
    "alpha": 0.8,
    "sizes": "power-law",
    "min_topics": 2,
    "max_topics": 7,
}
WORKLOAD = {"nodes": 25, **SHAPE, "rounds": 30, "join_share": 0.5}
METHODS: dict[str, dict[str, Any]] = {
    "primal-dual": {"method": "shadow", "backups": "primal-dual", "coverage": 2, "rho": 3},
    "greedy": {"method": "shadow", "backups": "greedy", "coverage": 3, "rho": 2},
    "pruned": {"method": "shadow", "backups": "greedy", "coverage": 3, "rho": 3, "prune": True},
    "naive": {"method": "naive", "rho": 3},
    "rebuild": {"method": "rebuild", "rho": 3},
}
TIMES = ("seconds", "upkeep_seconds")


def interest_of(seed: int) -> Interest:
    return synthetic(WORKLOAD["nodes"], seed=seed, **SHAPE)


def events_of(seed: int) -> list[Event]:
    newcomers = drawn_newcomers(WORKLOAD["rounds"], seed=seed, **SHAPE)
    return churn_trace(interest_of(seed), WORKLOAD["rounds"], join_share=0.5, newcomers=newcomers, seed=seed)


def rows_of(method: str, seed: int, **others: Any) -> list[dict[str, Any]]:
    parameters = {**WORKLOAD, **METHODS[method], "seed": seed, **others}
    return run_churn(parameters, interest_of(seed)).to_pylist()


def untimed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in TIMES} for row in rows]


def expected_row(
    event: Event, size: int, added: int, removed: int, shadow: int, before: int, topics: Any, links: Any
) -> dict[str, Any]:
    degrees = [sum(node in link for link in links) for node in topics]
    return {
        "event": event.id,
        "kind": event.kind,
        "subscription_size": size,
        "links_added": added,
        "links_removed": removed,
        "repair_ratio": pytest.approx((added + removed) / before),
        "shadow": shadow,
        "nodes_now": len(topics),
        "links": len(links),
        "average_degree": pytest.approx(sum(degrees) / len(topics)),
        "max_degree": max(degrees),
    }


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("method", ["primal-dual", "greedy", "pruned", "naive"])
def test_rows_are_what_the_twin_does(method: str, seed: int) -> None:
    given = METHODS[method]
    interest = interest_of(seed)
    twin = MaintainerTwin(
        topics_of(interest),
        links_of(design(interest, "low-oda", k=given["rho"])),
        given.get("backups", "naive"),
        coverage=given.get("coverage", 0),
        rho=given["rho"],
        prune=given.get("prune", False),
        seed=seed,
    )
    expected = []
    for event in events_of(seed):
        before = len(twin.links)
        size = len(event.add) if event.kind == JOIN else len(twin.topics[event.node])
        changed = twin.join(event.node, set(event.add)) if event.kind == JOIN else twin.leave(event.node)
        added, removed, shadow = changed
        expected.append(expected_row(event, size, len(added), len(removed), shadow, before, twin.topics, twin.links))
    assert untimed(rows_of(method, seed)) == expected


def test_rebuilding_is_a_design_after_each_event() -> None:
    def links_for(topics: dict[str, set[str]]) -> set[tuple[str, str]]:
        interest = Interest.from_pairs([(node, topic) for node, wanted in topics.items() for topic in wanted])
        return {link_of(interest.node_names[u], interest.node_names[v]) for u, v, _ in low_oda(interest, k=3)}

    topics = topics_of(interest_of(1))
    links = links_for(topics)
    expected = []
    for event in events_of(1):
        before = links
        size = len(event.add) if event.kind == JOIN else len(topics.pop(event.node))
        if event.kind == JOIN:
            topics[event.node] = set(event.add)
        links = links_for(topics)
        added, removed = len(links - before), len(before - links)
        expected.append(expected_row(event, size, added, removed, len(topics), len(before), topics, links))
    assert untimed(rows_of("rebuild", 1)) == expected


def test_all_methods_meet_the_same_events() -> None:
    for seed in (1, 2):
        met = [
            [(row["event"], row["kind"], row["subscription_size"], row["nodes_now"]) for row in rows_of(method, seed)]
            for method in METHODS
        ]
        assert all(events == met[0] for events in met)
        assert {event[1] for event in met[0]} == {"join", "leave"}


def test_the_same_seed_gives_the_same_rows_and_another_one_others() -> None:
    assert untimed(rows_of("primal-dual", 3)) == untimed(rows_of("primal-dual", 3))
    assert untimed(rows_of("primal-dual", 3)) != untimed(rows_of("primal-dual", 4))


def test_times_are_those_of_the_processor_and_of_a_rebuild_those_of_the_design(monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(problem: DesignProblem, *others: Any, **options: Any) -> greedy.Instance:
        clock[0] += problem.interest.node_count
        return original(problem, *others, **options)

    clock, original = [0.0], greedy.prepare
    for name in ("thread_time", "process_time"):
        monkeypatch.setattr(time, name, lambda: clock[0])
    monkeypatch.setattr(greedy, "prepare", slowly)
    monkeypatch.setattr(MendingMaintainer, "settle", lambda self: clock.__setitem__(0, clock[0] + 7))
    assert all(row["seconds"] == row["nodes_now"] for row in rows_of("rebuild", 1))
    # Each event settles what the one before left open, and is settled.
    assert {(row["seconds"], row["upkeep_seconds"]) for row in rows_of("naive", 1)} == {(7, 7)}


def test_shares_of_joins_are_as_asked_for() -> None:
    assert {row["kind"] for row in rows_of("naive", 1, join_share=1.0)} == {"join"}


def test_a_method_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InputError, match="method must be shadow, naive or rebuild, not 'magic'"):
        run_churn({**WORKLOAD, "method": "magic", "seed": 1}, interest_of(1))
