"""Designs by price: the very links of slow twins, by pair and by region, and what is refused."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from reference import priced
from reference.constrained import FREE, Rules, random_rules
from reference.greedy import Link, steps
from reference.interests import SHAPES, random_interest
from topicloom.designers import DESIGNERS, design
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


@pytest.mark.usefixtures("_representation")
@pytest.mark.parametrize("ties", ["names", "hash"])
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_its_twin(shape: str, ties: str) -> None:
    for seed in SEEDS:
        dice = random.Random(f"{shape} {ties} {seed}")
        interest = random_interest(seed, shape)
        prices, price = random_prices(interest, dice)
        rules: Rules = random_rules(interest.node_names, dice) if seed % 2 else FREE
        given = {"prices": prices, "ties": ties, "constraints": rules.constraints()}
        hashed = ties == "hash"
        found = steps(design(interest, "gm", **given))
        assert found == priced.gm(interest, price, hashed=hashed, rules=rules), f"seed {seed}"
        if len(rules.require) <= 4:
            found = steps(design(interest, "gpa", max_edges=4, **given))
            assert found == priced.gm(interest, price, hashed=hashed, rules=rules, max_edges=4), f"seed {seed}"
        found = steps(design(interest, "gm-fold", folds=2, **given))
        assert found == priced.gm_fold(interest, price, 2, hashed=hashed, rules=rules), f"seed {seed}"


@pytest.mark.usefixtures("_representation")
def test_rows_of_several_blocks() -> None:
    dice = random.Random(3)
    pairs = [(f"n{u:03}", f"t{t:02}") for u in range(70) for t in range(12) if dice.random() < 0.15]
    interest = Interest.from_pairs(pairs)
    prices, price = random_prices(interest, random.Random(1))
    assert steps(design(interest, "gm", prices=prices)) == priced.gm(interest, price, hashed=True)


def test_ties_by_hash_without_prices() -> None:
    for seed in SEEDS:
        interest = random_interest(seed, "dense")
        price = {link: Fraction(1) for link in combinations(range(interest.node_count), 2)}
        assert steps(design(interest, "gm", ties="hash")) == priced.gm(interest, price, hashed=True), f"seed {seed}"


def test_ties_by_name_without_prices_are_the_usual() -> None:
    interest = random_interest(2, "dense")
    assert steps(design(interest, "gm", ties="names")) == steps(design(interest, "gm"))


@pytest.mark.parametrize("name", [name for name, one in DESIGNERS.items() if not one.takes_prices])
def test_others_refuse(name: str) -> None:
    budget = DESIGNERS[name].budget
    interest = random_interest(1, "dense")
    with pytest.raises(InputError, match=f"^{name} knows no prices; those that do are gm, gpa, gm-fold, tree$"):
        design(interest, name, prices=Prices({}), **({budget: 3} if budget else {}))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "is empty; expected the columns source, target and price"),
        ("a,b\n1,2\n", "needs the columns source, target and price"),
        ("source,target,price\na,b\n", "row 1: has 2 columns and the header 3"),
        ("source,target,price\na,b,1\na,c,-2\n", "row 2: '-2' is no price; give a number from 0 to 1e7"),
        ("source,target,price\na,b,much\n", "row 1: 'much' is no price; give a number from 0 to 1e7"),
        ("source,target,price\na,b,nan\n", "row 1: 'nan' is no price; give a number from 0 to 1e7"),
        ("source,target,price\na,b,1\n", "has no price of a link between 'a' and 'c'"),
    ],
)
def test_files_that_are_refused(text: str, wrong: str, tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text(text)
    interest = Interest.from_pairs([(node, "x") for node in "abc"])
    with pytest.raises(InputError) as caught:
        Prices.read(file).over(interest)
    assert str(caught.value) == f"{file}: {wrong}"


def test_latencies_both_ways_are_their_mean(tmp_path: Path) -> None:
    file = tmp_path / "latency.csv"
    file.write_text("src,dst,min_ms,avg_ms\neu,us,1,80\nus,eu,1,90\neu,eu,1,2\n")
    interest = Interest.from_pairs([(node, "x") for node in "abc"])
    arrays = Prices.read(file, {"a": "eu", "b": "eu", "c": "us"}).over(interest)
    assert (arrays.price[0] / 1e6).tolist() == [2.0, 85.0]
