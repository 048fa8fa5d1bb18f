"""What holds for every registered kind of broker: written and read back, fingerprints, names."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from plans import fleet_of

from effort import times
from topicloom import InputError, Interest, Overlay, design
from topicloom.brokers import Fleet, Plan, fleet_from_tables, make_plan, read_plan, render, write_plan
from topicloom.brokers.diff import compare_plans
from topicloom.brokers.kind import BrokerKind
from topicloom.brokers.kinds import KINDS
from topicloom.brokers.lint import connect, read_configured
from topicloom.brokers.plan_file import configurations

WRITTEN = [kind for kind in KINDS.values() if kind.ending is not None]
every_kind = pytest.mark.parametrize("kind", WRITTEN, ids=[kind.name for kind in WRITTEN])
NODES = "abcdefg"


def drawn_rows(kind: BrokerKind, dice: random.Random) -> tuple[list[tuple[str, str, str]], str | None]:
    """Subscriptions with roles, and with filters where the kind has some."""
    protocol = kind.wildcards if dice.random() < 0.5 else None
    topics = ["t", "u", "v", "w"]
    if protocol is not None:
        topics = [protocol.separator.join(parts) for parts in (("x", "1"), ("x", protocol.one), ("y", "1"), ("y", "2"))]
    roles = ["both", "both", "sub", "pub"] if dice.random() < 0.5 else ["both"]
    rows = [(node, topic, dice.choice(roles)) for node in NODES for topic in topics if dice.random() < 0.5]
    return rows or [("a", topics[0], "both")], None if protocol is None else protocol.name


def drawn_fleet(dice: random.Random) -> Fleet:
    """A fleet with ports, TLS, logins and quality of service of its own."""
    login = {"username": "me", "password_env": "PASSWORD"}
    brokers = {
        name: {
            "host": f"host-{name}",
            **({"port": dice.randint(2000, 2003)} if dice.random() < 0.3 else {}),
            **({"tls": {"ca_file": "/ca"}} if dice.random() < 0.2 else {}),
            **({"credentials": login} if dice.random() < 0.2 else {}),
        }
        for name in NODES
    }
    return fleet_from_tables({"defaults": {"qos": dice.randint(0, 2)}, "brokers": brokers})


def drawn_plan(kind: BrokerKind, rows: list[tuple[str, str, str]], filters: str | None, fleet: Fleet) -> Plan:
    interest = Interest.from_roles(rows, filters=filters)
    overlay = design(interest, "tree" if kind.one_tree else "gm")
    return make_plan(interest, overlay, fleet, target=kind.name, relays=True)


def said(text: str) -> list[str]:
    """What a configuration says, without comments."""
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


@every_kind
@pytest.mark.parametrize("seed", range(times(15)))
def test_what_is_rendered_is_read_back(
    kind: BrokerKind, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSWORD", "p@ss word")
    dice = random.Random(f"{kind.name} {seed}")
    plan = drawn_plan(kind, *drawn_rows(kind, dice), drawn_fleet(dice))
    write_plan(plan, tmp_path / "plan.json")
    again = read_plan(tmp_path / "plan.json")
    assert again == plan
    assert configurations(again) == configurations(plan)
    assert (again.fingerprints == plan.fingerprints).all()
    render(plan, tmp_path / "out")
    brokers = read_configured([tmp_path / "out"])
    assert [(broker.name, broker.kind) for broker in brokers] == [(broker.name, kind.name) for broker in plan.brokers]
    wires, outside = connect(brokers)
    assert not outside
    found = {(wire.local, wire.remote) for wire in wires}
    if kind.both_ends:
        found = {(min(link), max(link)) for link in found}
        assert found == {(min(link), max(link)) for link in plan.links}
    else:
        assert found == set(plan.links)


@every_kind
@pytest.mark.parametrize("seed", range(times(40)))
def test_fingerprints_are_equal_exactly_where_texts_are(
    kind: BrokerKind, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSWORD", "p@ss word")
    dice = random.Random(f"{kind.name} fingerprints {seed}")
    rows, filters = drawn_rows(kind, dice)
    fleet = drawn_fleet(dice)
    old = drawn_plan(kind, rows, filters, fleet)
    changed = [row for row in rows if dice.random() < 0.9] or rows
    new = drawn_plan(kind, changed, filters, drawn_fleet(dice) if dice.random() < 0.3 else fleet)
    texts = [{name: said(text) for name, text in configurations(plan).items()} for plan in (old, new)]
    prints = [dict(zip(plan.interest.node_names, plan.fingerprints.tolist(), strict=True)) for plan in (old, new)]
    for name in texts[0].keys() & texts[1].keys():
        assert (texts[0][name] == texts[1][name]) == (prints[0][name] == prints[1][name]), name
    for plan, text, own in zip((old, new), texts, prints, strict=True):
        for name, nothing in configurations(plan.bare).items():
            assert (text[name] == said(nothing)) == (own[name] == 0), name
    steps = {step.broker for step in compare_plans(old, new).steps}
    assert {name for name in texts[0].keys() & texts[1].keys() if texts[0][name] != texts[1][name]} <= steps


@every_kind
@given(topic=st.text(min_size=1, max_size=40), node=st.text(min_size=1, max_size=6))
def test_names_that_are_accepted_survive(kind: BrokerKind, topic: str, node: str) -> None:
    try:
        interest = Interest.from_pairs([("a", topic), (node, topic)], filters="none")
    except InputError:
        assume(False)
    assume(interest.node_count == 2)
    first, second = interest.node_names
    overlay = Overlay.from_links(interest, [(first, second)])
    (topic,) = interest.topic_names
    if kind.name_problem(topic) is not None:
        with pytest.raises(InputError, match=r"^topic "):
            make_plan(interest, overlay, fleet_of(interest.node_names), target=kind.name)
        return
    plan = make_plan(interest, overlay, fleet_of(interest.node_names), target=kind.name)
    for name, text in configurations(plan).items():
        parsed = kind.parse(name, text, "file")
        assert parsed.name == name or parsed.made_for is None
        if not kind.both_ends:
            assert len(parsed.bridges) == len(plan.opened_by(name))
        for bridge in parsed.bridges:
            assert all(rule.pattern == topic for rule in bridge.rules)
