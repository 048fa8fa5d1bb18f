"""Networks as folders of tables: read as they are meant, and refused in one line where they are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from topicloom import InputError
from topicloom.content import Assignment, assign, read_network
from topicloom.content.network import users_of
from topicloom.content.tables import read_access, write_access
from topicloom.workloads.content import content_network

TABLES: dict[str, dict] = {
    "brokers": {"broker": ["x", "y", "z"], "capacity": [10.0, 10.0, 10.0]},
    "access": {
        "user": ["ann"] * 3 + ["bob"] * 3,
        "broker": ["x", "y", "z"] * 2,
        "price": [1.0, 4.0, 4.0, 4.0, 1.0, 4.0],
    },
    "core": {"broker": ["x", "x", "y"], "other": ["y", "z", "z"], "price": [1.0, 2.0, 1.0]},
    "rates": {"user": ["ann", "bob"], "channel": ["p", "q"], "rate": [2.0, 3]},
    "subscriptions": {"user": ["ann", "bob", "bob"], "channel": ["q", "p", "p"]},
}
SPACE: dict[str, dict] = {
    "space": {"attribute": ["x"], "low": [0.0], "high": [10.0], "cells": [5]},
    "boxes": {"user": ["ann", "bob"], "low_x": [0.0, 3.0], "high_x": [4.0, 5.0]},
    "pieces": {"user": ["bob"], "low_x": [0.0], "high_x": [10.0], "density": [0.5]},
}


def write(folder: Path, tables: dict[str, dict]) -> Path:
    for name, columns in tables.items():
        pyarrow.parquet.write_table(pa.table(columns), folder / f"{name}.parquet")
    return folder


def changed(name: str, **columns: list) -> dict[str, dict]:
    return TABLES | {name: TABLES[name] | columns}


def in_space(**changes: dict) -> dict[str, dict]:
    plain = {name: TABLES[name] for name in ("brokers", "access", "core")}
    return plain | {name: columns | changes.get(name, {}) for name, columns in SPACE.items()}


def test_a_network_by_channel(tmp_path: Path) -> None:
    network = read_network(write(tmp_path, TABLES))
    assert network.user_names == ("ann", "bob")
    assert network.channel_names == ("p", "q")
    assert network.core.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert network.traffic.out.tolist() == [2, 3]
    assert network.traffic.into.tolist() == [3, 2]
    assert network.traffic.unwanted.tolist() == [0, 0]


def test_a_network_in_a_space(tmp_path: Path) -> None:
    network = read_network(write(tmp_path, in_space()))
    assert network.channel_names == ("c1", "c2", "c3", "c4", "c5")
    assert network.wants.columns.tolist() == [0, 1, 1, 2]
    assert network.wants.values.tolist() == [1, 1, 0.5, 0.5]
    # Ann hears bob in two cells, at 1 each; nobody else publishes.
    assert network.traffic.into.tolist() == [2, 0]
    assert network.traffic.out.tolist() == [0, 2]


def test_half_of_what_comes_in_a_cell_that_is_half_wanted_is_unwanted(tmp_path: Path) -> None:
    boxes = {"user": ["ann"], "low_x": [0.0], "high_x": [3.0]}
    network = read_network(write(tmp_path, in_space(boxes=boxes)))
    assert network.traffic.into.tolist() == [2, 0]
    assert network.traffic.unwanted.tolist() == [0.5, 0]
    assert network.traffic.unwanted_share == 0.25


def test_a_generated_network_is_read_as_it_was_drawn(tmp_path: Path) -> None:
    for attributes in (1, 2):
        drawn = content_network(30, 4, 6, attributes=attributes, seed=3)
        folder = tmp_path / str(attributes)
        folder.mkdir()
        drawn.write(folder)
        read = read_network(folder)
        assert read.fingerprint == drawn.network.fingerprint
        assert read.channel_count == 6**attributes
        assert read.capacity.sum() == pytest.approx(2 * read.traffic.demand.sum())


def test_users_may_know_only_some_brokers(tmp_path: Path) -> None:
    drawn = content_network(30, 4, 6, known_brokers=2, seed=3)
    assert drawn.network.knows.sum(axis=1).tolist() == [2] * 30
    drawn.write(tmp_path)
    network = read_network(tmp_path)
    assert network.fingerprint == drawn.network.fingerprint
    assign(network, "random", seed=1).write(tmp_path / "fine.parquet")
    Assignment.read(tmp_path / "fine.parquet", network)
    Assignment(network, np.argmin(network.knows, axis=1).astype(np.int32)).write(tmp_path / "wrong.parquet")
    with pytest.raises(InputError, match=r"wrong\.parquet: user 'u01' is at broker 'b\d', which it does not know"):
        Assignment.read(tmp_path / "wrong.parquet", network)


def test_rates_that_were_summarized_go_with_boxes(tmp_path: Path) -> None:
    tables = in_space()
    del tables["pieces"]
    tables["rates"] = {"user": ["bob", "bob"], "channel": ["c1", "c3"], "rate": [1.0, 7.0]}
    network = read_network(write(tmp_path, tables))
    assert network.traffic.out.tolist() == [0, 1]  # nobody but bob wants c3
    assert users_of(network.rates).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            changed("access", price=[1, 1, 1, 1, -2, 1]),
            "access.parquet: row 5: price is -2; give a number of at least 0",
        ),
        (
            changed("access", price=[1, 1, 1, np.inf, np.inf, np.inf]),
            "access.parquet: user 'bob' knows no broker; give it a price for one",
        ),
        (
            changed("access", price=[1, 1, 1, 1, None, 1]),
            "access.parquet: row 5: price is null; give a number of at least 0",
        ),
        (changed("access", price=["1"] * 6), "access.parquet: column 'price' holds string, not numbers"),
        (changed("access", broker=["x", "y", "z", "x", "w", "z"]), "access.parquet: row 5: unknown broker 'w'"),
        (
            changed("access", broker=["x", "y", "z", "x", "x", "z"]),
            (
                "access.parquet: no price for user 'bob' and broker 'y'; every user needs one for every broker, "
                "inf where it does not know it"
            ),
        ),
        (
            TABLES | {"access": {"user": ["ann"] * 4, "broker": ["x", "y", "z", "y"], "price": [1.0] * 4}},
            "access.parquet: row 4: repeats the user and broker of row 2",
        ),
        (
            TABLES
            | {
                "access": {
                    "user": pa.array([], "string"),
                    "broker": pa.array([], "string"),
                    "price": pa.array([], "float64"),
                }
            },
            "access.parquet: has no rows; a network needs at least one user and one broker",
        ),
        (
            TABLES | {"brokers": {"broker": pa.array([], "string"), "capacity": pa.array([], "float64")}},
            "brokers.parquet: has no rows; a network needs at least one user and one broker",
        ),
        (
            changed("brokers", capacity=[1, -1, 1]),
            "brokers.parquet: row 2: capacity is -1; give a number of at least 0",
        ),
        (changed("brokers", broker=["x", "y", "x"]), "brokers.parquet: row 3: repeats the broker of row 1"),
        (
            changed("brokers", broker=["x", "", "z"]),
            "brokers.parquet: row 2: empty name in column 'broker'; every row needs a name",
        ),
        (changed("core", price=[1, -2, 1]), "core.parquet: row 2: price is -2; give a number of at least 0"),
        (changed("core", other=["y", "q", "z"]), "core.parquet: row 2: unknown broker 'q'"),
        (
            TABLES | {"core": {"broker": ["x", "x"], "other": ["y", "z"], "price": [1.0, 2.0]}},
            "core.parquet: no price for the brokers 'y' and 'z'; every pair needs one",
        ),
        (
            TABLES | {"core": {"broker": ["x", "x", "y", "y"], "other": ["y", "z", "z", "x"], "price": [1.0, 2, 1, 3]}},
            "core.parquet: row 1: the price is 1 one way and 3 the other; links cost the same both ways",
        ),
        (
            changed("core", price=[1.0, 2.5, 1.0]),
            (
                "core.parquet: the price from 'x' to 'z' is 2.5, and 2 through 'y'; "
                "prices must obey the triangle inequality, or be closed with close"
            ),
        ),
        (changed("rates", rate=[1, -0.5]), "rates.parquet: row 2: rate is -0.5; give a number of at least 0"),
        (changed("rates", user=["ann", "eve"]), "rates.parquet: row 2: unknown user 'eve'"),
        (
            changed("rates", user=["bob", "bob"], channel=["p", "p"]),
            "rates.parquet: row 2: repeats the user and channel of row 1",
        ),
        (changed("subscriptions", user=["eve", "bob", "bob"]), "subscriptions.parquet: row 1: unknown user 'eve'"),
        (
            in_space(boxes={"high_x": [4.0, 11.0]}),
            "boxes.parquet: row 2: the box is from 3 to 11 in 'x'; give bounds that rise, from 0 to 10",
        ),
        (
            in_space(boxes={"high_x": [0.0, 11.0]}),
            "boxes.parquet: row 1: the box is from 0 to 0 in 'x'; give bounds that rise, from 0 to 10",
        ),
        (in_space(pieces={"density": [-1.0]}), "pieces.parquet: row 1: density is -1; give a number of at least 0"),
        (in_space(space={"high": [0.0]}), "space.parquet: row 1: low is 0 and high 0; low must be below high"),
        (in_space(space={"cells": [2.5]}), "space.parquet: row 1: cells is 2.5; give a whole number"),
        (in_space(space={"cells": [0]}), "space.parquet: row 1: cells is 0; give a number of at least 1"),
    ],
)
def test_wrong_tables(tmp_path: Path, tables: dict[str, dict], message: str) -> None:
    with pytest.raises(InputError) as error:
        read_network(write(tmp_path, tables))
    assert str(error.value) == f"{tmp_path}/{message}"


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            {k: v for k, v in TABLES.items() if k != "core"},
            "has no core.parquet; docs/content.md lists the tables of a network",
        ),
        (
            {k: v for k, v in TABLES.items() if k != "rates"},
            "has neither rates.parquet nor quadratics or pieces; give one of them",
        ),
        (TABLES | {"boxes": SPACE["boxes"]}, "has both subscriptions.parquet and boxes; give one of them"),
        (
            {k: v for k, v in in_space().items() if k != "space"},
            "has pieces.parquet and no space.parquet; the space says what the bounds mean",
        ),
    ],
)
def test_missing_tables(tmp_path: Path, tables: dict[str, dict], message: str) -> None:
    with pytest.raises(InputError) as error:
        read_network(write(tmp_path, tables))
    assert str(error.value) == f"{tmp_path}: {message}"


def test_prices_can_be_closed(tmp_path: Path) -> None:
    network = read_network(write(tmp_path, changed("core", price=[1.0, 2.5, 1.0])), close=True)
    assert network.core[0, 2] == 2


def test_a_price_may_be_given_both_ways(tmp_path: Path) -> None:
    both = {"broker": ["x", "x", "y", "y", "x"], "other": ["y", "z", "z", "x", "x"], "price": [1.0, 2, 1, 1, 0]}
    assert read_network(write(tmp_path, TABLES | {"core": both})).core[1, 0] == 1


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"user": ["ann"], "broker": ["x"]}, "no broker for user 'bob'; every user needs one"),
        ({"user": ["ann", "eve"], "broker": ["x", "x"]}, "row 2: unknown user 'eve'"),
        ({"user": ["ann", "bob"], "broker": ["x", "w"]}, "row 2: unknown broker 'w'"),
        ({"user": ["ann", "ann"], "broker": ["x", "x"]}, "row 2: repeats the user of row 1"),
    ],
)
def test_wrong_assignments(tmp_path: Path, columns: dict, message: str) -> None:
    network = read_network(write(tmp_path, TABLES))
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(InputError) as error:
        Assignment.read(tmp_path / "a.parquet", network)
    assert str(error.value) == f"{tmp_path}/a.parquet: {message}"


def test_access_prices_come_in_several_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topicloom.content.tables._ROWS", 7)
    prices = np.random.default_rng(1).random((9, 3))
    users, brokers = tuple("abcdefghi"), ("x", "y", "z")
    write_access(tmp_path / "access.parquet", users, brokers, prices)
    assert pyarrow.parquet.ParquetFile(tmp_path / "access.parquet").num_row_groups > 1
    assert read_access(tmp_path / "access.parquet", brokers)[0] == users
    assert read_access(tmp_path / "access.parquet", brokers)[1].tolist() == prices.tolist()
    wrong = prices.copy()
    wrong[8, 1] = -1
    write_access(tmp_path / "access.parquet", users, brokers, wrong)
    with pytest.raises(InputError, match="row 26: price is -1; give"):
        read_access(tmp_path / "access.parquet", brokers)
    write_access(tmp_path / "access.parquet", users, ("x", "y", "w"), prices)
    with pytest.raises(InputError, match="row 3: unknown broker 'w'"):
        read_access(tmp_path / "access.parquet", brokers)
