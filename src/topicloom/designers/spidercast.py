"""SpiderCast: Chockler et al., DEBS 2007, with the global view of Partial 2016, section IX-A.

Rule: each node in turn, knowing all interests, links to the node that covers most of its topics not yet covered
`greedy` times, until none covers any; then to random nodes that share a topic not yet covered `greedy` + `random`
times, until there is none. A link covers every topic that both ends want, for both ends. Ties go to the lowest id.

Guarantee: each topic of a node is covered `greedy` + `random` times, or as often as there are other nodes that want
it. The overlay is not sure to be topic-connected: that only becomes likely with rising coverage.

Cost: where topics are large, for each topic of a node and for each link a few operations on a row with a bit for each
node; else for each node four times the sizes of its topics, and for each link a scan of the nodes that share a topic
in need. 0.3 to 0.6 seconds for 10,000 nodes with 697,000 subscriptions.

Symbols: the protocol's K_g and K_r are `greedy` and `random`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from topicloom.designers.contract import Designer, DesignProblem, Links, measuring_bytes
from topicloom.kernels.coverage import WORDS_A_MEMBER, TopicRows, cover_by_bits, cover_topics, row_words, topic_rows
from topicloom.model.interest import Ids, Interest
from topicloom.registry.parameters import Parameter

# So many words of a row are added to gains in the time of one step to a member of a topic.
_WORDS_A_STEP = 2.5
# And so many in the time that it takes to begin with a row.
_WORDS_TO_BEGIN = 6
# Rows at most beside those of topics: one for each bit of a gain, and what a turn needs.
_OTHER_ROWS = 40

COVERAGE = (
    Parameter("greedy", int, "how often links chosen by gain cover each topic of a node", default=3, minimum=0),
    Parameter("random", int, "how many times more random links cover it", default=1, minimum=0),
)


def build(problem: DesignProblem, **parameters: int) -> Links:
    """Cover the topics of each node in turn; no node gets more than `max_degree` links, if that is given."""
    interest = problem.interest
    room = _most_links(interest, parameters)
    if not bits_pay(interest):
        return covered(cover_topics, problem, parameters, room)
    rows = topic_rows(interest.topic_start, interest.topic_nodes, row_words(interest.node_count))
    return covered(cover_by_bits, problem, parameters, room, rows)


def bits_pay(interest: Interest) -> bool:
    """Whether adding rows with a bit for each node takes less time than going through the members of topics."""
    sizes = np.diff(interest.topic_start).astype(float)
    words = interest.node_count / 64 + _WORDS_TO_BEGIN
    return bool(words * interest.subscription_count < _WORDS_A_STEP * (sizes**2).sum())


def covered(
    kernel: Callable[..., tuple[Ids, Ids]],
    problem: DesignProblem,
    parameters: Mapping[str, int],
    room: int,
    members: TopicRows | None = None,
) -> Links:
    """The links of a kernel that covers topics, with what each one merges; at most `room` of them.

    It looks for others among the nodes of topics, as lists or as given in `members`.
    """
    interest = problem.interest
    others = max(interest.node_count - 1, 0)
    source, target = kernel(
        interest.node_start,
        interest.node_topics,
        interest.topic_start,
        interest.topic_nodes if members is None else members,
        min(parameters["greedy"], others),
        min(parameters["random"], others),
        min(parameters.get("max_degree", others), others),
        room,
        problem.rng(),
        problem.watch.ticks,
    )
    return Links.measured(interest, source, target)


def memory(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """Bytes at most: the member lists or rows, how often subscriptions are covered, and the links, twice at the end."""
    links = _most_links(interest, parameters)
    scratch = 8 * interest.subscription_count + 32 * interest.node_count + 8 * interest.topic_count
    rows = _row_bytes(interest) if bits_pay(interest) else 0
    return scratch + rows + 24 * links + measuring_bytes(interest, links)


def _row_bytes(interest: Interest) -> int:
    """Bytes of rows, and of making them."""
    words = row_words(interest.node_count)
    of_topics = min(words * interest.topic_count, WORDS_A_MEMBER * interest.subscription_count)
    return 8 * (of_topics + _OTHER_ROWS * words) + 20 * interest.topic_count + 12 * interest.subscription_count


def _most_links(interest: Interest, parameters: Mapping[str, Any]) -> int:
    """How many links there may be: each one that a node makes covers a topic of its that is in need."""
    others = max(interest.node_count - 1, 0)
    times = min(parameters["greedy"] + parameters["random"], others)
    most = min(parameters.get("max_degree", others), others)
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
