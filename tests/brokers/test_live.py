"""Live proofs: real Mosquitto processes on loopback, counted messages, and nothing left behind."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from plans import plan_of, plan_over

from topicloom import InputError, Interest, synthetic
from topicloom.brokers import Plan, live, local
from topicloom.brokers.live import DeliveryTally, LiveStopped, LiveWatch, Proof, accepting_first, prove
from topicloom.brokers.local import free_ports

pytestmark = pytest.mark.broker("mosquitto")


def fleet() -> Interest:
    return synthetic(12, 30, popularity="uniform", sizes="uniform", min_topics=4, max_topics=12, seed=7)


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests may run brokers at the same time."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def left_behind() -> list[str]:
    """Processes and folders of proofs that are still there."""
    shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    folder = Path(tempfile.gettempdir())
    return [line for line in shown.splitlines() if str(folder) in line] + [path.name for path in folder.iterdir()]


def assert_perfect(proof: Proof) -> None:
    for counts in (proof.counts, *([proof.mending.counts] if proof.mending else [])):
        assert (counts.lost, counts.doubled, counts.unwanted) == (0, 0, 0)
        assert counts.delivered == counts.expected > 0
    assert proof.perfect
    assert left_behind() == []


def test_a_gm_overlay_delivers_once_also_after_a_broker_is_gone() -> None:
    plan = plan_of(fleet())
    assert (len(plan.brokers), len(plan.routes)) == (12, 30)
    busiest = max(plan.broker, key=lambda name: len(plan.links_of[name]))
    proof = prove(plan, messages=2000, kill=busiest)
    assert_perfect(proof)
    mending = proof.mending
    assert mending is not None
    assert proof.counts.published == 2000
    assert set(mending.removed) >= {link for link in plan.links if busiest in link}
    assert busiest not in mending.reloaded
    assert 0 < len(mending.reloaded) < 11, "brokers whose files did not change go on"
    assert mending.seconds < 30
    kept = {link for link in plan.links if busiest not in link}
    assert kept.isdisjoint(mending.removed), "what is left stays as it is"


def test_a_gpm_overlay_with_relays_delivers_once() -> None:
    plan = plan_of(fleet(), "gpm", max_degree=3)
    relayed = sum(len(route.relays) for route in plan.routes)
    assert relayed > 0, "some topic must need a relay here"
    assert len(plan.routes) == 30
    leaf = min(plan.broker, key=lambda name: len(plan.links_of[name]))
    proof = prove(plan, messages=1500, kill=leaf)
    assert_perfect(proof)
    assert proof.counts.relayed > 0
    # Every message goes over every link of its tree, once.
    sources = DeliveryTally(plan, b"", 1500).sources
    expected = sum(len(sources[number % len(sources)][0].links) for number in range(1500))
    assert sum(proof.counts.link_messages.values()) == expected


@pytest.mark.parametrize("qos", [0, 2])
def test_other_qualities_of_service(qos: int) -> None:
    plan = plan_over([(name, topic) for name in "abcd" for topic in "tu"], [("a", "b"), ("b", "c"), ("c", "d")])
    proof = prove(replace(plan, qos=np.full_like(plan.qos, qos)), messages=3000)
    assert_perfect(proof)


def test_names_that_look_dangerous_are_carried() -> None:
    topics = ["😀/é", 'quo"te', "a\\b", "%41", "//", "it's", "../x"]
    nodes = ["a\nb", "../c", "#", "😀"]
    links = list(pairwise(nodes))
    assert_perfect(prove(plan_over([(node, topic) for node in nodes for topic in topics], links), messages=200))


def test_stopping_leaves_nothing() -> None:
    watch = LiveWatch()
    watch.stop()
    with pytest.raises(LiveStopped):
        prove(plan_of(fleet()), watch=watch)
    assert left_behind() == []


def test_a_failure_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_over([("a", "t"), ("b", "t")], [("a", "b")])
    calls = iter([plan])

    def broken(*_: object) -> Plan:
        for before in calls:
            return before
        raise RuntimeError("no mending today")

    monkeypatch.setattr(live, "plan_without", broken)
    with pytest.raises(RuntimeError, match="no mending today"):
        prove(plan, messages=1, kill="a")
    assert left_behind() == []


def test_a_broker_that_does_not_start_says_why() -> None:
    ports = free_ports(["a"])
    with local.Processes(ports) as running, pytest.raises(InputError, match=r"^broker 'a' did not start: .*Error"):
        running.start("a", "connection x\ntopic t sideways\n")
    assert left_behind() == []


def test_what_cannot_be_proven() -> None:
    plan = plan_over([("a", "t"), ("b", "t")], [("a", "b")])
    with pytest.raises(InputError, match=r"^the plan has no broker 'z' to stop$"):
        prove(plan, kill="z")
    with pytest.raises(InputError, match=r"^'a' is the only broker of the plan; nothing would be left$"):
        prove(plan_over([("a", "t")], []), kill="a")


def test_without_mosquitto_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *arguments, **options: None)
    with pytest.raises(InputError) as refused:
        prove(plan_over([("a", "t"), ("b", "t")], [("a", "b")]))
    assert str(refused.value) == "Mosquitto is not installed; on Debian or Ubuntu: sudo apt install mosquitto"


def test_brokers_start_after_those_they_connect_to() -> None:
    order = accepting_first(["a", "b", "c", "d"], [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")])
    assert all(order.index(second) < order.index(first) for first, second in [("a", "b"), ("b", "d"), ("c", "d")])
    assert sorted(accepting_first(["a", "b"], [("a", "b"), ("b", "a"), ("a", "gone")])) == ["a", "b"]


def test_the_tally_counts_what_is_lost_doubled_and_unwanted() -> None:
    plan = plan_over(
        [("a", "t"), ("c", "t"), ("b", "u"), ("d", "u")], [("a", "b"), ("b", "c"), ("b", "d")], relays=True
    )
    tally = DeliveryTally(plan, b"run", 0)
    source, name, qos, payload = tally.next_message() or pytest.fail("there must be a message")
    assert (source, name, qos, payload) == ("a", "t", 1, b"run 0")
    for broker in ("a", "b", "c", "c", "d"):
        tally.arrive(broker, payload, 1e9)
    tally.arrive("c", b"other 0", 1e9)
    assert tally.next_message() is not None
    counts = tally.counts()
    assert (counts.published, counts.expected, counts.delivered) == (2, 4, 2)
    assert (counts.lost, counts.doubled, counts.unwanted, counts.relayed) == (2, 1, 1, 1)
    assert tally.missing() == [("t", "c", "a"), ("t", "c", "c")]
    assert counts.link_messages == {("a", "b"): 1, ("b", "c"): 2, ("b", "d"): 0}
    assert not counts.perfect
    assert not tally.complete
