"""Decisions that cannot be followed: they are refused before they are committed, and stores that have them end."""

from __future__ import annotations

from pathlib import Path

import pytest
from following import Decided
from test_watching import JOIN, Watched, lines

from topicloom import InputError, Interest
from topicloom.brokers.store import opened
from topicloom.churn.maintainer import Change, Maintainer
from topicloom.model.constraints import Constraints
from topicloom.model.demand import Demand
from topicloom.model.events import Event, topics_by_node

LONG = "t" * 65_536
FIRST = Demand.from_interest(Interest.from_pairs([(name, "t") for name in "abc"]))


def test_a_topic_of_an_event_that_is_too_long(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.events.write_text(lines(Event(1, "change", "a", (LONG,)), Event(2, "change", "a", ("v",))))
    made = watched.turns(2)
    assert made.decisions.last_event == 2
    (said,) = [text for text in watched.said if "65,536 bytes" in text]
    assert said.endswith('a name in "add" has 65,536 bytes; the most are 65,535')
    watched.assert_applied(watched.turns())


@pytest.mark.parametrize("keep", [(("a", "b"), ("b", "c"), ("a", "c")), (("a", "b"), ("b", "c"))])
def test_links_that_stay_and_make_a_cycle_are_refused_for_a_tree(tmp_path: Path, keep: tuple[tuple[str, str]]) -> None:
    constraints = Constraints(keep=keep, require=(("a", "c"),))
    with pytest.raises(InputError, match=r"^keep and require form a cycle through 'a' - 'c'; a tree allows none$"):
        Decided(tmp_path, constraints, FIRST, tree=True)
    Decided(tmp_path, constraints, FIRST).close()


@pytest.mark.parametrize("tree", [False, True])
def test_an_event_that_cannot_be_followed_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tree: bool
) -> None:
    decisions = Decided(tmp_path, Constraints(), FIRST, tree=tree)
    assert decisions.take(Event(1, "join", "d", ("t", "u"))) is None
    before, wanted = decisions.overlay().to_arrow(), dict(decisions.demand.by_node)
    kind = type(decisions.maintainer)
    become = kind.become

    def breaks(self: Maintainer, interest: Interest) -> Change:
        change = become(self, interest)
        if "u" in topics_by_node(interest)["a"]:
            raise RuntimeError(f"{change}\nand more")
        return change

    with monkeypatch.context() as broken:
        broken.setattr(kind, "become", breaks)
        refusal = decisions.take(Event(2, "change", "a", ("u",)))
    assert str(refusal).startswith("change of 'a' cannot be followed (RuntimeError: ")
    assert "\n" not in str(refusal)
    assert decisions.overlay().to_arrow() == before
    assert topics_by_node(decisions.maintainer.interest()) == topics_by_node(decisions.interest)
    assert decisions.demand.by_node == wanted
    assert decisions.last_event == 2, "it is not judged again"
    assert decisions.take(Event(3, "change", "b", ("u",))) is None
    after = decisions.overlay().to_arrow()
    decisions.close()
    again = Decided(tmp_path, Constraints(), None)
    assert (again.overlay().to_arrow(), again.last_event) == (after, 3)
    assert again.demand == decisions.demand


def test_a_first_table_that_cannot_be_followed_is_not_logged(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"name of 65,536 bytes"):
        Decided(tmp_path, Constraints(), Demand.of({**FIRST.by_node, "a": frozenset([(LONG, "sub")])}))
    Decided(tmp_path, Constraints(), FIRST).close()


def test_a_store_with_such_a_decision_ends_with_one_line(tmp_path: Path) -> None:
    decisions = Decided(tmp_path, Constraints(), FIRST)
    assert decisions.take(JOIN) is None
    decisions.close()
    with opened(tmp_path) as state:
        state.store.append([Event(7, "change", "a", (LONG,)).to_json().join(('{"event": ', "}"))])
    with pytest.raises(InputError, match=r"fleet\.db: decision 3 cannot be followed \(.*has 65,536 bytes") as caught:
        Decided(tmp_path, Constraints(), None)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("put the store back from a copy, or begin a new one")
