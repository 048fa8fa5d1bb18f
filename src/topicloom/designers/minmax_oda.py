"""MinMax-ODA: Low 2010, section I-B.

Rule: add the link of highest contribution among those that raise the highest degree D least: first those with both
ends below D; only if none of these contributes, the others. With `matching` "maximal", links that contribute
nothing come before these others, the lowest ids first, until no two nodes below D are left that have no link: then all
links between two rises of D are a maximal matching, as the papers have it (Low 2010, lemma 1 and section III;
Partial 2016, section VII).

Guarantee: topic-connected, with a highest degree of at most O(log(nodes x topics)) times the lowest possible. It may
take some n^2/3 links instead of n - 1; n(n - 2)/2 with maximal matchings (lemma 1).

Cost: that of `gm`, and for each degree one more descent over the links between nodes below it.

Symbols: w(e) is the contribution of e.
"""

from __future__ import annotations

import math
from dataclasses import replace

from topicloom.designers.contract import (
    CONSTRAINTS,
    MATCHING,
    MAXIMAL,
    PRICES,
    TIES,
    Designer,
    DesignProblem,
    Links,
)
from topicloom.designers.greedy import Greedy, greedy_bytes, greedy_merges, max_matched_links
from topicloom.designers.low_oda import Rule, even_merge, even_searches, merge_evenly
from topicloom.errors import InputError
from topicloom.kernels.greedy import fill_matching, new_link_list, new_matchings
from topicloom.metrics.support import possible_merges

# No link is worth a higher degree.
_NEVER = Rule(math.inf, False)


def build(problem: DesignProblem, *, matching: str, ties: str | None = None) -> Links:
    """The links of MinMax-ODA, in the order in which they are added."""
    return minmax_merge(problem, matching, ties)


def minmax_merge(problem: DesignProblem, matching: str, ties: str | None, max_degree: int | None = None) -> Links:
    """Add links until none contributes or a degree would pass `max_degree`; gpm calls this too."""
    if matching != MAXIMAL:
        return even_merge(Greedy.of(problem, ties), _NEVER, max_degree)
    if problem.asks or ties == "hash":
        raise InputError("matching 'maximal' cannot be combined with constraints or prices", "matching")
    return _matched_links(Greedy.of(problem), max_degree)


def _matched_links(greedy: Greedy, max_degree: int | None) -> Links:
    """The same links, and before each rise of D others, until no two nodes below D are left unlinked."""
    interest = greedy.problem.interest
    links = new_link_list(max_matched_links(interest, max_degree))
    matchings = new_matchings(interest.node_count)
    degrees = greedy.degrees(max_degree)
    searches = even_searches(greedy)
    count, merges = 0, possible_merges(interest)
    for highest in range(1, degrees.most + 1):
        noted = count
        below = degrees._replace(most=highest)
        count = merge_evenly(*searches, greedy.instance, below, _NEVER, links, count, greedy.ticks)
        if greedy.problem.watch.stopped or int(links.contribution[:count].sum()) == merges:
            break
        count = fill_matching(matchings, links, noted, count, greedy.instance.candidates, degrees.degree, highest)
    return replace(greedy, links=links).finished(count)


DESIGNER = Designer(
    name="minmax-oda",
    paper="Low 2010, section I-B",
    rule="gm among the links that raise the highest degree least",
    guarantee="highest degree within O(log(nodes x topics)) of the lowest possible",
    build=build,
    honours=CONSTRAINTS | PRICES,
    parameters=(MATCHING, TIES),
    memory=greedy_bytes,
    total=greedy_merges,
)
