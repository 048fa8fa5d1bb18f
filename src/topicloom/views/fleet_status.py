"""A view of what brokers should have and what they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from topicloom.views.numbers import count, count_of
from topicloom.views.view import Column, Fact, Note, On, Table, View

if TYPE_CHECKING:
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
