"""CD-ODA-II: Low 2010, section VI-B.

Rule: stars (see `stars`) around the node of highest density: weighted neighbours over neighbours, over the topics
that remain.

Guarantee: topic-connected, and every topic has a diameter of at most 2 (Lemma 7).

Cost: the sizes of a node's topics each time its neighbours are counted. Density may rise when a topic is dropped, but a
node has no fewer neighbours than its largest topic has: that bounds it, and only the highest bounds are checked.

Symbols: d_u = w_u / n_u is the density; it is compared in whole numbers, cross-multiplied.
"""

from __future__ import annotations

from topicloom.designers.base import Designer
from topicloom.designers.stars import star_designs
from topicloom.kernels.baselines.star_links import DENSITY

DESIGNER = Designer(
    name="cd-oda-2",
    paper="Low 2010, section VI-B",
    rule="stars around the node with most weighted neighbours per neighbour over the topics that remain",
    guarantee=star_designs.GUARANTEE,
    build=star_designs.stars(DENSITY),
    memory=star_designs.memory,
)
