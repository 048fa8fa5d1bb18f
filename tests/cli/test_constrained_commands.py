"""Commands with a fleet file that constrains links."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Cli

from topicloom import Interest, Overlay
from topicloom.brokers import Broker, Plan, Route
from topicloom.brokers.live import plan_without

FLEET = """
[defaults]
max_links = 3
[brokers]
a = { host = "a", region = "eu" }
b = { host = "b", region = "eu", max_links = 1 }
c = { host = "c", region = "us" }
d = { host = "d", region = "us", accepts = false }
e = { host = "e", region = "us", accepts = false }
[[forbid]]
between = ["a", "c"]
[[keep]]
between = ["c", "d"]
"""


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(node, topic) for topic in "tu" for node in "abcde"]
    Path("subs.csv").write_text("node,topic\n" + "".join(f"{node},{topic}\n" for node, topic in rows))
    Path("fleet.toml").write_text(FLEET)


def links(path: str) -> set[tuple[str, str]]:
    overlay = Overlay.read(path, Interest.read("subs.csv"))
    table = overlay.to_arrow().to_pydict()
    return set(zip(table["source"], table["target"], strict=True))


@pytest.mark.parametrize("name", ["gm", "low-oda", "backbone", "tree"])
def test_design_keeps_to_the_fleet(cli: Cli, name: str) -> None:
    ended = cli("design", "subs.csv", "-a", name, "-f", "fleet.toml", "-o", "overlay.parquet")
    assert (ended.status, ended.err) == (0, "")
    found = links("overlay.parquet")
    assert ("c", "d") in found
    assert not found & {("a", "c"), ("d", "e")}
    assert sum("b" in link for link in found) == 1


def test_design_says_what_is_in_the_way(cli: Cli) -> None:
    Path("fleet.toml").write_text(FLEET + '[[forbid]]\nregions = ["eu", "us"]\n')
    ended = cli("design", "subs.csv", "-a", "gm", "-f", "fleet.toml", "-o", "overlay.parquet", "--json")
    assert ended.status == 1
    assert json.loads(ended.out)["support"] == 0.75
    assert ended.err == (
        "2 topics are in pieces, as the fleet allows no more links: 't', 'u'; in the way: forbid eu - us\n"
    )


def test_a_tree_says_who_is_cut_off(cli: Cli) -> None:
    Path("fleet.toml").write_text(FLEET + '[[forbid]]\nregions = ["eu", "us"]\n')
    ended = cli("design", "subs.csv", "-a", "tree", "-f", "fleet.toml", "-o", "overlay.parquet")
    assert ended.status == 1
    assert ended.err == (
        "2 topics are in pieces, as the fleet allows no more links: 't', 'u'; in the way: forbid eu - us; cut off is "
        "'a' and 1 more\n"
    )


def test_a_limit_is_in_the_way(cli: Cli) -> None:
    Path("fleet.toml").write_text(
        "[defaults]\nmax_links = 1\n[brokers]\n" + "".join(f'{node} = {{ host = "{node}" }}\n' for node in "abcde")
    )
    ended = cli("design", "subs.csv", "-a", "low-oda", "-f", "fleet.toml", "-o", "overlay.parquet")
    assert ended.status == 1
    assert ended.err.endswith("in the way: max_links of 'a'\n")


def test_refusals(cli: Cli) -> None:
    for arguments, wrong in (
        (
            ("design", "subs.csv", "-a", "cd-oda", "-f", "fleet.toml", "-o", "o.parquet"),
            "cd-oda does not take constraints; these do: gm, ",
        ),
        (("design", "subs.csv", "-a", "gm", "-f", "none.toml", "-o", "o.parquet"), "none.toml: no such file"),
        (
            ("compare", "subs.csv", "-a", "gm,random-a", "--max-edges", "3", "-f", "fleet.toml"),
            "random-a does not take constraints",
        ),
    ):
        ended = cli(*arguments)
        assert (ended.status, ended.out) == (2, "")
        assert ended.err.startswith(f"topicloom: {wrong}"), arguments
        assert ended.err.count("\n") == 1
    Path("fleet.toml").write_text('[brokers.a]\nhost = "a"\n')
    ended = cli("design", "subs.csv", "-a", "gm", "-f", "fleet.toml", "-o", "o.parquet")
    assert ended.err == "topicloom: fleet.toml: has no broker 'b'; every node of the subscriptions needs one\n"


def test_compare_takes_those_of_the_usual_that_keep_to_a_fleet(cli: Cli) -> None:
    ended = cli("compare", "subs.csv", "-f", "fleet.toml", "--json")
    assert [row["designer"] for row in json.loads(ended.out)] == ["gm", "minmax-oda", "low-oda", "search"]


def test_maintain_keeps_to_the_fleet(cli: Cli) -> None:
    assert cli("design", "subs.csv", "-a", "gm", "-f", "fleet.toml", "-o", "overlay.parquet").status == 0
    Path("events.jsonl").write_text('{"id": 1, "event": "leave", "node": "c"}\n')
    arguments = ("maintain", "subs.csv", "overlay.parquet", "events.jsonl", "-f", "fleet.toml")
    ended = cli(*arguments, "-o", "mended.parquet", "--out-subs", "now.csv.parquet", "--json")
    assert (ended.status, ended.err) == (0, "")
    mended = Overlay.read("mended.parquet", Interest.read("now.csv.parquet"))
    table = mended.to_arrow().to_pydict()
    assert ("d", "e") not in set(zip(table["source"], table["target"], strict=True))


def test_prices_by_region_and_what_they_come_to(cli: Cli) -> None:
    Path("latency.csv").write_text("src,dst,avg_ms\neu,us,80\nus,us,2\neu,eu,1\n")
    priced = ("-f", "fleet.toml", "--prices", "latency.csv")
    assert cli("design", "subs.csv", "-a", "gm", *priced, "-o", "overlay.parquet").status == 0
    assert links("overlay.parquet") == {("a", "b"), ("a", "d"), ("c", "d"), ("c", "e")}
    ended = cli("measure", "subs.csv", "overlay.parquet", *priced, "--json")
    measures = json.loads(ended.out)
    assert (measures["price"], measures["tree_price"], measures["longest_way"]) == (85.0, 170.0, 85.0)
    assert "longest way" in cli("measure", "subs.csv", "overlay.parquet", *priced).out
    ended = cli("design", "subs.csv", "-a", "gm", "--prices", "latency.csv", "-o", "o.parquet")
    assert (ended.status, ended.err) == (
        2,
        "topicloom: latency.csv: does not name 'a'; give prices of all nodes, or a --fleet with its region\n",
    )
    ended = cli("design", "subs.csv", "-a", "cd-oda", "--prices", "latency.csv", "-o", "o.parquet")
    able = "gm, minmax-oda, low-oda, gpa, gpm, gm-fold, backbone, tree, search"
    assert ended.err == f"topicloom: cd-oda does not take prices; these do: {able}\n"


def test_plan_names_what_an_overlay_breaks(cli: Cli) -> None:
    Path("links.csv").write_text("source,target\na,b\nb,c\nd,e\nc,d\n")
    ended = cli("plan", "subs.csv", "links.csv", "-f", "fleet.toml", "-o", "plan.json")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        "topicloom: fleet.toml: the overlay breaks 2 constraints: neither 'd' nor 'e' accepts connections; "
        "'b' has 2 links (max_links 1)\n"
    )


def test_a_killed_broker_is_mended_with_links_that_can_be_opened() -> None:
    """Without c, only a accepts connections: b and d must not be linked, though they come first for low degrees."""
    brokers = tuple(Broker(name, name, 1883, accepts=name in "ac") for name in "abcd")
    trees = (("c", "a"), ("c", "b"), ("c", "d"))
    plan = Plan(
        "mosquitto", brokers, (("a", "c"), ("b", "c"), ("d", "c")), (Route("t", 1, "c", tuple("abcd"), (), trees),)
    )
    without = plan_without(plan, "c")
    assert {tuple(sorted(link)) for link in without.links} == {("a", "b"), ("a", "d")}


def test_maintain_keeps_roles(cli: Cli) -> None:
    Path("roles.csv").write_text("node,topic,role\na,t,sub\nb,t,sub\nc,t,pub\nc,u,pub\nd,u,sub\nc,w,both\na,w,both\n")
    assert cli("design", "roles.csv", "-a", "gm", "-o", "overlay.parquet").status == 0
    Path("events.jsonl").write_text(
        '{"id": 1, "event": "leave", "node": "c"}\n{"id": 2, "event": "change", "node": "b", "add": ["w"]}\n'
    )
    ended = cli(
        "maintain", "roles.csv", "overlay.parquet", "events.jsonl", "-o", "m.parquet", "--out-subs", "now.parquet"
    )
    assert (ended.status, ended.err) == (0, "topicloom: 2 topics wanted, and published by nobody any more\n")
    now = Interest.read("now.parquet")
    roles = {(row["node"], row["topic"]): row["role"] for row in now.to_arrow().to_pylist()}
    assert roles == {("a", "t"): "sub", ("b", "t"): "sub", ("d", "u"): "sub", ("a", "w"): "both", ("b", "w"): "both"}
    assert set(Overlay.read("m.parquet", now)) == {("a", "b")}
    Path("events.jsonl").write_text('{"id": 1, "event": "leave", "node": "d"}\n')
    assert (
        cli(
            "maintain", "roles.csv", "overlay.parquet", "events.jsonl", "-o", "m.parquet", "--out-subs", "n.parquet"
        ).status
        == 0
    )
    assert "c" in Interest.read("n.parquet").node_names
    Overlay.read("m.parquet", Interest.read("n.parquet"))
    ended = cli("maintain", "roles.csv", "overlay.parquet", "events.jsonl", "--filters", "mqtt", "-o", "m.parquet")
    assert (ended.status, ended.err) == (
        2,
        "topicloom: maintainers know plain topics, no --filters; design anew for those\n",
    )
