"""A journal: the events that were let happen since a snapshot, each on the disk before it happens.

Each line is a checksum and the event, or the events that were let happen jointly. The first one says which event the
snapshot has seen last. A file beside it counts the lines that are complete. So a line that a killed process left
unfinished, which was never applied, can be told from a journal that somebody cut short.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from topicloom.churn.snapshot import checksum
from topicloom.errors import InputError
from topicloom.files.atomic import replacing
from topicloom.model.events import Event

_COUNT_BYTES = 20
_JOINTLY = "jointly"
# One event, or several that happen jointly.
Entry = tuple[Event, ...]


class DamagedJournal(InputError):  # noqa: N818  it says what it is
    """A journal that lacks events, or in which some are not what was written; `good` are those before that."""

    def __init__(self, path: Path, what: str, after: int | None, good: Sequence[Entry]) -> None:
        last = good[-1][-1].id if good else after
        known = "no event before that is known to be good" if last is None else f"the last good event is {last}"
        super().__init__(
            f"{what}; {known}. Put the file back as it was, or let recover go on from there with the events "
            "that follow",
            "recover",
            file=path,
        )
        self.good = tuple(good)


class Journal:
    """Appends events to a journal that is there."""

    def __init__(self, path: Path, count: int) -> None:
        self._count = count
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND)
        self._counter = os.open(_counter(path), os.O_WRONLY | os.O_CREAT, 0o666)

    def append(self, *events: Event) -> None:
        """Write an event, or several that happen jointly."""
        _write(self._file, _line(_text(events)))
        self._count += 1
        os.pwrite(self._counter, f"{self._count:{_COUNT_BYTES}}".encode(), 0)

    def sync(self) -> None:
        """Return when all that was written is on the disk."""
        os.fsync(self._file)
        os.fsync(self._counter)

    def close(self) -> None:
        """End it."""
        os.close(self._file)
        os.close(self._counter)


def begin_journal(path: Path, after: int | None) -> None:
    """Make an empty journal that follows a snapshot which has seen an event last."""
    # The counter first: a journal with more lines than counted is fine, one with fewer is not.
    with replacing(_counter(path)) as temporary:
        temporary.write_text(f"{0:{_COUNT_BYTES}}")
    with replacing(path) as temporary:
        temporary.write_bytes(_line(json.dumps({"after": after})))


def read_journal(path: Path) -> tuple[int | None, list[Entry], int]:
    """The event before the journal, what each line holds, and how many bytes of it are complete lines."""
    raw = path.read_bytes()
    *lines, unfinished = raw.split(b"\n")
    after: int | None = None
    entries: list[Entry] = []
    for number, line in enumerate(lines):
        text = line[9:].decode(errors="replace")
        if line[:9] != f"{checksum(text)} ".encode():
            raise DamagedJournal(path, f"line {number + 1} is damaged", after, entries)
        if number == 0:
            after = json.loads(text)["after"]
        else:
            entries.append(_entry(text, f"{path}: line {number + 1}"))
    counted = _counted(path)
    if not lines or len(entries) < counted:
        raise DamagedJournal(
            path, f"is cut short, {counted} events were written and {len(entries)} are there", after, entries
        )
    return after, entries, len(raw) - len(unfinished)


def _text(events: Entry) -> str:
    lines = [event.to_json() for event in events]
    return lines[0] if len(lines) == 1 else f'{{"{_JOINTLY}": [{", ".join(lines)}]}}'


def _entry(text: str, where: str) -> Entry:
    fields = json.loads(text)
    if _JOINTLY not in fields:
        return (Event.from_json(text, where),)
    return tuple(Event.from_json(json.dumps(event), where) for event in fields[_JOINTLY])


def _counted(path: Path) -> int:
    try:
        return int(_counter(path).read_text())
    except (FileNotFoundError, ValueError):
        raise InputError(f"{_counter(path)}: is missing or damaged; it says how many events {path.name} has") from None


def _counter(path: Path) -> Path:
    return path.with_suffix(".count")


def _line(text: str) -> bytes:
    return f"{checksum(text)} {text}\n".encode()


def _write(file: int, line: bytes) -> None:
    while line:
        line = line[os.write(file, line) :]
