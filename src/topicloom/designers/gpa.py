"""GPA: Partial 2016, section V.

Rule: as `gm`, stopped at `max_edges` links. The paper's loop as printed would add one link too many.

Guarantee: merges at least 1 - 1/e = 0.632 of what the best `max_edges` links could (Lemma 1).

Cost: at most that of `gm`.

Symbols: m is `max_edges`, mu'(e|E) the contribution of e, TcoSuppR(E) the support.
"""

from __future__ import annotations

from topicloom.designers.contract import CONSTRAINTS, MAX_EDGES, PRICES, TIES, Designer, DesignProblem, Links
from topicloom.designers.gm import greedy_merge
from topicloom.designers.greedy import Greedy, greedy_bytes, greedy_merges


def build(problem: DesignProblem, *, max_edges: int, ties: str | None = None) -> Links:
    """The first `max_edges` links of Greedy Merge."""
    return greedy_merge(Greedy.of(problem, ties, max_edges=max_edges))


DESIGNER = Designer(
    name="gpa",
    paper="Partial 2016, section V",
    rule="gm, stopped at max_edges links",
    guarantee="merges at least 1 - 1/e = 0.632 of the best possible with that many links",
    build=build,
    honours=CONSTRAINTS | PRICES,
    parameters=(MAX_EDGES, TIES),
    memory=greedy_bytes,
    total=greedy_merges,
)
