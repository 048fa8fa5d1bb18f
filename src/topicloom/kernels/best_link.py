"""What every search for the best link answers to the rules.

The best link has the highest contribution, and of equals the lowest (smaller id, larger id). There are two searches:
`search` through bounds of pairs, `row_search` for sparse interests. The rules are written once against these functions;
numba picks the implementation by the type of `search`. All searches have `allowed`, a bit for each node that may take
part where they are confined, and `at`, which begins with the contribution that they have come down to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.kernels.jit import inlined

CONTRIBUTION = 0
_ONE = np.uint64(1)


def restart(search: Any, candidates: Any) -> Any:
    """Begin above the highest contribution; needed again after nodes have been allowed anew."""


def find_best(search: Any, topics: Any, candidates: Any, least: Any) -> Any:
    """The best link as (node, node, contribution), the node of the smaller id first.

    Contribution 0 if none is left that contributes `least`, which is above 0.
    """


@inlined()
def is_allowed(allowed, node):
    """Whether a node may take part, by the bits of a search."""
    return (allowed[node >> 6] >> np.uint64(node & 63)) & _ONE != 0


@inlined()
def allow(allowed, node, takes_part):
    """Let a node take part, or not."""
    bit = _ONE << np.uint64(node & 63)
    if takes_part:
        allowed[node >> 6] |= bit
    else:
        allowed[node >> 6] &= ~bit


@inlined()
def highest_possible(search):
    """What no link can contribute more than."""
    return search.at[CONTRIBUTION]
