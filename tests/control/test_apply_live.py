"""Applying to real Mosquittos on loopback: links are up and messages come through, also after a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from folder_fleets import FIRST, SECOND, WANTED
from local_brokers import LocalBrokers

from topicloom import InputError, Interest, Overlay
from topicloom.control.applying.apply import ApplyStopped, StepDone, carry_out, propose, propose_back
from topicloom.control.applying.broker_checks import probe
from topicloom.control.applying.fleet_state import opened
from topicloom.control.drivers.base import DeliveryFailed
from topicloom.deploy import Plan, make_plan

pytestmark = pytest.mark.broker("mosquitto")


def plan_over(brokers: LocalBrokers, links: list[tuple[str, str]]) -> Plan:
    interest = Interest.from_pairs(WANTED)
    return make_plan(interest, Overlay.from_links(interest, links), brokers.fleet)


def test_there_and_back_with_a_broker_that_does_not_start(tmp_path: Path) -> None:
    done: list[StepDone] = []
    with LocalBrokers(tmp_path / "fleet", "abcd") as brokers, opened(tmp_path / "state") as state:
        first, second = plan_over(brokers, FIRST), plan_over(brokers, SECOND)
        carry_out(state, brokers.fleet, propose(state, first), done.append, probing=True)
        assert {one.step.broker: one.links for one in done} == {"a": 2, "b": 1}
        assert sum(one.probes for one in done) == len(WANTED), "one from each, once its topic is whole"
        main = tmp_path / "fleet" / "b" / "mosquitto.conf"
        good = main.read_text()
        main.write_text("nonsense\n")
        hasty = brokers.with_seconds(3)
        with pytest.raises(ApplyStopped, match=r"^step 2 of 3, broker 'b': 127\.0\.0\.1:\d+ does not answer"):
            carry_out(state, hasty, propose(state, second), done.append)
        with pytest.raises(DeliveryFailed, match=r"^'b' cannot be asked \(Connection refused\)$"):
            probe(first, ["t", "u"], 0.5)
        main.write_text(good)
        carry_out(state, brokers.fleet, propose_back(state), done.append)
        assert probe(first, ["t", "u"], 20) == len(WANTED)


def hand_made(brokers: LocalBrokers, other: str, topic: str) -> str:
    """A bridge as people write it."""
    return f"connection by-hand\naddress 127.0.0.1:{brokers.ports[other]}\ntopic {topic}\n"


def test_a_hand_made_bridge_that_would_make_a_loop(tmp_path: Path) -> None:
    with LocalBrokers(tmp_path / "fleet", "abcd") as brokers, opened(tmp_path / "state") as state:
        plan = plan_over(brokers, FIRST)
        hand = tmp_path / "fleet" / "c" / "conf.d" / "hand.conf"
        hand.write_text(hand_made(brokers, "b", "t/# both"))
        processes = {name: brokers.process(name) for name in "abcd"}
        with pytest.raises(
            InputError, match=rf"^broker 'c': {hand}:1: with this bridge and the plan 't' published at "
        ):
            carry_out(state, brokers.fleet, propose(state, plan), lambda done: None, probing=True)
        assert state.new
        assert {name: brokers.process(name) for name in "abcd"} == processes
        hand.write_text(hand_made(brokers, "b", "other/# both"))
        carry_out(state, brokers.fleet, propose(state, plan), lambda done: None, probing=True)


def test_a_probe_that_arrives_again_fails_its_step(tmp_path: Path) -> None:
    """A bridge in a file that is not looked at."""
    with LocalBrokers(tmp_path / "fleet", "abcd") as brokers, opened(tmp_path / "state") as state:
        with (tmp_path / "fleet" / "b" / "mosquitto.conf").open("a") as main:
            main.write(hand_made(brokers, "c", "t out"))
        with pytest.raises(
            ApplyStopped,
            match=r"^step \d of 2, broker '[ab]': 't' published at '[abc]' arrived (twice|at least \d+ times) at ",
        ):
            carry_out(state, brokers.fleet, propose(state, plan_over(brokers, FIRST)), lambda done: None, probing=True)
