"""Bridges beside a plan: those that would repeat messages are refused, others are listed and left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from folder_fleets import FolderFleet

from topicloom.brokers import Plan, make_plan
from topicloom.brokers.apply import ApplyStopped
from topicloom.brokers.foreign import ForeignBridges, foreign_bridges
from topicloom.brokers.plan_file import configuration_of
from topicloom.brokers.present import brokers_of, read_present
from topicloom.brokers.store import opened
from topicloom.errors import InputError
from topicloom.model import Interest, Overlay

WANTED = [("a", "plant/1"), ("b", "plant/1"), ("c", "plant/1"), ("d", "other")]
CHAIN = [("a", "b"), ("b", "c")]


class ConfdFleet(FolderFleet):
    """A `conf.d` for each broker, as Mosquitto has it."""

    def __init__(self, folder: Path, **apply: object) -> None:
        super().__init__(folder, **{"path": f"{folder}/files/{{broker}}/topicloom.conf", **apply})
        for name in "abcd":
            (self.files / name).mkdir(exist_ok=True)

    def write(self, broker: str, to: str, *lines: str, file: str = "hand.conf") -> Path:
        path = self.files / broker / file
        path.write_text("\n".join(["# by hand", "connection hand", f"address {to}", *lines]) + "\n")
        return path

    def foreign(self, plan: Plan) -> ForeignBridges:
        return read_foreign(self, plan)


def read_foreign(fleet: FolderFleet, plan: Plan) -> ForeignBridges:
    brokers = brokers_of(fleet.fleet, plan)
    return foreign_bridges(brokers, read_present(fleet.fleet, brokers.values(), fleet.state))


@pytest.fixture
def fleet(tmp_path: Path) -> ConfdFleet:
    return ConfdFleet(tmp_path)


def written(fleet: ConfdFleet) -> list[Path]:
    return sorted(fleet.files.rglob("topicloom.conf"))


@pytest.mark.parametrize("topic", ["plant/1 both", "plant/# both 0", "# both", "# in 1", "+/1 out"])
def test_a_bridge_that_closes_a_cycle_is_refused(fleet: ConfdFleet, topic: str) -> None:
    hand = fleet.write("c", "host-a", f"topic {topic}")
    plan = fleet.plan(CHAIN, WANTED)
    with pytest.raises(InputError) as refused:
        fleet.apply(plan)
    text = str(refused.value)
    assert text.startswith(f"broker 'c': {hand}:2: with this bridge and the plan 'plant/1' published at ")
    assert "\n" not in text
    assert written(fleet) == []
    assert fleet.reloaded() == []
    with opened(fleet.state) as state:
        assert state.new
    hand.unlink()
    fleet.apply(plan)
    assert written(fleet) != []


def test_a_duplicate_is_refused_without_a_loop(fleet: ConfdFleet) -> None:
    fleet.write("a", "host-c:1883", "topic plant/# out")
    wanted = fleet.plan(CHAIN, WANTED)
    with pytest.raises(InputError, match=r"hand\.conf:2: with this bridge and the plan 'plant/1' published at "):
        fleet.apply(wanted)


def test_prefixes_are_followed(fleet: ConfdFleet) -> None:
    fleet.write("c", "host-a", 'topic # both 0 "" far/')
    fleet.apply(fleet.plan(CHAIN, WANTED))
    fleet.write("c", "host-a", "topic 1 in 0 plant/ site/")
    fleet.write("a", "host-b", "topic 1 out 0 plant/ site/")
    fleet.write("b", "host-a", "topic 1 both 0 site/ site/")
    with pytest.raises(InputError, match=r"hand\.conf:2: with this bridge and the plan "):
        fleet.apply(fleet.plan([("a", "b"), ("a", "c")], WANTED))


def test_bridges_through_a_broker_outside_the_plan(fleet: ConfdFleet) -> None:
    wanted = [pair for pair in WANTED if pair[0] != "d"]
    fleet.write("d", "host-a", "topic plant/# both")
    fleet.apply(fleet.plan(CHAIN, wanted))
    fleet.write("d", "host-a", "topic plant/# both", "connection other", "address host-c", "topic plant/# both")
    with pytest.raises(InputError, match=r"^broker 'd': .*/d/hand\.conf:[25]: "):
        fleet.apply(fleet.plan([("a", "b"), ("a", "c")], wanted))


@pytest.mark.parametrize(
    ("broker", "to", "line"),
    [
        ("a", "host-d", "topic plant/# both"),  # no other way leads to d
        ("c", "host-a", "topic plants/# both"),  # nothing in common with the plan
        ("c", "cloud.example.net:8883", "topic # both"),  # out of the fleet
        ("c", "127.0.0.1:9999", "topic # both"),
    ],
)
def test_other_bridges_are_listed_and_stay(fleet: ConfdFleet, broker: str, to: str, line: str) -> None:
    hand = fleet.write(broker, to, line)
    text = hand.read_text()
    plan = fleet.plan(CHAIN, WANTED)
    ((at, other, place),) = fleet.foreign(plan).leads()
    assert (at, place) == (broker, f"{hand}:2")
    assert other in ("a", "d") or other.startswith(to)
    fleet.apply(plan)
    assert hand.read_text() == text


def test_brokers_of_loopback_on_two_machines_are_two(fleet: ConfdFleet) -> None:
    for name in "ac":
        fleet.write(name, "localhost:9999", "topic # both")
    fleet.apply(fleet.plan(CHAIN, WANTED))
    for name in "ac":
        fleet.write(name, "cloud.example.net", "topic # both")
    with pytest.raises(InputError, match=r"hand\.conf:2: with this bridge and the plan 'plant/1' published at "):
        fleet.apply(fleet.plan([("a", "b"), ("a", "c")], WANTED))


def test_what_the_plan_replaces_is_not_in_the_way(fleet: ConfdFleet) -> None:
    """The plan to come counts, and files of ours do not."""
    fleet.apply(fleet.plan(CHAIN, WANTED))
    fleet.write("c", "host-b", "topic plant/# both")
    apart = fleet.plan([("a", "b")], [pair for pair in WANTED if pair[0] != "c"])
    fleet.apply(apart)
    assert "connection b-c" not in (fleet.files / "b" / "topicloom.conf").read_text()


def test_files_of_ours_in_a_folder_for_all_brokers(tmp_path: Path) -> None:
    fleet = FolderFleet(tmp_path)
    plan = fleet.plan(CHAIN, WANTED)
    fleet.apply(plan)
    (fleet.files / "old-name.conf").write_text(configuration_of(plan, "a"))
    found = read_foreign(fleet, plan)
    assert [(at, other) for at, other, _ in found.leads()] == []
    (fleet.files / "hand.conf").write_text("connection x\naddress host-a\ntopic # both\n")
    found = read_foreign(fleet, plan)
    assert set(found.unread.values()) >= {f"{fleet.files}/hand.conf lies beside the files of several brokers"}


def test_a_copy_of_our_own_file_is_a_second_bridge(fleet: ConfdFleet) -> None:
    plan = fleet.plan(CHAIN, WANTED)
    opener = plan.links[0][0]
    (fleet.files / opener / "rendered.conf").write_text(configuration_of(plan, opener))
    with pytest.raises(InputError, match=rf"^broker '{opener}': .*/rendered\.conf:"):
        fleet.apply(plan)


def test_files_that_cannot_be_read_are_no_error(fleet: ConfdFleet) -> None:
    (fleet.files / "a" / "hand.conf").write_text("topic # both\n")
    plan = fleet.plan(CHAIN, WANTED)
    assert "'topic' comes before any 'connection'" in fleet.foreign(plan).unread["a"]
    fleet.apply(plan)
    by_command = ConfdFleet(fleet.folder / "other", via="command", path=None, put="cp {file} /dev/null")
    assert set(by_command.foreign(plan).unread.values()) == {"command has no way to read files"}
    by_command.apply(by_command.plan(CHAIN, WANTED))


def test_over_ssh(fleet: ConfdFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ssh that runs its command in a shell of this machine, as sshd would, and says something besides."""
    program = fleet.folder / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho welcome >&2\nshift 4\nexec sh -c "$1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    there = ConfdFleet(fleet.folder, via="ssh", reload=None)
    (there.files / "c" / "a first one.conf").write_text("# no newline at the end, ünd more than ASCII")
    there.write("c", "host-a", "topic plant/# both")
    plan = there.plan(CHAIN, WANTED)
    with pytest.raises(InputError, match=rf"^broker 'c': host-c:{there.files}/c/hand\.conf:2: "):
        there.apply(plan)
    assert written(there) == []
    (there.files / "c" / "hand.conf").unlink()
    assert not there.foreign(plan).unread
    there.apply(plan)


