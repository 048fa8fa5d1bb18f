"""Bridges that people made are taken over by a plan, under traffic."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import Counter
from itertools import count, pairwise
from pathlib import Path

import pytest
from folder_fleets import FolderFleet
from following import wait_until_all_answer
from local_brokers import LocalBrokers

from topicloom import InputError, Interest, Overlay
from topicloom.brokers import make_plan, write_plan
from topicloom.brokers.adopt import adopting_move, needed_sessions, old_bridges
from topicloom.brokers.apply import ApplyStopped, Proposal, StepDone, adjusted, adopting, carry_out, propose
from topicloom.brokers.foreign import foreign_bridges
from topicloom.brokers.local import LastingClients
from topicloom.brokers.present import brokers_of, read_present
from topicloom.brokers.store import FleetState, opened
from topicloom.cli.main import run

PATIENCE_SECONDS = 30.0
ROUND_SECONDS = 0.25
RIGHT = [f"right/{number}" for number in range(3)]
LOOPING = "plant/1"
# Who opens a bridge to whom, and what it carries: a chain that is right, and a cycle beside it.
CHAIN, CYCLE = "abcdef", [("a", "b"), ("b", "c"), ("c", "a")]


class Traffic:
    """Clients at all brokers, who publish and count."""

    def __init__(self, brokers: LocalBrokers) -> None:
        self.got: Counter[tuple[str, str]] = Counter()
        self.sent: dict[str, str] = {}
        self.clients = LastingClients(brokers.fleet.brokers, self._on_message)
        self.names = brokers.names
        self.numbers = count()

    def _on_message(self, broker: str, _topic: str, payload: bytes, _now: float) -> None:
        self.got[broker, payload.decode()] += 1

    def begin(self) -> None:
        for name in self.names:
            self.clients.open(name, [(topic, 1) for topic in (*RIGHT, LOOPING)])
        self.clients.wait_until_subscribed()

    def publish(self, topics: list[str], seconds: float, phase: str) -> None:
        """Publish every topic at every broker once a round, and take what comes."""
        until = time.monotonic() + seconds
        while (now := time.monotonic()) < until:
            for name in self.names:
                for topic in topics:
                    payload = f"{phase} {topic} {name} {next(self.numbers)}"
                    self.sent[payload] = topic
                    self.clients.publish(name, topic, payload.encode(), 1)
            while time.monotonic() < now + ROUND_SECONDS:
                self.clients.serve(0.02)

    def wait(self, wanted: set[str]) -> None:
        """Serve until all brokers have what they want, and for a moment more."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until and self.lost(wanted):
            self.clients.serve(0.1)
        settled = time.monotonic() + 1
        while time.monotonic() < settled:
            self.clients.serve(0.1)

    def lost(self, wanted: set[str]) -> list[tuple[str, str]]:
        """Right messages, and broker, that did not arrive."""
        return [(payload, name) for payload in wanted for name in self.names if not self.got[name, payload]]


def write_bridges(brokers: LocalBrokers) -> list[Path]:
    """The chain and the cycle by hand, in one file for each broker that opens some."""
    sections: dict[str, list[str]] = {}
    for number, (one, other) in enumerate([*pairwise(CHAIN), *CYCLE]):
        pattern = "right/#" if number < len(CHAIN) - 1 else "plant/#"
        sections.setdefault(one, []).append(
            f"connection {one}-{other}-{number}\naddress 127.0.0.1:{brokers.ports[other]}\ntopic {pattern} both 1\n"
            f"remote_clientid hand-{one}-{other}-{number}\nlocal_clientid local-{one}-{other}-{number}\n"
        )
    files = []
    for name, texts in sections.items():
        files.append(brokers.folder / name / "conf.d" / "hand.conf")
        files[-1].write_text("\n".join(texts))
        brokers.restart(name)
    wait_until_all_answer(brokers.fleet)
    return files


