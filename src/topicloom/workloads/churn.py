"""Random churn: nodes that join, leave and change their topics, one at a time. Shadows, section VI."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

from topicloom.io.tables import EVENTS
from topicloom.model import InputError, Interest
from topicloom.model.events import CHANGE, JOIN, LEAVE, Event
from topicloom.workloads.interests import choose_topics, synthetic, whole


def churn_trace(
    interest: Interest,
    rounds: int,
    *,
    join_share: float = 0.5,
    change_share: float = 0.0,
    newcomers: Interest | None = None,
    seed: int = 0,
) -> list[Event]:
    """Events that may happen to a fleet, one after the other, with ids from 1.

    Newcomers get names that come after all others, as ties go by names: so they win none against those that were there.

    Any node is as likely to leave or to change as any other. A change gives up one topic, where a node has several, and
    takes up one of a random subscription. The last node never leaves: another joins instead.

    Args:
        interest: who is there at first.
        rounds: how many events.
        join_share: how many of the joins and leaves are joins.
        change_share: how many of all events are changes.
        newcomers: nodes to take the topics of those that join from, in turn; otherwise each draws as many topics as a
            random node of `interest` wants, by their popularity there.
        seed: the same seed gives the same events.
    """
    whole("rounds", rounds, 0, EVENTS)
    for name, share in (("join_share", join_share), ("change_share", change_share)):
        if not 0 <= share <= 1:
            raise InputError(f"{name} is {share}; give a share from 0 to 1", name)
    rng = np.random.default_rng(whole("seed", seed, 0))
    drawing = _Drawing(interest, _similar_nodes(interest, rounds, rng) if newcomers is None else newcomers, rng)
    return [drawing.event(number, join_share, change_share) for number in range(1, rounds + 1)]


def drawn_newcomers(nodes: int, topics: int, *, seed: int = 0, **shape: Any) -> Interest:
    """Nodes as `synthetic` draws them with this seed and shape, but others: they join those."""
    return synthetic(
        nodes, topics, seed=int(np.random.SeedSequence([whole("seed", seed, 0), 1]).generate_state(1)[0]), **shape
    )


class _Drawing:
    """Who is there as events go on, and what each wants."""

    def __init__(self, interest: Interest, newcomers: Interest, rng: np.random.Generator) -> None:
        self._rng = rng
        self._newcomers = newcomers
        self._subscribed = interest.topic_names, interest.node_topics
        self._nodes = list(interest.node_names)
        self._topics = {node: set(_wanted(interest, number)) for number, node in enumerate(interest.node_names)}
        self._names = _new_names(interest)
        self._joined = 0

    def event(self, number: int, join_share: float, change_share: float) -> Event:
        """One more event."""
        if self._rng.random() < change_share:
            change = self._change(number)
            if change is not None:
                return change
        if self._rng.random() < join_share or len(self._nodes) == 1:
            return self._join(number)
        return self._leave(number)

    def _join(self, number: int) -> Event:
        node, topics = next(self._names), _wanted(self._newcomers, self._joined % self._newcomers.node_count)
        self._joined += 1
        self._nodes.append(node)
        self._topics[node] = set(topics)
        return Event(number, JOIN, node, topics)

    def _leave(self, number: int) -> Event:
        at = self._below(len(self._nodes))
        node = self._nodes[at]
        self._nodes[at] = self._nodes[-1]
        self._nodes.pop()
        del self._topics[node]
        return Event(number, LEAVE, node)

    def _change(self, number: int) -> Event | None:
        """A node that wants another topic; None where it wants the one drawn already and no other."""
        node = self._nodes[self._below(len(self._nodes))]
        wanted = sorted(self._topics[node])
        names, subscriptions = self._subscribed
        topic = names[subscriptions[self._below(len(subscriptions))]]
        add = () if topic in wanted else (topic,)
        remove = (wanted[self._below(len(wanted))],) if len(wanted) > 1 else ()
        if not add and not remove:
            return None
        self._topics[node] = self._topics[node].difference(remove).union(add)
        return Event(number, CHANGE, node, add, remove)

    def _below(self, count: int) -> int:
        return int(self._rng.integers(count))


def _similar_nodes(interest: Interest, nodes: int, rng: np.random.Generator) -> Interest:
    """Other nodes like those of an interest: sizes of random ones, topics by how many nodes want them."""
    sizes = rng.choice(np.diff(interest.node_start), size=nodes)
    chosen_by, chosen = choose_topics(rng, np.log(np.diff(interest.topic_start)), sizes)
    names = tuple(map(str, range(nodes)))
    return Interest.from_ids(names, interest.topic_names, chosen_by, chosen)


def _wanted(interest: Interest, node: int) -> tuple[str, ...]:
    return tuple(interest.topic_names[topic] for topic in interest.topics_of(node).tolist())


def _new_names(interest: Interest) -> Iterator[str]:
    """Names that come after those of all nodes of an interest."""
    last = interest.node_names[-1]
    prefix = next(prefix for prefix in ("joined-", "newcomer-", "~joined-", f"{last}~joined-") if prefix > last)
    return (f"{prefix}{number:06}" for number in count(1))
