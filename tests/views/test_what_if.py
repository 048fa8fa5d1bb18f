"""What-if answers are those of the Python functions."""

from __future__ import annotations

import pytest

from topicloom import Constraints, InputError, Interest, Overlay, design, measure
from topicloom.churn import maintainer
from topicloom.model.events import JOIN, LEAVE, Event
from topicloom.views.what_if import LEAVE_IT, MEND, Question, changed_interest, what_if
from topicloom.views.what_if_page import question_of

PAIRS = [(f"b{k}", f"t{(k * step) % 5}") for k in range(12) for step in (1, 2, 3)]


@pytest.fixture(scope="module")
def before() -> Overlay:
    return design(Interest.from_pairs(PAIRS), "gm")


def test_a_budget(before: Overlay) -> None:
    told = what_if(before, Question(algorithm="gpm", parameters={"max_degree": 2}))
    asked = design(before.interest, "gpm", max_degree=2)
    assert told.after == asked
    assert told.measures == (measure(before.interest, before), measure(before.interest, asked))


def test_brokers_that_fail_and_come(before: Overlay) -> None:
    question = Question(killed=("b3", "b7"), added={"new": ("t1", "t9")})
    after = Interest.from_pairs(
        [pair for pair in PAIRS if pair[0] not in ("b3", "b7")] + [("new", "t1"), ("new", "t9")]
    )
    assert changed_interest(before.interest, question) == after
    told = what_if(before, question)
    assert told.after == design(after, "gm")
    assert told.measures[1] == measure(after, design(after, "gm"))
    assert [(event.kind, event.node) for event in told.events] == [(JOIN, "new"), (LEAVE, "b3"), (LEAVE, "b7")]


def test_mending_is_that_of_a_maintainer(before: Overlay) -> None:
    told = what_if(before, Question(reaction=MEND, killed=("b3",), added={"new": ("t1", "t2")}))
    mending = maintainer(before)
    mending.apply_jointly([Event(1, JOIN, "new", ("t1", "t2")), Event(2, LEAVE, "b3")])
    assert told.after == mending.overlay()
    assert told.measures[1].topic_connected


def test_nothing_done_shows_what_breaks(before: Overlay) -> None:
    hub = before.interest.node_names[int(before.degrees.argmax())]
    told = what_if(before, Question(reaction=LEAVE_IT, killed=(hub,)))
    assert set(told.after) == {link for link in before if hub not in link}
    assert told.measures[1].support < 1


def test_forbidden_links_are_not_built(before: Overlay) -> None:
    link = next(iter(before))
    told = what_if(before, Question(forbidden=(link,)))
    assert link not in set(told.after)
    assert told.after == design(before.interest, "gm", constraints=Constraints(forbid=(link,)))


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        (Question(killed=("nobody",)), "there is no node 'nobody'"),
        (Question(added={"b1": ("t1",)}), "there is a node 'b1' already"),
        (Question(added={"new": ()}), "say which topics 'new' wants"),
        (Question(forbidden=(("b1", "nobody"),)), "there is no node 'nobody'"),
        (Question(reaction="pray"), "unknown reaction 'pray'"),
        (Question(algorithm="gpm"), "gpm needs max_degree or budget_ratio"),
    ],
)
def test_what_cannot_be_is_one_line(before: Overlay, question: Question, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        what_if(before, question)


def test_mending_goes_around_a_link_that_is_forbidden(before: Overlay) -> None:
    hub = before.interest.node_names[int(before.degrees.argmax())]
    link = next(link for link in before if hub not in link)
    told = what_if(before, Question(reaction=MEND, forbidden=(link,), killed=(hub,)))
    left = {other for other in before if hub not in other} - {link}
    assert set(told.staying) == left
    assert set(told.after) >= left
    assert link not in set(told.after)
    assert told.measures[1].topic_connected
    allowed = Constraints(forbid=(link,), require=told.staying)
    assert told.after == design(told.after.interest, "low-oda", constraints=allowed)


def test_a_form_asks_a_question() -> None:
    interest = Interest.from_pairs([("a - b", "x"), ("c", "x"), ("d", "x")])
    asked = question_of(
        interest,
        {
            "algorithm": "gpm",
            "parameters": {"max_degree": "3", "matching": "useful", "ties": ""},
            "killed": "d\n\n d \n",
            "forbidden": "a - b - c",
            "added": " new ",
            "topics": "x\ny\nx",
        },
    )
    assert asked.parameters == {"max_degree": 3, "matching": "useful"}
    assert (asked.killed, asked.forbidden, asked.added) == (("d",), (("a - b", "c"),), {"new": ("x", "y")})
    with pytest.raises(InputError, match="names no two nodes"):
        question_of(interest, {"forbidden": "a - c"})
