"""Designs by price: the very links of slow twins, by pair and by region, and what is refused."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from representations import designed

from effort import times
from reference import priced
from reference.backbone import Backbone
from reference.constrained import FREE, Rules, random_rules
from reference.greedy import Components, Link, Step, steps
from reference.interests import SHAPES, random_interest
from topicloom.designers import DESIGNERS, backbone, design
from topicloom.model import InputError, Interest, Prices

SEEDS = range(15)


def random_prices(interest: Interest, dice: random.Random) -> tuple[Prices, dict[Link, Fraction]]:
    """Prices of few values, so that many links are equally good, by pair or by region."""
    names = interest.node_names
    values = [1, 2, 3, 4, 6, 0.5, 1.000001]
    pairs = list(combinations(range(len(names)), 2))
    if dice.random() < 0.5:
        given = {(names[u], names[v]): dice.choice(values) for u, v in pairs}
        return Prices(given), {(u, v): Fraction(str(given[names[u], names[v]])) for u, v in pairs}
    region = {name: dice.choice("abc") for name in names}
    between = {(a, b): dice.choice(values) for a in "abc" for b in "abc" if a <= b}
    prices = {
        (u, v): between[min(region[names[u]], region[names[v]]), max(region[names[u]], region[names[v]])]
        for u, v in pairs
    }
    return Prices(between, region), {link: Fraction(str(price)) for link, price in prices.items()}


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["names", "hash"])
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_its_twin(shape: str, ties: str) -> None:
    for seed in SEEDS:
        dice = random.Random(f"{shape} {ties} {seed}")
        interest = random_interest(seed, shape)
        prices, price = random_prices(interest, dice)
        rules: Rules = random_rules(interest.node_names, dice) if seed % 2 else FREE
        given = {"prices": prices, "ties": ties, "constraints": rules.constraints() if seed % 2 else None}
        hashed = ties == "hash"
        found = designed(interest, "gm", **given)
        assert found == priced.gm(interest, price, hashed=hashed, rules=rules), f"seed {seed}"
        if len(rules.require) <= 4:
            found = designed(interest, "gpa", max_edges=4, **given)
            assert found == priced.gm(interest, price, hashed=hashed, rules=rules, max_edges=4), f"seed {seed}"
        found = designed(interest, "gm-fold", folds=2, **given)
        assert found == priced.gm_fold(interest, price, 2, hashed=hashed, rules=rules), f"seed {seed}"


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_even_ones_equal_their_twin(shape: str) -> None:
    for seed in SEEDS:
        dice = random.Random(f"{shape} {seed}")
        interest = random_interest(seed, shape)
        prices, price = random_prices(interest, dice)
        rules: Rules = random_rules(interest.node_names, dice) if seed % 2 else FREE
        ties = dice.choice(["names", "hash"])
        given = {"prices": prices, "ties": ties, "constraints": rules.constraints() if seed % 2 else None}
        twin = {"hashed": ties == "hash", "rules": rules}
        assert designed(interest, "minmax-oda", **given) == priced.low_oda(interest, price, **twin), f"seed {seed}"
        for k, strict in ((1, True), (1.5, False), (3, True)):
            found = designed(interest, "low-oda", k=k, strict=strict, **given)
            expected = priced.low_oda(interest, price, Fraction(k), strict=strict, **twin)
            assert found == expected, f"seed {seed}"
        if not rules.links(interest):
            for most in (1, 2, 3):
                found = designed(interest, "gpm", max_degree=most, **given)
                assert found == priced.low_oda(interest, price, max_degree=most, **twin), f"seed {seed}"


@pytest.mark.slow
def test_rows_of_several_blocks() -> None:
    dice = random.Random(3)
    pairs = [(f"n{u:03}", f"t{t:02}") for u in range(70) for t in range(12) if dice.random() < 0.15]
    interest = Interest.from_pairs(pairs)
    prices, price = random_prices(interest, random.Random(1))
    assert designed(interest, "gm", prices=prices) == priced.gm(interest, price, hashed=True)
    assert designed(interest, "minmax-oda", prices=prices) == priced.low_oda(interest, price, hashed=True)


@pytest.mark.parametrize("max_degree", [None, 3])
def test_backbones_equal_their_twin(max_degree: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backbone, "_BLOCK_SUBSCRIPTIONS", 6)

    def core(interest: Interest, price: dict[Link, Fraction]) -> list[Step]:
        return priced.gm(interest, price, hashed=False)

    for seed in range(times(20)):
        interest = random_interest(seed, SHAPES[seed % len(SHAPES)])
        prices, price = random_prices(interest, random.Random(seed))
        for core_size in range(1, min(4, interest.node_count) + 1):
            found = design(interest, "backbone", core="gm", core_size=core_size, max_degree=max_degree, prices=prices)
            twin = Backbone(interest, core, core_size, max_degree, 6, price)
            assert steps(found) == twin.links, f"seed {seed}, core {core_size}"


def test_backbones_with_prices_keep_to_constraints() -> None:
    for seed in range(times(30)):
        dice = random.Random(seed)
        interest = random_interest(seed, SHAPES[seed % len(SHAPES)])
        rules = random_rules(interest.node_names, dice)
        prices, _ = random_prices(interest, dice)
        given = {"core_size": 2, "prices": prices, "constraints": rules.constraints() if seed % 2 else None}
        overlay = design(interest, "backbone", **given) if interest.node_count > 1 else design(interest, "gm")
        assert not rules.broken(overlay), f"seed {seed}"
        # Whatever may still be built merges nothing.
        components = Components(interest)
        for u, v, _ in steps(overlay):
            components.add((u, v))
        more = rules.allowed(interest, combinations(range(interest.node_count), 2), steps(overlay))
        assert all(components.contribution(link) == 0 for link in more), f"seed {seed}"


def test_even_ones_by_hash_without_prices() -> None:
    interest = random_interest(4, "dense")
    price = {link: Fraction(1) for link in combinations(range(interest.node_count), 2)}
    assert steps(design(interest, "minmax-oda", ties="hash")) == priced.low_oda(interest, price, hashed=True)
    with pytest.raises(InputError, match="matching 'maximal' cannot be combined with constraints or prices"):
        design(interest, "minmax-oda", matching="maximal", ties="hash")


def test_ties_by_hash_without_prices() -> None:
    for seed in SEEDS:
        interest = random_interest(seed, "dense")
        price = {link: Fraction(1) for link in combinations(range(interest.node_count), 2)}
        assert steps(design(interest, "gm", ties="hash")) == priced.gm(interest, price, hashed=True), f"seed {seed}"


def test_ties_by_name_without_prices_are_the_usual() -> None:
    interest = random_interest(2, "dense")
    assert steps(design(interest, "gm", ties="names")) == steps(design(interest, "gm"))


@pytest.mark.parametrize("name", [name for name, one in DESIGNERS.items() if "prices" not in one.honours])
def test_others_refuse(name: str) -> None:
    budget = DESIGNERS[name].budget
    interest = random_interest(1, "dense")
    with pytest.raises(
        InputError,
        match=f"^{name} does not take prices; "
        "these do: gm, minmax-oda, low-oda, gpa, gpm, gm-fold, backbone, tree, search$",
    ):
        design(interest, name, prices=Prices({}), **({budget: 3} if budget else {}))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "is empty; expected the columns source, target and price"),
        ("a,b\n1,2\n", "needs the columns source, target and price"),
        ("source,target,price\na,b\n", "row 1: has 2 columns and the header 3"),
        ("source,target,price\na,b,1\na,c,-2\n", "row 2: price must be a number from 0 to 1e7, not '-2'"),
        ("source,target,price\na,b,much\n", "row 1: price must be a number from 0 to 1e7, not 'much'"),
        ("source,target,price\na,b,nan\n", "row 1: price must be a number from 0 to 1e7, not 'nan'"),
        ("source,target,price\na,b,1\na,b,2\n", "row 2: repeats 'a' - 'b' with another price; give each pair once"),
        (
            "source,target,price\na,b,1\n",
            "has no price of a link between 'a' and 'c'; give it, or a row *,* for all others",
        ),
    ],
)
def test_files_that_are_refused(text: str, wrong: str, tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text(text)
    interest = Interest.from_pairs([(node, "x") for node in "abc"])
    with pytest.raises(InputError) as caught:
        Prices.read(file).over(interest)
    assert str(caught.value) == f"{file}: {wrong}"


def test_a_price_for_all_others(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text("source,target,price\na,b,1\n*,*,7\n")
    interest = Interest.from_pairs([(node, "x") for node in "abc"])
    arrays = Prices.read(file).over(interest)
    ends = np.array([0, 0, 1]), np.array([1, 2, 2])
    assert (arrays.of(*ends) / 1e6).tolist() == [1, 7, 7]
    by_region = Prices.read(file, {"a": "a", "b": "b"}).over(interest)
    assert (by_region.of(*ends) / 1e6).tolist() == [1, 7, 7]


def test_latencies_both_ways_are_their_mean(tmp_path: Path) -> None:
    file = tmp_path / "latency.csv"
    file.write_text("src,dst,min_ms,avg_ms\neu,us,1,80\nus,eu,1,90\neu,eu,1,2\n")
    interest = Interest.from_pairs([(node, "x") for node in "abc"])
    arrays = Prices.read(file, {"a": "eu", "b": "eu", "c": "us"}).over(interest)
    assert (arrays.price[0] / 1e6).tolist() == [2.0, 85.0]
    assert arrays.price[1, 0] == arrays.price[0, 1]
