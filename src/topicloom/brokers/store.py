"""State of a fleet on disk: log, moves and plans.

A log that survives: lines of JSON, each on the disk before anything follows from it.

Each has a checksum of itself and of the checksum before it, so that a line that is lost or moved is seen, too.

A killed process leaves at most one unfinished line, the last, which nothing followed from; it is cut off when the log
is opened again. Any other damage is an error.

A move of a fleet from one plan to another, step by step, and back by the same steps.

After every step some brokers have the file of the one plan and some that of the other. The order of `diff` keeps all
these states free of circles, and going back visits the same states in the other direction.

What is known of a running fleet, in a folder: the plans it had, the one it has, and how far a change has come.

Each step is in the log before it begins and after it is done. So whenever the process ends, the next one knows all but
whether the last step that began was done; it is done again, which changes nothing where it was. Plans name where
passwords are and hold none; neither does the log.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from topicloom.brokers.diff import Difference
from topicloom.brokers.plan import Plan
from topicloom.brokers.plan_file import plan_text, read_plan
from topicloom.errors import InputError
from topicloom.io.whole import exclusive_lock, sync_path, write_whole

_CHECKSUM = 8


def checksum(text: str) -> str:
    """Return eight digits that change with the text."""
    return f"{zlib.crc32(text.encode()):08x}"


class DurableLog:
    """Entries in the order they were appended; `entries` are those that are on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries: list[dict[str, Any]] = []
        self._last = ""
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.ftruncate(self._file, self._read())
            except BaseException:
                os.close(self._file)
                raise
        except OSError as error:
            raise InputError(f"{path}: cannot be read and written ({error.strerror})") from None
        sync_path(path.parent)

    def append(self, entry: dict[str, Any]) -> None:
        """Add an entry; it is on the disk when this returns."""
        text = json.dumps(entry, ensure_ascii=False)
        mark = checksum(self._last + text)
        line = f"{mark} {text}\n".encode()
        try:
            before = os.fstat(self._file).st_size
            try:
                written = os.write(self._file, line)
                if written < len(line):
                    os.write(self._file, line[written:])
                os.fsync(self._file)
            except OSError:
                os.ftruncate(self._file, before)
                raise
        except OSError as error:
            raise InputError(f"{self._path}: cannot be written ({error.strerror})") from None
        self.entries.append(entry)
        self._last = mark

    def close(self) -> None:
        """End it."""
        os.close(self._file)

    def _read(self) -> int:
        """Take in all complete lines, and give how many bytes they are."""
        raw = self._path.read_bytes()
        *lines, unfinished = raw.split(b"\n")
        for number, line in enumerate(lines, 1):
            text = line[_CHECKSUM + 1 :].decode(errors="replace")
            self._last = checksum(self._last + text)
            if line[: _CHECKSUM + 1] != f"{self._last} ".encode():
                raise InputError(f"{self._path}: line {number} is damaged; put the file back from a copy")
            self.entries.append(json.loads(text))
        return len(raw) - len(unfinished)


