"""Defects of `apply` and `watch` that are known and not mended yet; each test says what would be right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from folder_fleets import FIRST, SECOND, THIRD, WANTED, FolderFleet
from local_brokers import LocalBrokers

from topicloom import Interest, Overlay
from topicloom.brokers import Plan, make_plan
from topicloom.brokers.apply import StepDone, carry_out, propose
from topicloom.brokers.kinds.mosquitto import session_name
from topicloom.brokers.plan_file import configurations
from topicloom.brokers.store import opened
from topicloom.model.fleet import Broker


def settings_of(text: str) -> list[str]:
    """What a broker reads of a file."""
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_a_file_that_was_emptied_is_put_again(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path)
    plan = fleet.plan(FIRST)
    fleet.apply(plan)
    (fleet.files / "a.conf").write_text("")
    assert [one.step.broker for one in fleet.apply(plan)] == ["a"]
    assert fleet.written()["a"] == configurations(plan)["a"]


@pytest.mark.broker("mosquitto")
def test_a_broker_that_lost_its_bridges_gets_them_again(tmp_path: Path) -> None:
    with LocalBrokers(tmp_path / "fleet", "abcd") as brokers:
        plan = plan_over(brokers, FIRST)
        assert bring(brokers, tmp_path / "state", plan) == ["a", "b"]
        (tmp_path / "fleet" / "a" / "conf.d" / "topicloom.conf").write_text("")
        brokers.restart("a")
        assert bring(brokers, tmp_path / "state", plan) == ["a"]


def test_apply_delivers_what_render_writes(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path)
    plan = fleet.plan(FIRST)
    fleet.apply(plan)
    delivered = fleet.written()
    for name, text in configurations(plan).items():
        assert settings_of(delivered.get(name, "")) == settings_of(text)


@pytest.mark.broker("mosquitto")
@pytest.mark.parametrize("killed", [False, True])
def test_sessions_of_old_links_end(tmp_path: Path, killed: bool) -> None:
    """Also where a run ends between its last step and these."""
    with LocalBrokers(tmp_path / "fleet", "abcd") as brokers:
        first, second = plan_over(brokers, FIRST), plan_over(brokers, SECOND)
        bring(brokers, tmp_path / "state", first)
        if killed:
            with pytest.raises(KeyboardInterrupt):
                bring(brokers, tmp_path / "state", second, ends_after=3)
        bring(brokers, tmp_path / "state", second)
        link = next(link for link in first.links if set(link) == {"a", "c"})
        assert not has_session(first.broker[link[1]], session_name(link, first.lines_of_link[link]))


def test_a_restart_keeps_the_limit_of_an_hour(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet.toml"
    fleet.write_text(
        f'[defaults.apply]\nvia = "folder"\npath = "{tmp_path}/{{broker}}.conf"\ncheck = "nothing"\n'
        '[brokers]\na = { host = "a" }\nb = { host = "b" }\nc = { host = "c" }\n'
    )
    subscriptions, events = tmp_path / "subs.csv", tmp_path / "events.jsonl"
    subscriptions.write_text("node,topic\na,t\nb,t\nc,t\n")
    events.touch()
    common = [
        "watch",
        "--fleet",
        fleet,
        "--state",
        tmp_path / "state",
        "--apply",
        "--once",
        "--no-health",
        "--changes",
        "1",
    ]
    common += ["--events", events]
    assert "applied: " in topicloom(*common, "--subs", subscriptions)
    events.write_text('{"id": 1, "event": "change", "node": "a", "add": ["u"], "remove": []}\n')
    with events.open("a") as file:
        file.write('{"id": 2, "event": "change", "node": "b", "add": ["u"], "remove": []}\n')
    said = topicloom(*common)
    assert "2 events taken" in said
    assert "applied: " not in said
    assert "were changed within the hour" in said


def test_a_broker_that_left_is_told_where_it_was_last(tmp_path: Path) -> None:
    rest = [pair for pair in WANTED if pair[0] != "a"]
    links = [("b", "c"), ("b", "d")]
    # In one of the two orders the first plan by its hash is the old one.
    for number, (before, after) in enumerate([("one", "two"), ("two", "one")]):
        folder = tmp_path / str(number)
        fleet = FolderFleet(folder, path=f"{folder}/files/{{host}}.conf")
        for host, plan in ((before, FIRST), (after, THIRD)):
            fleet.tables["brokers"]["a"]["host"] = host
            fleet.apply(fleet.plan(plan))
        file = fleet.files / f"{after}.conf"
        had = file.read_text()
        assert "connection" in had
        away = FolderFleet(folder, path=f"{folder}/files/{{host}}.conf", reload="sh -c 'test {broker} != a'")
        away.tables["brokers"]["a"]["host"] = after
        away.apply(away.plan(links, rest))
        file.write_text(had)
        fleet.apply(fleet.plan(links, [*rest, ("c", "v"), ("b", "v")]))
        assert "connection" not in file.read_text()


def plan_over(brokers: LocalBrokers, links: list[tuple[str, str]]) -> Plan:
    interest = Interest.from_pairs(WANTED)
    return make_plan(interest, Overlay.from_links(interest, links), brokers.fleet)


def bring(brokers: LocalBrokers, folder: Path, plan: Plan, *, ends_after: int | None = None) -> list[str]:
    """Apply a plan, as a process of its own would; with `ends_after` the process ends when so many steps are done."""
    done: list[str] = []

    def tell(step: StepDone) -> None:
        done.append(step.step.broker)
        if len(done) == ends_after:
            raise KeyboardInterrupt

    with opened(folder) as state:
        carry_out(state, brokers.fleet, propose(state, plan), tell)
    return done


def has_session(broker: Broker, name: str) -> bool:
    """Whether a broker keeps a session of this name."""
    mqtt = pytest.importorskip("paho.mqtt.client")
    present: list[bool] = []

    def on_connect(_client: Any, _data: Any, flags: Any, *_more: Any) -> None:
        present.append(flags.session_present)

    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, name, clean_session=False, protocol=mqtt.MQTTv311)
    client.on_connect = on_connect
    client.connect(broker.host, broker.port)
    while not present:
        client.loop(0.1)
    client.disconnect()
    return present[0]


def topicloom(*arguments: object) -> str:
    """What the command prints, on both streams."""
    command = [sys.executable, "-m", "topicloom", *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.stdout + ended.stderr
