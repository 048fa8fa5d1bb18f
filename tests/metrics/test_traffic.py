"""Rates: which messages are one class, what goes over links, and trees by traffic times price."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest

from effort import times
from topicloom import InputError, Interest, Overlay, Prices, Rates, design
from topicloom.brokers import Plan, make_plan
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.plan_costs import plan_prices, plan_traffic
from topicloom.metrics import measure_prices, measure_traffic
from topicloom.metrics.traffic import improve_tree
from topicloom.model.filters import MQTT

Row = tuple[str, str, str]


def random_fleet(seed: int) -> tuple[list[Row], Rates]:
    """Brokers that want filters and publish names, and rates of names, some of which nobody has to do with."""
    dice = random.Random(seed)
    names = [f"{x}/{y}" for x in "abc" for y in "de"]
    rows = []
    for number in range(dice.randint(3, 8)):
        for _ in range(dice.randint(1, 2)):
            rows.append((f"n{number}", dice.choice([*names, "a/#", "+/d", "b/+"]), "sub"))
        if dice.random() < 0.7:
            rows.append((f"n{number}", dice.choice([*names, "c/+"]), dice.choice(["pub", "both"])))
    rates = {name: dice.choice([0.5, 1, 8]) for name in names if dice.random() < 0.8}
    return rows, Rates(rates | {"z/z": 3.0})


def planned(interest: Interest, overlay: Overlay, prices: Prices | None, rates: Rates | None) -> Plan:
    brokers = {name: {"host": name} for name in interest.node_names}
    return make_plan(interest, overlay, fleet_from_tables({"brokers": brokers}), prices=prices, rates=rates)


def random_prices(interest: Interest, seed: int) -> Prices:
    dice = random.Random(f"prices {seed}")
    return Prices({pair: dice.randint(1, 9) for pair in combinations(interest.node_names, 2)})


@pytest.mark.parametrize("seed", range(times(40)))
def test_traffic_is_that_of_messages_followed_one_by_one(seed: int) -> None:
    rows, rates = random_fleet(seed)
    interest = Interest.from_roles(rows, filters="mqtt")
    prices = random_prices(interest, seed)
    plan = planned(interest, design(interest, "gm-fold", folds=2), prices, rates)
    carried = relayed = money = 0.0
    for route in plan.routes:
        for name, rate in rates.by_name.items():
            wanting, sources = (
                {broker for broker, filters in side.items() if any(MQTT.covers(filter_, name) for filter_ in filters)}
                for side in route.sides
            )
            for source in sources:
                for a, b in route.ways_in(source, name):
                    carried += rate / len(sources)
                    relayed += rate / len(sources) * (b not in wanting)
                    money += rate / len(sources) * prices.between[min(a, b), max(a, b)]
    found = plan_traffic(plan, interest, rates.over(interest), prices)
    assert found.carried == pytest.approx(carried)
    assert found.relayed == pytest.approx(relayed)
    assert found.money == pytest.approx(money)


@pytest.mark.parametrize("seed", range(times(40)))
def test_trees_are_never_dearer_than_the_cheapest_and_no_swap_betters_them(seed: int) -> None:
    rows, rates = random_fleet(seed)
    interest = Interest.from_roles(rows, filters="mqtt")
    prices = random_prices(interest, seed)
    overlay = design(interest, "gm-fold", folds=3)
    traffic = rates.over(interest)
    paid = [
        plan_traffic(planned(interest, overlay, prices, given), interest, traffic, prices).money
        for given in (None, rates)
    ]
    assert paid[0] is not None
    assert paid[1] is not None
    assert paid[1] <= paid[0] * (1 + 1e-9)
    assert measure_traffic(interest, overlay, rates, prices).money == pytest.approx(paid[1])
    for topic in range(interest.topic_count):
        _check_no_swap(interest, overlay, prices, rates, topic)


def _check_no_swap(interest: Interest, overlay: Overlay, prices: Prices, rates: Rates, topic: int) -> None:
    members = set(interest.nodes_of(topic).tolist())
    arrays = prices.over(interest)
    links = [pair for pair in zip(overlay.source.tolist(), overlay.target.tolist(), strict=True) if {*pair} <= members]
    price = {link: int(arrays.price[link]) for link in links}
    tree: list[tuple[int, int]] = []
    joined: list[set[int]] = [{node} for node in members]
    for u, v in links:
        one, two = (next(piece for piece in joined if node in piece) for node in (u, v))
        if one is not two:
            tree.append((u, v))
            one |= two
            joined.remove(two)
    if len(tree) < 2:
        return
    classes = rates.over(interest).of(topic)
    best = improve_tree(tree, links, price, classes)
    assert sorted(improve_tree(best, links, price, classes)) == sorted(best)


def test_a_hub_that_only_publishes_is_passed_by() -> None:
    """The cheapest tree leads all through the sensor; the traffic of the others is worth a dearer link."""
    rows = [("a", "t", "both"), ("b", "t", "both"), ("sensor", "t", "pub")]
    interest = Interest.from_roles(rows)
    overlay = Overlay.from_links(interest, [("a", "b"), ("a", "sensor"), ("b", "sensor")])
    prices = Prices({("a", "b"): 1.5, ("a", "sensor"): 1, ("b", "sensor"): 1})
    assert sorted(planned(interest, overlay, prices, None).links) == [("a", "sensor"), ("b", "sensor")]
    rates = Rates({"t": 3.0})
    plan = planned(interest, overlay, prices, rates)
    assert ("a", "b") in plan.links
    found = plan_traffic(plan, interest, rates.over(interest), prices)
    assert (found.carried, found.relayed, found.money) == (4.0, 0.0, 1 + 3 * 1.5)
    assert plan_prices(plan, interest, prices).longest_way == 2.5


def test_plain_topics_go_over_all_links() -> None:
    interest = Interest.from_pairs([(node, "t") for node in "abc"] + [("a", "u"), ("b", "u")])
    overlay = design(interest, "gm")
    traffic = Rates({"t": 2, "nobody": 5}).over(interest)
    assert (traffic.unrated, traffic.idle) == (1, 1)
    found = measure_traffic(interest, overlay, Rates({"t": 2}))
    assert (found.carried, found.relayed, found.money) == (4.0, 0.0, None)
    prices = Prices(dict.fromkeys(combinations("abc", 2), 3))
    assert measure_traffic(interest, overlay, Rates({"t": 2}), prices).money == 12
    assert measure_prices(interest, overlay, prices).tree_price == 9


def test_names_that_the_same_nodes_want_and_publish_are_one_class() -> None:
    rows = [
        ("a", "p/#", "sub"),
        ("b", "p/+/x", "sub"),
        ("c", "p/1/x", "pub"),
        ("c", "p/2/x", "pub"),
        ("c", "p/1", "pub"),
    ]
    interest = Interest.from_roles(rows, filters="mqtt")
    classes = Rates({"p/1/x": 1, "p/2/x": 2, "p/1": 4}).over(interest).of(0)
    assert [(one.rate, one.names, one.wanting.tolist()) for one in classes] == [(3, 2, [0, 1]), (4, 1, [0])]
    assert [one.sources.tolist() for one in classes] == [[2], [2]]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("topic,speed\na,1\n", "no column 'rate'; it has 'topic', 'speed'"),
        ("topic,rate\na,1\nb,-1\n", "row 2: '-1' is not a rate; give a number from 0 to 1e15"),
        ("topic,rate\na,many\n", "row 1: 'many' is not a rate; give a number from 0 to 1e15"),
        ("topic,rate\na,inf\n", "row 1: 'inf' is not a rate; give a number from 0 to 1e15"),
        ("topic,rate\na,1e16\n", "row 1: '1e16' is not a rate; give a number from 0 to 1e15"),
        ("topic,rate\na,\n", "row 1: '' is not a rate; give a number from 0 to 1e15"),
        ("topic,rate\na,1\na,2\n", "row 2: topic 'a' has a rate already; give each name once"),
        ("topic,rate\np/#,1\n", "'p/#' has a wildcard; rates are of plain names"),
    ],
)
def test_files_of_rates_that_are_refused(text: str, wrong: str, tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    file.write_text(text)
    interest = Interest.from_roles([("a", "p/#", "sub")], filters="mqtt")
    with pytest.raises(InputError) as caught:
        Rates.read(file).over(interest)
    assert str(caught.value) == f"{file}: {wrong}"
