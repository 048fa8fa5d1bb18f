"""The status of real brokers: links that are up and not, and one that does not answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from folder_fleets import FIRST
from local_brokers import LocalBrokers
from test_known_defects import bring, plan_over

from topicloom.brokers.status import fleet_status
from topicloom.brokers.store import beside

pytestmark = pytest.mark.broker("mosquitto")


def test_links_are_up_or_not(tmp_path: Path) -> None:
    with LocalBrokers(tmp_path / "fleet", "abcd") as brokers:
        bring(brokers, tmp_path / "state", plan_over(brokers, FIRST))
        with beside(tmp_path / "state") as state:
            found = {one.broker: one for one in fleet_status(state, brokers.fleet)}
            assert {(one.state, one.why) for one in found.values()} == {("right", "")}
            assert {name: one.up for name, one in found.items()} == {"a": 2, "b": 1, "c": None, "d": None}
            brokers.kill("d")
            found = {one.broker: one for one in fleet_status(state, brokers.fleet)}
        assert found["d"].state == "does not answer"
        assert found["b"].state == "right"
        assert found["b"].why.startswith("its links are not up: to d")
        assert [name for name, one in found.items() if one.found] == ["b", "d"]
