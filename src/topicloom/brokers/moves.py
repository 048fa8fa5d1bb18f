"""A move of a fleet from one plan to another, step by step, and back by the same steps.

After every step some brokers have the file of the one plan and some that of the other. The order of `diff` keeps all
these states free of cycles, and going back visits the same states in the other direction.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from topicloom.brokers.diff import Difference

# In place of a plan: bridges that people made and that a plan takes over.
OLD_BRIDGES = "old bridges"
# What is appended to the names of their files, so that no broker reads them.
ASIDE = ".adopted.bak"


@dataclass(frozen=True)
class MoveStep:
    """A broker that gets another file: that of the plan `file`, or none of our links; `before` is what it had.

    Either may be `OLD_BRIDGES`.
    Where it `may_fail` the broker may be gone, and the move goes on without it.
    """

    broker: str
    file: str | None
    before: str | None
    may_fail: bool = False


def ends_of(old: str | None, new: str | None, *, back: bool) -> tuple[str | None, str | None]:
    """The plan that a move leaves, and the one that it leads to."""
    return (new, old) if back else (old, new)


@dataclass(frozen=True)
class FleetMove:
    """From the plan `old`, None where there was none, to the plan `new`; `done` steps are done.

    `begun` tells that the next step may have been done or not. With `back` the steps that are done are undone, from
    the last to the first. `doubtful` brokers may have files of neither plan when it begins, as an earlier move was
    given up; the first steps clear them.
    """

    old: str | None
    new: str | None
    steps: tuple[MoveStep, ...]
    done: int = 0
    begun: bool = False
    back: bool = False
    doubtful: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether the fleet has got where it was to go."""
        return not self.begun and self.done == (0 if self.back else len(self.steps))

    @property
    def ends(self) -> tuple[str | None, str | None]:
        """The plan that it leaves, and the one that it leads to."""
        return ends_of(self.old, self.new, back=self.back)

    @property
    def adopts(self) -> bool:
        """Whether it takes over bridges that people made."""
        return any(step.before == OLD_BRIDGES for step in self.steps)

    @property
    def reached(self) -> str | None:
        """The plan that the fleet has once it is finished."""
        return self.ends[1]

    @property
    def touched(self) -> tuple[str, ...]:
        """The brokers that may have another file than that of the plan `old`."""
        place = self.done + (self.begun and not self.back)
        return tuple(dict.fromkeys([*self.doubtful, *(step.broker for step in self.steps[:place])]))

    @property
    def can_turn(self) -> bool:
        """Whether its steps lead back: not before all doubtful brokers are cleared."""
        return {*self.doubtful} <= {step.broker for step in self.steps[: self.done]}

    def turned(self, back: bool) -> FleetMove:
        """The same move in a direction; a step that may have been done or not is the next one in either."""
        if back == self.back:
            return self
        return replace(self, back=back, done=self.done + (self.begun if back else -self.begun))

    def next_step(self) -> MoveStep:
        """What to do next; undoing a step gives the broker what it had before."""
        if not self.back:
            return self.steps[self.done]
        step = self.steps[self.done - 1]
        return replace(step, file=step.before, before=step.file)

    def after(self, state: str) -> FleetMove:
        """The move once its next step is `begun` or `done`."""
        if state == "begun":
            return replace(self, begun=True)
        return replace(self, begun=False, done=self.done + (-1 if self.back else 1))


def move_along(
    difference: Difference,
    old: str | None,
    new: str | None,
    owed: Collection[str],
    touched: Collection[str],
    there: Collection[str],
    lost: Collection[str] = (),
) -> FleetMove:
    """The move that a difference of two plans asks for.

    Args:
        difference: of the plans.
        old: how the store calls the one plan, new: and the other; None where a plan has no brokers.
        owed: brokers that still have a file of an earlier plan; they let go of it first.
        touched: brokers that may have files of neither plan, as a move was given up or somebody changed them; they let
            go of them first, too, and get the new ones in the end where nothing else asks for that.
        there: the brokers of the new plan; the others may be gone.
        lost: brokers that have no links, whatever the plan says; they get the new ones in the end, too.
    """
    gone, added = set(difference.brokers_removed), set(difference.brokers_added)
    has = dict.fromkeys([*owed, *added, *lost], None) | dict.fromkeys(touched, old)
    steps = []
    for name in sorted({*owed, *touched}):
        steps.append(MoveStep(name, None, has[name], may_fail=name not in there))
        has[name] = None
    # A broker of another kind may be there no more under its old one.
    changed = {*difference.other_kind}
    for step in difference.steps:
        file = None if step.clear or step.broker in gone else new
        may_fail = step.broker in gone or (step.clear and step.broker in changed)
        steps.append(MoveStep(step.broker, file, has.get(step.broker, old), may_fail=may_fail))
        has[step.broker] = file
    ordered = {step.broker for step in difference.steps}
    steps += [MoveStep(name, new, None) for name in sorted(({*touched, *lost} & {*there}) - ordered)]
    return FleetMove(old, new, tuple(steps), doubtful=tuple(sorted(touched)))
