"""GPM: Partial 2016, section VII.

Rule: as `minmax-oda` with the same `matching`, stopped before a degree would pass `max_degree`.

Guarantee: merges at least 1 - e^(-1/6) = 0.154 of what the best links within that degree could (Lemma 4).

Cost: at most that of `minmax-oda`.

Symbols: d is `max_degree`, mu'(e|E) the contribution of e.
"""

from __future__ import annotations

from topicloom.designers.contract import MATCHING, MAX_DEGREE, MAXIMAL, TIES
from topicloom.designers.greedy import greedy_designer

DESIGNER = greedy_designer(
    name="gpm",
    paper="Partial 2016, section VII",
    rule="minmax-oda, stopped before a degree would pass max_degree",
    guarantee="merges at least 1 - e^(-1/6) = 0.154 of the best possible within that degree",
    evenly=True,
    choices=lambda given: {"max_degree": given["max_degree"], "maximal": given["matching"] == MAXIMAL},
    parameters=(MAX_DEGREE, MATCHING, TIES),
)