def test_leafnodes(fleet: ConfdFleet) -> None:
    interest = Interest.from_pairs(WANTED[:3])
    plan = make_plan(interest, Overlay.from_links(interest, CHAIN), fleet.fleet, target="nats")
    (fleet.files / "c" / "nats.conf").write_text(
        'server_name: elsewhere\nleafnodes { remotes: [{ url: "nats://host-a" }]\n include "topicloom.conf" }\n'
    )
    with pytest.raises(InputError, match=r"^broker 'c': .*/c/nats\.conf: remote 1: with this bridge and the plan "):
        fleet.apply(plan)
    assert written(fleet) == []
    (fleet.files / "c" / "nats.conf").write_text('leafnodes { remotes: [{ url: "nats://host-d" }] }\n')
    fleet.apply(plan)


def test_back_to_nothing_is_always_possible(fleet: ConfdFleet) -> None:
    fleet.apply(fleet.plan(CHAIN, WANTED))
    fleet.write("c", "host-a", "topic plant/# both")
    fleet.roll_back()
    assert all("connection" not in path.read_text() for path in written(fleet))


def test_a_run_that_stopped_goes_on_only_without_the_bridge(fleet: ConfdFleet) -> None:
    broken = ConfdFleet(fleet.folder, reload="sh -c 'test {broker} != b'")
    plan = fleet.plan(CHAIN, WANTED)
    with pytest.raises(ApplyStopped):
        broken.apply(plan)
    hand = fleet.write("c", "host-a", "topic plant/# both")
    with pytest.raises(InputError, match=r"hand\.conf:2: "):
        fleet.apply(plan)
    hand.unlink()
    fleet.apply(plan)
