"""SpiderCast: Chockler et al., DEBS 2007, with the global view of Partial 2016, section IX-A.

Rule: each node in turn, knowing all interests, links to the node that covers most of its topics not yet covered
`greedy` times, until none covers any; then to random nodes that share a topic not yet covered `greedy` + `random`
times, until there is none. A link covers every topic that both ends want, for both ends. Ties go to the lowest id.

Guarantee: each topic of a node is covered `greedy` + `random` times, or as often as there are other nodes that want
it. The overlay need not be topic-connected: that only becomes likely with rising coverage.

Cost: for each topic of a node a few operations on a row with a bit for each node, or, if that is less, on its members;
for each link a few on such rows. 0.3 to 0.6 seconds for 10,000 nodes with 697,000 subscriptions.

Symbols: the protocol's K_g and K_r are `greedy` and `random`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.designers.contract import Designer, DesignProblem, Links, measuring_bytes
from topicloom.kernels.coverage import WORDS_A_MEMBER, cover_topics, new_covered, new_turn, row_words, topic_rows
from topicloom.model.interest import Interest
from topicloom.registry.parameters import Parameter

# A node makes one link in its turn, and the turns go round.
LINKS = "links"
# Rows at most beside those of topics: one for each bit of a gain, and what a turn needs.
_OTHER_ROWS = 40

COVERAGE = (
    Parameter("greedy", int, "how often links chosen by gain cover each topic of a node", default=3, minimum=0),
    Parameter("random", int, "how many times more random links cover it", default=1, minimum=0),
)


def build(problem: DesignProblem, **parameters: Any) -> Links:
    """Cover the topics of nodes in turn; no node gets more than `max_degree` links, if that is given."""
    interest = problem.interest
    nodes, others = interest.node_count, max(interest.node_count - 1, 0)
    longest, words = int(np.diff(interest.node_start).max(initial=0)), row_words(nodes)
    covered = new_covered(nodes, interest.subscription_count, longest, _max_links(interest, parameters))
    count = cover_topics(
        interest.node_start,
        interest.node_topics,
        topic_rows(interest.topic_start, interest.topic_nodes, words),
        covered,
        new_turn(nodes, longest, words),
        min(parameters["greedy"], others),
        min(parameters["random"], others),
        min(parameters.get("max_degree", others), others),
        parameters.get("turns") == LINKS,
        problem.rng(),
        problem.watch.ticks,
    )
    return Links.measured(interest, covered.source[:count].copy(), covered.target[:count].copy())


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes at most: lists and rows, how often subscriptions are covered, and the links, twice at the end."""
    links = _max_links(interest, parameters)
    scratch = 8 * interest.subscription_count + 32 * interest.node_count + 8 * interest.topic_count
    return scratch + _row_bytes(interest) + 32 * links + measuring_bytes(interest, links)


def _row_bytes(interest: Interest) -> int:
    """Bytes of rows, and of making them."""
    words = row_words(interest.node_count)
    of_topics = min(words * interest.topic_count, WORDS_A_MEMBER * interest.subscription_count)
    return 8 * (of_topics + _OTHER_ROWS * words) + 20 * interest.topic_count + 12 * interest.subscription_count


def _max_links(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Upper bound on the links: each one that a node makes covers one of its topics; by links, nodes may be full."""
    others = max(interest.node_count - 1, 0)
    most = min(parameters.get("max_degree", others), others)
    if parameters.get("turns") == LINKS:
        return int(interest.node_count * most // 2)
    times = min(parameters["greedy"] + parameters["random"], others)
    return int(np.minimum(np.diff(interest.node_start) * times, most).sum())


DESIGNER = Designer(
    name="spidercast",
    paper="Chockler et al., DEBS 2007; Partial 2016, section IX-A",
    rule="each node in turn links to the node that covers most of its topics, then to random ones",
    guarantee="each topic of a node is covered as often as asked, where so many others want it; not topic-connected",
    build=build,
    parameters=COVERAGE,
    random=True,
    memory=memory,
)
