"""From host names to a plan: `init`, `plan` without an overlay, and the fleet file of the folder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli

from topicloom.brokers import read_fleet

SUBS = "node,topic\nberlin,t\nberlin,u\nparis,t\nparis,u\nrome,t\nrome,v\noslo,u\noslo,v\n"
HOSTS = [f"{name}.example.net" for name in ("berlin", "paris", "rome", "oslo")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("subs.csv").write_text(SUBS)


def brokers(path: str = "fleet.toml") -> dict[str, tuple[str | None, int | None]]:
    return {broker.name: (broker.host, broker.port) for broker in read_fleet(Path(path)).brokers.values()}


def test_from_hosts_to_a_plan(cli: Cli) -> None:
    ended = cli("init", *HOSTS)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == "4 brokers: berlin, paris, rome, oslo\nwritten to fleet.toml\n"
    assert brokers()["rome"] == ("rome.example.net", None)
    ended = cli("plan", "subs.csv", "--out", "plan.json")
    assert (ended.status, ended.err) == (0, "")
    assert "links designed by search in 800 rounds; any design that connects all topics has 4 or more\n" in ended.out
    made = json.loads(Path("plan.json").read_text())["made"]
    assert (made["designer"], made["parameters"], made["seed"]) == ("search", {"aim": "links", "rounds": 800}, 0)
    facts = cli("plan", "subs.csv", "--out", "again.json", "--json").json
    assert (facts["designer"], facts["lower_bound"], facts["links"]) == ("search", 4, 4)
    assert Path("again.json").read_bytes() == Path("plan.json").read_bytes()
    assert cli("diff", "plan.json", "again.json").status == 0


@pytest.mark.parametrize("kind", ["mosquitto", "rabbitmq", "nats", "emqx"])
def test_what_is_in_comments_can_be_taken(cli: Cli, kind: str) -> None:
    assert cli("init", *HOSTS, "--kind", kind).status == 0
    text = Path("fleet.toml").read_text()
    Path("all.toml").write_text(re.sub(r"^#(?! )", "", text, flags=re.MULTILINE))
    fleet = read_fleet(Path("all.toml"))
    assert fleet.sources.keys() == fleet.brokers.keys()
    assert fleet.brokers["oslo"].kind == kind
    assert fleet.brokers["oslo"].credentials is not None


def test_names_and_ports(cli: Cli) -> None:
    assert cli("init", "hub=10.0.0.1:8883", "10.0.0.2", "a.x.net", "a.y.net:1884", "::1", "[::2]:1885").status == 0
    assert brokers() == {
        "hub": ("10.0.0.1", 8883),
        "10.0.0.2": ("10.0.0.2", None),
        "a.x.net": ("a.x.net", None),
        "a.y.net": ("a.y.net", 1884),
        "::1": ("::1", None),
        "::2": ("::2", 1885),
    }


INI = """\
lonely.example.net
[brokers]
edge[01:03].example.net
hub ansible_host=10.0.0.1 ansible_port=22  # the port of ssh is none of a broker
[rest:children]
others
[others]
z.example.net
[brokers:vars]
ansible_user=root
"""
YAML = """\
all:
  children:
    brokers:
      hosts:
        edge[01:03].example.net:
        hub: {ansible_host: 10.0.0.1}
    rest:
      children:
        others: {hosts: {z.example.net: {}}}
  hosts: {lonely.example.net: }
