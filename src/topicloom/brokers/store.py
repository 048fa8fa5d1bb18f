"""The store of a fleet: the plans it had, the one it has, and how far a change has come.

Each commit is on the disk before anything follows from it:

- a move is committed with its steps and the text of its plan, before its first step;
- a step is committed as begun before its broker is touched, and as done after the broker was checked;
- with the last step the fleet has the plan; the move is finished when sessions of old links have ended.

So whenever a process ends, the next one knows all but whether the last step that began was done. It does that step
again, which changes nothing if it was done. Plans name where passwords are and hold none.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from topicloom.brokers.kind import Session
from topicloom.brokers.moves import FleetMove, MoveStep, ends_of
from topicloom.brokers.plan import Plan, empty_plan, text_id
from topicloom.brokers.plan_file import parsed_plan
from topicloom.errors import InputError
from topicloom.io.store import Store
from topicloom.io.whole import exclusive_lock, sync_path

STORE = "fleet.db"
_KIND = "fleet"
_LOCK = "lock"
_NEW = "fleet.db.part"
_EARLIER = ("fleet.log", "decisions.log")
_SIDES = ("", "-wal", "-shm", "-journal")
_OURS = {_LOCK, *(_NEW + side for side in _SIDES)}
_TABLES = """
CREATE TABLE plans (id TEXT PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE had (seq INTEGER PRIMARY KEY, plan TEXT, at REAL NOT NULL);
CREATE TABLE moves (id INTEGER PRIMARY KEY, old TEXT, new TEXT, back INTEGER NOT NULL, done INTEGER NOT NULL,
    begun INTEGER NOT NULL, state TEXT NOT NULL, doubtful TEXT NOT NULL, stopped TEXT, at REAL NOT NULL);
CREATE TABLE steps (move INTEGER NOT NULL REFERENCES moves ON DELETE CASCADE, number INTEGER NOT NULL,
    broker TEXT NOT NULL, file TEXT, before TEXT, may_fail INTEGER NOT NULL, unreached INTEGER, at REAL,
    PRIMARY KEY (move, number)) WITHOUT ROWID;
CREATE TABLE owed (broker TEXT PRIMARY KEY, plan TEXT) WITHOUT ROWID;
CREATE TABLE owed_sessions (broker TEXT NOT NULL, session TEXT NOT NULL, PRIMARY KEY (broker, session)) WITHOUT ROWID
"""
_UNDER_WAY, _CLEARING, _FINISHED, _GIVEN_UP = "under way", "clearing", "finished", "given up"
# The latest moves that are kept, and those of them whose plans are.
_KEPT_MOVES, _KEPT_PLANS = 1000, 50
# Plans that are kept in memory.
_IN_MEMORY = 4


class FleetState:
    """A fleet as its store has it; `opened` makes one, so that one process at a time changes it.

    Attributes:
        earlier: the plans that the fleet came to have, in order; None for none of ours. The last one is what it has.
        move: the move that is under way.
        clearing: the plans that a move left and reached whose sessions of old links have not ended yet.
        owed: brokers that may still have the file of an earlier plan, as they could not be reached.
        owed_sessions: sessions of links that are gone which could not be ended.
    """

    def __init__(self, folder: Path, store: Store, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.store = store
        self._clock = clock
        self._plans: dict[str, Plan] = {}
        self._number = 0
        self.move: FleetMove | None = None
        self.clearing: tuple[str | None, str | None] | None = None
        self.earlier: list[str | None] = [plan for (plan,) in store.execute("SELECT plan FROM had ORDER BY seq")]
        self.owed: dict[str, str | None] = dict(store.execute("SELECT broker, plan FROM owed"))
        self.owed_sessions: frozenset[Session] = frozenset(store.execute("SELECT broker, session FROM owed_sessions"))
        try:
            self._read_move()
        except (ValueError, TypeError):
            raise InputError(f"{store.path}: its latest move is damaged; put the store back from a copy") from None

    def _read_move(self) -> None:
        """Take in the latest move."""
        columns = "id, old, new, done, begun, back, doubtful, state"
        latest = self.store.execute(f"SELECT {columns} FROM moves ORDER BY id DESC LIMIT 1")
        for number, old, new, done, begun, back, doubtful, state in latest:
            self._number = number
            if state == _CLEARING:
                self.clearing = ends_of(old, new, back=back)
            elif state == _UNDER_WAY:
                columns = "broker, file, before, may_fail"
                rows = self.store.execute(f"SELECT {columns} FROM steps WHERE move = ? ORDER BY number", (number,))
                steps = tuple(MoveStep(name, file, before, bool(may_fail)) for name, file, before, may_fail in rows)
                self.move = FleetMove(old, new, steps, done, bool(begun), bool(back), tuple(json.loads(doubtful)))

    @property
    def has(self) -> str | None:
        """The plan that the fleet has; while a move is under way, the one that it leaves."""
        return self.earlier[-1] if self.earlier else None

    @property
    def new(self) -> bool:
        """Whether nothing was ever applied."""
        return not self.earlier and not self._number

    @property
    def moves(self) -> int:
        """How many moves were begun."""
        return self._number

    @property
    def unfinished(self) -> bool:
        """Whether something is left to do besides steps that a plan asks for."""
        return self.move is not None or self.clearing is not None or bool(self.owed_sessions)

    def plan(self, known_as: str | None, target: str) -> Plan:
        """A plan by its id; one without brokers for None."""
        if known_as is None:
            return empty_plan()
        if known_as not in self._plans:
            self._remember(known_as, self._read_plan(known_as))
        return self._plans[known_as]

    def plan_with(self, broker: str) -> Plan:
        """The plan whose file a broker may still have, else the latest one that the fleet was to have with it."""
        known = [self.owed.get(broker)]
        for new, old in self.store.execute("SELECT new, old FROM moves ORDER BY id DESC"):
            known += [new, old]
        for known_as in dict.fromkeys([*known, *reversed(self.earlier)]):
            if known_as is not None and self._keeps(known_as):
                plan = self.plan(known_as, "")
                if broker in plan.broker:
                    return plan
        raise InputError(f"{self.folder}: knows no broker '{broker}'")

    def had(self, known_as: str) -> bool:
        """Whether a plan was applied before, and others since."""
        return known_as in self.earlier and known_as != self.has

    def changed(self, since: float, until: float) -> int:
        """How many brokers got another file in a time; those that still had one of an earlier plan do not count."""
        counted = "at > ? AND at <= ? AND NOT (file IS NULL AND before IS NULL)"
        ((count,),) = self.store.execute(f"SELECT count(*) FROM steps WHERE {counted}", (since, until))
        return int(count)

    def adopt(self, plan: Plan) -> None:
        """Take it that the brokers have the files of a plan already."""
        with self.store.transaction():
            self._keep(plan)
            self._note_had(plan.id)
        self.earlier.append(plan.id)

    def begin(
        self,
        move: FleetMove,
        plan: Plan,
        sessions: Collection[Session] = (),
        left_out: Mapping[str, str | None] = MappingProxyType({}),
    ) -> None:
        """Begin a move to a plan, and give up the one that is under way, whose sessions are owed then.

        Brokers that are left out may still have the file of the plan that is given with them.
        """
        number = self._number + 1
        state = _CLEARING if move.finished else _UNDER_WAY
        with self.store.transaction():
            if plan.brokers:
                self._keep(plan)
            if self.move is not None:
                self._update("state = ?", _GIVEN_UP)
            self.store.execute(
                "INSERT INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)",
                (
                    *(number, move.old, move.new, move.back, move.done, move.begun, state),
                    *(json.dumps(move.doubtful), self._clock()),
                ),
            )
            for place, step in enumerate(move.steps):
                self.store.execute(
                    "INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)",
                    (number, place, step.broker, step.file, step.before, step.may_fail),
                )
            self._owe_sessions(self.owed_sessions.union(sessions))
            for owed in left_out.items():
                self.store.execute("INSERT OR IGNORE INTO owed VALUES (?, ?)", owed)
            if move.finished:
                self._note_had(move.reached)
        self._number = number
        self.owed = {**left_out, **self.owed}
        self.owed_sessions = self.owed_sessions.union(sessions)
        self._take(move)

    def turn(self, *, back: bool) -> None:
        """Go on with the move that is under way, in a direction."""
        if self.move is None or self.move.back == back:
            return
        move = self.move.turned(back)
        with self.store.transaction():
            self._update("back = ?, done = ?", back, move.done)
            self._note_if_reached(move)
        self._take(move)

    def begun(self) -> None:
        """Note that the next step of the move begins."""
        assert self.move is not None
        with self.store.transaction():
            self._update("begun = 1")
        self.move = self.move.after("begun")

    def done(self, *, unreached: bool = False) -> None:
        """Note that the next step of the move is done, or that its broker may still have its file as it is gone."""
        assert self.move is not None
        step, move = self.move.next_step(), self.move.after("done")
        had = self.owed.get(step.broker, step.before)
        with self.store.transaction():
            self._update("done = ?, begun = 0", move.done)
            self.store.execute(
                "UPDATE steps SET at = ?, unreached = ? WHERE move = ? AND number = ?",
                (self._clock(), unreached, self._number, min(move.done, self.move.done)),
            )
            if unreached:
                self.store.execute("INSERT OR REPLACE INTO owed VALUES (?, ?)", (step.broker, had))
            else:
                self.store.execute("DELETE FROM owed WHERE broker = ?", (step.broker,))
            self._note_if_reached(move)
        if unreached:
            self.owed[step.broker] = had
        else:
            self.owed.pop(step.broker, None)
        self._take(move)

    def settle(self, brokers: Collection[str]) -> None:
        """Note that brokers have the file of the present plan, though they were owed it."""
        if not brokers:
            return
        with self.store.transaction():
            for broker in sorted(brokers):
                self.store.execute("DELETE FROM owed WHERE broker = ?", (broker,))
        self.owed = {broker: plan for broker, plan in self.owed.items() if broker not in brokers}

    def stopped(self, why: str) -> None:
        """Note that the move stopped, and why."""
        with self.store.transaction():
            self._update("stopped = ?", why)

    def finish(self, sessions: Collection[Session]) -> None:
        """Note that sessions of old links have ended but for these."""
        with self.store.transaction():
            if self.clearing is not None:
                self._update("state = ?", _FINISHED)
            self._owe_sessions(sessions)
            self._forget_old()
        self.clearing, self.owed_sessions = None, frozenset(sessions)

    def _take(self, move: FleetMove) -> None:
        """Go on with a move as it is committed."""
        if not move.finished:
            self.move = move
            return
        self.move = None
        self.clearing = move.ends
        if self.earlier[-1:] != [move.reached]:
            self.earlier.append(move.reached)

    def _note_if_reached(self, move: FleetMove) -> None:
        if move.finished:
            self._update("state = ?", _CLEARING)
            self._note_had(move.reached)

    def _note_had(self, known_as: str | None) -> None:
        if self.earlier[-1:] != [known_as]:
            self.store.execute("INSERT INTO had (plan, at) VALUES (?, ?)", (known_as, self._clock()))

    def _update(self, columns: str, *values: object) -> None:
        self.store.execute(f"UPDATE moves SET {columns} WHERE id = ?", (*values, self._number))

    def _owe_sessions(self, sessions: Collection[Session]) -> None:
        """Let these be the sessions that are owed."""
        for session in self.owed_sessions.difference(sessions):
            self.store.execute("DELETE FROM owed_sessions WHERE broker = ? AND session = ?", session)
        for session in sorted({*sessions} - self.owed_sessions):
            self.store.execute("INSERT INTO owed_sessions VALUES (?, ?)", session)

    def _keep(self, plan: Plan) -> None:
        text = zlib.compress(plan.text.encode())
        self.store.execute("INSERT OR IGNORE INTO plans VALUES (?, ?)", (plan.id, text))
        self._remember(plan.id, plan)

    def _remember(self, known_as: str, plan: Plan) -> None:
        self._plans[known_as] = plan
        while len(self._plans) > _IN_MEMORY:
            del self._plans[next(iter(self._plans))]

    def _keeps(self, known_as: str) -> bool:
        return bool(self.store.execute("SELECT 1 FROM plans WHERE id = ?", (known_as,)))

    def _read_plan(self, known_as: str) -> Plan:
        rows = self.store.execute("SELECT CAST(text AS BLOB) FROM plans WHERE id = ?", (known_as,))
        if not rows:
            raise InputError(f"{self.store.path}: keeps no plan {known_as} any more")
        try:
            text = zlib.decompress(rows[0][0])
        except (zlib.error, TypeError):
            text = b""
        if text_id(text) != known_as:
            raise InputError(f"{self.store.path}: its plan {known_as} is damaged; put the store back from a copy")
        return parsed_plan(text, f"{self.store.path}: plan {known_as}")

    def _forget_old(self) -> None:
        """Delete old moves, and texts of plans that nothing may need any more."""
        forget = self.store.execute
        forget("DELETE FROM moves WHERE id <= ?", (self._number - _KEPT_MOVES,))
        forget("DELETE FROM had WHERE seq <= (SELECT max(seq) FROM had) - ?", (_KEPT_MOVES,))
        named = " UNION ".join(
            f"SELECT {plan} FROM {table} WHERE {plan} IS NOT NULL"
            for plan, table in (("plan", "owed"), ("old", "latest"), ("new", "latest"))
        )
        latest = "WITH latest AS (SELECT old, new FROM moves WHERE id > ?)"
        forget(f"{latest} DELETE FROM plans WHERE id NOT IN ({named})", (self._number - _KEPT_PLANS,))


@contextmanager
def opened(folder: Path, clock: Callable[[], float] = time.time) -> Iterator[FleetState]:
    """The state in a folder, which is made where it is missing; nobody else changes it meanwhile."""
    _require_usable(folder)
    with exclusive_lock(folder, _LOCK, mode=0o700):
        if not (folder / STORE).exists():
            _make(folder)
        store = _opened(folder / STORE)
        try:
            yield FleetState(folder, store, clock)
        finally:
            store.close()


@contextmanager
def beside(folder: Path) -> Iterator[FleetState]:
    """The state in a folder to read, also while another process changes it."""
    if not (folder / STORE).exists():
        _require_usable(folder)
        raise InputError("holds no state of a fleet; 'topicloom apply' and 'topicloom watch' make one", file=folder)
    store = _opened(folder / STORE)
    try:
        yield FleetState(folder, store)
    finally:
        store.close()


def _opened(path: Path) -> Store:
    if path.is_file() and not path.stat().st_size:
        raise InputError(f"{path}: is damaged; put it back from a copy")
    store = Store.open(path, _KIND, True, exclusive=False, tables=_TABLES)
    store.execute("PRAGMA foreign_keys = ON")
    return store


def _make(folder: Path) -> None:
    """Make a store that its owner alone can read; it has its name once it is whole."""
    part = folder / _NEW
    for side in _SIDES:
        part.with_name(part.name + side).unlink(missing_ok=True)
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror})") from None
    Store.open(part, _KIND, True, tables=_TABLES).close()
    sync_path(part)
    part.rename(folder / STORE)
    sync_path(folder)


def _require_usable(folder: Path) -> None:
    """Raise InputError if a folder holds anything else than a state."""
    if not folder.is_dir() or (folder / STORE).exists():
        return
    others = sorted(path.name for path in folder.iterdir() if path.name not in _OURS)
    if any(name in _EARLIER for name in others):
        raise InputError(f"{folder}: is a state of an earlier version of Topicloom; begin with a new folder")
    if others:
        raise InputError(f"{folder}: holds '{others[0]}' and is no state of a fleet; give a new or empty folder")
