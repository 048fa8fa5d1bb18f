"""Commands run in a copy of this process, which has everything loaded: a run is then its work and nothing else."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from campaign.inside import Ended
from topicloom.cli.main import run
from topicloom.io import whole


class Forked:
    """A command that runs; its standard streams are files in a folder."""

    def __init__(
        self, arguments: Sequence[str], folder: Path, streams: Path, before: Callable[[], None] = lambda: None
    ) -> None:
        self._streams = streams
        streams.mkdir(exist_ok=True)
        # Here, as a command may be killed before it has opened them.
        for name in ("out", "err"):
            (streams / name).write_bytes(b"")
        self.began = time.monotonic()
        gc.freeze()
        self.process = os.fork()
        if self.process == 0:
            self._be_the_command(arguments, folder, before)

    def _be_the_command(self, arguments: Sequence[str], folder: Path, before: Callable[[], None]) -> None:
        status = 70
        try:
            os.setsid()
            for number, name in ((1, "out"), (2, "err")):
                opened = os.open(self._streams / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                os.dup2(opened, number)
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  for good
            sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            os.chdir(folder)
            whole._cleared.clear()
            before()
            status = run(list(arguments))
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(OSError):  # there may be no room for it
                sys.stderr.flush()
            os._exit(status)

    def wait(self) -> Ended:
        """Wait for its end; a status below 0 is the signal that ended it."""
        _, status = os.waitpid(self.process, 0)
        self.seconds = time.monotonic() - self.began
        out, err = ((self._streams / name).read_text(errors="replace") for name in ("out", "err"))
        code = os.waitstatus_to_exitcode(status)
        return Ended(None if code == 70 else code, out, err)

    def send(self, number: int) -> None:
        """Send a signal, if it still runs."""
        os.kill(self.process, number)

    def kill(self) -> Ended:
        """Kill it, and wait."""
        self.send(signal.SIGKILL)
        return self.wait()


def more_addresses(size: int) -> Callable[[], None]:
    """Called in a new process, gives it no more than so many bytes of addresses above those it has."""

    def limit() -> None:
        has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (has + size, has + size))

    return limit


def few_files(number: int) -> Callable[[], None]:
    """Called in a new process, lets it open no more files than that at a time."""
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
