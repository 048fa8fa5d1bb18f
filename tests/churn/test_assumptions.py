"""How far the assumptions of Shadows' bounds hold, on fleets where degrees can be counted by hand; and coverage."""

from __future__ import annotations

import pytest

from topicloom.churn import Settings, coverage_factor, maintainer
from topicloom.churn.assumptions import AssumptionRow, assumed
from topicloom.churn.maintainer import EventRefused, Maintainer
from topicloom.churn.shadow import MendingMaintainer
from topicloom.churn.state import Outcome
from topicloom.designers import design
from topicloom.errors import InputError
from topicloom.model import Interest
from topicloom.model.events import JOIN, LEAVE, Event

# Four nodes that all want x: minmax-oda makes a line, of maximum degree 2 and average degree 1.5.
LINE = Interest.from_pairs([(node, "x") for node in "abcd"])


def happening(found: Maintainer, event: Event) -> AssumptionRow:
    def happen() -> Outcome:
        try:
            return Outcome(event, found.apply(event), None, 0, 0.0, 0.0)
        except EventRefused as refusal:
            return Outcome(event, None, str(refusal), 0, 0.0, 0.0)

    return assumed(found, event, happen)[1]


@pytest.mark.parametrize("method", ["shadow", "naive"])
def test_ratios_of_a_leave_and_of_a_join(method: str) -> None:
    found = maintainer(design(LINE, "minmax-oda"), Settings(method))
    # Three are left, of degrees 2 and 4/3; all of them mend.
    row = happening(found, Event(1, LEAVE, "d"))
    assert row == AssumptionRow(1, 1.0, pytest.approx((4 / 3) / 1.5), 1.0, 1.0)
    row = happening(found, Event(2, JOIN, "e", ("x", "alone")))
    assert row == AssumptionRow(2, 1.0, pytest.approx(1.5 / (4 / 3)), 1.0, 1.0)


def test_a_refused_event_has_no_ratios_and_nothing_is_divided_by_nothing() -> None:
    found = maintainer(design(LINE, "gm"))
    assert happening(found, Event(1, LEAVE, "z")) == AssumptionRow(1, None, None, None, None)
    alone = maintainer(design(Interest.from_pairs([("a", "x"), ("b", "y")]), "gm"))
    assert happening(alone, Event(1, LEAVE, "a")) == AssumptionRow(1, None, None, None, None)


def test_a_rebuild_has_no_shadow_set() -> None:
    found = maintainer(design(LINE, "low-oda"), Settings("rebuild"))
    with pytest.raises(InputError, match="assumptions are about shadow sets, which rebuild has not"):
        happening(found, Event(1, LEAVE, "a"))


def test_coverage_is_that_of_the_least_covered_topic() -> None:
    assert coverage_factor([{"x", "y"}, {"x"}, {"z"}], {"x", "y"}) == 1
    assert coverage_factor([{"x", "y"}, {"x", "y"}], {"x", "y"}) == 2
    assert coverage_factor([{"x"}], {"x", "y"}) == 0
    assert coverage_factor([{"x"}], set()) == 0


@pytest.mark.parametrize("coverage", [0, 1, 2, 3])
def test_backups_cover_as_often_as_asked_while_there_are_enough(coverage: int) -> None:
    found = maintainer(design(LINE, "gm"), Settings(coverage=coverage))
    assert isinstance(found, MendingMaintainer)
    assert found.coverage_factors() == dict.fromkeys("abcd", coverage)
    found.leave("d")
    assert found.coverage_factors() == dict.fromkeys("abc", min(coverage, 2))
