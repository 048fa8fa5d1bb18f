"""CD-ODA-II: Low 2010, section VI-B.

Rule: stars (see `stars`) around the node of highest density: weighted neighbours over neighbours, over the topics
that remain.

Guarantee: topic-connected, and every topic has a diameter of at most 2 (Lemma 7).

Cost: the sizes of a node's topics each time its neighbours are counted. Density may rise when a topic is dropped, but a
node has no fewer neighbours than its largest topic has: that bounds it, and only the highest bounds are checked.

Symbols: d_u = w_u / n_u is the density; it is compared in whole numbers, cross-multiplied.
"""

from __future__ import annotations

from topicloom.designers import stars
from topicloom.designers.contract import Designer
from topicloom.kernels.stars import DENSITY

DESIGNER = Designer(
    name="cd-oda-2",
    paper="Low 2010, section VI-B",
    rule="stars around the node with most weighted neighbours per neighbour over the topics that remain",
    guarantee=stars.GUARANTEE,
    build=stars.stars(DENSITY),
    memory=stars.memory,
)
