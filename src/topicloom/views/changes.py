"""Views of a change of a running fleet: what would be done, each step that was done, and the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from topicloom.brokers.moves import ASIDE, OLD_BRIDGES
from topicloom.errors import printable
from topicloom.views.numbers import count_of, seconds
from topicloom.views.plans import difference
from topicloom.views.view import Block, Fact, Note, On, View

if TYPE_CHECKING:
    from topicloom.brokers.apply import Proposal, StepDone
    from topicloom.brokers.foreign import ForeignBridges
    from topicloom.brokers.moves import MoveStep


def proposed(proposal: Proposal) -> View:
    """What a change would do, and in which order."""
    move, steps = proposal.move, proposal.steps
    numbered = [_note(f"  {number}. {_does(step)}") for number, step in enumerate(steps, 1)]
    blocks: list[Block] = [_note(f"~ broker {drift.broker}: {drift.why}") for drift in proposal.drift]
    blocks += [_note(f"left out: {name} does not answer") for name in proposal.left_out]
    if move.done or move.back:
        blocks += [Note(f"{move.done} of {count_of(len(move.steps), 'step')} are done; what is left:"), *numbered]
    else:
        blocks += difference(proposal.difference).blocks
        if proposal.move.adopts or (blocks and (proposal.drift or proposal.left_out)):
            blocks += [Note("with what brokers have, in this order:" if steps else "nothing is left to do now")]
            blocks += numbered
    return View("proposed", "Proposed change", tuple(blocks))


def taken_over(old: Mapping[str, Sequence[str]]) -> View:
    """The files of bridges that are taken over, by broker."""
    files = [
        f"  {broker}: {place} -> {PurePath(place).name}{ASIDE}" for broker, places in old.items() for place in places
    ]
    return View("taken_over", "Bridges taken over", (Note("old bridges, whose files are renamed:"), *map(_note, files)))


def foreign(bridges: ForeignBridges) -> View:
    """Bridges that are not of the plan, and brokers whose bridges cannot be read."""
    leads = list(bridges.leads())
    blocks = [Note(f"{count_of(len(leads), 'bridge')} beside the plan:")] if leads else []
    blocks += [_note(f"  {broker} - {other} ({where})") for broker, other, where in leads]
    for reason, names in _by_reason(bridges.unread).items():
        blocks.append(_note(f"not looked at for other bridges: {_first_of(names)} ({reason})"))
    return View("foreign", "Bridges beside the plan", tuple(blocks))


def silent(names: Sequence[str]) -> str:
    """That some brokers do not answer, and have nothing to do in a change."""
    if len(names) == 1:
        return f"{names[0]} does not answer, so its file was not looked at; it has no step"
    return f"{_first_of(names)} do not answer, so their files were not looked at; they have no step"


def _by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return names


def _first_of(names: Sequence[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]


def step(done: StepDone) -> View:
    """A step that was done."""
    parts = ["links taken away" if done.step.file is None else "file put"]
    if OLD_BRIDGES in (done.step.file, done.step.before):
        parts = [_does(done.step).removesuffix(f" on {done.step.broker}").removesuffix(f" of {done.step.broker}")]
    if done.unreached is not None:
        parts = [f"not reached ({done.unreached}); its file comes when it answers"]
    if done.links is not None and done.links.needs:
        parts.append(f"links not looked at ({done.links.needs})")
    elif done.links is not None and done.links.up:
        parts.append(f"{count_of(done.links.up, 'link')} up")
    if done.probes:
        parts.append(f"{count_of(done.probes, 'probe')} arrived")
    took = f"({seconds(done.seconds)} s)"
    return View(
        "step", "Step", (_note(f"{done.number} of {done.total}  {done.step.broker}: {', '.join(parts)} {took}"),)
    )


def ended(proposal: Proposal, done: Sequence[StepDone], said: str, stopped: str | None = None) -> View:
    """A change that ended, or that was only asked about: its steps, and those that were done.

    Args:
        proposal: the change.
        done: the steps that were done.
        said: how it ended.
        stopped: why it stopped before its end.
    """
    data: dict[str, Any] = {
        "steps": [{"broker": each.broker, "cleared": each.file is None} for each in proposal.steps],
        "done": [
            {
                "broker": each.step.broker,
                "cleared": each.step.file is None,
                "links_up": None if each.links is None else each.links.up,
                "probes": each.probes,
                "seconds": each.seconds,
                "unreached": each.unreached,
            }
            for each in done
        ],
        "interrupted": list(proposal.difference.interrupted),
        "drift": {drift.broker: drift.why for drift in proposal.drift},
        "left_out": list(proposal.left_out),
        "silent": list(proposal.silent),
        "stopped": stopped,
    }
    facts = [Fact(key, value, on=On.DATA) for key, value in data.items()]
    return View("applied", "Applied change", (*facts, *([Note(said)] if said else [])))


def _does(step: MoveStep) -> str:
    if step.file == OLD_BRIDGES:
        return f"bring back the old bridges of {step.broker}"
    if step.before == OLD_BRIDGES:
        does = "let the old bridges go" if step.file is None else "let the old bridges go, and put the file"
        return f"{does} on {step.broker}"
    return f"take the links from {step.broker}" if step.file is None else f"put the file on {step.broker}"


def _note(text: str) -> Note:
    return Note(printable(text))
