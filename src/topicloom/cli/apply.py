"""`topicloom apply`."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.diff import print_difference
from topicloom.errors import InputError
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.brokers.apply import Proposal, StepDone
    from topicloom.brokers.foreign import ForeignBridges
    from topicloom.brokers.moves import MoveStep
    from topicloom.brokers.store import FleetState


EXAMPLES = """\b
Example:
  topicloom apply plan.json --fleet fleet.toml --state fleet-state
  topicloom apply new.json --fleet fleet.toml --state fleet-state --dry-run
  topicloom apply new.json --fleet fleet.toml --state fleet-state --yes
  topicloom apply --rollback --fleet fleet.toml --state fleet-state
"""

STOPPED = 1
_HAS_IT = "the fleet has this plan already"


def command(
    *,
    plan: Annotated[
        Path | None,
        typer.Argument(
            metavar="PLAN",
            help="JSON file that `topicloom plan` wrote: what the fleet shall have. Not with --rollback.",
            show_default=False,
        ),
    ] = None,
    fleet: Annotated[
        Path,
        typer.Option(
            "--fleet", "-f", metavar="FILE", help="TOML file of the fleet, which says how files get to its brokers."
        ),
    ],
    state: Annotated[Path, typer.Option("--state", metavar="DIR", help="Folder that knows what the fleet has.")] = Path(
        "fleet-state"
    ),
    have: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="PLAN",
            help="The plan that the brokers have already, where the state is new; none of ours unless given.",
            show_default=False,
        ),
    ] = None,
    rollback: Annotated[
        bool,
        typer.Option(
            "--rollback", help="Go back: to where a change that stopped began, or to the plan before the present one."
        ),
    ] = False,
    older: Annotated[
        bool, typer.Option("--older", help="PLAN may be one that was applied before and replaced since.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    probe: Annotated[
        bool,
        typer.Option(
            "--probe", help="Send a message on every topic that changed and wait for it; subscribers will see it."
        ),
    ] = False,
    printing: options.Printing,
) -> None:
    """Bring a running fleet to a plan, broker by broker.

    Goes in the order of `topicloom diff`. Each broker gets its file, takes it, and must answer with its links up before
    the next one. What fails stops it: the same command goes on from there, `--rollback` goes back. Killed at any
    moment, the next run knows what was done.
    """
    from topicloom.brokers import read_plan
    from topicloom.brokers.apply import (
        ApplyStopped,
        adjusted,
        carry_out,
        propose,
        propose_back,
        require_deliveries,
        unanswering,
    )
    from topicloom.brokers.fleet_file import read_fleet
    from topicloom.brokers.foreign import foreign_bridges, require_no_repeats
    from topicloom.brokers.present import brokers_of, read_present
    from topicloom.brokers.store import opened

    if (plan is None) != rollback:
        raise InputError("give either PLAN or rollback", "rollback")
    for file in (plan, have, fleet):
        if file is not None:
            checked_paths.require_readable(file)
    wanted = None if plan is None else read_plan(plan)
    adopted = None if have is None else read_plan(have)
    ways = read_fleet(fleet)
    with ExitStack() as stack:
        folder = state
        if dry_run and not state.exists():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / state.name
        opened_state = stack.enter_context(opened(folder))
        if adopted is not None:
            _adopt(opened_state, adopted, state, dry_run=dry_run)
        proposal = propose_back(opened_state) if wanted is None else propose(opened_state, wanted, older=older)
        require_deliveries(ways, proposal, probing=probe)
        dead = unanswering(ways, proposal)
        brokers = brokers_of(ways, proposal.wants)
        present = read_present(ways, brokers.values(), folder, dead)
        try:
            proposal = adjusted(opened_state, ways, proposal, present, dead, dead)
        except ApplyStopped as stopped:
            output.complain(str(stopped))
            raise typer.Exit(STOPPED) from None
        require_deliveries(ways, proposal, probing=probe)
        if not printing.json:
            _print_proposal(proposal)
        if proposal.steps and proposal.wants.links:
            foreign = foreign_bridges(brokers, present)
            if not printing.json:
                _print_foreign(foreign)
            require_no_repeats(proposal.wants, foreign)
        if dry_run or not (proposal.steps or opened_state.unfinished):
            _end(printing, proposal, [], "nothing was done" if dry_run else _HAS_IT)
            return
        if proposal.steps and not yes:
            _ask()
        done: list[StepDone] = []

        def tell(step: StepDone) -> None:
            done.append(step)
            if not printing.json and not printing.quiet:
                _print_step(step)

        try:
            refused = carry_out(opened_state, ways, proposal, tell, probing=probe, silent=dead, present=present)
        except ApplyStopped as stopped:
            if printing.json:
                output.print_json({**_facts(proposal, done), "stopped": str(stopped)})
            output.complain(f"{stopped} (--rollback)")
            raise typer.Exit(STOPPED) from None
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"stopped after {len(done)} of {len(proposal.steps)} steps; the same command goes on, "
                "--rollback goes back"
            ) from None
        for problem in refused[:1]:
            more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
            output.complain(f"messages may have been lost on the way: {problem}{more}")
        if proposal.steps:
            seconds = numbers.seconds(sum(step.seconds for step in done))
            _end(printing, proposal, done, f"{numbers.count_of(len(done), 'step')} done in {seconds} s")
        else:
            _end(printing, proposal, [], _HAS_IT)
        waiting = sorted(name for name in opened_state.owed if name in proposal.wants.broker)
        if waiting:
            more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
            output.complain(
                f"{waiting[0]}{more}: left out, as it does not answer; the same command goes on when it does"
            )
            raise typer.Exit(STOPPED)


def _adopt(state: FleetState, plan: Any, folder: Path, *, dry_run: bool) -> None:
    if not state.new:
        raise InputError(f"{folder}: knows what the fleet has; leave out from", "from")
    if dry_run and folder.exists():
        raise InputError(f"{folder}: is new; leave out dry_run, or give a folder that is not there", "dry_run")
    state.adopt(plan)


def _ask() -> None:
    if not sys.stdin.isatty():
        raise InputError("nobody can be asked here; give yes to go on without", "yes")
    if not typer.confirm("Apply?", err=True):
        raise typer.Exit(1)


def _print_proposal(proposal: Proposal) -> None:
    move = proposal.move
    for drift in proposal.drift:
        output.say(output.one_line(f"~ broker {drift.broker}: {drift.why}"))
    for name in proposal.left_out:
        output.say(output.one_line(f"left out: {name} does not answer"))
    if move.done or move.back:
        output.say(f"{move.done} of {numbers.count_of(len(move.steps), 'step')} are done; what is left:")
        for number, step in enumerate(proposal.steps, 1):
            output.say(output.one_line(f"  {number}. {_does(step)}"))
    else:
        print_difference(proposal.difference)
        if proposal.drift or proposal.left_out:
            output.say("with what brokers have, in this order:" if proposal.steps else "nothing is left to do now")
            for number, step in enumerate(proposal.steps, 1):
                output.say(output.one_line(f"  {number}. {_does(step)}"))


def _print_foreign(foreign: ForeignBridges) -> None:
    leads = list(foreign.leads())
    if leads:
        output.say(f"{numbers.count_of(len(leads), 'bridge')} beside the plan:")
    for broker, other, where in leads:
        output.say(output.one_line(f"  {broker} - {other} ({where})"))
    brokers: dict[str, list[str]] = {}
    for broker, reason in foreign.unread.items():
        brokers.setdefault(reason, []).append(broker)
    for reason, names in brokers.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        output.say(output.one_line(f"not looked at for other bridges: {names[0]}{more} ({reason})"))


def _does(step: MoveStep) -> str:
    return f"take the links from {step.broker}" if step.file is None else f"put the file on {step.broker}"


def _print_step(step: StepDone) -> None:
    parts = ["links taken away" if step.step.file is None else "file put"]
    if step.unreached is not None:
        parts = [f"not reached ({step.unreached}); it is told when it is back"]
    if step.links:
        parts.append(f"{numbers.count_of(step.links, 'link')} up")
    if step.probes:
        parts.append(f"{numbers.count_of(step.probes, 'probe')} arrived")
    text = f"{step.number} of {step.total}  {step.step.broker}: {', '.join(parts)} ({numbers.seconds(step.seconds)} s)"
    print(output.one_line(text), flush=True)


def _facts(proposal: Proposal, done: list[StepDone]) -> dict[str, Any]:
    return {
        "steps": len(proposal.steps),
        "done": [
            {
                "broker": step.step.broker,
                "cleared": step.step.file is None,
                "links_up": step.links,
                "probes": step.probes,
                "seconds": step.seconds,
                "unreached": step.unreached,
            }
            for step in done
        ],
        "interrupted": proposal.difference.interrupted,
        "drift": {drift.broker: drift.why for drift in proposal.drift},
        "left_out": list(proposal.left_out),
    }


def _end(printing: options.Printing, proposal: Proposal, done: list[StepDone], text: str) -> None:
    if printing.json:
        output.print_json(_facts(proposal, done))
    else:
        output.say(text)
