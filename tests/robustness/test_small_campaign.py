"""A small part of the campaign, always the same: hostile input, kills, faults, and a simulated fleet."""

from __future__ import annotations

import shutil
from pathlib import Path
from unittest import mock

import pytest
from campaign import faults, fuzzing, killing, valid_files
from campaign.ledger import Ledger
from campaign.simulation import Broken, World
from campaign.valid_files import make_files

from topicloom.brokers import apply
from topicloom.brokers.diff import Difference, compare_plans
from topicloom.brokers.plan import Plan

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Valid files of all kinds, made once."""
    folder = tmp_path_factory.mktemp("valid") / "files"
    make_files(folder, 1)
    return folder


@pytest.fixture
def ledger(valid: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Nothing tried yet."""

    def copy(folder: Path, _seed: int) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(valid, folder)

    for module in (fuzzing, valid_files):
        monkeypatch.setattr(module, "make_files", copy)
    return Ledger()


def test_hostile_input_is_refused_in_one_line(ledger: Ledger) -> None:
    fuzzing.fuzz(ledger, 1, 20, outside=False)
    assert ledger.counts["fuzzed inputs"] == 20
    assert not ledger.failures


def test_killed_commands_go_on_as_if_nothing_had_been(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = [line for line in killing.WRITING if line.split()[0] in ("generate", "plan", "render", "apply")]
    monkeypatch.setattr(killing, "WRITING", quick)
    killing.kill_and_go_on(ledger, 1, range(6))
    assert ledger.counts["kills"] == 6
    assert not ledger.failures


def test_faults_leave_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = ("no temporary files", "short files", "two at once", "signals")
    monkeypatch.setattr(faults, "KINDS", {kind: faults.KINDS[kind] for kind in kinds})
    monkeypatch.setattr(faults, "WRITING", [killing.WRITING[0]])
    faults.suffer(ledger, 1, range(4))
    assert ledger.counts["resource faults"] == 4
    assert not ledger.failures


# Seeds that have failed stay here; of 3 the controller asks the brokers.
@pytest.mark.parametrize("seed", [3, 4, 6, 44300132])
def test_a_simulated_fleet_keeps_its_promises(seed: int) -> None:
    world = World(seed)
    world.live(6.0)
    assert world.hours >= 6
    assert world.fleet.steps > 0


def test_the_simulation_sees_a_wrong_order() -> None:
    def backwards(old: Plan, new: Plan) -> Difference:
        found = compare_plans(old, new)
        found.steps = tuple(step for step in reversed(found.steps) if not step.clear)
        return found

    def live() -> None:
        for seed in range(1, 20):
            World(seed).live(24.0)

    with mock.patch.object(apply, "compare_plans", backwards), pytest.raises(Broken):
        live()
