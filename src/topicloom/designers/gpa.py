"""GPA: Partial 2016, section V.

Rule: as `gm`, stopped at `max_edges` links. The paper's loop as printed would add one link too many.

Guarantee: merges at least 1 - 1/e = 0.632 of what the best `max_edges` links could (Lemma 1).

Cost: at most that of `gm`.

Symbols: m is `max_edges`, mu'(e|E) the contribution of e, TcoSuppR(E) the support.
"""

from __future__ import annotations

from topicloom.designers.contract import MAX_EDGES, TIES
from topicloom.designers.greedy import greedy_designer

DESIGNER = greedy_designer(
    name="gpa",
    paper="Partial 2016, section V",
    rule="gm, stopped at max_edges links",
    guarantee="merges at least 1 - 1/e = 0.632 of the best possible with that many links",
    choices=lambda given: {"max_edges": given["max_edges"]},
    parameters=(MAX_EDGES, TIES),
)
