"""Applying to real Mosquittos on loopback: links are up and messages come through, also after a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from folder_fleets import FIRST, SECOND, WANTED
from local_brokers import LocalBrokers

from secure import certificate, passwords
from topicloom import InputError, Interest, Overlay
from topicloom.brokers import Plan, make_plan
from topicloom.brokers.apply import ApplyStopped, StepDone, carry_out, propose, propose_back
from topicloom.brokers.check import login_refusal
from topicloom.brokers.deliver import probe
from topicloom.brokers.kind import DeliveryFailed
from topicloom.brokers.store import opened

pytestmark = pytest.mark.broker("mosquitto")


def plan_over(brokers: LocalBrokers, links: list[tuple[str, str]]) -> Plan:
    interest = Interest.from_pairs(WANTED)
    return make_plan(interest, Overlay.from_links(interest, links), brokers.fleet)


def test_there_and_back_with_a_broker_that_does_not_start(tmp_path: Path) -> None:
    done: list[StepDone] = []
    with LocalBrokers(tmp_path / "fleet", "abcd") as brokers, opened(tmp_path / "state") as state:
        first, second = plan_over(brokers, FIRST), plan_over(brokers, SECOND)
        carry_out(state, brokers.fleet, propose(state, first), done.append, probing=True)
        assert {one.step.broker: one.links and one.links.up for one in done} == {"a": 2, "b": 1}
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


def refused_by(brokers: LocalBrokers, state: Path, settings: list[str], table: dict[str, object]) -> str:
    """What apply says of a link from a to b, where b has these settings and the fleet file says this of b."""
    brokers.tables["brokers"]["b"].update(table)
    main = brokers.folder / "b" / "mosquitto.conf"
    main.write_text(main.read_text().replace("allow_anonymous true", "\n".join(settings)))
    brokers.restart("b")
    fleet = brokers.with_seconds(3)
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    plan = make_plan(interest, Overlay.from_links(interest, [("a", "b")]), fleet)
    with opened(state) as opened_state, pytest.raises(ApplyStopped) as stopped:
        carry_out(opened_state, fleet, propose(opened_state, plan), lambda done: None)
    return str(stopped.value)


def test_a_wrong_password_is_the_reason(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("wrong\n")
    settings = ["allow_anonymous false", f"password_file {passwords(tmp_path, 'bridge', 'right')}"]
    login = {"credentials": {"username": "bridge", "password_file": str(secret)}}
    with LocalBrokers(tmp_path / "fleet", "ab") as brokers:
        said = refused_by(brokers, tmp_path / "state", settings, login)
        assert "its links are not up: to b ('b' refuses the login: not authorised), after 3 s" in said
        assert login_refusal(brokers.with_seconds(3).brokers["a"]) is None


@pytest.mark.openssl
@pytest.mark.parametrize(
    ("trusted", "more", "reason"),
    [
        ("other", [], "'b' has a certificate that is not trusted here: self"),
        ("own", ["require_certificate true"], "'b' refuses TLS: "),
    ],
)
def test_tls_that_fails_is_the_reason(tmp_path: Path, trusted: str, more: list[str], reason: str) -> None:
    made = {name: certificate(tmp_path, name) for name in ("own", "other")}
    own, key = made["own"]
    settings = ["allow_anonymous true", f"certfile {own}", f"keyfile {key}", f"cafile {own}", *more]
    with LocalBrokers(tmp_path / "fleet", "ab") as brokers:
        said = refused_by(brokers, tmp_path / "state", settings, {"tls": {"ca_file": made[trusted][0]}})
        assert f"its links are not up: to b ({reason}" in said


def test_a_broker_that_refuses_the_check_is_the_reason(tmp_path: Path) -> None:
    with LocalBrokers(tmp_path / "fleet", "ab") as brokers:
        main = brokers.folder / "a" / "mosquitto.conf"
        main.write_text(main.read_text().replace("allow_anonymous true", "allow_anonymous false"))
        said = refused_by(brokers, tmp_path / "state", ["allow_anonymous true"], {})
        assert "step 1 of 1, broker 'a': broker 'a' refuses the login: Not authorized, after 3 s" in said
