"""Backups and primaries counted, against slow twins."""

from __future__ import annotations

from typing import Any

import pytest

from reference.fleets import links_of, topics_of
from reference.maintainers import MaintainerTwin
from topicloom import InputError
from topicloom.designers import design
from topicloom.experiments.runs import run_backups
from topicloom.workloads import synthetic

WORKLOAD: dict[str, Any] = {"sizes": "power-law", "min_topics": 2, "max_topics": 9}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("coverage", [1, 3])
@pytest.mark.parametrize("backups", ["greedy", "primal-dual"])
def test_rows_are_what_the_twin_has(backups: str, coverage: int, seed: int) -> None:
    interest = synthetic(40, 15, seed=seed, **WORKLOAD)
    twin = MaintainerTwin(
        topics_of(interest),
        links_of(design(interest, "low-oda", k=3)),
        backups,
        coverage=coverage,
        rho=3,
        prune=False,
        seed=seed,
    )
    primaries = twin.primaries()
    parameters = {"backups": backups, "coverage": coverage, "rho": 3, "seed": seed}
    assert run_backups(parameters, interest).to_pylist() == [
        {
            "subscription_size": len(twin.topics[node]),
            "backup_count": len(twin.backups[node]),
            "primary_count": len(primaries[node]),
        }
        for node in interest.node_names
    ]


def test_a_method_without_backups_is_refused() -> None:
    interest = synthetic(10, 5, seed=1, min_topics=2)
    with pytest.raises(InputError, match="method is naive, which has no backups; give shadow"):
        run_backups({"method": "naive", "seed": 1}, interest)
