"""Commands run as processes of their own, with limits, and killed."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import topicloom
from campaign.inside import Ended

COMMAND = (sys.executable, "-c", "import sys; from topicloom.cli.main import run; sys.exit(run())")
_SOURCES = str(Path(topicloom.__file__).parents[1])
_PATIENCE_SECONDS = 300


def run_outside(
    arguments: Sequence[str],
    folder: str,
    *,
    environment: Mapping[str, str | None] | None = None,
    before: Callable[[], None] | None = None,
    stdout: int = subprocess.PIPE,
) -> Ended:
    """Run a command in a folder to its end; `before` is called in the new process, None takes a variable away."""
    process = start(arguments, folder, environment=environment, before=before, stdout=stdout)
    try:
        out, err = process.communicate(timeout=_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        kill(process)
        out, err = process.communicate()
        return Ended(None, (out or b"").decode(errors="replace"), f"did not end in {_PATIENCE_SECONDS} seconds")
    return Ended(process.returncode, (out or b"").decode(errors="replace"), err.decode(errors="replace"))


def start(
    arguments: Sequence[str],
    folder: str,
    *,
    environment: Mapping[str, str | None] | None = None,
    before: Callable[[], None] | None = None,
    stdout: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start a command in a folder, in a session of its own."""
    variables = {**os.environ, "PYTHONPATH": _SOURCES, **(environment or {})}
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env={name: value for name, value in variables.items() if value is not None},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=before,
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a command and nothing else: whatever it started has to end by itself."""
    process.send_signal(signal.SIGKILL)


def little_memory(size: int) -> Callable[[], None]:
    """Called in a new process, gives it no more than so many bytes of addresses."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def short_files(size: int) -> Callable[[], None]:
    """Called in a new process, lets it write no longer files than that."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit
