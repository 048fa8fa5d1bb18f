"""Greedy Merge (GM): GM 2007, section 6, algorithm 3.

Rule: add the link of highest contribution, until no link contributes.

Guarantee: topic-connected, with at most ln(subscriptions) times the fewest links possible (lemma 6.5); no bound on
degrees.

Cost: a popcount pass over all pairs, then an evaluation for about every fourth. For sparse interests two to eight
passes over the pairs in each topic, and no memory but for the subscriptions and links.

Symbols: NODES[v][t], the component of v in topic t, is in `instance`. LINKCONTRIB[i], the links that contribute i, and
HIGHESTCONTRIB are `search`: contributions only fall, so it goes down from the highest. Ties go to the lowest
(smaller id, larger id).
"""

from __future__ import annotations

import numpy as np

from topicloom.designers.contract import CONSTRAINTS, PRICES, TIES, Designer, DesignProblem, Links
from topicloom.designers.greedy import Greedy, greedy_bytes, greedy_merges
from topicloom.kernels.greedy import STOP, add_link, allow_spare, find_best, restart, use_spare
from topicloom.kernels.jit import tight_kernel
from topicloom.kernels.price_search import merge_by_price

# To numba a plain 1 is a type of its own: the search would be compiled twice.
_ONE = np.int64(1)


def build(problem: DesignProblem, *, ties: str | None = None) -> Links:
    """The links of Greedy Merge, in the order in which they are added."""
    return greedy_merge(Greedy.of(problem, ties))


def greedy_merge(greedy: Greedy) -> Links:
    """Add the best links to those that exist; gpa, gm-fold and backbone call this too."""
    state = (greedy.instance, greedy.spare, greedy.links, greedy.existing, greedy.ticks)
    if greedy.priced is not None:  # then the best link is that of highest contribution for its price
        return greedy.finished(merge_by_price(greedy.priced, *state))
    return greedy.finished(merge_greedily(greedy.search(confined=greedy.has_limits), *state))


@tight_kernel()
def merge_greedily(search, instance, spare, links, count, ticks):
    """Add links after the first `count`, until none contributes or the list is full; return their number.

    `spare[v]` is how many more links v may have; the array is empty if there are no limits.
    """
    if search.confined:
        allow_spare(search, spare)
    restart(search, instance)
    while count < links.source.shape[0] and ticks[STOP] == 0:
        u, v, contribution = find_best(search, instance, _ONE)  # lines 3 and 15
        if contribution == 0:
            break
        # Lines 4 to 14: merge NODES[u][t] and NODES[v][t].
        add_link(links, count, instance, u, v, contribution, ticks)
        count += 1
        if search.confined:
            use_spare(search, spare, u)
            use_spare(search, spare, v)
    return count


DESIGNER = Designer(
    name="gm",
    paper="GM 2007, section 6",
    rule="add the link of highest contribution until topic-connected",
    guarantee="links at most ln(subscriptions) times the fewest possible",
    build=build,
    honours=CONSTRAINTS | PRICES,
    parameters=(TIES,),
    memory=greedy_bytes,
    total=greedy_merges,
)
