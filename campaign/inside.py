"""Commands run inside this process: a thousandth of the time that a process takes to start."""

from __future__ import annotations

import io
import os
import re
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from topicloom.cli.main import run

# What a person may see: at most this many lines on stderr, of at most this many letters.
_LINES = 2
_LETTERS = 2000
_TRACE = re.compile(r"Traceback \(most recent call last\)|^\s+at (java|org|scala)\.", re.MULTILINE)


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it printed; a status of None is an exception that came out of it."""

    status: int | None
    out: str
    err: str

    @property
    def problem(self) -> str | None:
        """What no command may do, whatever it is given."""
        if self.status is None or _TRACE.search(self.err):
            return "a traceback: " + (self.err.strip().splitlines() or ["?"])[-1][:300]
        if self.status not in (0, 1, 2):
            return f"ended with status {self.status}: {self.err[-300:]}"
        if self.status == 2 and self.err.count("\n") != 1:
            return f"refused in {self.err.count(chr(10))} lines: {self.err[-300:]}"
        if self.err.count("\n") > _LINES or len(self.err) > _LETTERS:
            return f"said too much: {self.err[:300]}"
        return None


def run_inside(arguments: Sequence[str], folder: str) -> Ended:
    """Run a command in a folder."""
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(folder)
    status: int | None = None
    try:
        with redirect_stdout(out), redirect_stderr(err):
            try:
                status = run(list(arguments))
            except BaseException:
                traceback.print_exc(file=err)
    finally:
        os.chdir(before)
    return Ended(status, out.getvalue(), err.getvalue())
