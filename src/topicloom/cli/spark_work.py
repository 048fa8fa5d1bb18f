"""Running work on Spark while a person watches.

Nothing here calls Spark from the main thread: Ctrl-C in the middle of a call would leave an answer unread, and the next
call would take it for its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from topicloom.cli.progress import Stoppable, Working

if TYPE_CHECKING:
    from topicloom.spark import Interned, SparkOptions


T = TypeVar("T")

# Its type is pyspark's, which only the pipeline imports.
SparkSession = Any

_POLL_SECONDS = 0.3
# Stopping a session takes one or two seconds; starting one, which cannot be interrupted, some five.
_END_SECONDS = 20.0


class OnSpark:
    """A session, and work done on it one piece after the other."""

    def __init__(self, working: Working, session: SparkSession) -> None:
        self._working = working
        self.session = session

    @property
    def is_remote(self) -> bool:
        """Whether the session is one of Spark Connect."""
        return type(self.session).__module__.startswith("pyspark.sql.connect")

    def interned(self, place: str) -> Interned:
        """The subscriptions of a place."""
        from topicloom.spark import read_interest

        return self.do(f"reading {place}", lambda spark: read_interest(spark, place))

    def do(
        self,
        text: str | Callable[[], str],
        work: Callable[[SparkSession], T],
        *,
        watch: Stoppable | None = None,
        total: int | None = None,
        note: Callable[[], str] | None = None,
    ) -> T:
        """Do the work and give what it gives; shows the tasks of the jobs that run, unless told what to show."""
        with _Tasks(self.session) as tasks:
            return self._working.do(
                text,
                lambda: work(self.session),
                watch=watch or tasks,
                total=total,
                note=note or (lambda: tasks.note),
            )


@contextmanager
def on_spark(working: Working, options: SparkOptions, name: str, *, little_data: bool = False) -> Iterator[OnSpark]:
    """A session for as long as the block runs. Ctrl-C cancels its jobs and stops it."""
    holder = _Holder(replace(options, little_data=little_data), name)
    try:
        session = working.do("starting Spark", holder.started)
        yield OnSpark(working, session)
    except Exception as error:
        holder.end(error)
        raise
    except BaseException:
        holder.end(None)
        raise
    holder.end(None)


class _Holder:
    """Holds a session in a thread of its own, from the start to the end."""

    def __init__(self, options: SparkOptions, name: str) -> None:
        self._sessions: list[SparkSession] = []
        self._errors: list[Exception] = []
        self._work_error: Exception | None = None
        self._ready, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._hold, args=(options, name), daemon=True)
        self._thread.start()

    def _hold(self, options: SparkOptions, name: str) -> None:
        from topicloom.spark import spark_session

        try:
            with spark_session(options, name) as session:
                self._sessions.append(session)
                self._ready.set()
                self._over.wait()
                if self._work_error is not None:
                    raise self._work_error  # so that the session can say it in one line
        except Exception as error:
            self._errors.append(error)
        finally:
            self._ready.set()

    def started(self) -> SparkSession:
        """The session, once it is there."""
        self._ready.wait()
        if not self._sessions:
            raise self._errors[0]
        return self._sessions[0]

    def end(self, error: Exception | None) -> None:
        """Stop the session; raises the error that the work ended with, as the session puts it."""
        self._work_error = error
        self._over.set()
        self._thread.join(_END_SECONDS)
        if self._errors:
            raise self._errors[0] from None


class _Tasks:
    """Watches all jobs of a session: how many tasks of the stages that run are done; stopping cancels them."""

    done = 0

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._over = threading.Event()
        self.note = ""

    def __enter__(self) -> _Tasks:
        threading.Thread(target=self._poll, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()

    def stop(self) -> None:
        """Cancel what runs."""
        threading.Thread(target=self._cancel, daemon=True).start()

    def _cancel(self) -> None:
        with suppress(Exception):  # Spark may be gone
            self._session.interruptAll()

    def _poll(self) -> None:
        with suppress(Exception):  # Spark Connect tells nothing of tasks
            tracker = self._session.sparkContext.statusTracker()
            while not self._over.wait(_POLL_SECONDS):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                done = sum(stage.numCompletedTasks for stage in stages if stage)
                tasks = sum(stage.numTasks for stage in stages if stage)
                self.note = f"{done:,} of {tasks:,} tasks" if tasks else ""