def topicloom(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "topicloom", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class ByHand(FolderFleet):
    """Four brokers with a `conf.d` each; a and b have a bridge to each other by hand."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, path=f"{folder}/files/{{broker}}/topicloom.conf")
        for name in "abcd":
            (self.files / name).mkdir(exist_ok=True)
        self.by_hand = {name: self.write(name, other) for name, other in ("ab", "ba")}
        self.wanted = self.plan([("a", "b"), ("b", "c"), ("a", "d")], [(name, "t") for name in "abcd"])

    def write(self, broker: str, to: str, file: str = "hand.conf", more: str = "") -> Path:
        path = self.files / broker / file
        path.write_text(f"{more}connection by-hand\naddress host-{to}\ntopic # both\n")
        return path

    def proposal(self, state: FleetState) -> Proposal:
        brokers = brokers_of(self.fleet, self.wanted)
        present = read_present(self.fleet, brokers.values(), self.state)
        proposal = adjusted(state, self.fleet, propose(state, self.wanted), present)
        return adopting(state, proposal, old_bridges(brokers, present), ())

    def adopt(self, most: int = 99) -> list[StepDone]:
        done: list[StepDone] = []
        with opened(self.state) as state:
            proposal = self.proposal(state)
            carry_out(state, self.fleet, proposal, done.append, ending=lambda: len(done) >= most)
        return done

    @property
    def bridges(self) -> dict[str, str]:
        """The brokers to which each has links, by hand or ours."""
        files = {name: sorted((self.files / name).glob("*.conf")) for name in "abcd"}
        found = {
            name: re.findall(r"^address host-(\w)", "".join(one.read_text() for one in own), re.MULTILINE)
            for name, own in files.items()
        }
        return {name: "".join(sorted(links)) for name, links in found.items() if links}


@pytest.fixture
def by_hand(tmp_path: Path) -> ByHand:
    return ByHand(tmp_path)


def test_files_are_set_aside_before_any_of_ours_comes(by_hand: ByHand) -> None:
    outside = by_hand.write("c", "cloud", "cloud.conf")
    other = by_hand.files / "a" / "more.conf"
    other.write_text("max_queued_messages 5\n")
    done = by_hand.adopt()
    assert [(one.step.broker, one.step.file is None) for one in done] == [
        ("a", True),
        ("b", True),
        ("a", False),
        ("b", False),
    ]
    assert by_hand.bridges == {"a": "bd", "b": "c", "c": "c"}
    assert outside.exists()
    assert other.exists()
    assert (by_hand.files / "a" / "hand.conf.adopted.bak").read_text().startswith("connection by-hand")
    assert by_hand.apply(by_hand.wanted) == [], "nothing is left to do"


@pytest.mark.parametrize("most", [1, 2, 3])
def test_stopped_and_on_or_back(by_hand: ByHand, most: int) -> None:
    before = by_hand.bridges
    for back in (True, False):
        with pytest.raises(ApplyStopped):
            by_hand.adopt(most)
        if back:
            by_hand.roll_back()
            assert by_hand.bridges == before
            assert not list(by_hand.files.rglob("*.bak"))
    by_hand.adopt()
    assert by_hand.bridges == {"a": "bd", "b": "c"}


def test_what_cannot_be_taken_over(by_hand: ByHand) -> None:
    for text, problem in (
        ("listener 1884\n", "has 'listener', which is of no bridge; move it to a file of its own"),
        ("connection out\naddress cloud\ntopic x out\n", "leads out of the fleet; move it to a file of its own"),
    ):
        by_hand.write("a", "b", more=text)
        with pytest.raises(InputError, match=problem):
            by_hand.adopt()
    by_hand.write("a", "b")
    with opened(by_hand.state) as state, pytest.raises(InputError, match=r"^broker 'c' does not answer; bridges are"):
        adopting(state, propose(state, by_hand.wanted), {}, ["c"])
    assert by_hand.bridges == {"a": "b", "b": "a"}
    ours = by_hand.write("d", "a", "topicloom.conf")
    with pytest.raises(InputError, match=r"^broker 'd': has other links: its file is of another plan"):
        by_hand.adopt()
    ours.unlink()
    by_hand.adopt()
    with pytest.raises(InputError, match="has a plan; take over bridges before the first one"):
        by_hand.adopt()


def test_sessions_are_made_when_the_last_old_path_goes(by_hand: ByHand) -> None:
    brokers = brokers_of(by_hand.fleet, by_hand.wanted)
    by_hand.write("c", "d")
    by_hand.write("b", "c", "one-way.conf", "connection one-way\naddress host-d\ntopic t out\n")
    present = read_present(by_hand.fleet, brokers.values(), by_hand.state)
    steps = adopting_move(by_hand.wanted, "new", old_bridges(brokers, present)).steps
    assert [(step.broker, step.file) for step in steps] == [
        *((name, None) for name in "abc"),
        *((name, "new") for name in "ab"),
    ]
    needed = needed_sessions(by_hand.wanted, steps, foreign_bridges(brokers, present))
    # a and b are linked until b lets go, b and c until then; a and d over b and c.
    assert needed == {1: [("a", "b"), ("a", "d"), ("b", "c")]}


def test_the_command(by_hand: ByHand, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(by_hand.folder)
    write_plan(by_hand.wanted, Path("plan.json"))
    path = f"{by_hand.files}/{{broker}}/topicloom.conf"
    hosts = "".join(f'[brokers.{name}]\nhost = "host-{name}"\n' for name in "abcd")
    Path("fleet.toml").write_text(f'[defaults.apply]\nvia = "folder"\npath = "{path}"\ncheck = "nothing"\n{hosts}')
    assert run(["apply", "plan.json", "--yes"]) == 2
    refused = capsys.readouterr().err
    assert "goes round for ever" in refused
    assert refused.endswith("; or give --adopt to replace the bridges of people\n")
    assert run(["apply", "plan.json", "--adopt", "--dry-run"]) == 1
    said = capsys.readouterr().out
    assert f"  a: {by_hand.files}/a/hand.conf -> hand.conf.adopted.bak\n" in said
    assert "  2. let the old bridges go on b\n" in said
    assert by_hand.bridges == {"a": "b", "b": "a"}
    assert run(["apply", "plan.json", "--adopt", "--yes"]) == 0
    assert by_hand.bridges == {"a": "bd", "b": "c"}


@pytest.mark.broker("mosquitto")
@pytest.mark.slow
def test_a_mesh_with_a_cycle_under_traffic(tmp_path: Path) -> None:
    wanted = [(name, topic) for name in CHAIN for topic in RIGHT] + [(name, LOOPING) for name in "abcd"]
    with LocalBrokers(tmp_path / "brokers", CHAIN) as brokers:
        files = write_bridges(brokers)
        traffic = Traffic(brokers)
        with traffic.clients:
            traffic.begin()
            while traffic.lost({*traffic.sent}) or not traffic.sent:
                traffic.sent.clear()
                traffic.publish(RIGHT, 0.5, "before")
                time.sleep(0.2)
                traffic.clients.serve(0.5)
            interest = Interest.from_pairs(wanted)
            links = [("a", "c"), ("b", "c"), ("c", "d"), ("d", "f"), ("e", "f")]
            write_plan(make_plan(interest, Overlay.from_links(interest, links), brokers.fleet), tmp_path / "plan.json")
            fleet = brokers.write_fleet(tmp_path / "fleet.toml")
            apply = ("apply", "plan.json", "--fleet", str(fleet), "--yes")
            refused = topicloom(tmp_path, *apply).communicate()[1]
            assert "goes round for ever" in refused
            adopting = topicloom(tmp_path, *apply, "--adopt")
            while adopting.poll() is None:
                traffic.publish(RIGHT, 0.2, "during")
            out, err = adopting.communicate()
            assert (adopting.returncode, err) == (0, ""), out + err
            traffic.wait({*traffic.sent})
            lost = traffic.lost({*traffic.sent})
            doubled = sum(times > 1 for times in traffic.got.values())
            assert not lost, f"{len(lost)} of {len(traffic.sent) * len(CHAIN)} lost"
            most = max(traffic.got.values())
            assert most <= len(CHAIN), "no storm at any time"
            during = len(traffic.sent)
            traffic.sent.clear()
            deliveries = len(traffic.got)
            traffic.got.clear()
            traffic.publish([*RIGHT, LOOPING], 2, "after")
            traffic.wait({payload for payload, topic in traffic.sent.items() if topic in RIGHT})
            print(f"{during} messages, {doubled} of {deliveries} deliveries doubled, {most} copies at most")
        gets = {topic: {name for name, one in wanted if one == topic} for topic in (*RIGHT, LOOPING)}
        expected: dict[tuple[str, str], int] = {}
        for payload, topic in traffic.sent.items():
            publisher = payload.split()[2]
            # A broker that does not want a topic sends it to nobody, but its own client hears itself.
            heard = gets[topic] if publisher in gets[topic] else {publisher}
            expected |= {(name, payload): 1 for name in heard}
        assert traffic.got == expected
        assert all(not file.exists() and file.with_name("hand.conf.adopted.bak").exists() for file in files)
        status = topicloom(tmp_path, "status", "--fleet", str(fleet))
        assert (status.wait(), status.communicate()[1]) == (0, "")