@dataclass(frozen=True)
class MoveStep:
    """A broker that gets another file: that of the plan `file`, or none of our links; `before` is what it had.

    Where it `may_fail` the broker may be gone, and the move goes on without it.
    """

    broker: str
    file: str | None
    before: str | None
    may_fail: bool = False


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
    def reached(self) -> str | None:
        """The plan that the fleet has once it is finished."""
        return self.old if self.back else self.new

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

    def to_json(self) -> dict[str, Any]:
        """The move as it begins, for a log."""
        steps = [[step.broker, step.file, step.before, step.may_fail] for step in self.steps]
        return {"old": self.old, "new": self.new, "steps": steps, "doubtful": list(self.doubtful)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> FleetMove:
        """As `to_json` wrote it."""
        steps = tuple(MoveStep(*step) for step in fields["steps"])
        return cls(fields["old"], fields["new"], steps, doubtful=tuple(fields.get("doubtful", ())))


def move_along(
    difference: Difference,
    old: str | None,
    new: str | None,
    owed: Collection[str],
    touched: Collection[str],
    there: Collection[str],
) -> FleetMove:
    """The move that a difference of two plans asks for.

    Args:
        difference: of the plans.
        old: how the log calls the one plan, new: and the other; None where a plan has no brokers.
        owed: brokers that still have a file of an earlier plan; they let go of it first.
        touched: brokers that may have files of neither plan, as a move was given up; they let go of them first, too,
            and get the new ones in the end where nothing else asks for that.
        there: the brokers of the new plan; the others may be gone.
    """
    gone, added = set(difference.brokers_removed), set(difference.brokers_added)
    has = dict.fromkeys([*owed, *added], None) | dict.fromkeys(touched, old)
    steps = []
    for name in sorted({*owed, *touched}):
        steps.append(MoveStep(name, None, has[name], may_fail=name not in there))
        has[name] = None
    for step in difference.steps:
        file = None if step.clear or step.broker in gone else new
        steps.append(MoveStep(step.broker, file, has.get(step.broker, old), may_fail=step.broker in gone))
        has[step.broker] = file
    ordered = {step.broker for step in difference.steps}
    steps += [MoveStep(name, new, None) for name in sorted(({*touched} & {*there}) - ordered)]
    return FleetMove(old, new, tuple(steps), doubtful=tuple(sorted(touched)))


_LOG = "fleet.log"
_LOCK = "lock"
_PLANS = "plans"
_OURS = {_LOG, _LOCK, _PLANS}
_ID_LETTERS = 16


def plan_id(plan: Plan) -> str:
    """What a state calls a plan: the same for the same plan."""
    return hashlib.sha256(plan_text(plan).encode()).hexdigest()[:_ID_LETTERS]


class FleetState:
    """A fleet as its folder has it; only `opened` makes one, so that one process at a time has it."""

    def __init__(self, folder: Path, log: DurableLog) -> None:
        self.folder = folder
        self._log = log
        self.has: str | None = None
        self.earlier: list[str | None] = []
        self.move: FleetMove | None = None
        # Brokers that left while they could not be reached, with the plan whose file they may still have.
        self.owed: dict[str, str | None] = {}
        for entry in log.entries:
            self._take(entry)

    @property
    def new(self) -> bool:
        """Whether nothing was ever applied."""
        return not self._log.entries

    def plan(self, known_as: str | None, target: str) -> Plan:
        """A plan by its id; one without brokers for None."""
        if known_as is None:
            return Plan(target, (), (), ())
        return read_plan(self._file(known_as))

    def plan_with(self, broker: str) -> Plan:
        """A plan that the fleet has had, or was on its way to, and that has a broker."""
        for file in sorted((self.folder / _PLANS).glob("*.json")):
            plan = read_plan(file)
            if broker in plan.broker:
                return plan
        raise InputError(f"{self.folder}: knows no broker '{broker}'")

    def keep(self, plan: Plan) -> None:
        """Keep a plan."""
        try:
            write_whole(self._file(plan_id(plan)), plan_text(plan), sync=True)
        except OSError as error:
            raise InputError(f"{self.folder / _PLANS}: cannot be written ({error.strerror})") from None

    def had(self, known_as: str) -> bool:
        """Whether a plan was applied before, and others since."""
        return known_as in self.earlier and known_as != self.has

    def adopt(self, plan: Plan) -> None:
        """Take it that the brokers have the files of a plan already."""
        self.keep(plan)
        self._note({"has": plan_id(plan)})

    def begin(self, move: FleetMove) -> None:
        """Begin a move."""
        self._note({"move": move.to_json()})

    def turn(self, *, back: bool) -> None:
        """Go on with the move that is under way, in a direction."""
        if self.move is not None and self.move.back != back:
            self._note({"back": back})

    def step(self, state: str, **more: Any) -> None:
        """Note that the next step of the move is `begun` or `done`; with the last one the move is finished."""
        self._note({"step": state, **more})

    def stopped(self, why: str) -> None:
        """Note that the move stopped, and why."""
        self._note({"stopped": why})

    def _note(self, entry: dict[str, Any]) -> None:
        entry = {**entry, "at": round(time.time(), 3)}
        self._log.append(entry)
        self._take(entry)

    def _take(self, entry: dict[str, Any]) -> None:
        if "has" in entry:
            self.has = entry["has"]
            self.earlier.append(self.has)
        elif "move" in entry:
            self.move = FleetMove.from_json(entry["move"])
        elif "back" in entry:
            assert self.move is not None
            self.move = self.move.turned(entry["back"])
        elif "step" in entry:
            assert self.move is not None
            if entry["step"] == "done":
                self._see_owed(entry)
            self.move = self.move.after(entry["step"])
        if self.move is not None and self.move.finished:
            self.has = self.move.reached
            if self.earlier[-1:] != [self.has]:
                self.earlier.append(self.has)
            self.move = None

    def _see_owed(self, entry: dict[str, Any]) -> None:
        assert self.move is not None
        step = self.move.next_step()
        if entry.get("unreached"):
            self.owed[step.broker] = self.owed.get(step.broker, step.before)
        else:
            self.owed.pop(step.broker, None)

    def _file(self, known_as: str) -> Path:
        return self.folder / _PLANS / f"{known_as}.json"


@contextmanager
def opened(folder: Path) -> Iterator[FleetState]:
    """The state in a folder, which is made where it is missing; nobody else has it meanwhile."""
    if folder.is_dir() and not (folder / _LOG).exists():
        others = sorted(path.name for path in folder.iterdir() if path.name not in _OURS)
        if others:
            raise InputError(f"{folder}: holds '{others[0]}' and is no state of a fleet; give a new or empty folder")
    with exclusive_lock(folder, _LOCK, mode=0o700):
        (folder / _PLANS).mkdir(exist_ok=True)
        log = DurableLog(folder / _LOG)
        try:
            yield FleetState(folder, log)
        finally:
            log.close()
