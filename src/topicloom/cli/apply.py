"""`topicloom apply`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import FOUND, Run, read_plan
from topicloom.errors import InputError
from topicloom.views.view import View

if TYPE_CHECKING:
    from topicloom.brokers import Plan
    from topicloom.brokers.apply import StepDone
    from topicloom.brokers.store import FleetState

EXAMPLES = """
  topicloom apply plan.json
  topicloom apply new.json --dry-run
  topicloom apply new.json --fleet fleet.toml --state fleet-state --yes
  topicloom apply --rollback
"""

_HAS_IT = "the fleet has this plan already"


@command("apply", examples=EXAMPLES)
@options.path("plan", "[PLAN]", "Plan that the fleet is to get; not with --rollback.", required=False)
@options.brokers
@options.state
@options.file("--from", "have", metavar="PLAN", help="Plan that brokers have already, for a new state.")
@options.flag("--adopt", help="Take over bridges that people made; their files get the ending .adopted.bak.")
@options.flag("--rollback", help="Undo the change that stopped, or return to the plan before.")
@options.flag("--older", help="Allow a plan that others have replaced.")
@options.flag("--dry-run", help="Show what would be done, and do nothing.")
@options.flag("--yes", "-y", help="Do not ask.")
@options.flag("--probe", help="Send messages on changed topics, and wait; subscribers get them, too.")
def apply(
    run: Run,
    plan: Path | None,
    state: Path,
    have: Path | None,
    adopt: bool,
    rollback: bool,
    older: bool,
    dry_run: bool,
    yes: bool,
    probe: bool,
) -> View:
    """Bring a running fleet to a plan, broker by broker.

    Goes in the order of `topicloom diff`. Each broker gets its file, takes it, and must answer with its links up before
    the next one. A step that fails stops the change: the same command goes on from there, and `--rollback` goes back.
    After a kill at any moment, the next run finds out what was done.

    Exit status 1 if the change stopped or a broker was left out; with --dry-run if there is anything to do.
    """
    from topicloom.brokers import apply as applying
    from topicloom.brokers.adopt import old_bridges, still_there
    from topicloom.brokers.check import require_ready
    from topicloom.brokers.foreign import foreign_bridges, require_no_repeats
    from topicloom.brokers.present import brokers_of, read_present
    from topicloom.views import changes
    from topicloom.views.numbers import count_of, seconds

    if (plan is None) != rollback:
        raise InputError("give either PLAN or rollback", "rollback")
    wanted = None if plan is None else read_plan(plan)
    adopted = None if have is None else read_plan(have)
    fleet = run.brokers
    with _opened(state, adopted, dry_run=dry_run) as kept:
        proposal = applying.propose_back(kept) if wanted is None else applying.propose(kept, wanted, older=older)
        applying.require_deliveries(fleet, proposal, probing=probe)
        dead = run.step("asking brokers", applying.unanswering, fleet, proposal)
        brokers = brokers_of(fleet, proposal.wants)
        present = run.step("reading files", read_present, fleet, brokers.values(), kept.folder, dead)
        try:
            proposal = applying.adjusted(kept, fleet, proposal, present, dead, dead)
        except applying.ApplyStopped as stopped:
            run.finding(str(stopped))
            return changes.ended(proposal, [], "", str(stopped))
        if adopt:
            old = old_bridges(brokers, present)
            proposal = applying.adopting(kept, proposal, old, dead)
            run.show_text(changes.taken_over(old))
        applying.require_deliveries(fleet, proposal, probing=probe)
        run.show_text(changes.proposed(proposal))
        if proposal.silent:
            run.finding(changes.silent(proposal.silent))
        if proposal.steps and proposal.wants.links:
            foreign = still_there(foreign_bridges(brokers, present), proposal.move.steps)
            run.show_text(changes.foreign(foreign))
            try:
                require_no_repeats(proposal.wants, foreign)
            except InputError as error:
                if adopt:
                    raise
                raise InputError(f"{error}; or give adopt to replace the bridges of people", "adopt") from None
        touched = {step.broker for step in proposal.steps if not step.may_fail}
        run.step("checking brokers", require_ready, fleet, proposal.wants, touched, dead)
        if dry_run:
            run.status = FOUND if proposal.steps or kept.unfinished else run.status
            return changes.ended(proposal, [], "nothing was done")
        if not proposal.steps and not kept.unfinished:
            return changes.ended(proposal, [], _HAS_IT)
        if proposal.steps and not yes:
            _ask()
        done: list[StepDone] = []

        def tell(step: StepDone) -> None:
            done.append(step)
            run.show_text(changes.step(step))

        try:
            refused = applying.carry_out(kept, fleet, proposal, tell, probing=probe, silent=dead, present=present)
        except applying.ApplyStopped as stopped:
            run.finding(f"{stopped} (--rollback)")
            return changes.ended(proposal, done, "", str(stopped))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"stopped after {len(done)} of {len(proposal.steps)} steps; the same command goes on, "
                "--rollback goes back"
            ) from None
        for problem in refused[:1]:
            more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
            run.finding(f"messages may have been lost on the way: {problem}{more}", 0)
        waiting = sorted(name for name in kept.owed if name in proposal.wants.broker)
        if waiting:
            more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
            run.finding(f"{waiting[0]}{more}: left out, as it does not answer; the same command goes on when it does")
        took = seconds(sum(step.seconds for step in done))
        return changes.ended(proposal, done, f"{count_of(len(done), 'step')} done in {took} s" if done else _HAS_IT)


@contextmanager
def _opened(folder: Path, adopted: Plan | None, *, dry_run: bool) -> Iterator[FleetState]:
    """The state of a fleet; one that is thrown away if it would be new and nothing is to be done."""
    from topicloom.brokers.store import opened

    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / folder.name if dry_run and not folder.exists() else folder
        with opened(place) as state:
            if adopted is not None:
                if not state.new:
                    raise InputError(f"{folder}: knows what the fleet has; leave out from", "from")
                if dry_run and folder.exists():
                    raise InputError(
                        f"{folder}: is new; leave out dry_run, or give a folder that is not there", "dry_run"
                    )
                state.adopt(adopted)
            yield state


def _ask() -> None:
    if not sys.stdin.isatty():
        raise InputError("not a terminal; give yes to apply without asking", "yes")
    if not click.confirm("Apply?", err=True):
        raise click.exceptions.Exit(FOUND)
