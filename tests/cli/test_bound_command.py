"""`bound`, and bounds beside measures and comparisons."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Cli

from topicloom import Interest, bound

PAIRS = [("a", "t"), ("b", "t"), ("c", "t"), ("b", "u"), ("c", "u"), ("d", "u"), ("x", "y"), ("z", "y")]


@pytest.fixture
def subs(tmp_path: Path) -> Path:
    Interest.from_pairs(PAIRS).write(tmp_path / "subs.parquet")
    return tmp_path / "subs.parquet"


def test_bound_for_people(cli: Cli, subs: Path) -> None:
    ended = cli("bound", subs)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("links, at least        4\nmax degree, at least   2\n\n")
    for line in ("links >= 4, by islands", "links >= 4, by offers", "max degree >= 2, by mean", "2 islands"):
        assert line in ended.out


def test_bound_as_json(cli: Cli, subs: Path) -> None:
    assert cli("bound", subs, "--json").json == bound(Interest.from_pairs(PAIRS)).to_dict()
    assert cli("bound", subs, "--rounds", "0", "--json").json["links"] == 4


def test_prices_are_bounded_and_measured_against(cli: Cli, subs: Path, tmp_path: Path) -> None:
    prices, overlay = tmp_path / "prices.csv", tmp_path / "overlay.parquet"
    prices.write_text("source,target,price\na,b,2.5\nb,c,1.5\n*,*,4\n")
    found = cli("bound", subs, "--prices", prices, "--json").json
    assert (found["links"], found["price"]) == (4, 2.5 + 1.5 + 4 + 4)
    shown = cli("bound", subs, "--prices", prices).out
    assert "price, at least        12\n" in shown
    assert "price >= 12, by trees" in shown
    assert "price, at least" not in cli("bound", subs).out
    assert cli("design", subs, "-a", "gm", "--prices", prices, "-o", overlay).status == 0
    assert "price of any overlay, at least" in cli("measure", subs, overlay, "--prices", prices, "--bound").out
    rows = cli("compare", subs, "-a", "gm,search", "--prices", prices, "--bound", "--rounds", 50, "--json").json
    assert [row["price_bound"] for row in rows] == [12, 12]
    best = cli(
        "design", subs, "-a", "search", "--aim", "price", "--prices", prices, "--rounds", 50, "-o", overlay, "--json"
    )
    assert {name: best.json[name] for name in ("price", "lower_bound", "gap", "optimal")} == {
        "price": 12,
        "lower_bound": 12,
        "gap": 0,
        "optimal": True,
    }
    even = cli("design", subs, "-a", "search", "--aim", "degree-links", "--rounds", 50, "-o", overlay, "--json").json
    assert (even["lower_bound"], even["max_degree"], even["gap"]) == (2, 2, 0)


def test_measure_and_compare_show_bounds_if_asked(cli: Cli, subs: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.parquet"
    assert cli("design", subs, "--algorithm", "gm", "--out", overlay).status == 0
    measured = cli("measure", subs, overlay, "--bound", "--json").json
    assert (measured["links"], measured["links_bound"], measured["max_degree_bound"]) == (4, 4, 2)
    assert "links of any overlay, at least" in cli("measure", subs, overlay, "--bound").out
    assert "links_bound" not in cli("measure", subs, overlay, "--json").json
    compared = cli("compare", subs, "--bound", "--algorithms", "gm,gpm", "--max-degree", "1", "--no-diameters")
    lines = compared.out.splitlines()
    assert "max deg." in lines[0]
    assert lines[-2].startswith("gm ")
    assert lines[-2].split()[-2:] == ["1.00", "1.50"]
    assert lines[-1].startswith("gpm")
    assert "/ bound" not in cli("compare", subs, "--algorithms", "gm", "--no-diameters").out
    rows = cli("compare", subs, "--bound", "--algorithms", "gm", "--json").json
    assert (rows[0]["links_bound"], rows[0]["max_degree_bound"]) == (4, 2)


def test_exact_says_what_it_proved(cli: Cli, subs: Path, tmp_path: Path) -> None:
    ended = cli(
        "design", subs, "--algorithm", "exact", "--minimise", "max_degree", "--out", tmp_path / "overlay.parquet"
    )
    assert (ended.status, ended.err) == (0, "")
    rows = {line.rsplit(" ", 1)[0].strip(): line.rsplit(" ", 1)[1] for line in ended.out.splitlines()[:-1]}
    assert (rows["links"], rows["max degree"], rows["lower bound"], rows["optimal"]) == ("4", "2", "2", "yes")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch.parquet"], "topicloom: nosuch.parquet: no such file\n"),
        (["SUBS", "--rounds", "-1"], "topicloom: --rounds must be from 0 to 100,000, not -1\n"),
        (["SUBS", "--seconds", "0"], "topicloom: --seconds must be above 0, not 0.0\n"),
    ],
)
def test_bad_input_is_one_line(cli: Cli, subs: Path, arguments: list[str], message: str) -> None:
    ended = cli("bound", *(subs if each == "SUBS" else each for each in arguments))
    assert (ended.status, ended.out, ended.err) == (2, "", message)
