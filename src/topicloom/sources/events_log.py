"""Events that are told as they are seen: appended to a file, or as new files in a folder.

What has been told is known from the events themselves, and from what there was before the first of them. So whatever
ends a run, the next one tells what has changed since the last event that was written: none is lost or told twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from topicloom.errors import InputError
from topicloom.files.atomic import replacing
from topicloom.model.events import Event, parse_events
from topicloom.model.interest_changes import TopicsByNode, after_event, events_between

_BASELINE = "_told_before.json"


class EventsLog:
    """Where events are told, and what they have told so far.

    Args:
        path: a file to append to, which may not be there yet; or a folder, which gets a file for each telling.
        folder: keeps what there was before the first event.
        baseline: that, unless events have been told to `path` before.
    """

    def __init__(self, path: Path, folder: Path, baseline: TopicsByNode) -> None:
        self._path = path
        self._next_id = 0
        kept = folder / _BASELINE
        told = _read_baseline(kept) if kept.exists() and path.exists() else None
        if told is not None and told[0] == str(path.resolve()):
            self._told = told[1]
        else:
            self._begin()
            self._told = {node: frozenset(topics) for node, topics in baseline.items()}
            topics = {node: sorted(topics) for node, topics in sorted(self._told.items())}
            with replacing(kept) as temporary:
                temporary.write_text(json.dumps({"events": str(path.resolve()), "topics": topics}), encoding="utf-8")
        for file in self._files():
            _cut_to_whole_lines(file)
            for event in parse_events(file.read_text(encoding="utf-8").split("\n"), str(file)):
                after_event(self._told, event)
                self._next_id = event.id + 1

    def tell(self, now: TopicsByNode) -> list[Event]:
        """Write the events that lead from what was told to how it is now, and give them."""
        events = events_between(self._told, now, self._next_id)
        if not events:
            return []
        lines = "".join(event.to_json() + "\n" for event in events).encode()
        if self._path.is_dir():
            # Whoever reads the folder must find files whole.
            hidden = self._path / f".{events[0].id:012}.part"
            hidden.write_bytes(lines)
            hidden.rename(self._path / f"events-{events[0].id:012}.jsonl")
        else:
            with self._path.open("ab") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        for event in events:
            after_event(self._told, event)
        self._next_id = events[-1].id + 1
        return events

    def _files(self) -> Iterator[Path]:
        if self._path.is_dir():
            yield from sorted(self._path.glob("events-*.jsonl"))
        elif self._path.exists():
            yield self._path

    def _begin(self) -> None:
        """Make the file, so that a run that is killed before it tells anything is known to have begun."""
        for file in self._files():
            if file.stat().st_size:
                raise InputError(f"{file}: has events that were not told from here; give a new file or an empty folder")
        if not self._path.is_dir():
            try:
                self._path.touch()
            except OSError as error:
                raise InputError(f"{self._path}: cannot be written ({error.strerror})") from None


def _read_baseline(kept: Path) -> tuple[str, dict[str, frozenset[str]]]:
    """Where events were told, and what there was before them."""
    try:
        read = json.loads(kept.read_text(encoding="utf-8"))
        return str(read["events"]), {node: frozenset(topics) for node, topics in read["topics"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{kept}: is damaged; remove it, and give a new file for events") from None


def _cut_to_whole_lines(file: Path) -> None:
    """Take off what a killed run left of a line."""
    with file.open("rb+") as open_file:
        text = open_file.read()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            open_file.truncate(whole)
