"""CD-ODA-I: Low 2010, section VI-A.

Rule: stars (see `stars`) around the node with most weighted neighbours: the sum of the subscribers of those of its
topics that remain.

Guarantee: topic-connected, and every topic has a diameter of at most 2 (Lemma 7).

Cost: proportional to the subscriptions (the paper's bound is nodes^2 x topics), as the sums are kept exact while topics
are dropped.

Symbols: w_z is the number of weighted neighbours.
"""

from __future__ import annotations

from topicloom.designers import stars
from topicloom.designers.contract import Designer
from topicloom.kernels.stars import WEIGHTED_NEIGHBOURS

DESIGNER = Designer(
    name="cd-oda-1",
    paper="Low 2010, section VI-A",
    rule="stars around the node with most weighted neighbours over the topics that remain",
    guarantee=stars.GUARANTEE,
    build=stars.stars(WEIGHTED_NEIGHBOURS),
    memory=stars.memory,
)
