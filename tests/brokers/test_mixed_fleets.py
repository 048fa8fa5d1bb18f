"""Fleets with brokers of several kinds: planned, written, rendered and linted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from topicloom import InputError, Interest, Overlay
from topicloom.brokers import Fleet, Plan, fleet_from_tables, make_plan, read_plan, render, write_plan
from topicloom.brokers.apply import Proposal, StepDone, carry_out, propose, propose_back
from topicloom.brokers.lint import lint, read_configured
from topicloom.brokers.plan_file import configurations
from topicloom.brokers.store import FleetState, opened

PAIRS = [("a", "t"), ("b", "t"), ("c", "t"), ("n1", "u"), ("n2", "u"), ("n3", "u")]
LINKS = [("a", "b"), ("b", "c"), ("n1", "n2"), ("n2", "n3")]
KINDS = {"a": "emqx", "b": "mosquitto", "c": "mosquitto", "n1": "nats", "n2": "nats", "n3": "nats"}


def mixed_fleet(**more: dict[str, object]) -> Fleet:
    brokers = {name: {"host": name, "kind": kind, **more.get(name, {})} for name, kind in KINDS.items()}
    return fleet_from_tables({"brokers": brokers})


def mixed_plan(pairs: list[tuple[str, str]], links: list[tuple[str, str]], **more: dict[str, object]) -> Plan:
    interest = Interest.from_pairs(pairs)
    return make_plan(interest, Overlay.from_links(interest, links), mixed_fleet(**more))


def test_a_mixed_fleet_is_planned_rendered_and_linted(tmp_path: Path) -> None:
    plan = mixed_plan(PAIRS, LINKS)
    assert plan.target == "mixed"
    assert plan.links == (("b", "a"), ("b", "c"), ("n1", "n2"), ("n2", "n3")), "EMQX opens no links"
    assert [(broker.name, broker.port) for broker in plan.brokers][:4] == [
        ("a", 1883),
        ("b", 1883),
        ("c", 1883),
        ("n1", 7422),
    ]
    write_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan
    text = configurations(plan)
    assert set(text) == {"b", "c", "n1", "n2", "n3"}, "EMQX is given no file"
    assert "address a:1883" in text["b"]
    render(plan, tmp_path / "out")
    brokers = read_configured([tmp_path / "out"])
    assert {broker.name: broker.kind for broker in brokers} == {name: KINDS[name] for name in text}
    report = lint(brokers)
    assert (report.brokers, report.bridges, [finding.kind for finding in report.findings]) == (5, 4, ["outside"])


def test_a_broker_that_changes_its_kind(tmp_path: Path) -> None:
    """Its old links go by its old kind; going back they go by the new one."""
    tables: dict[str, Any] = {
        "defaults": {"apply": {"via": "folder", "path": f"{tmp_path}/{{broker}}.conf", "check": "nothing"}},
        "brokers": {name: {"host": name} for name in "abc"},
    }
    interest = Interest.from_pairs([(name, "t") for name in "abc"])
    overlay = Overlay.from_links(interest, [("a", "b"), ("b", "c")])
    old = make_plan(interest, overlay, fleet_from_tables(tables))
    tables["brokers"]["a"]["kind"] = "emqx"
    fleet = fleet_from_tables(tables)
    new = make_plan(interest, overlay, fleet)

    def go(propose_: Callable[[FleetState], Proposal]) -> list[tuple[str, str | None]]:
        done: list[StepDone] = []
        with opened(tmp_path / "state") as state:
            carry_out(state, fleet, propose_(state), done.append)
        return [(step.step.broker, "put" if step.step.file else "clear") for step in done]

    assert go(lambda state: propose(state, old)) == [("a", "put"), ("b", "put")]
    assert go(lambda state: propose(state, new)) == [("a", "clear"), ("b", "put")]
    assert "connection" not in (tmp_path / "a.conf").read_text(), "EMQX has no file; the one of Mosquitto has no link"
    assert "connection b-a" in (tmp_path / "b.conf").read_text()
    assert go(propose_back) == [("b", "put"), ("a", "put")]
    assert "connection a-b" in (tmp_path / "a.conf").read_text()


def test_kinds_come_from_the_broker_then_the_defaults_then_the_target() -> None:
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    overlay = Overlay.from_links(interest, [("a", "b")])
    tables: dict[str, dict[str, Any]] = {"brokers": {"a": {"host": "a"}, "b": {"host": "b"}}}
    assert make_plan(interest, overlay, fleet_from_tables(tables), target="nats").target == "nats"
    tables["defaults"] = {"kind": "rabbitmq"}
    assert make_plan(interest, overlay, fleet_from_tables(tables), target="nats").target == "rabbitmq"
    tables["brokers"]["a"]["kind"] = "mosquitto"
    with pytest.raises(
        InputError,
        match=r"^fleet: 'a' \(mosquitto\) and 'b' \(rabbitmq\) are linked, and neither can open a link to the other$",
    ):
        make_plan(interest, overlay, fleet_from_tables(tables))
    with pytest.raises(InputError, match=r"^fleet: broker 'a': kind must be mosquitto, rabbitmq, nats, emqx, not 'x'$"):
        fleet_from_tables({"brokers": {"a": {"host": "a", "kind": "x"}}})


def test_what_a_kind_on_the_path_cannot_carry_is_refused() -> None:
    with pytest.raises(InputError, match=r"^topic 'x y': has a space, at which Mosquitto"):
        mixed_plan([("b", "x y"), ("c", "x y"), ("n1", "u"), ("n2", "u")], [("b", "c"), ("n1", "n2")])
    mixed_plan([("b", "a..b"), ("c", "a..b"), ("n1", "u"), ("n2", "u")], [("b", "c"), ("n1", "n2")])
    with pytest.raises(InputError, match=r"^topic 'a\.\.b': has an empty part between dots, which NATS refuses"):
        mixed_plan([("b", "t"), ("c", "t"), ("n1", "a..b"), ("n2", "a..b")], [("b", "c"), ("n1", "n2")])
    with pytest.raises(InputError, match=r"closes a cycle, which NATS refuses"):
        mixed_plan(
            [("n1", "u"), ("n2", "u"), ("n3", "u"), ("n1", "w"), ("n3", "w"), ("b", "t")],
            [("n1", "n2"), ("n2", "n3"), ("n1", "n3")],
        )
    with pytest.raises(InputError, match=r"'b' opens a link to 'a', which accepts no connections"):
        mixed_plan([("a", "t"), ("b", "t")], [("a", "b")], a={"accepts": False})
    with pytest.raises(InputError, match=r"broker 'b' has a vhost, which mosquitto does not know"):
        mixed_plan([("a", "t"), ("b", "t")], [("a", "b")], b={"vhost": "x"})


def test_kinds_in_a_plan_file_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    write_plan(mixed_plan(PAIRS, LINKS), file)
    whole = json.loads(file.read_text())
    for change, wrong in (
        (
            lambda plan: plan["brokers"][0].pop("kind"),
            "broker 'a': has no kind, which a plan with the target mixed needs",
        ),
        (
            lambda plan: plan.update(target="nats"),
            "broker 'a': has a kind, which only a plan with the target mixed needs",
        ),
        (
            lambda plan: plan["brokers"][0].update(kind="x"),
            "broker 'a': kind must be mosquitto, rabbitmq, nats, emqx, not 'x'",
        ),
        (
            lambda plan: plan.update(links=[["a", "b"], *plan["links"][1:]]),
            "'a' (emqx) cannot open a link to 'b' (mosquitto)",
        ),
    ):
        damaged = json.loads(json.dumps(whole))
        change(damaged)
        file.write_text(json.dumps(damaged))
        with pytest.raises(InputError) as refused:
            read_plan(file)
        assert str(refused.value) == f"{file}: {wrong}"
