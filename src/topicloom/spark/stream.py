"""Events as they come, followed by Spark Structured Streaming: every micro-batch is applied once.

Spark remembers which rows belong to which batch before it hands a batch over, and hands the same batch over again after
a crash. The store of the maintainer commits the number of a batch and a digest of its rows in one transaction with its
events. So only the latest batch again, or the next one, is taken: a checkpoint that was lost begins at 0, and would
otherwise skip data in silence. Rows of a batch that was cut off are written again, as they were.

Spark applies batches in the driver's process or, with Spark Connect, in a process of the server. The store is opened
there, by its path, on a disk of that machine.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from topicloom.churn import Settings
from topicloom.churn.state import MaintainedState, Outcome, open_state
from topicloom.errors import InputError
from topicloom.model.events import Event
from topicloom.model.overlay import Overlay, overlay_metadata
from topicloom.spark.frames import frame_of
from topicloom.spark.lines import readable_path
from topicloom.spark.links import write_links
from topicloom.spark.places import has_scheme, location, require_path

if TYPE_CHECKING:
    import os

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

CHANGES = pa.schema([("event", pa.int64()), ("action", pa.string()), ("source", pa.string()), ("target", pa.string())])
REFUSED = pa.schema([("event", pa.int64()), ("reason", pa.string()), ("file", pa.string()), ("line", pa.string())])
# Events after which a snapshot is taken, so that starting again takes seconds.
_SNAPSHOT_AFTER = 10_000
# A process of a server of Spark Connect, which applied batches, ends some moments after its query.
_RELEASE_SECONDS, _LOOK_SECONDS = 20.0, 0.1
_MARKER = "batch"
_CHECKPOINT = "checkpoint"
_TABLES = ("changes", "refused")


def follow(
    stream: DataFrame,
    overlay: Overlay,
    store: str | os.PathLike[str],
    *,
    out: str | None = None,
    settings: Settings | None = None,
    once: bool = False,
    jointly: bool = False,
    every: int | None = None,
    told: Callable[[Batch], None] = lambda batch: None,
) -> StreamingQuery:
    """Repair an overlay as events come; each batch of events is applied once, in the order of their ids.

    Args:
        stream: a streaming data frame with an event as JSON in the column `value`, and its `file` if it has one.
        overlay: the overlay to begin with.
        store: a folder on a local disk for the state and Spark's checkpoint; it is all that is needed to go on.
        out: a folder on any file system for `changes` and `refused`, by batch.
        settings: how to repair.
        once: end when all that is there has been applied; otherwise wait for more.
        jointly: repair the overlay once for each batch, instead of after each event.
        every: batches after which the overlay and the subscriptions are written to `out`; `current` gives them, too.
        told: called with each batch that is done, in the process that applied it.

    Example:
        >>> import pathlib
        >>> from topicloom import Interest, design
        >>> from topicloom.spark import current, event_lines, follow
        >>> overlay = design(Interest.from_pairs([("a", "x"), ("b", "x")]), "gm")
        >>> pathlib.Path("events").mkdir()
        >>> event = '{"id": 1, "event": "join", "node": "c", "topics": ["x"]}'
        >>> _ = pathlib.Path("events", "1.jsonl").write_text(event)
        >>> query = follow(event_lines(spark, "events"), overlay, "state", once=True)
        >>> query.awaitTermination()
        >>> current(overlay, "state").interest.node_names
        ('a', 'b', 'c')
    """
    return Follower(overlay, store, out, settings, jointly=jointly, every=every, told=told).start(stream, once=once)


def current(overlay: Overlay, store: str | os.PathLike[str], settings: Settings | None = None) -> Overlay:
    """The overlay that `follow` has come to, with its subscriptions; no other process may use the store meanwhile."""
    follower = _open.get(Path(store).absolute())
    overlay_now = None if follower is None else follower.close()
    if overlay_now is not None:
        return overlay_now
    deadline = time.monotonic() + _RELEASE_SECONDS
    while True:
        try:
            with open_state(overlay, settings or Settings(), Path(store), beside=(_CHECKPOINT,)) as state:
                for _ in state.begin():
                    pass
                return state.maintainer.overlay()
        except InputError as error:
            if "in use" not in error.problem or time.monotonic() >= deadline:
                raise
        time.sleep(_LOOK_SECONDS)


def event_lines(
    spark: SparkSession, place: str | None, source: str = "text", options: Mapping[str, str] | None = None
) -> DataFrame:
    """Events of a streaming source: the files of a folder, or what another `source` of Spark gives as `value`."""
    reader = spark.readStream.format(source).options(**(options or {}))
    if source != "text":
        return (reader.load() if place is None else reader.load(place)).selectExpr("CAST(value AS STRING) AS value")
    if place is None or (not has_scheme(place) and not Path(place).is_dir()):
        raise InputError(f"{place}: is no folder; give one that event files are moved into")
    return reader.load(location(place)).selectExpr("value", "_metadata.file_path AS file")


@dataclass(frozen=True)
class Batch:
    """The result of a micro-batch."""

    number: int
    events: int
    refused: int
    links_added: int
    links_removed: int
    last_event: int | None


class _Marker(NamedTuple):
    """The latest batch, -1 if there is none, a digest of its rows, and the last event before it."""

    batch: int
    digest: str
    after: int | None


# Followers that have opened their store in this process, by its folder.
_open: dict[Path, Follower] = {}


class Follower:
    """Applies micro-batches, one after the other; a function for `foreachBatch` that can travel to another process."""

    def __init__(
        self,
        overlay: Overlay,
        store: str | os.PathLike[str],
        out: str | None = None,
        settings: Settings | None = None,
        *,
        jointly: bool = False,
        every: int | None = None,
        told: Callable[[Batch], None] = lambda batch: None,
    ) -> None:
        # A process of the server may have another working folder.
        self._folder = Path(store).absolute()
        if out is not None:
            require_path(out)
        self._out = None if out is None else location(out)
        self._overlay, self._settings = overlay, settings or Settings()
        self._jointly, self._every, self._told = jointly, every, told
        self._begin()

    def _begin(self) -> None:
        self.error: Exception | None = None
        # Held while a batch is being applied, which goes on for a moment after Spark was told to stop.
        self._at_work = threading.Lock()
        self._stack = ExitStack()
        self._state: MaintainedState | None = None
        # Outcomes of events that an earlier run has seen since its snapshot, by id.
        self._before: dict[int, Outcome] = {}
        self._since_snapshot = 0

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_folder", "_out", "_overlay", "_settings", "_jointly", "_every", "_told")
        return {name: vars(self)[name] for name in kept}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)
        self._begin()

    def start(self, stream: DataFrame, *, once: bool) -> StreamingQuery:
        """Begin to follow a stream."""
        writer = stream.writeStream.foreachBatch(self).option("checkpointLocation", location(str(self._checkpoint)))
        return (writer.trigger(availableNow=True) if once else writer.trigger(processingTime="1 second")).start()

    @property
    def _checkpoint(self) -> Path:
        return self._folder / _CHECKPOINT

    def open(self) -> MaintainedState:
        """Open the store, if that is not done yet, and follow what earlier runs have committed."""
        if self._state is None:
            if (other := _open.get(self._folder)) is not None:
                other.close()
            with ExitStack() as stack:
                opened = open_state(self._overlay, self._settings, self._folder, beside=(_CHECKPOINT,))
                state = stack.enter_context(opened)
                if _marker_of(state).batch < 0:
                    self._require_new_output()
                self._before = {outcome.event.id: outcome for outcome in state.begin()}
                self._stack = stack.pop_all()
            self._state, _open[self._folder] = state, self
        return self._state

    def close(self) -> Overlay | None:
        """End when the batch at work is done; return the overlay, if the store was opened in this process."""
        with self._at_work:
            if self._state is None:
                return None
            overlay = self._state.maintainer.overlay()
            if self.error is None:
                self._state.checkpoint()
            self._state = None
            self._stack.close()
            del _open[self._folder]
            return overlay

    def __call__(self, frame: DataFrame, number: int) -> None:
        """Apply a batch of lines, in the column `value`."""
        with self._at_work:
            try:
                self._apply(self.open(), frame, number)
            except Exception as error:
                # Spark would wrap it in its own words.
                self.error = error
                raise

    def _apply(self, state: MaintainedState, frame: DataFrame, number: int) -> None:
        events, refused, digest = _parsed(frame)
        marker = _marker_of(state)
        if (number, digest) != marker[:2] and number != marker.batch + 1:
            raise InputError(
                f"{self._folder}: Spark's checkpoint and the state do not go together: it goes on with batch {number}, "
                f"and the state has seen {marker.batch + 1}; put back the folder as it was, or begin with a new one"
            )
        again = number == marker.batch
        after = marker.after if again else state.last_event
        ordered = sorted(events, key=lambda item: item[0].id)
        # Of repeated ids the first counts.
        due = {event.id: event for event, _, _ in reversed(ordered) if after is None or event.id > after}
        if again:
            taken = {id_: self._before[id_] for id_ in due if id_ in self._before}
            if len(taken) < len(due):
                return  # it was written before the snapshot
        else:
            noted = {_MARKER: json.dumps({"batch": number, "digest": digest, "after": after})}
            outcomes = state.take_batch([due[id_] for id_ in sorted(due)], noted, jointly=self._jointly)
            taken = {outcome.event.id: outcome for outcome in outcomes}
        # Now all earlier ones are written.
        self._before = dict(taken)
        changes: list[tuple[Any, ...]] = []
        last = after
        for event, file, line in ordered:
            outcome = taken.pop(event.id, None)
            if outcome is None:
                refused.append((event.id, f"late or repeated: event {last} has happened already", file, line))
                continue
            last = event.id
            if outcome.error is not None:
                refused.append((event.id, outcome.error, file, line))
            if outcome.change is not None:
                for action, links in (("remove", outcome.change.removed), ("add", outcome.change.added)):
                    changes += [(event.id, action, link.source, link.target) for link in links]
        state.sync()
        self._write(frame.sparkSession, state, number, changes, refused)
        self._since_snapshot += len(due)
        if self._since_snapshot >= _SNAPSHOT_AFTER:
            self._since_snapshot = 0
            state.checkpoint()
            self._before = {}
        added = sum(action == "add" for _, action, _, _ in changes)
        self._told(Batch(number, len(due), len(refused), added, len(changes) - added, state.last_event))

    def _write(
        self,
        spark: SparkSession,
        state: MaintainedState,
        number: int,
        changes: Sequence[tuple[Any, ...]],
        refused: Sequence[tuple[Any, ...]],
    ) -> None:
        if self._out is None:
            return
        for name, rows, schema in zip(_TABLES, (changes, refused), (CHANGES, REFUSED), strict=True):
            if rows:
                columns = zip(zip(*rows, strict=True), schema, strict=True)
                table = pa.table([pa.array(column, field.type) for column, field in columns], schema=schema)
                # A batch that comes again replaces what it wrote.
                place = f"{self._out}/{name}/batch={number:08}"
                frame_of(spark, table).coalesce(1).write.mode("overwrite").parquet(place)
        if self._every and number % self._every == self._every - 1:
            write_current(spark, state.maintainer.overlay(), self._out)

    def _require_new_output(self) -> None:
        """Refuse a local folder with things that this state did not write."""
        out = Path(readable_path(self._out or ""))
        if self._out is None or not self._out.startswith("file://") or not out.is_dir():
            return
        if any(path.name not in _TABLES or any(path.iterdir()) for path in out.iterdir()):
            raise InputError(f"{out}: is not empty, and {self._folder} has written nothing to it; give a new folder")


def write_current(spark: SparkSession, overlay: Overlay, out: str) -> None:
    """Write an overlay and its subscriptions to a folder on any file system, in place of those there."""
    where = location(out)
    if where.startswith("file://"):
        folder = Path(readable_path(where))
        folder.mkdir(parents=True, exist_ok=True)
        overlay.write(folder / "overlay.parquet")
        overlay.interest.write(folder / "subscriptions.parquet")
        return
    links = overlay.to_spark(spark).coalesce(1)
    metadata = overlay_metadata(overlay.interest.fingerprint, overlay.provenance)
    write_links(links, f"{where}/overlay", len(overlay), metadata, overwrite=True)
    pairs = overlay.interest.to_arrow()
    frame_of(spark, pairs).coalesce(1).write.mode("overwrite").parquet(f"{where}/subscriptions")


def _parsed(
    frame: DataFrame,
) -> tuple[list[tuple[Event, str, str]], list[tuple[int | None, str, str, str]], str]:
    """Events with their files and lines, lines that are no events with the reasons, and a digest of all lines."""
    table = frame.toArrow()
    files = table["file"].to_pylist() if "file" in table.column_names else [""] * table.num_rows
    rows = sorted(
        ((line or "", readable_path(file)) for line, file in zip(table["value"].to_pylist(), files, strict=True))
    )
    digest = hashlib.blake2b(digest_size=16)
    events: list[tuple[Event, str, str]] = []
    refused: list[tuple[int | None, str, str, str]] = []
    for line, file in rows:
        digest.update(f"{len(line)} {line}\n".encode(errors="surrogatepass"))
        if not line.strip():
            continue
        try:
            events.append((Event.from_json(line, "line"), file, line))
        except InputError as error:
            refused.append((None, str(error), file, line))
    return events, refused, digest.hexdigest()


def _marker_of(state: MaintainedState) -> _Marker:
    text = state.noted().get(_MARKER)
    return _Marker(-1, "", None) if text is None else _Marker(**json.loads(text))
