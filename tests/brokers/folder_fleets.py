"""Fleets for tests that are nothing but folders: a file for each broker, and a line in a log for each reload."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from topicloom import Interest, Overlay
from topicloom.brokers import Fleet, Plan, make_plan
from topicloom.brokers.apply import StepDone, carry_out, propose, propose_back
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.plan_file import configurations
from topicloom.brokers.store import opened

# Three plans of the same brokers; from the first to the second some wait for each other.
WANTED = [("a", "t"), ("b", "t"), ("c", "t"), ("a", "u"), ("b", "u"), ("d", "u")]
FIRST = [("a", "b"), ("a", "c"), ("b", "d")]
SECOND = [("a", "b"), ("b", "c"), ("a", "d")]
THIRD = [("a", "b"), ("a", "c"), ("a", "d")]


class FolderFleet:
    """A folder with `files`, a log of reloads and a state."""

    def __init__(self, folder: Path, names: Iterable[str] = "abcd", **apply: object) -> None:
        self.folder = folder
        self.files = folder / "files"
        self.files.mkdir(parents=True, exist_ok=True)
        self.reloads = folder / "reloads"
        self.state = folder / "state"
        delivery = {
            "via": "folder",
            "path": f"{self.files}/{{broker}}.conf",
            "reload": f"sh -c 'echo {{broker}} >> {self.reloads}'",
            "check": "nothing",
            **apply,
        }
        self.tables: dict[str, Any] = {
            "defaults": {"apply": {key: value for key, value in delivery.items() if value is not None}},
            "brokers": {name: {"host": f"host-{name}"} for name in names},
        }

    @property
    def fleet(self) -> Fleet:
        return fleet_from_tables(self.tables)

    def plan(self, links: list[tuple[str, str]], wanted: list[tuple[str, str]] = WANTED) -> Plan:
        interest = Interest.from_pairs(wanted)
        return make_plan(interest, Overlay.from_links(interest, links), self.fleet)

    def apply(self, plan: Plan, *, older: bool = False) -> list[StepDone]:
        done: list[StepDone] = []
        with opened(self.state) as state:
            carry_out(state, self.fleet, propose(state, plan, older=older), done.append)
        return done

    def roll_back(self) -> list[StepDone]:
        done: list[StepDone] = []
        with opened(self.state) as state:
            carry_out(state, self.fleet, propose_back(state), done.append)
        return done

    def written(self) -> dict[str, str]:
        """The files by broker; anything else that lies there is an error."""
        assert all(path.suffix == ".conf" for path in self.files.iterdir()), list(self.files.iterdir())
        return {path.stem: path.read_text() for path in self.files.iterdir()}

    def reloaded(self) -> list[str]:
        return self.reloads.read_text().split() if self.reloads.exists() else []


def assert_has(fleet: FolderFleet, plan: Plan) -> None:
    """Every broker of a plan has its file, and the others have none of our links."""
    files, texts = fleet.written(), configurations(plan)
    for name in files.keys() | texts.keys():
        if "connection" in files.get(name, ""):
            assert files[name] == texts[name]
        else:
            assert "connection" not in texts.get(name, "")
    with opened(fleet.state) as state:
        assert state.move is None
        assert state.plan(state.has, plan.target) == plan
