"""Views of what brokers should have and what they have, and of what was checked before they get it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from topicloom.brokers.check import RIGHT, WRONG
from topicloom.views.numbers import count, count_of
from topicloom.views.view import Column, Fact, Note, On, Table, View

if TYPE_CHECKING:
    from topicloom.brokers.check import Checked
    from topicloom.brokers.status import BrokerStatus


def fleet_status(plan: str | None, steps: tuple[int, int] | None, brokers: Sequence[BrokerStatus]) -> View:
    """How the brokers of a fleet are.

    Args:
        plan: what the state calls the plan that the fleet has, None if it has none.
        steps: how many steps of a change that is under way are done, and how many it has.
        brokers: how each is.
    """
    rows = [[one.broker, one.state, one.links, one.up, one.why] for one in brokers]
    columns = (
        Column("broker"),
        Column("state"),
        Column("links", count),
        Column("up", lambda up: "" if up is None else count(up)),
        Column("why"),
    )
    wrong = sum(one.found for one in brokers)
    notes = [] if steps is None else [Note(f"a change is under way: {steps[0]} of {steps[1]} steps are done")]
    if plan is None:
        notes.append(Note("nothing was applied yet"))
    notes.append(Note(f"{count_of(wrong, 'broker')} to look at" if wrong else "all brokers have what they should have"))
    return View(
        "status",
        "Status",
        (
            Fact("plan", plan, on=On.DATA),
            Fact("steps_done", None if steps is None else steps[0], on=On.DATA),
            Fact("steps", None if steps is None else steps[1], on=On.DATA),
            Table("brokers", columns, rows),
            *notes,
        ),
    )


def checked(found: Sequence[Checked]) -> View:
    """What was checked at the brokers of a fleet; people see the right checks of a broker in one row."""
    rows = []
    for broker in dict.fromkeys(one.broker for one in found):
        own = [one for one in found if one.broker == broker]
        right = [one.check for one in own if one.state == RIGHT]
        rows += [[broker, RIGHT, ", ".join(right), ""]] if right else []
        rows += [[broker, one.state, one.check, one.why] for one in own if one.state != RIGHT]
    wrong = len({one.broker for one in found if one.state == WRONG})
    columns = Column("broker"), Column("state"), Column("check"), Column("why")
    return View(
        "check",
        "Check",
        (
            Table("checks", columns, [[one.broker, one.state, one.check, one.why] for one in found], On.DATA),
            Table("rows", columns, rows, On.PEOPLE),
            Note(f"{count_of(wrong, 'broker')} to look at" if wrong else "nothing is in the way"),
        ),
    )
