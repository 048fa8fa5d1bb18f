"""`topicloom reproduce`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Cli

from topicloom.experiments import catalogue

TINY = """
paper = "GM 2007"
place = "figure 2"
title = "Degrees"
about = "Tiny."
run = "design"
seed = [1, 2]
quick = { seed = [1] }
[[workload]]
nodes = 20
topics = 6
min_topics = 2
[[try]]
designer = "gm"
[plot]
draw = "lines"
x = "nodes"
y = "max_degree"
lines = "designer"
[[claim]]
place = "section 1"
says = "Nobody has more than a hundred links."
rule = "at most"
published = 100
unit = "links"
query = "SELECT repetition, max_degree AS value FROM runs"
[[claim]]
place = "section 1"
says = "Nobody has a link."
rule = "at most"
published = 0
unit = "links"
query = "SELECT repetition, max_degree AS value FROM runs"
"""
SOCIAL = TINY.replace("topics = 6\nmin_topics = 2", 'graph = "ego-facebook"')


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue of two figures, one of which needs a graph."""
    papers = tmp_path / "papers"
    (papers / "gm-2007").mkdir(parents=True)
    (papers / "gm-2007" / "fig-2.toml").write_text(TINY)
    (papers / "gm-2007" / "fig-3.toml").write_text(SOCIAL)
    monkeypatch.setattr(catalogue, "__file__", str(papers / "catalogue.py"))
    return tmp_path


def test_list_tells_all_figures(cli: Cli) -> None:
    listed = json.loads(cli("reproduce", "list", "--json").out)
    assert len({figure["id"] for figure in listed}) == len(listed) == 27
    assert sum(len(figure["claims"]) for figure in listed) > 80
    shown = cli("reproduce", "list")
    assert shown.status == 0
    for figure in listed:
        assert figure["id"] in shown.out
    some = json.loads(cli("reproduce", "list", "low-2010", "content-table-1", "--json").out)
    assert [figure["id"] for figure in some] == [*(f"low-2010-fig-{n}" for n in range(1, 6)), "content-table-1"]


@pytest.mark.usefixtures("on_one_session")
def test_a_figure_is_made(cli: Cli, tiny: Path) -> None:
    out = tiny / "out"
    ended = cli("reproduce", "gm-2007-fig-2", "--out", out)
    assert (ended.status, ended.err) == (0, "")
    lines = [line.split() for line in ended.out.splitlines()]
    assert ["figures", "and", "tables", "1"] in lines
    assert ["run", "now", "2"] in lines
    assert ["claims", "that", "hold", "1", "of", "2"] in lines
    assert "  says  Nobody has a link.\n" in ended.out
    again = json.loads(cli("reproduce", "gm-2007-fig-2", "--out", out, "--json").out)
    assert (again["runs"], again["ran"], again["errors"], again["left_out"]) == (2, 0, [], [])
    assert [claim["holds"] for claim in again["claims"]] == [True, False]
    names = {path.name for path in out.iterdir()}
    assert names == {
        *("cells", "claims.json", "reproduction.json", "results.md", "gm-2007-fig-2.parquet", "gm-2007-fig-2.svg"),
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["list", "gm-2006"],
            "unknown figure 'gm-2006'; `topicloom reproduce list` tells them, or give a paper or all",
        ),
        (["gm-2007-fig-2"], "missing option '--out'; give a folder to write to"),
        (
            ["gm-2007-fig-9", "--out", "out"],
            "unknown figure 'gm-2007-fig-9'; `topicloom reproduce list` tells them, or give a paper or all",
        ),
        (
            ["gm-2007-fig-3", "--out", "out"],
            "gm-2007-fig-3 needs social graphs; give the folder that holds their edge lists with --data",
        ),
        (
            ["all", "--out", "out", "--data", "nowhere"],
            "nowhere: no such folder; give one with the edge list ego_facebook.csv, .tsv or .txt",
        ),
        (["all", "--out", "no/where"], "no/where: the folder no does not exist"),
    ],
)
def test_refusals(cli: Cli, tiny: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str) -> None:
    here = tiny / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    ended = cli("reproduce", *arguments)
    assert (ended.status, ended.out, ended.err) == (2, "", f"topicloom: {message}\n")
    assert not list(here.iterdir())


@pytest.mark.usefixtures("on_one_session")
def test_a_quick_run_without_graphs(cli: Cli, tiny: Path) -> None:
    """Figures that need graphs are left out and told, and a full run does not mix with a quick one."""
    out = tiny / "out"
    ended = cli("reproduce", "all", "--out", out, "--quick")
    assert ended.status == 0
    assert "left out, as they need social graphs (--data): gm-2007-fig-3\n" in ended.out
    ended = cli("reproduce", "gm-2007-fig-2", "--out", out)
    message = f"{out}: holds a --quick reproduction; give another folder for a full one"
    assert (ended.status, ended.err) == (2, f"topicloom: {message}\n")
