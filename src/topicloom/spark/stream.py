"""Events as they come, followed by Spark Structured Streaming: every micro-batch is applied once, in the order of ids.

Spark remembers which files belong to which batch before it hands a batch over, and hands the same batch over again
after a crash. The store of the maintainer holds which events have happened, which batch is being applied, and which
event came before it. So events of a batch that was cut off are told from late ones, and their changes are written
again, as they were. A batch is done when its file of changes is there.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from topicloom.churn import Settings
from topicloom.churn.state import MaintainedState, Outcome, open_state
from topicloom.errors import InputError
from topicloom.io.tables import write_parquet
from topicloom.io.whole import replacing
from topicloom.model.events import Event
from topicloom.model.overlay import Overlay
from topicloom.spark.lines import readable_path
from topicloom.spark.places import spark_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


CHANGES = pa.schema(
    [
        ("batch", pa.int64()),
        ("event", pa.int64()),
        ("action", pa.string()),
        ("source", pa.string()),
        ("target", pa.string()),
    ]
)
REFUSED = pa.schema(
    [
        ("batch", pa.int64()),
        ("event", pa.int64()),
        ("reason", pa.string()),
        ("file", pa.string()),
        ("line", pa.string()),
    ]
)
# Events after which a snapshot is taken, so that starting again takes seconds.
_SNAPSHOT_AFTER = 10_000
_MARKER = "batch"
_CHECKPOINT = "checkpoint"
_TABLES = ("changes", "refused")


@dataclass(frozen=True)
class Batch:
    """The result of a micro-batch."""

    number: int
    events: int
    refused: int
    links_added: int
    links_removed: int
    last_event: int | None


class Follower:
    """Applies micro-batches, one after the other; to be given to `foreachBatch`."""

    def __init__(
        self, state: MaintainedState, folder: Path, out: Path, told: Callable[[Batch], None], *, jointly: bool = False
    ) -> None:
        self._state = state
        self._folder = folder
        self._out = out
        self._told = told
        self._jointly = jointly
        self._since_snapshot = 0
        # Outcomes of events that an earlier run has seen since its snapshot, by id.
        self._before = {outcome.event.id: outcome for outcome in state.begin()}
        self.error: Exception | None = None
        # Held while a batch is being applied, which goes on for a moment after Spark was told to stop.
        self.at_work = threading.Lock()

    def __call__(self, frame: DataFrame, number: int) -> None:
        """Apply a batch of lines, in the column `value`."""
        with self.at_work:
            try:
                self._follow(frame, number)
            except Exception as error:
                # Spark would wrap it in its own words.
                self.error = error
                raise

    def _follow(self, frame: DataFrame, number: int) -> None:
        name = f"batch-{number:08}.parquet"
        after, is_new = self._begun(number)
        if not is_new and (self._out / "changes" / name).exists():
            return
        events, refused = _parsed(frame)
        outcomes: list[Outcome] = []
        ordered = sorted(events, key=lambda item: item[0].id)
        last = self._state.last_event
        taken = self._taken([event for event, _, _ in ordered])
        for event, file, line in ordered:
            if event.id in taken:
                outcome, last = taken.pop(event.id), event.id
            elif event.id in self._before and (after is None or event.id > after):
                outcome = self._before.pop(event.id)
            else:
                refused.append((event.id, f"late or repeated: event {last} has happened already", file, line))
                continue
            outcomes.append(outcome)
            if outcome.error is not None:
                refused.append((event.id, outcome.error, file, line))
        self._state.sync()
        changes = [
            (number, outcome.event.id, action, link.source, link.target)
            for outcome in outcomes
            if outcome.change is not None
            for action, links in (("remove", outcome.change.removed), ("add", outcome.change.added))
            for link in links
        ]
        _write(self._out / "refused" / name, [(number, *row) for row in refused], REFUSED)
        overlay = self._state.maintainer.overlay()
        overlay.write(self._out / "overlay.parquet")
        overlay.interest.write(self._out / "subscriptions.parquet")
        _write(self._out / "changes" / name, changes, CHANGES)
        self._since_snapshot += len(outcomes)
        if self._since_snapshot >= _SNAPSHOT_AFTER:
            self._since_snapshot = 0
            self._state.checkpoint()
        added = sum(action == "add" for _, _, action, _, _ in changes)
        self._told(Batch(number, len(outcomes), len(refused), added, len(changes) - added, self._state.last_event))

    def _begun(self, number: int) -> tuple[int | None, bool]:
        """Return the last event before a batch, and whether the batch is new to this state."""
        folder = self._folder
        query = json.loads((folder / _CHECKPOINT / "metadata").read_text())["id"]
        last = _marker_of(self._state)
        if last.query not in (None, query) or number not in (last.batch, last.batch + 1):
            raise InputError(
                f"{folder}: Spark's checkpoint and the state do not go together: it goes on with batch {number}, and "
                f"the state has seen {last.batch + 1}; put back the folder as it was, or begin with a new one"
            )
        if number == last.batch:
            return last.after, False
        after = self._state.last_event
        self._state.note(_MARKER, json.dumps({"batch": number, "after": after, "query": query}))
        return after, True

    def _taken(self, events: Sequence[Event]) -> dict[int, Outcome]:
        """Take the events that are due, of repeated ids the first, and return the outcomes by id."""
        due = {event.id: event for event in reversed(events) if self._state.is_due(event)}
        ordered = sorted(due.values(), key=lambda event: event.id)
        outcomes = self._state.take_jointly(ordered) if self._jointly else self._state.take_all(ordered)
        return {outcome.event.id: outcome for outcome in outcomes}


def follow(
    frame: DataFrame,
    overlay: Overlay,
    *,
    state: Path,
    out: Path,
    settings: Settings | None = None,
    once: bool = False,
    jointly: bool = False,
    told: Callable[[Batch], None] = lambda batch: None,
    until: Callable[[], bool] = lambda: False,
) -> None:
    """Repair an overlay as events come.

    Args:
        frame: a streaming frame with an event as JSON in the column `value`, and its `file` where it has one.
        overlay: the overlay to begin with.
        state: folder for the store and Spark's checkpoint.
        out: folder for `changes/`, `refused/`, `overlay.parquet` and `subscriptions.parquet`.
        settings: how to repair.
        once: end when all that is there has been applied; otherwise wait for more.
        jointly: repair the overlay once for each micro-batch, instead of after each event.
        told: told of each batch that is done.
        until: asked several times a second whether to end.
    """
    settings = settings or Settings()
    with open_state(overlay, settings, state) as maintained:
        _make_folders(state, out, is_new=_marker_of(maintained).batch < 0)
        follower = Follower(maintained, state, out, told, jointly=jointly)
        writer = frame.writeStream.foreachBatch(follower).option("checkpointLocation", spark_path(state / _CHECKPOINT))
        query = (writer.trigger(availableNow=True) if once else writer.trigger(processingTime="1 second")).start()
        stopped = False
        try:
            while not stopped and not query.awaitTermination(1):
                stopped = until()
        except Exception:
            if follower.error is None:
                raise
        finally:
            query.stop()
        with follower.at_work:
            # Lines that Spark was told not to read any more are read again the next time.
            if follower.error is not None and not (stopped and not isinstance(follower.error, InputError)):
                raise follower.error
            maintained.checkpoint()


def event_lines(spark: SparkSession, folder: Path) -> DataFrame:
    """The lines of all files of a folder, and of those that come."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; give one that event files are moved into")
    return spark.readStream.text(spark_path(folder)).selectExpr("value", "_metadata.file_path as file")


