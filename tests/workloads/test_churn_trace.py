"""Random churn: every event can happen, shares are as asked for, newcomers resemble those that are there."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from topicloom import InputError, Interest, design, synthetic
from topicloom.churn import Settings, maintainer
from topicloom.workloads import churn_trace, drawn_newcomers

INTEREST = synthetic(60, 40, popularity="zipf", alpha=1.0, sizes="uniform", min_topics=2, max_topics=9, seed=1)


def test_every_event_can_happen() -> None:
    maintained = maintainer(design(INTEREST, "low-oda"), Settings())
    for event in churn_trace(INTEREST, 300, change_share=0.4, seed=2):
        maintained.apply(event)


def test_shares() -> None:
    kinds = Counter(event.kind for event in churn_trace(INTEREST, 3000, join_share=0.7, change_share=0.2, seed=3))
    assert kinds["change"] / 3000 == pytest.approx(0.2, abs=0.03)
    assert kinds["join"] / (3000 - kinds["change"]) == pytest.approx(0.7, abs=0.03)
    assert {event.kind for event in churn_trace(INTEREST, 50, join_share=1, seed=3)} == {"join"}
    assert {event.kind for event in churn_trace(INTEREST, 50, join_share=0, seed=3)} == {"leave"}


def test_ids_and_seeds() -> None:
    events = churn_trace(INTEREST, 100, seed=4)
    assert [event.id for event in events] == list(range(1, 101))
    assert events == churn_trace(INTEREST, 100, seed=4)
    assert events != churn_trace(INTEREST, 100, seed=5)


def test_newcomers_resemble_those_that_are_there() -> None:
    joins = churn_trace(INTEREST, 4000, join_share=1, seed=6)
    sizes = np.array([len(event.add) for event in joins])
    assert sizes.mean() == pytest.approx(np.diff(INTEREST.node_start).mean(), rel=0.05)
    assert set(sizes) <= set(np.diff(INTEREST.node_start))
    wanted = Counter(topic for event in joins for topic in event.add)
    popular = INTEREST.topic_names[int(np.argmax(np.diff(INTEREST.topic_start)))]
    assert wanted.most_common(1)[0][0] == popular
    assert len({event.node for event in joins} | set(INTEREST.node_names)) == 4060


def test_newcomers_given() -> None:
    newcomers = Interest.from_pairs([("a", "x"), ("b", "y"), ("b", "z")])
    joins = churn_trace(INTEREST, 3, join_share=1, newcomers=newcomers)
    assert [event.add for event in joins] == [("x",), ("y", "z"), ("x",)]


@pytest.mark.parametrize("name", ["a", "joined-000001", "n0001", "oslo", "~joined-000009", "ümlaut"])
def test_newcomers_come_last_by_name_and_in_the_order_of_their_coming(name: str) -> None:
    joins = churn_trace(Interest.from_pairs([(name, "x")]), 12, join_share=1)
    names = [name, *(event.node for event in joins)]
    assert names == sorted(set(names))


def test_the_last_node_stays() -> None:
    one = Interest.from_pairs([("joined-000001", "x")])
    events = churn_trace(one, 20, join_share=0, change_share=0.5)
    there = {"joined-000001"}
    for event in events:
        assert event.kind != "change", "it wants the only topic already"
        there = there | {event.node} if event.kind == "join" else there - {event.node}
        assert there


def test_refusals() -> None:
    for arguments, message in (
        ({"rounds": -1}, "rounds is -1; give a whole number of at least 0"),
        ({"rounds": 1, "join_share": 1.5}, "join_share is 1.5; give a share from 0 to 1"),
        ({"rounds": 1, "change_share": -0.1}, "change_share is -0.1; give a share from 0 to 1"),
    ):
        with pytest.raises(InputError, match=message):
            churn_trace(INTEREST, **arguments)


def test_drawn_newcomers_are_drawn_alike_but_others() -> None:
    shape = {"popularity": "zipf", "alpha": 1.0, "sizes": "uniform", "min_topics": 3, "max_topics": 9}
    there, joining = synthetic(4000, 30, seed=1, **shape), drawn_newcomers(4000, 30, seed=1, **shape)
    assert not np.array_equal(there.node_start, joining.node_start)
    sizes = [np.sort(np.diff(drawn.node_start)) for drawn in (there, joining)]
    assert np.abs(sizes[0] - sizes[1]).max() <= 1
    popularity = [np.diff(drawn.topic_start) for drawn in (there, joining)]
    assert popularity[0] == pytest.approx(popularity[1], rel=0.2)
    assert joining.fingerprint == drawn_newcomers(4000, 30, seed=1, **shape).fingerprint
    assert joining.fingerprint != drawn_newcomers(4000, 30, seed=2, **shape).fingerprint
