"""The commands of `topicloom content`, with input as it should be and as it should not."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from command_line import Cli

from topicloom.content import ALGORITHMS, Assignment, cost, read_network

COMMANDS = ["generate", "assign", "cost", "compare"]
SMALL = ["--users", 40, "--brokers", 4, "--channels", 8, "--seed", 1]


@pytest.fixture
def net(cli: Cli, tmp_path: Path) -> Path:
    assert cli("content", "generate", *SMALL, "--out", tmp_path / "net").status == 0
    return tmp_path / "net"


def test_alone_shows_the_commands(cli: Cli) -> None:
    ended = cli("content")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == cli("content", "--help").out
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\S", ended.out, re.MULTILINE)
    assert "..." not in ended.out.split("Commands:")[1], "summaries fit into 80 columns"


@pytest.mark.parametrize("command", COMMANDS)
def test_content_help_has_an_example_and_fits(cli: Cli, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = cli("content", command, "--help")
    assert (ended.status, ended.err) == (0, "")
    assert "\n  Example:\n    topicloom content " in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_help_names_the_algorithms(cli: Cli) -> None:
    text = " ".join(cli("content", "assign", "--help").out.split())
    for name in ALGORITHMS:
        assert name in text.replace("- ", "-")
    for algorithm in ALGORITHMS.values():
        for parameter in algorithm.parameters:
            plain = isinstance(parameter.default, str | bool)
            default = parameter.default if plain else f"{parameter.default:g}"
            assert re.search(rf"--{parameter.name} [^(]*for [^(]*{algorithm.name}[^(]*\({default}\)", text)


def test_content_generate(cli: Cli, tmp_path: Path) -> None:
    ended = cli("content", "generate", *SMALL, "--out", tmp_path / "net")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == f"40 users, 4 brokers, 8 channels, written to {tmp_path / 'net'}\n"
    network = read_network(tmp_path / "net")
    again = cli("content", "generate", *SMALL, "--out", tmp_path / "again", "--json").json
    for file in sorted((tmp_path / "net").iterdir()):
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()
    demand = network.traffic.demand.sum()
    assert again == {
        "users": 40,
        "brokers": 4,
        "channels": 8,
        "subscriptions": len(network.wants.columns),
        "demand": pytest.approx(demand),
        "capacity": pytest.approx(2 * demand),
        "unwanted_share": network.traffic.unwanted_share,
        "seed": 1,
        "out": str(tmp_path / "again"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["random", "packing", "clustering", "steiner-mixing", "migration"])
def test_content_assign_and_cost(cli: Cli, net: Path, tmp_path: Path, algorithm: str) -> None:
    out = tmp_path / "a.parquet"
    assigned = cli("content", "assign", net, "-a", algorithm, "--seed", 1, "--out", out, "--json")
    assert (assigned.status, assigned.err) == (0, "")
    first = out.read_bytes()
    text = cli("content", "assign", net, "-a", algorithm, "--seed", 1, "--out", out)
    assert out.read_bytes() == first
    assert text.out.endswith(f"written to {out}\n")
    network = read_network(net)
    assignment = Assignment.read(out, network)
    expected = cost(assignment)
    facts = assigned.json
    assert facts["total"] == expected.total == facts["access"] + facts["core"]
    assert facts["seconds"] >= 0
    priced = cli("content", "cost", net, out, "--seed", 1, "--tree", "--steiner", "--json").json
    for name in ("total", "access", "core", "cost_reduction_ratio"):
        assert priced[name] == facts[name]
    if algorithm == "random":
        assert facts["cost_reduction_ratio"] == 1
    assert priced["core_with_relays"] <= priced["core"] <= priced["core_on_one_tree"] + 1e-9
    assert priced["overloaded_brokers"] == 0
    assert [row["broker"] for row in priced["by_broker"]] == list(network.broker_names)
    assert sum(row["users"] for row in priced["by_broker"]) == 40
    assert sum(row["access"] + row["core"] for row in priced["by_broker"]) == pytest.approx(expected.total)
    if algorithm == "migration":
        assert {"rounds", "moves", "declined", "messages"} <= set(facts)


def test_interests_change_while_users_migrate(cli: Cli, net: Path, tmp_path: Path) -> None:
    """The prices of the first network with the interests of another."""
    cli("content", "generate", *SMALL[:-1], 2, "--width", 0.2, "--out", tmp_path / "next")
    for file in ("access", "core", "brokers"):
        (tmp_path / "next" / f"{file}.parquet").write_bytes((net / f"{file}.parquet").read_bytes())
    out = tmp_path / "a.parquet"
    arguments = ["content", "assign", net, "-a", "migration", "--start", "random", "--then", tmp_path / "next"]
    facts = cli(*arguments, "--out", out, "--json").json
    alone = cli(
        "content", "assign", net, "-a", "migration", "--start", "random", "--out", tmp_path / "b", "--json"
    ).json
    assert facts["rounds"] > alone["rounds"]
    priced = cli("content", "cost", tmp_path / "next", out, "--json").json
    assert priced["total"] == facts["total"]
    assert "was made for another network" in cli("content", "cost", net, out).err
    cli("content", "generate", *SMALL[:-1], 3, "--out", tmp_path / "other")
    ended = cli(*arguments[:-1], tmp_path / "other", "--out", tmp_path / "c")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        "topicloom: users, brokers and prices must be those of the network before; only interests may change\n"
    )
    assert cli("content", "assign", net, "-a", "packing", "--then", net, "--out", tmp_path / "c").err == (
        "topicloom: packing does not take networks with other interests; migration does\n"
    )


def test_content_cost_for_people(cli: Cli, net: Path, tmp_path: Path) -> None:
    cli("content", "assign", net, "-a", "packing", "--out", tmp_path / "a.parquet")
    ended = cli("content", "cost", net, tmp_path / "a.parquet", "--trees", tmp_path / "t.parquet")
    assert (ended.status, ended.err) == (0, "")
    assert re.search(r"^total +[\d,.]+$", ended.out, re.MULTILINE)
    assert re.search(r"^b1 +\d+ ", ended.out, re.MULTILINE)
    trees = pyarrow.parquet.read_table(tmp_path / "t.parquet").to_pandas()
    assert list(trees.columns) == ["channel", "source", "broker", "other", "price", "rate"]
    core = cli("content", "cost", net, tmp_path / "a.parquet", "--json").json["core"]
    assert (trees.price * trees.rate).sum() == pytest.approx(core)


def test_content_compare(cli: Cli, net: Path) -> None:
    rows = cli("content", "compare", net, "--json", "--seed", 1, "--start", "random").json
    assert [row["algorithm"] for row in rows] == ["random", "packing", "clustering", "steiner-mixing", "migration"]
    assert rows[0]["cost_reduction_ratio"] == 1
    assert rows[4]["parameters"]["start"] == "random"
    assert rows[4]["moves"] > 0
    assert all(0 < row["highest_load"] <= 1 + 1e-9 for row in rows)
    table = cli("content", "compare", net, "-a", "packing,random").out
    assert [line.split()[0] for line in table.splitlines()[3:]] == ["packing", "random"]


def test_exact_says_that_it_is_the_least(cli: Cli, tmp_path: Path) -> None:
    cli("content", "generate", "--users", 6, "--brokers", 2, "--channels", 2, "--out", tmp_path / "net")
    ended = cli("content", "assign", tmp_path / "net", "-a", "exact", "--out", tmp_path / "a.parquet")
    assert re.search(r"^proved least +yes$", ended.out, re.MULTILINE)


def test_exact_without_its_solver(cli: Cli, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "highspy", None)
    ended = cli("content", "assign", net, "-a", "exact", "--out", tmp_path / "a.parquet")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == "topicloom: exact needs HiGHS; install it with: pip install 'topicloom[exact]'\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["assign", "NET", "-a", "best", "--out", "OUT"], "unknown algorithm 'best'; known are random, packing, "),
        (
            ["assign", "NET", "-a", "packing", "--start", "random", "--out", "OUT"],
            "packing does not take --start; it takes none",
        ),
        (
            ["assign", "NET", "-a", "migration", "--start", "exact", "--out", "OUT"],
            "--start: 'exact' is not one of 'packing', 'random', 'clustering', 'steiner-mixing'",
        ),
        (
            ["assign", "NET", "-a", "migration", "--decline", "3", "--out", "OUT"],
            "--decline of migration must be a number from 0 to 1, not 3.0",
        ),
        (
            ["assign", "NET", "-a", "random", "--seed", "-1", "--out", "OUT"],
            "seed must be a whole number, 0 or more, not -1",
        ),
        (["assign", "none", "-a", "random", "--out", "OUT"], "none: no such folder; give the folder of a network"),
        (["assign", "NET", "-a", "random", "--out", "OUT/none/a.parquet"], "a.parquet: the folder "),
        (["assign", "NET", "--out", "OUT"], "--algorithm is missing: "),
        (
            ["compare", "NET", "-a", "packing", "--start", "random"],
            "--start: none of packing takes it",
        ),
        (["cost", "NET", "none.parquet"], "none.parquet: no such file"),
        (
            ["generate", "--users", "0", "--brokers", "1", "--channels", "1", "--out", "OUT"],
            "--users is 0; give a whole",
        ),
        (
            ["generate", "--users", "9", "--brokers", "1", "--channels", "1", "--access-to-core", "0", "--out", "OUT"],
            "--access-to-core is 0.0; give a number above 0",
        ),
        (
            ["generate", "--users", "9", "--brokers", "1", "--channels", "1", "--out", "NET"],
            "net: is there already; give a new folder",
        ),
    ],
)
def test_content_refusals(cli: Cli, net: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    out = tmp_path / "out.parquet"
    before = sorted(tmp_path.rglob("*"))
    ended = cli("content", *(part.replace("NET", str(net)).replace("OUT", str(out)) for part in arguments))
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("topicloom: ")
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_wrong_network_is_refused(cli: Cli, net: Path, tmp_path: Path) -> None:
    core = pyarrow.parquet.read_table(net / "core.parquet")
    prices = [99.0, *core["price"].to_pylist()[1:]]
    pyarrow.parquet.write_table(core.set_column(2, "price", pa.array(prices)), net / "core.parquet")
    arguments = ("content", "assign", net, "-a", "packing", "--out", tmp_path / "a.parquet")
    ended = cli(*arguments)
    assert (ended.status, ended.out) == (2, "")
    assert re.fullmatch(
        r"topicloom: .*core.parquet: the price from 'b1' to 'b2' is 99, and .* through 'b\d'; prices must obey the "
        r"triangle inequality, or be closed with --close\n",
        ended.err,
    )
    assert not (tmp_path / "a.parquet").exists()
    assert cli(*arguments, "--close").status == 0
