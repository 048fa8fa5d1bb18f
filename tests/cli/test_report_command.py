"""`topicloom report`, on ordinary and on wrong input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_line import Cli

from reference.folders import write_folder
from topicloom import Interest
from topicloom.views.numbers import amount, mean

pytestmark = pytest.mark.slow


@pytest.fixture
def results(cli: Cli, subscriptions: Path, tmp_path: Path) -> Path:
    """A folder with subscriptions and two overlays."""
    folder = tmp_path / "results"
    folder.mkdir()
    subs = subscriptions.rename(folder / "subs.parquet")
    assert cli("design", subs, "-a", "gm", "-o", folder / "gm.parquet").status == 0
    assert cli("design", subs, "-a", "gpm", "--max-degree", 1, "-o", folder / "gpm.parquet").status == 0
    return folder


def test_makes_a_page_of_a_folder(cli: Cli, results: Path) -> None:
    (results / "odd.csv").write_text("x,y\n1,2\n")
    ended = cli("report", results)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == (
        "fleet subs.parquet: gm, gpm\n"
        f"left aside {results / 'odd.csv'}: holds no kind of result that a page shows; its columns are 'x', 'y'\n"
        f"written to {results / 'report.html'}\n"
    )
    page = (results / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<h3>Comparison</h3>" in page


def test_shows_prices_and_traffic(cli: Cli, results: Path) -> None:
    prices, rates = results.parent / "prices.csv", results.parent / "rates.csv"
    prices.write_text("source,target,price\n*,*,3\n")
    topics = Interest.read(results / "subs.parquet").topic_names
    rates.write_text("topic,rate\n" + "".join(f"{topic},2\n" for topic in topics))
    assert cli("report", results, "--prices", prices, "--rates", rates).status == 0
    page = (results / "report.html").read_text(encoding="utf-8")
    assert "Prices and traffic" in page
    measured = cli(
        "measure", results / "subs.parquet", results / "gm.parquet", "--prices", prices, "--rates", rates, "--json"
    )
    assert mean(measured.json["money"]).text in page
    assert measured.json["money"] == 3 * measured.json["carried"]


def test_makes_a_page_of_files(cli: Cli, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = cli("report", results / "gm.parquet", results / "subs.parquet", "--title", "Plan <A>", "--json")
    page = (tmp_path / "report.html").read_bytes()
    assert ended.json == {
        "reproductions": [],
        "fleets": [{"name": "subs.parquet", "overlays": ["gm"]}],
        "plans": [],
        "profiles": [],
        "topics": [],
        "traces": [],
        "sweeps": [],
        "networks": [],
        "costs": [],
        "trees": [],
        "aside": [],
        "bytes": len(page),
        "out": "report.html",
    }
    assert b"<title>Plan &lt;A&gt;</title>" in page
    assert b"Topic diameters" in page
    cli("report", results / "gm.parquet", results / "subs.parquet", "--no-diameters")
    assert b"Topic diameters" not in (tmp_path / "report.html").read_bytes()


def test_writes_nothing_into_what_ingest_wrote(
    cli: Cli, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write_folder(Interest.read(results / "subs.parquet"), tmp_path / "fleet")
    assert cli("report", folder).out == "fleet fleet: no overlays\nwritten to report.html\n"
    assert not (folder / "report.html").exists()


def test_makes_a_page_of_churn(cli: Cli, results: Path, tmp_path: Path) -> None:
    subs, events, trace = results / "subs.parquet", tmp_path / "events.jsonl", tmp_path / "trace.parquet"
    assert cli("churn", subs, "--rounds", 20, "--out", events).status == 0
    out = ["--out", tmp_path / "mended.parquet", "--trace", trace]
    assert cli("maintain", subs, results / "gm.parquet", events, "--method", "naive", *out).status == 0
    ended = cli("report", trace, "--out", tmp_path / "churn.html")
    assert ended.out == f"churn trace.parquet\nwritten to {tmp_path / 'churn.html'}\n"
    assert "<dt>events applied</dt><dd>20</dd>" in (tmp_path / "churn.html").read_text(encoding="utf-8")


def test_makes_a_page_of_a_content_based_plan(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    net, plan = tmp_path / "net", tmp_path / "plan.parquet"
    sizes = ("--users", 30, "--brokers", 3, "--channels", 5)
    assert cli("content", "generate", *sizes, "--out", net).status == 0
    assert cli("content", "assign", net, "--algorithm", "packing", "--out", plan).status == 0
    trees = tmp_path / "trees.parquet"
    priced = cli("content", "cost", net, plan, "--tree", "--steiner", "--trees", trees, "--json")
    (tmp_path / "cost.json").write_text(priced.out, encoding="utf-8")
    ended = cli("report", net, plan, tmp_path / "cost.json", trees)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == "network net: plan.parquet\ncost cost.json\ncore trees trees.parquet\nwritten to report.html\n"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for tile, key in (("total cost", "total"), ("core with relays", "core_with_relays"), ("core cost", "core")):
        assert f"<dt>{tile}</dt><dd>{amount(priced.json[key]).text}</dd>" in page
    told = cli("report", tmp_path, "--json").json
    assert told["networks"] == [{"name": "net", "assignments": ["plan.parquet"]}]
    assert told["costs"] == [["cost.json"]]
    assert told["trees"] == ["trees.parquet"]
    assert told["aside"] == []


def test_makes_a_page_of_measured_topics(cli: Cli, results: Path, tmp_path: Path) -> None:
    topics = tmp_path / "topics.parquet"
    assert cli("measure", results / "subs.parquet", results / "gpm.parquet", "--topics", topics).status == 0
    ended = cli("report", topics, "--out", tmp_path / "topics.html")
    assert ended.out == f"topics topics.parquet\nwritten to {tmp_path / 'topics.html'}\n"


def write_reproduction(folder: Path) -> Path:
    folder.mkdir()
    both = {"version": "0.1.0", "quick": True}
    for name, content in (
        ("reproduction", {"kind": "topicloom reproduction", **both, "figures": []}),
        ("claims", {"kind": "topicloom claims", **both, "claims": []}),
    ):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_makes_a_page_of_a_reproduction(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = write_reproduction(tmp_path / "repro")
    ended = cli("report", folder)
    assert ended.out == "reproduction repro: 0 figures, 0 of 0 claims hold\nwritten to report.html\n"
    counts = dict.fromkeys(("figures", "claims", "hold", "do_not_hold", "not_measured"), 0)
    assert cli("report", folder, "--json").json["reproductions"] == [{"name": "repro", "quick": True, **counts}]
    (folder / "claims.json").unlink()
    (tmp_path / "report.html").unlink()
    ended = cli("report", folder)
    assert (ended.status, ended.out, ended.err) == (2, "", f"topicloom: {folder}: has no claims.json\n")
    assert not (tmp_path / "report.html").exists()


def test_refusals(cli: Cli, results: Path, tmp_path: Path) -> None:
    subs, gm = results / "subs.parquet", results / "gm.parquet"
    before = sorted(results.iterdir())
    for arguments, message in (
        ([results, "--out", tmp_path / "page.pdf"], f"{tmp_path / 'page.pdf'}: is written as HTML; give a name that "),
        ([results, "--out", tmp_path / "no" / "page.html"], f"{tmp_path / 'no' / 'page.html'}: the folder "),
        ([gm], f"{gm}: no subscriptions are given; give those that this overlay was designed for too"),
        ([results, tmp_path / "none"], f"{tmp_path / 'none'}: no such file or folder"),
        ([subs, "--node-column", "broker"], f"{subs}: holds no kind of result that a page shows; its columns are "),
        ([], "PATH... is missing: results: subscriptions and overlays over them"),
    ):
        ended = cli("report", *arguments)
        assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert ended.err.startswith(f"topicloom: {message}"), ended.err
    assert sorted(results.iterdir()) == before
    assert not list(tmp_path.glob("*.html"))


def test_without_matplotlib(cli: Cli, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("topicloom.views.page.read_results", lambda *_, **__: pytest.fail("it is said before the work"))
    ended = cli("report", results)
    assert (ended.status, ended.err) == (2, "topicloom: plots need matplotlib: pip install 'topicloom[plots]'\n")
    assert not (results / "report.html").exists()


def test_shows_plans(cli: Cli, results: Path, tmp_path: Path) -> None:
    names = Interest.read(results / "subs.parquet").node_names
    (tmp_path / "fleet.toml").write_text("".join(f'[brokers.{name}]\nhost = "{name}"\n' for name in names))
    plan, subs = tmp_path / "plan.json", results / "subs.parquet"
    made = cli("plan", subs, results / "gm.parquet", "--fleet", tmp_path / "fleet.toml", "--out", plan)
    assert made.status == 0, made.err
    ended = cli("report", plan, "--out", tmp_path / "plan.html", "--json")
    assert ended.json["plans"] == ["plan.json"]
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "<h2>Plan: plan.json</h2>" in page
    assert '<div class="network"' in page
