"""Greedy designers within constraints: the very links of their slow twins, and never one that is not allowed."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import pytest
from representations import designed

from reference import greedy
from reference.constrained import Rules, random_rules
from reference.greedy import Step, steps
from reference.interests import SHAPES, random_interest
from topicloom.designers import DESIGNERS, design
from topicloom.model import Constraints, InputError, Interest, NodeRule

SEEDS = range(15)
CASES: dict[str, tuple[str, dict[str, float], Callable[..., list[Step]]]] = {
    "gm": ("gm", {}, greedy.gm),
    "minmax-oda": ("minmax-oda", {}, greedy.low_oda),
    "low-oda": ("low-oda", {"k": 2}, partial(greedy.low_oda, k=2)),
    "gpa": ("gpa", {"max_edges": 6}, partial(greedy.gm, max_edges=6)),
    "gpm": ("gpm", {"max_degree": 2}, partial(greedy.low_oda, max_degree=2)),
    "gm-fold": ("gm-fold", {"folds": 2}, partial(greedy.gm_fold, folds=2)),
}


def constrained(shape: str, seed: int) -> tuple[Interest, Rules]:
    interest = random_interest(seed, shape)
    return interest, random_rules(interest.node_names, random.Random(f"{shape} {seed}"))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case", CASES)
def test_equals_its_twin_and_breaks_nothing(case: str, shape: str) -> None:
    name, parameters, twin = CASES[case]
    for seed in SEEDS:
        interest, rules = constrained(shape, seed)
        found = designed(interest, name, constraints=rules.constraints(), **parameters)
        assert found == twin(interest, rules=rules), f"seed {seed}"
        names = interest.node_names
        assert not rules.broken((names[u], names[v]) for u, v, _ in found), f"seed {seed}"


@pytest.mark.slow
@pytest.mark.parametrize("case", ["gm", "low-oda"])
def test_rows_of_several_blocks(case: str) -> None:
    """More nodes than fit one block of 64 slots."""
    dice = random.Random(case)
    pairs = [(f"n{u:03}", f"t{t:02}") for u in range(100) for t in range(30) if dice.random() < 0.2]
    interest = Interest.from_pairs(pairs)
    rules = random_rules(interest.node_names, dice)
    name, parameters, twin = CASES[case]
    found = designed(interest, name, constraints=rules.constraints(), **parameters)
    assert found == twin(interest, rules=rules)


def test_no_constraints_change_nothing() -> None:
    interest = random_interest(1, "dense")
    for name, parameters, _ in CASES.values():
        free = steps(design(interest, name, **parameters))
        assert steps(design(interest, name, constraints=Constraints(), **parameters)) == free


@pytest.mark.parametrize("name", [name for name, one in DESIGNERS.items() if "constraints" not in one.honours])
def test_others_refuse(name: str) -> None:
    budget = DESIGNERS[name].budget
    limits = Constraints(others=NodeRule(max_links=3))
    with pytest.raises(InputError, match=f"{name} does not take constraints; these do: gm, "):
        design(random_interest(1, "dense"), name, constraints=limits, **({budget: 3} if budget else {}))


REFUSED: dict[str, tuple[Callable[[], Constraints], str]] = {
    "no limit": (lambda: Constraints({"a": NodeRule(0)}), "max_links of 'a' must be a whole number, 1 or more, not 0"),
    "unknown region": (
        lambda: Constraints({"a": NodeRule(region="eu")}, forbid_regions=(("eu", "us"),)),
        "forbid names the region 'us', which no broker has; known are eu",
    ),
    "keep and forbid": (
        lambda: Constraints(forbid=(("a", "b"),), keep=(("b", "a"),)),
        "keep 'a' - 'b' is not allowed: forbid 'a' - 'b'",
    ),
    "keep and regions": (
        lambda: Constraints(
            {"a": NodeRule(region="eu"), "b": NodeRule(region="us")},
            forbid_regions=(("us", "eu"),),
            require=(("a", "b"),),
        ),
        "require 'a' - 'b' is not allowed: forbid eu - us",
    ),
    "keep and accepts": (
        lambda: Constraints({"a": NodeRule(accepts=False), "b": NodeRule(accepts=False)}, keep=(("a", "b"),)),
        "keep 'a' - 'b' is not allowed: neither 'a' nor 'b' accepts connections",
    ),
    "too many kept": (
        lambda: Constraints({"a": NodeRule(1)}, keep=(("a", "b"),), require=(("a", "c"),)),
        "max_links of 'a' is 1, but keep and require name 2 links of it",
    ),
    "itself": (lambda: Constraints(forbid=(("a", "a"),)), "forbid names 'a' twice; a link needs two nodes"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_contradictions_are_refused(case: str) -> None:
    make, message = REFUSED[case]
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


def test_more_links_required_than_the_budget_allows() -> None:
    interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    constraints = Constraints(keep=(("a", "b"),), require=(("a", "c"), ("a", "d")))
    with pytest.raises(InputError, match="max_edges is 1, but 2 links are required"):
        design(interest, "gpa", max_edges=1, constraints=constraints)


def test_a_kept_link_to_a_node_without_topics_takes_room() -> None:
    interest = Interest.from_pairs([(node, "x") for node in "abc"])
    constraints = Constraints({"a": NodeRule(2)}, keep=(("a", "elsewhere"),))
    overlay = design(interest, "gm", constraints=constraints)
    assert overlay.degrees.tolist() == [1, 2, 1]


@pytest.mark.parametrize("limit", [2**32, 2**64])
def test_a_limit_beyond_all_numbers_of_nodes_is_none(limit: int) -> None:
    interest = random_interest(1, SHAPES[0])
    rules = Constraints(others=NodeRule(max_links=limit))
    assert design(interest, "gm", constraints=rules) == design(interest, "gm")