"""


@pytest.mark.parametrize(("name", "text"), [("hosts.ini", INI), ("hosts.yml", YAML)])
def test_inventories(cli: Cli, name: str, text: str) -> None:
    Path(name).write_text(text)
    assert cli("init", "--inventory", name, "--group", "brokers").status == 0
    assert brokers() == {
        **{f"edge{number}": (f"edge{number}.example.net", None) for number in ("01", "02", "03")},
        "hub": ("10.0.0.1", None),
    }
    assert cli("init", "more=m.example.net", "--inventory", name, "--out", "all.toml").status == 0
    assert brokers("all.toml").keys() == brokers().keys() | {"lonely", "z", "more"}
    assert cli("init", "--inventory", name, "--group", "rest", "--replace").status == 0
    assert brokers() == {"z": ("z.example.net", None)}
    ended = cli("init", "--inventory", name, "--group", "none", "--replace")
    assert (ended.status, ended.err) == (2, f"topicloom: {name}: has no group 'none'\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "no brokers; give at least one HOST, or an --inventory"),
        (["a", "--group", "g"], "--group needs --inventory"),
        (["a:b:c"], "host 'a:b:c': expected HOST, HOST:PORT or NAME=HOST:PORT"),
        (["=a"], "host '=a': expected HOST, HOST:PORT or NAME=HOST:PORT"),
        (["a", "a"], "two brokers are called 'a'; give names, as in a-2=HOST"),
        (["x=a", "y=a"], "fleet.toml: brokers 'x' and 'y'"),
        (["a b"], "fleet.toml: broker 'a b': "),
        (["a:70000"], "fleet.toml: broker 'a': "),
        (["a", "--kind", "kafka"], "unknown kind of broker 'kafka'"),
        (["--inventory", "none.ini"], "none.ini: no such file"),
        (["--inventory", "wrong.ini"], "wrong.ini: row 1: expected a group such as [brokers]"),
        (["--inventory", "wrong.yml"], "wrong.yml: is not an inventory; expected groups with hosts"),
        (["a", "--out", "fleet.json"], "fleet.json: is written as TOML; give a name that ends in .toml"),
        (["a", "--out", "there.toml"], "there.toml: already exists; give --replace, or another file with --out"),
    ],
)
def test_wrong_hosts(cli: Cli, arguments: list[str], line: str) -> None:
    Path("wrong.ini").write_text("[a:b:c]\n")
    Path("wrong.yml").write_text("- a\n")
    Path("there.toml").write_text("")
    before = sorted(Path.cwd().iterdir())
    ended = cli("init", *arguments)
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith(f"topicloom: {line}")
    assert sorted(Path.cwd().iterdir()) == before


def test_a_folder_without_a_fleet(cli: Cli) -> None:
    line = "topicloom: fleet.toml: no such file; give --fleet, or write it with 'topicloom init'\n"
    assert cli("plan", "subs.csv", "--out", "plan.json").err == line
    assert cli("collect", "--out", "raw").err == line


def planned(cli: Cli, fleet: str, *arguments: Any) -> Any:
    hosts = "".join(f'[brokers.{host.partition(".")[0]}]\nhost = "{host}"\n' for host in HOSTS)
    Path("fleet.toml").write_text(hosts + fleet)
    return cli("plan", "subs.csv", "--out", "plan.json", *arguments)


def test_designs_keep_to_the_fleet_and_its_prices(cli: Cli) -> None:
    planned(cli, '[[forbid]]\nbetween = ["berlin", "paris"]\n')
    links = json.loads(Path("plan.json").read_text())["links"]
    assert len(links) > 0
    assert sorted(["berlin", "paris"]) not in map(sorted, links)
    Path("prices.csv").write_text("source,target,price\nberlin,paris,1000\n*,*,1\n")
    ended = planned(cli, "", "--prices", "prices.csv", "--json")
    assert (ended.status, ended.json["price"]) == (0, ended.json["links"]), "not over the dear link"
    ended = planned(cli, '[[forbid]]\nbetween = ["rome", "oslo"]\n')
    assert (ended.status, ended.out) == (2, "v: oslo | rome\n")
    assert "topicloom: 1 topic is in pieces" in ended.err
    assert "forbid" in ended.err


def test_brokers_that_refuse_cycles_get_a_tree(cli: Cli) -> None:
    Path("prices.csv").write_text("source,target,price\nberlin,paris,5\n*,*,1\n")
    ended = planned(cli, "", "--target", "nats", "--prices", "prices.csv", "--json")
    assert (ended.status, ended.json["designer"], ended.json["links"]) == (0, "tree", 3)


def test_another_designer(cli: Cli) -> None:
    ended = planned(cli, "", "-a", "cd-oda", "--json")
    assert (ended.status, ended.json["designer"]) == (0, "cd-oda")
    ended = planned(cli, '[[forbid]]\nbetween = ["berlin", "paris"]\n', "-a", "cd-oda")
    assert ended.err.startswith("topicloom: cd-oda does not take constraints; these do: ")
    Path("links.csv").write_text("source,target\nberlin,paris\n")
    ended = cli("plan", "subs.csv", "links.csv", "-a", "gm", "--out", "plan.json")
    assert ended.err == "topicloom: --algorithm is for plans without an OVERLAY; leave one of them out\n"
