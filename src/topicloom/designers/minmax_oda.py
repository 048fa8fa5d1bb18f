"""MinMax-ODA: Low 2010, section I-B.

Rule: add the link of highest contribution among those that raise the highest degree D least: first those with both
ends below D; only where none of these contributes, the others. With `matching` "maximal", links that contribute
nothing come before these others, the lowest ids first, until no two nodes below D are left that have no link: then all
links between two rises of D are a maximal matching, as the papers have it (Low 2010, lemma 1 and section III;
Partial 2016, section VII).

Guarantee: topic-connected, with a highest degree of at most O(log(nodes x topics)) times the lowest possible. It may
take some n^2/3 links where n - 1 would do; n(n - 2)/2 with maximal matchings (lemma 1).

Cost: that of `gm`, and for each degree one more descent over the links between nodes below it.

Symbols: w(e) is the contribution of e.
"""

from __future__ import annotations

from topicloom.designers.contract import MATCHING, MAXIMAL, TIES
from topicloom.designers.greedy import greedy_designer

DESIGNER = greedy_designer(
    name="minmax-oda",
    paper="Low 2010, section I-B",
    rule="gm among the links that raise the highest degree least",
    guarantee="highest degree within O(log(nodes x topics)) of the lowest possible",
    evenly=True,
    choices=lambda given: {"maximal": given["matching"] == MAXIMAL},
    parameters=(MATCHING, TIES),
)
