"""Waiting for work, so that a person sees it going on and can stop it.

Work runs in a thread; the main thread draws and hears Ctrl-C. Kernels release the interpreter lock, so both can.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

T = TypeVar("T")

COMPILING = "compiling kernels, once after an install or update"

# How often the main thread looks, how long work has to stop after Ctrl-C, and when it counts as slow.
_LOOK_SECONDS = 0.1
_STOP_SECONDS = 5.0
_SLOW_SECONDS = 1.0

# Not whether the thread is alive: before Python 3.13 a thread counts as ended once Ctrl-C has interrupted a join.
_finished: list[threading.Event] = []


class Stoppable(Protocol):
    """Work that says how far it is and can be asked to stop."""

    @property
    def done(self) -> int:
        """How much is done so far."""

    def stop(self) -> None:
        """Ask it to stop."""


class _Done(ProgressColumn):
    """How much is done, and of how much, where either is known, and what else there is to say."""

    def render(self, task: Task) -> Text:
        done = f"{int(task.completed):,}" if task.completed else ""
        text = done if task.total is None else f"{done or 0} of {int(task.total):,}"
        note = task.fields["note"]
        return Text(f"{text}, {note}" if text and note else text or note)


class Working:
    """Does one piece of work after the other, and shows it on stderr where that is a terminal."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        self._shown = console.is_terminal and not quiet
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            _Done(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not self._shown,
        )

    def __enter__(self) -> Working:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Nothing is shown between steps, so that other output is not mixed up with progress."""

    def do(
        self,
        text: str | Callable[[], str],
        work: Callable[[], T],
        *,
        watch: Stoppable | None = None,
        total: int | None = None,
        if_slow: str | None = None,
        note: Callable[[], str] | None = None,
        keep: bool = False,
    ) -> T:
        """Do the work and give what it gives; the text says what it is, and may change.

        `total` is what `watch.done` comes to in the end, where that is known. `if_slow` replaces the text after a
        second, and `note` gives a few words to show beside it. After Ctrl-C the watch is told to stop, and the work
        gets a few seconds to hear it; with `keep` its result is returned if it ends by then.
        """
        results: list[T] = []
        errors: list[BaseException] = []

        def keep_outcome() -> None:
            try:
                results.append(work())
            except BaseException as error:
                errors.append(error)
            finally:
                finished.set()

        self._progress.start()
        task = self._progress.add_task(text if isinstance(text, str) else text(), total=total, note="")
        finished = threading.Event()
        _finished[:] = [finished]
        began = time.monotonic()
        threading.Thread(target=keep_outcome, daemon=True).start()
        try:
            while not finished.wait(_LOOK_SECONDS):
                if watch is not None:
                    self._progress.update(task, completed=watch.done)
                if note is not None:
                    self._progress.update(task, note=note())
                if not isinstance(text, str):
                    self._progress.update(task, description=text())
                if if_slow is not None and time.monotonic() - began > _SLOW_SECONDS:
                    self._progress.update(task, description=if_slow)
        except KeyboardInterrupt:
            if watch is not None:
                watch.stop()
                finished.wait(_STOP_SECONDS)
            if not keep or not results:
                raise
        finally:
            self._progress.remove_task(task)
            self._progress.stop()
        if errors:
            raise errors[0]
        return results[0]


def is_busy() -> bool:
    """Whether work that nobody waits for any more still goes on."""
    return not all(finished.is_set() for finished in _finished)
