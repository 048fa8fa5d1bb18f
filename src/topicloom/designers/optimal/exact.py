"""The best overlay there is, for small interests.

Rule: the fewest links that connect every topic, or, with `minimise` = max_degree, the fewest among those whose highest
degree is the lowest possible; by an integer program with HiGHS, see `designers.optimal.cutting_planes`.

Guarantee: topic-connected, and proved best if it ends within `seconds`; else the best overlay found, never worse than
those of `gm`, `low-oda` and `minmax-oda`. What was proved is in the facts of its provenance: `lower_bound`, and
whether the overlay is `optimal`.

Cost: exponential at worst. The links are always the same where the time does not run out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.algorithms import Parameter, Watch
from topicloom.designers.base import Designer, Links
from topicloom.designers.baselines.measured_links import measured
from topicloom.designers.greedy import merging
from topicloom.designers.optimal.cutting_planes import fewest_links, lowest_degree
from topicloom.designers.optimal.sharing_pairs import SharingPairs
from topicloom.errors import InputError
from topicloom.model.interest import Interest

MOST_PAIRS = 50_000


def build(interest: Interest, parameters: Mapping[str, Any], rng: np.random.Generator, watch: Watch) -> Links:
    """Links of the best overlay, or of the best found in the time given."""
    count = merging.pairs_in_topics(interest)
    if min(count, interest.node_count * (interest.node_count - 1) // 2) > MOST_PAIRS:
        raise InputError(
            f"exact is for small interests: this one has {interest.node_count:,} nodes, and at most {MOST_PAIRS:,} "
            "pairs of nodes that share a topic are sensible; use another algorithm"
        )
    until = time.monotonic() + parameters["seconds"]
    pairs = SharingPairs(interest)
    greedy = [
        merging.greedy_links(interest, Watch()),
        merging.even_links(interest, Watch(), patience=3.0),
        merging.even_links(interest, Watch()),
    ]
    starts = [pairs.completed(flags, flags) for flags in (pairs.flags(each.source, each.target) for each in greedy)]
    of_links = min(starts, key=lambda chosen: int(chosen.sum()))
    if parameters["minimise"] == "links":
        found = fewest_links(pairs, of_links, until, lambda: watch.stopped, interest.node_count)
        proved = found
    else:
        of_degree = min(starts, key=lambda chosen: (pairs.max_degree(chosen), int(chosen.sum())))
        proved = lowest_degree(pairs, of_degree, until, lambda: watch.stopped)
        found = fewest_links(pairs, proved.chosen, until, lambda: watch.stopped, proved.value)
    links = measured(interest, pairs.source[found.chosen], pairs.target[found.chosen])
    return links._replace(facts={"lower_bound": proved.bound, "optimal": proved.optimal and found.optimal})


DESIGNER = Designer(
    name="exact",
    paper="none; the problems are Min-TCO of GM 2007 and MinMax-TCO of Low 2010",
    rule="the best overlay there is, by an integer program; for small interests",
    guarantee="the fewest links, or the lowest max degree, unless the time runs out",
    build=build,
    memory=merging.memory,
    parameters=(
        Parameter("minimise", str, "what to have as little of as possible", "links", choices=("links", "max_degree")),
        Parameter("seconds", float, "how long to search before the best found so far is given", 60, minimum=0),
    ),
)
