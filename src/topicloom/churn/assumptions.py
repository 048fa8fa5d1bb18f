"""The assumptions under which Shadows bounds degrees, section V-F, equations 3 to 6, looked at event by event.

They compare least degrees before and after an event (3 and 4), and those of the shadow set with those of all nodes (5
and 6): the one must not be a growing multiple of the other. Least degrees are not known; what `minmax-oda` (maximum)
and `gm` (average) reach stands in for them. What is given are ratios; whether they stay bounded, many of them tell.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass

import pyarrow as pa

from topicloom.churn.maintainer import Maintainer
from topicloom.churn.shadow import MendingMaintainer
from topicloom.churn.state import Outcome
from topicloom.designers import design
from topicloom.errors import InputError
from topicloom.io.tables import write_parquet
from topicloom.io.whole import replacing
from topicloom.model.events import LEAVE, Event
from topicloom.model.filters import PLAIN
from topicloom.model.interest import Interest


@dataclass(frozen=True)
class AssumptionRow:
    """Of an event: ratios of least maximum and average degrees, None where it was refused or nothing can be compared.

    `max_change` (equation 3) and `average_change` (4) are those after the event to those before; `shadow_max` (5) and
    `shadow_average` (6) those of the shadow set within the event's topics to those of all nodes.
    """

    event: int
    max_change: float | None
    average_change: float | None
    shadow_max: float | None
    shadow_average: float | None


def assumed(maintained: Maintainer, event: Event, happen: Callable[[], Outcome]) -> tuple[Outcome, AssumptionRow]:
    """Let an event happen, and say how far the assumptions hold for it."""
    if not isinstance(maintained, MendingMaintainer):
        raise InputError("assumptions are about shadow sets, which rebuild has not; give shadow or naive", "method")
    before = maintained.interest()
    going = event.kind == LEAVE
    around = _shadow(maintained, event) if going and maintained.has(event.node) else None
    outcome = happen()
    if outcome.error is not None:
        return outcome, AssumptionRow(event.id, None, None, None, None)
    after = maintained.interest()
    shadow = around if going else _shadow(maintained, event)
    assert shadow is not None
    least, others, mended = (_least_degrees(interest) for interest in (before, after, shadow))
    return outcome, AssumptionRow(
        event.id,
        _ratio(others[0], least[0]),
        _ratio(others[1], least[1]),
        _ratio(mended[0], others[0]),
        _ratio(mended[1], others[1]),
    )


def write_assumptions(rows: list[AssumptionRow], path: str | os.PathLike[str]) -> None:
    """Write rows as Parquet."""
    ratios = ("max_change", "average_change", "shadow_max", "shadow_average")
    schema = pa.schema([("event", pa.int64()), *((name, pa.float64()) for name in ratios)])
    with replacing(path) as temporary:
        write_parquet(pa.Table.from_pylist([asdict(row) for row in rows], schema), temporary)


def _shadow(maintained: MendingMaintainer, event: Event) -> Interest:
    """The shadow set of an event as a fleet of its own, within the topics of its node; without it where it leaves."""
    node = event.node
    topics = set(maintained.topics_of(node))
    others = maintained.shadow_of(node)
    nodes = others if event.kind == LEAVE else [node, *others]
    pairs = ((other, topic) for other in nodes for topic in maintained.topics_of(other) if topic in topics)
    return Interest.from_pairs(pairs, filters=PLAIN)


def _least_degrees(interest: Interest) -> tuple[float, float]:
    """The maximum degree of `minmax-oda` and the average one of `gm`."""
    if interest.node_count == 0:
        return 0.0, 0.0
    even, few = (design(interest, name) for name in ("minmax-oda", "gm"))
    return float(even.degrees.max(initial=0)), float(few.degrees.mean())


def _ratio(one: float, other: float) -> float | None:
    return one / other if other else None
