"""Content-based networks, assignments and costs on the page, and those that cannot be shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from pages import Reader, page_of
from result_files import cost_facts, write_assignment, write_cost, write_network, write_topics, write_trees

from topicloom import InputError
from topicloom.content import assign, read_network
from topicloom.content.views import network_section
from topicloom.views.page import find_files, read_results
from topicloom.workloads.content import content_network


def tiles_of(page: str) -> dict[str, str]:
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))


def refusal(*paths: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_results(find_files(paths))
    return str(caught.value)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    return write_network(tmp_path / "net")


def test_tells_what_a_network_is(net: Path) -> None:
    page = page_of(net)
    assert "<h2>Network: net</h2>" in page
    assert tiles_of(page) == {
        "users": "6",
        "brokers": "3",
        "channels": "3",
        "capacity of all brokers": "60",
        "access price, mean": "2",
        "cheapest access price, mean": "1",
    }


def test_tells_where_load_and_cost_are(net: Path, tmp_path: Path) -> None:
    told = []
    for more in ([], [write_cost(tmp_path / "cost.json")]):
        (network,) = read_results(find_files([net, *more])).networks
        told.append("".join(network_section(network).blocks))
    assert ["Load and cost are not in these files" in each for each in told] == [True, False]
    assert ["Load and cost are in files of their own" in each for each in told] == [False, True]


@pytest.mark.slow
def test_tells_what_an_assignment_does(net: Path, tmp_path: Path) -> None:
    # Users 0 to 2 are at their cheapest broker, the others pay 1 + (0 - k) % 3: 1, 3, 2.
    path = write_assignment(tmp_path / "a.parquet", [0, 1, 2, 0, 0, 0], algorithm="packing", seed="3", version="9")
    page = page_of(net, path)
    assert "from a.parquet, made by packing, seed = 3 (topicloom 9)." in page
    part = tiles_of(page[page.index("<h3>a.parquet</h3>") :])
    assert part == {
        "brokers in use": "3",
        "most users of a broker": "4",
        "access price, mean": "1.5",
        "access price, highest": "3",
        "users at their cheapest broker": "66.66%",
    }
    assert "All assignments" not in page
    assert Reader(page).count("figure") == 2
    other = write_assignment(tmp_path / "b.parquet", [0, 1, 2, 0, 1, 2])
    both = page_of(net, path, other)
    assert "All assignments" in both
    assert "from b.parquet, which does not say who made it." in both


def test_reads_what_is_generated_and_assigned(tmp_path: Path) -> None:
    drawn = content_network(40, 3, 5, attributes=2, seed=1)
    (tmp_path / "net").mkdir()
    drawn.write(tmp_path / "net")
    network = read_network(tmp_path / "net")
    assignment = assign(network, "packing")
    assignment.write(tmp_path / "net" / "a.parquet")
    results = read_results(find_files([tmp_path / "net"]))
    assert results.aside == (), "its own tables are no other results"
    (read,) = results.networks
    assert (read.outline.user_names, read.outline.broker_names) == (network.user_names, network.broker_names)
    assert read.outline.channel_names == network.channel_names
    assert network.channel_count == 25
    assert (read.outline.access == network.access).all()
    assert (read.outline.capacity == network.capacity).all()
    ((name, assigned),) = read.assignments.items()
    assert (name, assigned.provenance) == ("a.parquet", assignment.provenance)
    assert (assigned.brokers == assignment.brokers).all()


def test_assignments_find_their_networks(net: Path, tmp_path: Path) -> None:
    write_network(tmp_path / "other", users=4)
    write_assignment(tmp_path / "six.parquet", [0] * 6)
    write_assignment(tmp_path / "four.parquet", [0] * 4)
    write_assignment(tmp_path / "five.parquet", [0] * 5)
    results = read_results(find_files([tmp_path]))
    found = {network.name: list(network.assignments) for network in results.networks}
    assert found == {"net": ["six.parquet"], "other": ["four.parquet"]}
    (aside,) = results.aside
    assert aside.path.name == "five.parquet"
    assert aside.reason == "fits none of the networks net, other; give it with only the one that it was made for"
    write_network(tmp_path / "twin")
    six = tmp_path / "six.parquet"
    assert refusal(net, tmp_path / "twin", six) == (
        f"{six}: fits more than one of the networks net, twin; give it with only the one that it was made for"
    )


def test_an_assignment_that_cannot_be_read_is_not_told_to_fit_no_network(net: Path, tmp_path: Path) -> None:
    """Whatever is wrong with a file itself is said, however many networks there are."""
    write_network(tmp_path / "other", users=4)
    write_assignment(tmp_path / "whole.parquet", [0] * 6)
    twice = tmp_path / "twice.csv"
    twice.write_text("user,broker\n" + "".join(f"u{user},b0\n" for user in (0, 1, 2, 3, 4, 5, 5)))
    gone = tmp_path / "gone.csv"
    gone.write_text("user,broker\nu0,\n")
    results = read_results(find_files([tmp_path]))
    reasons = {aside.path.name: aside.reason for aside in results.aside}
    assert reasons.keys() == {"twice.csv", "gone.csv"}
    assert not any("fits none" in reason for reason in reasons.values()), reasons
    assert "repeats the user of row 6" in reasons["twice.csv"]


def respoiled(file: Path, column: str, row: int, value: Any) -> None:
    table = pyarrow.parquet.read_table(file)
    values = table[column].to_pylist()
    values[row] = value
    at = table.column_names.index(column)
    pyarrow.parquet.write_table(table.set_column(at, column, pa.array(values)), file)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda net: respoiled(net / "brokers.parquet", "capacity", 1, -1.0),
            "brokers.parquet: row 2: capacity is -1; give a number of at least 0",
        ),
        (
            lambda net: respoiled(net / "brokers.parquet", "broker", 1, "b0"),
            "brokers.parquet: row 2: repeats the broker of row 1",
        ),
        (
            lambda net: respoiled(net / "access.parquet", "price", 2, None),
            "access.parquet: row 3: price is null; give a number of at least 0",
        ),
        (
            lambda net: respoiled(net / "access.parquet", "broker", 2, "x"),
            "access.parquet: row 3: unknown broker 'x'",
        ),
        (
            lambda net: respoiled(net / "access.parquet", "broker", 2, "b1"),
            (
                "access.parquet: no price for user 'u0' and broker 'b2'; "
                "every user needs one for every broker, inf where it does not know it"
            ),
        ),
        (
            lambda net: respoiled(net / "access.parquet", "user", 2, "new"),
            (
                "access.parquet: no price for user 'new' and broker 'b0'; "
                "every user needs one for every broker, inf where it does not know it"
            ),
        ),
        (
            lambda net: (net / "rates.parquet").write_bytes(b""),
            "rates.parquet: is empty; expected the columns channel",
        ),
    ],
)
def test_networks_that_are_none(net: Path, tmp_path: Path, spoil: Callable[[Path], Any], message: str) -> None:
    spoil(net)
    assert refusal(net) == f"{net}/{message}"
    write_topics(tmp_path / "topics.parquet")
    (aside,) = read_results(find_files([tmp_path])).aside
    assert (aside.path, aside.reason) == (net, message)


def test_assignments_that_are_none(net: Path, tmp_path: Path) -> None:
    path = write_assignment(tmp_path / "a.parquet", [0] * 6)
    assert refusal(path) == f"{path}: no network is given; give the folder that this assignment was made for too"
    write_assignment(path, [0] * 5)
    assert refusal(net, path) == f"{path}: no broker for user 'u5'; every user needs one"
    write_assignment(path, [0] * 7)
    assert refusal(net, path) == f"{path}: row 7: unknown user 'u6'"
    write_assignment(path, [0, 7, 0, 0, 0, 0])
    assert refusal(net, path) == f"{path}: row 2: unknown broker 'b7'"
    write_assignment(path, [0] * 6, algorithm="x", parameters="{")
    assert refusal(net, path) == f"{path}: its metadata does not hold the parameters and seed of its algorithm"
    core = net / "core.parquet"
    assert refusal(core) == f"{core}: is only a part of what {net} holds; give that folder"


def test_tells_what_a_plan_costs(tmp_path: Path) -> None:
    page = page_of(write_cost(tmp_path / "cost.json", core_on_one_tree=4.25))
    assert "<h2>Cost: cost.json</h2>" in page
    assert tiles_of(page) == {
        "users": "6",
        "brokers": "3",
        "channels": "3",
        "total cost": "15",
        "access": "12",
        "core": "3",
        "random / this": "1.50",
        "overloaded brokers": "0",
        "delivered unwanted": "25.00%",
        "core on one tree": "4.25",
    }
    assert "All brokers together use 25.00%, the fullest 50.00%." in page
    assert "Core is 20.00% of the whole." in page
    assert re.findall(r">(b\d)</text>", page) == ["b2", "b1", "b0"] * 2, "the largest first"
    rows = re.findall(r"<tr><td>(b\d)</td>(.*?)</tr>", page)
    assert [(name, re.findall(r">([^<]*)</td>", row)) for name, row in rows] == [
        ("b2", ["2", "10", "20", "50.00%", "4", "1", "0.4"]),
        ("b1", ["1", "5", "20", "25.00%", "2", "1", "0.4"]),
        ("b0", ["0", "0", "20", "0%", "0", "1", "–"]),
    ]


@pytest.mark.slow
def test_plans_over_the_same_brokers_stand_together(tmp_path: Path) -> None:
    write_cost(tmp_path / "a.json")
    write_cost(tmp_path / "b.json", total=14.0, cost_reduction_ratio=None)
    write_cost(tmp_path / "c.json", brokers=30)
    write_cost(tmp_path / "d.json", users=7)
    results = read_results(find_files([tmp_path]))
    groups = [[plan.name for plan in costs.plans] for costs in results.costs]
    assert groups == [["a.json", "b.json"], ["c.json"], ["d.json"]]
    (tmp_path / "d.json").unlink()
    page = page_of(tmp_path)
    assert re.findall(r"<h[23]>(.*?)</h[23]>", page) == ["Costs: 2 plans", "a.json", "b.json", "Cost: c.json"]
    assert "What 2 plans cost: 6 users, 3 brokers, 3 channels." in page
    assert "broker, by falling load" in page[page.index("Cost: c.json</h2>") :], "many brokers are not named"


def test_only_the_dearest_brokers_are_listed(tmp_path: Path) -> None:
    page = page_of(write_cost(tmp_path / "cost.json", brokers=201))
    assert "The dearest come first; these are 200 of 201." in page
    assert "<td>b200</td>" in page
    assert "<td>b0</td>" not in page
    assert "The dearest come first." in page_of(write_cost(tmp_path / "few.json", brokers=200))


def test_a_broker_without_capacity_is_full(tmp_path: Path) -> None:
    broken = [{"broker": "b", "users": 1, "load": 2.0, "capacity": 0.0, "access": 1.0, "core": 0.0}]
    page = page_of(write_cost(tmp_path / "cost.json", by_broker=broken, total=0.0))
    assert "All brokers together use –, the fullest 100%." in page


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"by_broker": []}, "'by_broker' is empty; it should name every broker"),
        ({"by_broker": 1}, "'by_broker' is 1; it should be a list"),
        ({"by_broker": [{}]}, "'by_broker', number 1: has no 'broker'"),
        ({"total": None}, "'total' is null; it should be a number"),
        ({"core": -1}, "'core' is -1; it should be at least 0"),
        ({"access": 10**400}, f"'access' is 1{'0' * 39}…; it should be a finite number"),
        ({"cost_reduction_ratio": "x"}, "'cost_reduction_ratio' is \"x\"; it should be a number"),
        ({"users": True}, "'users' is true; it should be a whole number"),
        ({"users": 1.5}, "'users' is 1.5; it should be a whole number"),
    ],
)
def test_costs_that_are_none(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    path = write_cost(tmp_path / "cost.json", **more)
    assert refusal(path) == f"{path}: {message}"


def test_tells_what_crosses_links(tmp_path: Path) -> None:
    page = page_of(write_trees(tmp_path / "trees.parquet"))
    assert tiles_of(page) == {"trees": "2", "links in use": "2", "links of a tree, mean": "1.50", "core cost": "31"}
    rows = re.findall(r"<tr><td>(b\d)</td><td>(b\d)</td>(.*?)</tr>", page)
    assert [(one, other, re.findall(r">([^<]*)</td>", row)) for one, other, row in rows] == [
        ("b0", "b1", ["2", "10.5", "21"]),
        ("b1", "b2", ["1", "10", "10"]),
    ]
    path = tmp_path / "trees.parquet"
    respoiled(path, "rate", 1, -1.0)
    assert refusal(path) == f"{path}: row 2: rate is -1; give a number of at least 0"
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path).slice(0, 0), path)
    assert Reader(page_of(path)).count("table") == 0


def test_json_that_holds_something_else(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text(json.dumps({**cost_facts(), "total": 1}), encoding="utf-8")
    assert read_results(find_files([path])).costs[0].plans[0].cost.total == 1
    path.write_text('{"a": 1, "b": 2}', encoding="utf-8")
    assert refusal(path) == f"{path}: holds no kind of result that a page shows; its keys are 'a', 'b'"
    path.write_text("[]", encoding="utf-8")
    assert refusal(path) == f"{path}: holds no JSON object"
    path.write_bytes(b"\xff")
    assert refusal(path).startswith(f"{path}: cannot be read as JSON (expected value at line 1 column 1")
