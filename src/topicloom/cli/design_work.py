"""Designers at the command line: their options, and running one while a person watches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from topicloom.cli import output
from topicloom.cli.progress import Working
from topicloom.cli.typer_options import Options, shared_options
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.brokers import Fleet
    from topicloom.designers import Designer, DesignProblem, DesignRun
    from topicloom.model import Constraints, Interest, Overlay
    from topicloom.registry import Prepared


_SHOWN_TOPICS = 3
COMPILING = "compiling kernels, once after an install or update"


def designer_options() -> Options:
    """An option for each parameter of a designer."""
    from topicloom.designers import DESIGNERS

    return shared_options(DESIGNERS.values())


def constraints_of(fleet: Fleet | None, interest: Interest) -> Constraints | None:
    """What a fleet allows, which must have a broker for every node; None where no fleet is given."""
    if fleet is None:
        return None
    fleet.require_brokers(interest.node_names)
    return fleet.constraints


def run_designer(
    working: Working,
    prepared: Prepared[Designer],
    problem: DesignProblem,
) -> DesignRun:
    """Compile, then run, each with its own line of progress."""
    from topicloom.designers import Watch, run
    from topicloom.designers.run import warm_up

    working.do("loading kernels", lambda: warm_up(problem, prepared), if_slow=COMPILING)
    total = prepared.algorithm.total
    watched = replace(problem, watch=Watch())
    return working.do(
        prepared.name,
        lambda: run(watched, prepared),
        watch=watched.watch,
        total=None if total is None else total(problem.interest, prepared.parameters),
    )


def tell_of_blocked(overlay: Overlay, constraints: Constraints) -> bool:
    """Tell which topics constraints leave in pieces and what is in the way; give whether there are any."""
    from topicloom.designers import DESIGNERS, blocked_topics

    designer = DESIGNERS.get(overlay.provenance.algorithm) if overlay.provenance else None
    relays = designer is not None and designer.relays
    blocked = blocked_topics(overlay, constraints, relays=relays)
    if not blocked.topics or blocked.reason is None:
        return False
    shown = ", ".join(f"'{topic}'" for topic in blocked.topics[:_SHOWN_TOPICS])
    more = f" and {len(blocked.topics) - _SHOWN_TOPICS:,} more" if len(blocked.topics) > _SHOWN_TOPICS else ""
    are = numbers.count_of(len(blocked.topics), "topic") + (" is" if len(blocked.topics) == 1 else " are")
    line = f"{are} in pieces, as the fleet allows no more links: {shown}{more}; in the way: {blocked.reason}"
    if relays:
        others = f" and {len(blocked.cut_off) - 1:,} more" if len(blocked.cut_off) > 1 else ""
        line += f"; cut off is '{blocked.cut_off[0]}'{others}"
    typer.echo(output.one_line(line), err=True)
    return True


def proved(working: Working, interest: Interest) -> dict[str, int]:
    """Lower bounds, as fields beside the measures of an overlay."""
    from topicloom.metrics import bound

    bounds = working.do("computing bounds", lambda: bound(interest))
    return {"links_bound": bounds.links, "max_degree_bound": bounds.max_degree}
