"""NATS: plans are trees, remotes deny what the plan does not send, circles are found, and real servers deliver once."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plans import fleet_of, plan_of

from reference.interests import SHAPES, random_interest
from topicloom import InputError, Interest, Overlay, synthetic
from topicloom.brokers import Plan, make_plan, read_plan, render, write_plan
from topicloom.brokers.diff import compare_plans
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.kinds.nats import denied
from topicloom.brokers.lint import lint, read_configured
from topicloom.brokers.live import prove
from topicloom.brokers.plan_file import configuration_of, configurations

WANTED = [("a", "t"), ("b", "t"), ("c", "t"), ("a", "u"), ("c", "u")]
TRIANGLE = [("a", "b"), ("b", "c"), ("a", "c")]


def nats_plan(interest: Interest) -> Plan:
    return plan_of(interest, "tree", target="nats")


@pytest.mark.broker("nats")
def test_twelve_servers_deliver_once_and_nowhere_else() -> None:
    interest = synthetic(12, 20, popularity="uniform", sizes="uniform", min_topics=2, max_topics=5, seed=3)
    plan = nats_plan(interest)
    middle = max(plan.broker, key=lambda name: len(plan.links_of[name]))
    proof = prove(plan, messages=1000, kill=middle)
    assert len(proof.mending.added) >= len(plan.links_of[middle]) - 1 > 0
    assert proof.perfect
    assert (proof.counts.lost, proof.counts.doubled, proof.counts.unwanted) == (0, 0, 0)
    assert proof.counts.delivered == proof.counts.expected > 0
    assert proof.counts.relayed > 0


def test_what_is_not_sent_is_denied_in_each_direction() -> None:
    interest = Interest.from_roles([("a", "t", "pub"), ("b", "t", "sub"), ("a", "u", "both"), ("b", "u", "both")])
    overlay = Overlay.from_links(interest, [("a", "b")])
    plan = make_plan(interest, overlay, fleet_of("ab"), target="nats")
    assert plan.links == (("a", "b"),)
    assert denied(plan, ("a", "b")) == (["t"], [])
    other = make_plan(Interest.from_pairs(WANTED), Overlay.from_links(Interest.from_pairs(WANTED), TRIANGLE[:2]),
                      fleet_of("abc"), target="nats")  # fmt: skip
    assert other.route["u"].relays == ("b",), "relays are always allowed"
    assert configuration_of(other, "c").endswith("remotes: [\n]\n")
    assert "deny_imports: []" in configuration_of(other, "a")


def test_passwords_and_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAF", "p@ss")
    fleet = fleet_from_tables(
        {
            "brokers": {
                "a": {"host": "a"},
                "b": {
                    "host": "b",
                    "tls": {"ca_file": "/ca"},
                    "credentials": {"username": "leaf", "password_env": "LEAF"},
                },
            }
        }
    )
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    text = configuration_of(make_plan(interest, Overlay.from_links(interest, [("a", "b")]), fleet, target="nats"), "a")
    assert 'urls: ["tls://leaf:p%40ss@b:7422"]' in text
    assert 'ca_file: "/ca"' in text


def test_circles_are_refused() -> None:
    interest = Interest.from_pairs([*WANTED, ("b", "v"), ("c", "v"), ("a", "w"), ("b", "w")])
    overlay = Overlay.from_links(interest, TRIANGLE)
    with pytest.raises(
        InputError, match=r"^the overlay: the link '.' - '.' closes a cycle, which NATS refuses; design"
    ):
        make_plan(interest, overlay, fleet_of("abc"), target="nats")


@pytest.mark.parametrize("topic", ["a b", "$SYS.x", "a..b", ".a", "a.*", ">", "x\ty"])
def test_names_that_nats_cannot_carry(topic: str) -> None:
    interest = Interest.from_pairs([("a", topic), ("b", topic)], filters="none")
    with pytest.raises(InputError, match=r"^topic '"):
        make_plan(interest, Overlay.from_links(interest, [("a", "b")]), fleet_of("ab"), target="nats")


@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES))
def test_changes_never_close_a_circle(seed: int, shape: str) -> None:
    interest = random_interest(seed, shape)
    old = nats_plan(interest)
    new = plan_of(interest, "tree", target="nats", rounds=0)
    files: dict[str, Plan | None] = dict.fromkeys(old.broker, old)
    for step in compare_plans(old, new).steps:
        files[step.broker] = None if step.clear else new
        links = [link for plan in (old, new) for link in plan.links if files[link[0]] is plan]
        assert not links or nx.is_forest(nx.MultiGraph(links))


def test_a_new_topic_changes_the_files_of_brokers_that_do_not_carry_it() -> None:
    # A remote denies what its link does not carry, of all topics of the plan.
    chain = [("a", "t"), ("b", "t"), ("b", "u"), ("c", "u"), ("c", "v"), ("d", "v")]
    old, new = (nats_plan(Interest.from_pairs(wanted)) for wanted in (chain, [*chain, ("a", "w"), ("b", "w")]))
    before, after = configurations(old), configurations(new)
    differing = {name for name in "abcd" if before[name] != after[name]}
    assert differing == {"b", "c"}
    assert differing <= {step.broker for step in compare_plans(old, new).steps}


def test_a_plan_is_written_and_rendered_and_has_no_circle(tmp_path: Path) -> None:
    interest = synthetic(10, 12, popularity="uniform", sizes="uniform", min_topics=2, max_topics=4, seed=5)
    plan = nats_plan(interest)
    write_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan
    render(plan, tmp_path / "out")
    brokers = read_configured([tmp_path / "out"])
    assert {broker.kind for broker in brokers} == {"nats"}
    report = lint(brokers)
    assert (report.brokers, report.bridges, report.findings) == (10, len(plan.links), ())


HUB = """
port: 4222  # clients
leafnodes {
  listen = "127.0.0.1:%d"
  remotes = [ { url: 'nats-leaf://user:secret@127.0.0.1:%d' } ]
}
"""


def test_circles_as_people_write_them(tmp_path: Path) -> None:
    for name, own, other in (("a", 7001, 7002), ("b", 7002, 7003), ("c", 7003, 7001)):
        (tmp_path / f"{name}.conf").write_text(HUB % (own, other))
    report = lint(read_configured([tmp_path]))
    (finding,) = report.findings
    assert finding.text == "c -> a -> b -> c is a circle of leafnodes, which NATS breaks again and again"
    assert finding.where == tuple(f"{tmp_path}/{name}.conf: remote 1" for name in "cab")
    assert report.serious
    (tmp_path / "b.conf").write_text(HUB % (7002, 7003) + "\nleafnodes = }")
    (tmp_path / "c.conf").write_text("leafnodes { remotes [\n")
    problems: list[InputError] = []
    report = lint(read_configured([tmp_path], None, problems.append), None, problems)
    assert [(finding.kind, finding.text, finding.where) for finding in report.findings[:2]] == [
        ("unreadable", "'}' stands where a key or a value should", (f"{tmp_path}/b.conf:8",)),
        ("unreadable", "ends before ']'; give the whole file", (f"{tmp_path}/c.conf",)),
    ]
    assert (report.serious, report.brokers, report.bridges) == (True, 3, 1)
    (tmp_path / "d.conf").write_text("connection x\naddress y\ntopic # both\n")
    report = lint(read_configured([tmp_path], None, problems.append))
    assert [finding.where for finding in report.findings[-2:]] == [
        (f"{tmp_path}/a.conf: remote 1",),
        (f"{tmp_path}/d.conf:1",),
    ]
