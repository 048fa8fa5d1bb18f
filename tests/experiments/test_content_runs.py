"""Runs on content-based networks, against costs that follow every message."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import pytest

from reference.content import flow_cost, followed_cost, packing
from topicloom import InputError
from topicloom.experiments.runs import run_content
from topicloom.workloads.content import content_network

GIVEN: dict[str, Any] = {"users": 45, "users_per_broker": 11, "channels": 6}


def row_of(algorithm: str, **others: Any) -> dict[str, Any]:
    (row,) = run_content({**GIVEN, "algorithm": algorithm, "seed": 3, **others}, None).to_pylist()
    return row


@pytest.mark.parametrize(
    "others", [{}, {"access_to_core": 4.0}, {"prices": "independent", "width": 0.2, "seed": 8}], ids=str
)
def test_costs_are_those_of_the_messages(others: dict[str, Any]) -> None:
    chosen = {"access_to_core": 1.0, "seed": 3, **others}
    network = content_network(45, 4, 6, **chosen).network
    packed = packing(network)
    assert -1 not in packed
    access, core = followed_cost(network, np.array(packed))
    row = row_of("packing", **others)
    assert row["seconds"] == row["placing_seconds"] > 0
    expected = {"total": access + core, "access": access, "core": core, "published": network.traffic.out.sum()}
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    flows = row_of("packing", **others, routing="unicast")
    assert flows["core"] == pytest.approx(flow_cost(network, np.array(packed)))
    assert flows["access"] == row["access"]


def test_times_are_those_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0, 1000)
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    assert row_of("packing")["seconds"] == 1000


def test_all_steps_are_timed_and_random_needs_no_traffic() -> None:
    packed, random = (row_of(name, steps="all") for name in ("packing", "random"))
    assert packed["estimating_seconds"] > 0 == random["estimating_seconds"]
    for row in (packed, random):
        assert min(row["placing_seconds"], row["routing_seconds"]) > 0
        steps = ("estimating_seconds", "placing_seconds", "routing_seconds")
        assert row["seconds"] == sum(row[name] for name in steps)


def test_algorithms_get_their_own_parameters() -> None:
    plain, other = (row_of("clustering", price=price)["total"] for price in ("access", "end-to-end"))
    assert plain != other
    assert row_of("packing", price="end-to-end")["total"] == row_of("packing")["total"]


def test_the_same_seed_gives_the_same_row_and_another_one_another() -> None:
    first, again, other = (row_of("steiner-mixing", seed=seed)["total"] for seed in (1, 1, 2))
    assert first == again != other


def test_what_cannot_be_run_is_an_error() -> None:
    with pytest.raises(InputError, match="unknown algorithm 'best'"):
        row_of("best")
    with pytest.raises(InputError, match="users_per_broker is 0; give a whole number of at least 1"):
        row_of("packing", users_per_broker=0)
    with pytest.raises(InputError, match="exact is for small networks"):
        row_of("exact", users=900, users_per_broker=30, channels=9)
