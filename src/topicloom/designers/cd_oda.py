"""CD-ODA: Low 2010, section VI.

Rule: stars (see `stars`) around the node with most neighbours over the topics that remain.

Guarantee: topic-connected, and every topic has a diameter of at most 2 (Lemma 7).

Cost: the sizes of a node's topics each time its neighbours are counted. Their number only falls, so a stale count is
an upper bound, and a node is counted again only when its bound is the highest.

Symbols: n_u is the number of neighbours.
"""

from __future__ import annotations

from topicloom.designers import stars
from topicloom.designers.contract import Designer
from topicloom.kernels.stars import NEIGHBOURS

DESIGNER = Designer(
    name="cd-oda",
    paper="Low 2010, section VI",
    rule="stars around the node with most neighbours over the topics that remain",
    guarantee=stars.GUARANTEE,
    build=stars.stars(NEIGHBOURS),
    memory=stars.memory,
)
