"""Relief of the highest degrees: as its slow twin does it, and always fewer nodes that have most links."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from effort import times
from reference.constrained import FREE, random_rules
from reference.fleets import STARTS, random_overlay, topics_of
from reference.relief import relief
from topicloom import Interest, Overlay
from topicloom.churn import improve
from topicloom.churn.live_overlay import LiveOverlay
from topicloom.churn.relieve import link_to_take_off


def test_the_same_way_as_the_slow_twin() -> None:
    found = 0
    for seed in range(times(24)):
        dice = random.Random(seed)
        overlay = random_overlay(dice, STARTS[seed % len(STARTS)], most_nodes=10)
        rules = random_rules(overlay.interest.node_names, dice) if seed % 2 else FREE
        # Links that are kept but not there take room, which is no matter of this.
        there = tuple(pair for pair in rules.keep if tuple(sorted(pair)) in set(overlay))
        rules = replace(rules, keep=there, require=())
        live = LiveOverlay(overlay, 0, rules.constraints())
        before = [row.copy() for row in (live.population.limit, live.population.neighbours.length)]
        most = dice.randint(0, 3)
        numbers = live.numbers
        staying = [(numbers[min(pair)], numbers[max(pair)]) for pair in there]
        got = link_to_take_off(live, staying, most)
        named = got and (live.link(*got.gone), [live.link(*ends) for ends in got.instead])
        assert named == relief(topics_of(overlay.interest), list(overlay), most, rules), f"{seed=}"
        for row, now in zip(before, (live.population.limit, live.population.neighbours.length), strict=True):
            assert np.array_equal(row, now), f"{seed=}"
        found += got is not None
    assert found > times(5)


def test_a_node_above_all_others_gives_links_to_those_below() -> None:
    # Everybody wants two topics with the hub; each link of the ring could carry them as well.
    interest = Interest.from_pairs([(name, topic) for name in "abcdef" for topic in "xy"])
    star = Overlay.from_links(interest, [("a", name) for name in "bcdef"])
    better = improve(star, 100, aim="max-degree", designer="gm").overlay
    assert better.degrees.max() == 2
    assert len(better) == 5
