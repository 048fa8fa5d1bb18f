"""A SQLite file of what happened, which survives its process.

An entry is committed before it takes effect. What entries do is determined by the state before them, so the next
process reads the latest snapshot, follows the entries after it, and goes on.

A commit is in the file when a killed process ends. With `durable` it is on the disk, too; without, it is there after
`sync()`. A power cut may otherwise take the latest commits, but never a part of one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from topicloom.errors import InputError

_FORMAT = "1"
_BUSY_SECONDS = 0.1
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE entries (number INTEGER PRIMARY KEY, batch INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE snapshots (upto INTEGER PRIMARY KEY, body TEXT NOT NULL);
"""
# By a part of SQLite's message, as Python 3.10 does not tell its code.
_PROBLEMS = {
    "locked": "is in use by another process",
    "not a database": "is not a store of Topicloom",
    "malformed": "is damaged; put it back from a copy",
    "full": "cannot be written (No space left on device)",
    "readonly": "cannot be written (it is read-only)",
    "unable to open": "cannot be opened; its folder must exist and be writable",
}


class Entry(NamedTuple):
    """What was appended; entries of one batch have the number of its first."""

    number: int
    batch: int
    body: str


class Store:
    """An open store; `open` makes one."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._last = 0

    @classmethod
    def open(
        cls,
        path: Path,
        kind: str,
        durable: bool,
        *,
        first: Mapping[str, str] | None = None,
        tables: str = "",
        exclusive: bool = True,
    ) -> Store:
        """Open a store, or make a new one; raise InputError if that cannot be.

        Args:
            path: the file, in a folder on a local disk.
            kind: what the store is for; a store of another kind is refused.
            durable: whether a commit waits for the disk.
            first: what `meta` of a new store holds.
            tables: SQL that makes further tables of a new store.
            exclusive: whether other processes are kept out; otherwise they may read, and the caller sees to it that
                one process at a time writes.
        """
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is not a file")
        with _one_line(path):
            connection = sqlite3.connect(path, _BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            store = cls(path, connection)
            try:
                store._begin(kind, {**(first or {})}, tables, durable=durable, exclusive=exclusive)
            except BaseException:
                connection.close()
                raise
        return store

    def _begin(self, kind: str, first: dict[str, str], tables: str, *, durable: bool, exclusive: bool) -> None:
        # In this order: exclusive before the first access needs no memory that processes share.
        if exclusive:
            self.execute("PRAGMA locking_mode = EXCLUSIVE")
        known = {name for (name,) in self.execute("SELECT name FROM sqlite_master")}
        if known and not {"meta", "entries", "snapshots"} <= known:
            raise InputError(f"{self.path}: is not a store of Topicloom")
        if self.execute("PRAGMA journal_mode = WAL") != [("wal",)]:
            raise InputError(f"{self.path}: cannot be kept on this file system; give a folder on a local disk")
        self.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        with self.transaction():
            if not known:
                for statement in (_SCHEMA + tables).split(";"):
                    self.execute(statement)
                self.set_meta({**first, "format": _FORMAT, "kind": kind})
        found = self.meta
        if found.get("kind") != kind:
            raise InputError(f"{self.path}: is a store of {found.get('kind')}, not of {kind}")
        if found.get("format") != _FORMAT:
            raise InputError(f"{self.path}: was written by another version of Topicloom (format {found.get('format')})")
        (result,) = self.execute("PRAGMA quick_check(1)")[0]
        if result != "ok":
            raise InputError(f"{self.path}: is damaged; put it back from a copy")
        numbers = self.execute("SELECT max(number) FROM entries UNION SELECT max(upto) FROM snapshots")
        self._last = max(number or 0 for (number,) in numbers)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one statement, and return its rows."""
        with _one_line(self.path):
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all statements within, or none of them; a transaction within another one is part of that."""
        if self._connection.in_transaction:
            yield
            return
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            with suppress(InputError):  # SQLite has rolled back some errors by itself
                self.execute("ROLLBACK")
            raise

    @property
    def meta(self) -> dict[str, str]:
        """What the store is about, by key."""
        return dict(self.execute("SELECT key, value FROM meta"))

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Set some keys of `meta`; several are set together within a transaction."""
        for key, value in values.items():
            self.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @property
    def last(self) -> int:
        """The number of the latest entry, 0 if there was none."""
        return self._last

    def append(self, bodies: Sequence[str], *, jointly: bool = False, meta: Mapping[str, str] | None = None) -> range:
        """Commit entries, and return their numbers; each is a batch of its own unless `jointly`.

        Keys of `meta` are set in the same transaction.
        """
        numbers = range(self._last + 1, self._last + 1 + len(bodies))
        if not bodies:
            return numbers
        batches = [numbers[0]] * len(bodies) if jointly else numbers
        with self.transaction(), _one_line(self.path):
            rows = zip(numbers, batches, bodies, strict=True)
            self._connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
            self.set_meta(meta or {})
        self._last = numbers[-1]
        return numbers

    def entries(self, after: int = 0) -> list[Entry]:
        """Return the entries after a number."""
        rows = self.execute("SELECT number, batch, body FROM entries WHERE number > ? ORDER BY number", (after,))
        return [Entry(*row) for row in rows]

    def snapshot(self) -> tuple[int, str] | None:
        """Return the latest snapshot, and the number of the last entry that it contains."""
        rows = self.execute("SELECT upto, body FROM snapshots ORDER BY upto DESC LIMIT 1")
        return rows[0] if rows else None

    def write_snapshot(self, upto: int, body: str) -> None:
        """Commit a snapshot in place of the earlier one and of all entries that it contains."""
        with self.transaction():
            self.execute("DELETE FROM snapshots")
            self.execute("INSERT INTO snapshots VALUES (?, ?)", (upto, body))
            self.execute("DELETE FROM entries WHERE number <= ?", (upto,))

    def sync(self) -> None:
        """Return when all commits are on the disk."""
        self.execute("PRAGMA wal_checkpoint(FULL)")

    def close(self) -> None:
        """End it; all commits are in the one file then."""
        self._connection.close()


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """Raise errors of SQLite as InputError, with what is wrong with the file."""
    try:
        yield
    except sqlite3.Error as error:
        told = str(error)
        problems = (problem for part, problem in _PROBLEMS.items() if part in told)
        raise InputError(f"{path}: {next(problems, f'cannot be used ({told})')}") from None
