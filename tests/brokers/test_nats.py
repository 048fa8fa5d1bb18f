"""NATS: plans are trees, remotes deny what the plan does not send, circles are found, and real servers deliver once."""

from __future__ import annotations

import random
import time
from collections import Counter
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
from topicloom.brokers.live import accepting_first, local_brokers, on_loopback, prove
from topicloom.brokers.plan_file import configuration_of, configurations
from topicloom.model.filters import NATS

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


def filters_of(count: int, seed: int) -> Interest:
    """Servers that want filters of all shapes, and publish names; some of them of one topic, some of none."""
    dice = random.Random(seed)
    filters = [f"{area}.{rest}" for area in "pqrs" for rest in ("1", "2.x", "*", "*.x", "2.>", ">")]
    names = [f"{area}.{rest}" for area in "pqrs" for rest in ("1", "3", "2.x", "3.x", "2.y.z")]
    rows = []
    for node in (f"n{number:02}" for number in range(count)):
        # Each is at home in two areas, so that most links have topics to deny.
        areas = {*dice.sample("pqrs", 2), "t", "u"}
        wanted = [one for one in (*filters, "t", "u.1", "u.*") if one[0] in areas and dice.random() < 0.3]
        rows += [(node, one, "sub") for one in wanted]
        publishes = [one for one in (*names, "t", "u.1", "u.2") if one[0] in areas and dice.random() < 0.3]
        rows += [(node, one, "pub") for one in publishes if one not in wanted]
    return Interest.from_roles(rows, filters="nats")


def test_topics_that_do_not_go_over_a_link_are_denied_with_all_their_filters() -> None:
    rows = [("a", "x.*", "sub"), ("b", "x.1", "both"), ("b", "x.2", "pub"), ("c", "y.>", "both"), ("d", "y.1", "pub")]
    rows += [("d", "z", "sub"), ("a", "z", "pub")]
    interest = Interest.from_roles(rows, filters="nats")
    overlay = Overlay.from_links(interest, [("a", "b"), ("a", "d"), ("c", "d")])
    plan = make_plan(interest, overlay, fleet_of("abcd"), target="nats")
    assert set(plan.links) == {("b", "a"), ("a", "d"), ("c", "d")}
    # A link takes in what comes from the other end. No filter of a topic that goes over a link is denied.
    assert denied(plan, ("b", "a")) == (["x.*", "y.>", "z"], ["y.>", "z"])
    assert denied(plan, ("a", "d")) == (["x.*", "y.>", "z"], ["x.*", "y.>"])
    assert denied(plan, ("c", "d")) == (["x.*", "z"], ["x.*", "y.>", "z"])


@pytest.mark.parametrize(
    ("filter_", "problem"),
    [("$SYS.>", r"begins with '\$'"), ("a..*", "empty"), ("a.*.b c", "space"), ("x." * 1500 + ">", "3,001 bytes")],
)
def test_filters_that_nats_cannot_carry(filter_: str, problem: str) -> None:
    rows = [("a", filter_, "sub"), ("b", "u", "both"), ("a", "u", "both")]
    with pytest.raises(InputError, match=problem):
        nats_plan(Interest.from_roles(rows, filters="nats"))


@pytest.mark.broker("nats")
@pytest.mark.slow
def test_twenty_servers_with_wildcards() -> None:
    plan = nats_plan(filters_of(20, 5))
    counts = prove(plan, messages=1000).counts
    assert (counts.lost, counts.doubled, counts.unwanted) == (0, 0, 0)
    assert counts.delivered == counts.expected > 2000


def heard_on_loopback(
    plan: Plan, wants: dict[str, list[str]], publishes: dict[str, list[str]], expected: Counter[tuple[str, str]]
) -> Counter[tuple[str, str]]:
    """What clients hear at the servers of a plan, each message as its publisher and subject."""
    got: Counter[tuple[str, str]] = Counter()
    with local_brokers(plan, plan, lasting=False) as processes:
        running = on_loopback(plan, processes.link_ports)
        texts = configurations(running)
        for name in accepting_first(list(texts), running.links):
            processes.start(name, texts[name])
        clients = processes.clients(running, lambda name, _, payload, *__: got.update([(name, payload.decode())]))
        with clients:
            for name, filters in wants.items():
                clients.open(name, [(filter_, 0) for filter_ in filters])
            for name in publishes.keys() - wants.keys():
                clients.open(name, [])
            clients.wait_until_subscribed()
            deadline = time.monotonic() + 20
            while any(processes.links_down(running, name, clients) for name in texts):
                assert time.monotonic() < deadline
                clients.serve(0.1)
            settled = time.monotonic() + 2  # interest spreads from server to server
            while time.monotonic() < settled:
                clients.serve(0.1)
            for name, subjects in publishes.items():
                for subject in subjects:
                    clients.publish(name, subject, f"{name} {subject}".encode(), 0)
            deadline = time.monotonic() + 20
            while got.total() < expected.total() and time.monotonic() < deadline:
                clients.serve(0.1)
            clients.serve(0.5)
    return got


@pytest.mark.broker("nats")
@pytest.mark.parametrize("middle", "abc")
def test_a_relay_without_clients_passes_on(middle: str) -> None:
    ends = sorted({*"abc"} - {middle})
    interest = Interest.from_pairs([*((name, "t") for name in ends), (middle, "u")])
    overlay = Overlay.from_links(interest, [(name, middle) for name in ends])
    plan = make_plan(interest, overlay, fleet_of("abc"), target="nats")
    assert len({opener for opener, _ in plan.links}) == 2, "no server opens two links"
    expected = Counter((to, f"{by} t") for to in ends for by in ends)
    assert heard_on_loopback(plan, {name: ["t"] for name in ends}, {name: ["t"] for name in ends}, expected) == expected


@pytest.mark.broker("nats")
@pytest.mark.slow
def test_clients_with_wildcards_get_what_their_filters_match_and_nothing_twice() -> None:
    interest = filters_of(20, 6)
    plan = nats_plan(interest)
    roles = interest.roles
    assert roles is not None
    sides: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    for topic in range(interest.topic_count):
        for side, into in zip(roles.of(topic), sides, strict=True):
            for node, patterns in side.items():
                into.setdefault(interest.node_names[node], []).extend(patterns)
    wants = {name: list(NATS.widest(filters)) for name, filters in sides[0].items()}
    # A server sends a message once for each subscription of a client.
    expected = Counter(
        (other, f"{name} {subject}")
        for name, subjects in sides[1].items()
        for subject in subjects
        for other, filters in wants.items()
        for filter_ in filters
        if NATS.covers(filter_, subject)
    )
    assert expected.total() > 400
    assert any(denied(plan, link) != ([], []) for link in plan.links)
    got = heard_on_loopback(plan, wants, sides[1], expected)
    assert (got - expected, expected - got) == (Counter(), Counter())


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