def _make_folders(state: Path, out: Path, *, is_new: bool) -> None:
    """Make the folders of the output; raise InputError if they hold what this state did not write."""
    if is_new and out.exists() and any(path.name not in _TABLES or any(path.iterdir()) for path in out.iterdir()):
        raise InputError(f"{out}: is not empty, and {state} has written nothing to it; give a new folder")
    for name in _TABLES:
        try:
            (out / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{out}: cannot be written ({error.strerror})") from None


def _parsed(frame: DataFrame) -> tuple[list[tuple[Event, str, str]], list[tuple[int | None, str, str, str]]]:
    """Events with their files and lines, and lines that are no events, with the reasons."""
    table = frame.toArrow()
    files = table["file"].to_pylist() if "file" in table.column_names else [""] * table.num_rows
    events: list[tuple[Event, str, str]] = []
    refused: list[tuple[int | None, str, str, str]] = []
    for line, file in zip(table["value"].to_pylist(), map(readable_path, files), strict=True):
        if not line.strip():
            continue
        try:
            events.append((Event.from_json(line, "line"), file, line))
        except InputError as error:
            refused.append((None, str(error), file, line))
    return events, refused


class _Marker(NamedTuple):
    """The latest batch, -1 if there is none, the last event before it, and Spark's name for the query."""

    batch: int
    after: int | None
    query: str | None


def _marker_of(state: MaintainedState) -> _Marker:
    text = state.noted().get(_MARKER)
    return _Marker(-1, None, None) if text is None else _Marker(**json.loads(text))


def _write(path: Path, rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> None:
    columns = [[row[place] for row in rows] for place in range(len(schema))]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    with replacing(path) as temporary:
        write_parquet(pa.table(arrays, schema=schema), temporary)
