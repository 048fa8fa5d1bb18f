"""Real interests: robots, listeners, groups of viewers. Read from the folder beside the checkout, never copied."""

from __future__ import annotations

import csv
import gzip
import random
from functools import cache

import pytest
from representations import represented

from real_data import DATA, needs_data, viewers
from reference import greedy
from reference.greedy import steps
from topicloom import design, measure
from topicloom.designers.greedy import Representation
from topicloom.model import Interest, Overlay

pytestmark = [pytest.mark.data, pytest.mark.slow, needs_data]


def assert_complete(interest: Interest, overlay: Overlay) -> None:
    found = measure(interest, overlay, diameters=False)
    assert found.topic_connected
    assert (found.support, found.relays, found.unreachable) == (1.0, 0, 0)
    assert overlay.contribution.min() >= 1
    assert overlay.contribution.sum() == interest.subscription_count - interest.topic_count


@cache
def robots() -> dict[str, Interest]:
    """Of every system: who publishes or subscribes to what; and of all systems together, as system/node."""
    rows: dict[str, list[tuple[str, str]]] = {"": []}
    with (DATA / "subscriptions" / "ros_nodes.csv").open(newline="") as text:
        for row in csv.DictReader(text):
            pair = (f"{row['system']}/{row['node']}", row["topic"])
            rows[""].append(pair)
            rows.setdefault(row["system"], []).append(pair)
    return {system: Interest.from_pairs(pairs) for system, pairs in rows.items()}


@cache
def listeners() -> Interest:
    """Deezer users and the genres they like: a seeded sample of 12,000, so that it takes a second."""
    with gzip.open(DATA / "subscriptions" / "deezer_genres.tsv.gz", "rt", encoding="utf-8") as text:
        rows = [tuple(line.rstrip("\n").split("\t")) for line in text][1:]
    users = random.Random(1).sample(sorted({user for user, _ in rows}), 12_000)
    chosen = set(users)
    return Interest.from_pairs((user, genre) for user, genre in rows if user in chosen)


@cache
def test_robot_systems_equal_the_slow_twins() -> None:
    systems = {system: interest for system, interest in robots().items() if system}
    assert len(systems) > 30
    for system, interest in systems.items():
        assert steps(design(interest, "gm")) == greedy.gm(interest), system
        assert steps(design(interest, "minmax-oda")) == greedy.low_oda(interest), system
        assert steps(design(interest, "low-oda")) == greedy.low_oda(interest, 3), system


@pytest.mark.parametrize("name", ["gm", "minmax-oda", "low-oda"])
def test_all_robots_together(name: str) -> None:
    """320 nodes that share names of topics: both representations, the same links."""
    interest = robots()[""]
    found = []
    for bitsets in (True, False):
        with represented(Representation(bitsets)):
            overlay = design(interest, name)
        assert_complete(interest, overlay)
        found.append(steps(overlay))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["gm", "minmax-oda"])
def test_listeners(name: str) -> None:
    interest = listeners()
    assert interest.node_count == 12_000
    assert {"R&B", "Rap/Hip Hop", "Soul & Funk"} <= set(interest.topic_names)
    assert_complete(interest, design(interest, name))


def test_listeners_have_lower_degrees_with_minmax_oda() -> None:
    most = {name: int(design(listeners(), name).degrees.max()) for name in ("gm", "minmax-oda")}
    assert most["minmax-oda"] < most["gm"] / 10


def test_viewers() -> None:
    interest = viewers()
    assert (interest.node_count, interest.topic_count, interest.subscription_count) == (94_238, 30_087, 293_360)
    assert_complete(interest, design(interest, "gm"))
