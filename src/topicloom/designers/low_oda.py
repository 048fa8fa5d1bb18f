"""Low-ODA: Low 2010, section III, algorithm 1. With k infinite it is MinMax-ODA, section I-B.

Rule: e1 is the link of highest w among those that raise the highest degree D least: first those with both ends below D,
then, if none of these contributes, the others. e2 is the link of highest w of all. Add e1 if w(e1) >= w(e2) / k, as
algorithm 1 has it, else e2. With `strict`, e1 needs w(e1) > w(e2) / k, as the text of section III has it.

Guarantee: topic-connected; links within O(k log(subscriptions)) of the fewest, highest degree within
O((nodes / k) log(subscriptions)) of the lowest (theorems 1 and 2). With k = 1 every link contributes as much as any
could, and with `strict` too the links are those of `gm`.

Cost: between `gm` and `minmax-oda`. The exact w(e2) is found only if its upper bound would win.

Symbols: w(e) is the contribution of e, D is `highest`; e1 comes from the search `below`, e2 from `everywhere`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicloom.designers.contract import CONSTRAINTS, PRICES, TIES, Designer, DesignProblem, Links
from topicloom.designers.greedy import AnySearch, Greedy, greedy_bytes, greedy_merges
from topicloom.kernels.greedy import (
    STOP,
    add_link,
    allow_below,
    find_best,
    highest_degree,
    restart_below,
    upper_bound,
    use_spare,
)
from topicloom.kernels.jit import inlined, tight_kernel
from topicloom.kernels.price_search import merge_evenly_by_price
from topicloom.registry.parameters import Parameter

# To numba a plain 1 is a type of its own: the search would be compiled twice.
_ONE = np.int64(1)


class Rule(NamedTuple):
    """When e2 is worth a higher degree: w(e2) > k w(e1); with `strict`, w(e2) = k w(e1) is enough."""

    k: float
    strict: bool


def build(problem: DesignProblem, *, k: float, strict: bool, ties: str | None = None) -> Links:
    """The links of Low-ODA, in the order in which they are added."""
    return even_merge(Greedy.of(problem, ties), Rule(float(k), strict))


def even_merge(greedy: Greedy, rule: Rule, max_degree: int | None = None) -> Links:
    """Add links that keep degrees low; minmax-oda and gpm call this too."""
    state = (greedy.instance, greedy.degrees(max_degree), rule, greedy.links, greedy.existing, greedy.ticks)
    if greedy.priced is not None:  # then the best link is that of highest contribution for its price
        return greedy.finished(merge_evenly_by_price(greedy.priced, greedy.priced_below, *state))
    return greedy.finished(merge_evenly(*even_searches(greedy), *state))


def even_searches(greedy: Greedy) -> tuple[AnySearch, AnySearch]:
    """The searches of `merge_evenly`, for e2 and for e1."""
    return greedy.search(confined=greedy.has_limits), greedy.search(confined=True)


@inlined()
def e2_wins(rule, e2, e1):
    """Whether e2 is worth a higher degree, by the contributions of both."""
    enough = rule.k * e1
    return e2 > enough or (rule.strict and e2 == enough)


@inlined()
def least_e1(rule, e2, least):
    """The least contribution with which e1 beats an e2 that contributes this much; `least` is known to be enough."""
    while least > 1 and not e2_wins(rule, e2, least - 1):
        least -= 1
    return least


@tight_kernel()
def merge_evenly(everywhere, below, instance, degrees, rule, links, count, ticks):
    """Add links after the first `count`, until none contributes or D would pass `degrees.most`; return their number."""
    degree, spare = degrees.degree, degrees.spare
    highest = highest_degree(degree)
    restart_below(everywhere, instance, degree, highest + 1, spare)
    restart_below(below, instance, degree, highest, spare)
    least = np.int64(upper_bound(everywhere))
    while count < links.source.shape[0] and ticks[STOP] == 0:
        least = least_e1(rule, upper_bound(everywhere), least)
        u, v, w = find_best(below, instance, least)  # e1, if it is sure to win
        if w == 0:
            if least == 1 and highest == degrees.most:
                break
            u, v, w = find_best(everywhere, instance, _ONE)  # e2
            if w == 0:
                break
            if least_e1(rule, w, least) < least:
                continue  # e2 contributes less than its bound said: a weaker e1 may win
        add_link(links, count, instance, u, v, w, ticks)
        count += 1
        degree[u] += 1
        degree[v] += 1
        if everywhere.confined:
            use_spare(everywhere, spare, u)
            use_spare(everywhere, spare, v)
        if degree[u] > highest or degree[v] > highest:
            highest += 1
            restart_below(below, instance, degree, highest, spare)
        else:
            allow_below(below, u, degree, highest, spare)
            allow_below(below, v, degree, highest, spare)
    return count


DESIGNER = Designer(
    name="low-oda",
    paper="Low 2010, section III",
    rule="the link of minmax-oda if it contributes at least 1/k of that of gm, else that of gm",
    guarantee="links within O(k log(subscriptions)), highest degree within O((nodes/k) log(subscriptions)) of the best",
    build=build,
    honours=CONSTRAINTS | PRICES,
    parameters=(
        Parameter("k", float, "how much more a link must contribute to be worth a higher degree", 3),
        Parameter("strict", bool, "whether exactly k times as much is worth a higher degree, too", False),
        TIES,
    ),
    memory=greedy_bytes,
    total=greedy_merges,
)
