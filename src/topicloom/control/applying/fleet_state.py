"""What is known of a running fleet, in a folder: the plans it had, the one it has, and how far a change has come.

Each step is in the log before it begins and after it is done. So whenever the process ends, the next one knows all but
whether the last step that began was done; it is done again, which changes nothing where it was. Plans name where
passwords are and hold none; neither does the log.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from topicloom.control.applying.moves import FleetMove
from topicloom.control.durable_log import DurableLog, sync_folder
from topicloom.deploy.planning.plan import Plan
from topicloom.deploy.planning.plan_file import plan_text, read_plan
from topicloom.errors import InputError
from topicloom.files.locked_folder import alone

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
        part = self.folder / _PLANS / "new.part"
        try:
            with part.open("w", encoding="utf-8", newline="\n") as file:
                file.write(plan_text(plan))
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._file(plan_id(plan)))
            sync_folder(self.folder / _PLANS)
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
    with alone(folder, _LOCK, what="this fleet", mode=0o700):
        (folder / _PLANS).mkdir(exist_ok=True)
        log = DurableLog(folder / _LOG)
        try:
            yield FleetState(folder, log)
        finally:
            log.close()
