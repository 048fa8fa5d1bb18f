"""The backbone designer within constraints."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from effort import times
from reference.constrained import random_rules
from reference.greedy import Components, steps
from reference.interests import SHAPES, random_interest
from topicloom.designers import backbone, design
from topicloom.model import Constraints, Interest


@pytest.mark.parametrize("max_degree", [None, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_breaks_nothing_and_leaves_out_nothing_allowed(
    shape: str, max_degree: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links that stay come first, every other one contributes, and no allowed link would contribute more."""
    monkeypatch.setattr(backbone, "_BLOCK_SUBSCRIPTIONS", 6)
    for seed in range(times(20)):
        interest = random_interest(seed, shape)
        rules = random_rules(interest.node_names, random.Random(f"{shape} {seed}"))
        if max_degree is not None:
            degrees = [sum(name in pair for pair in rules.keep + rules.require) for name in interest.node_names]
            if max(degrees) > max_degree:
                continue
            rules = rules.within(interest.node_names, max_degree)
        given = {"core_size": 1, "max_degree": max_degree}
        found = steps(design(interest, "backbone", constraints=rules.constraints(), **given))
        names = interest.node_names
        assert not rules.broken((names[u], names[v]) for u, v, _ in found), f"seed {seed}"
        assert len({(u, v) for u, v, _ in found}) == len(found), f"seed {seed}"
        there = rules.links(interest)
        assert [(u, v) for u, v, _ in found[: len(there)]] == there, f"seed {seed}"
        components = Components(interest)
        for u, v, contribution in found:
            assert components.contribution((u, v)) == contribution, f"seed {seed}"
            assert contribution or (u, v) in there, f"seed {seed}"
            components.add((u, v))
        more = rules.allowed(interest, combinations(range(interest.node_count), 2), found)
        assert not any(map(components.contribution, more)), f"seed {seed}"


def test_no_constraints_change_nothing() -> None:
    dice = random.Random(1)
    interest = Interest.from_pairs((f"n{u:03}", f"t{dice.randrange(30)}") for u in range(150) for _ in range(6))
    free = design(interest, "backbone", core_size=10)
    assert steps(design(interest, "backbone", core_size=10, constraints=Constraints())) == steps(free)
