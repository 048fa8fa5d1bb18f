"""GPM: Partial 2016, section VII.

Rule: as `minmax-oda` with the same `matching`, stopped before a degree would pass `max_degree`.

Guarantee: merges at least 1 - e^(-1/6) = 0.154 of what the best links within that degree could (Lemma 4).

Cost: at most that of `minmax-oda`.

Symbols: d is `max_degree`, mu'(e|E) the contribution of e.
"""

from __future__ import annotations

from topicloom.designers.contract import (
    CONSTRAINTS,
    MATCHING,
    MAX_DEGREE,
    PRICES,
    TIES,
    Designer,
    DesignProblem,
    Links,
)
from topicloom.designers.greedy import greedy_bytes, greedy_merges
from topicloom.designers.minmax_oda import minmax_merge


def build(problem: DesignProblem, *, max_degree: int, matching: str, ties: str | None = None) -> Links:
    """The links of MinMax-ODA before a degree would pass `max_degree`."""
    return minmax_merge(problem, matching, ties, max_degree)


DESIGNER = Designer(
    name="gpm",
    paper="Partial 2016, section VII",
    rule="minmax-oda, stopped before a degree would pass max_degree",
    guarantee="merges at least 1 - e^(-1/6) = 0.154 of the best possible within that degree",
    build=build,
    honours=CONSTRAINTS | PRICES,
    parameters=(MAX_DEGREE, MATCHING, TIES),
    memory=greedy_bytes,
    total=greedy_merges,
)
