"""Run commands of topicloom in this process: what the guards need of the program.

Nothing else in `tools/` imports topicloom. `PYTHONPATH=other/tree/src` runs the commands of another tree.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

from topicloom.cli.main import run


@dataclass(frozen=True)
class Ended:
    """Exit status and output of a command."""

    status: int
    out: str
    err: str


def topicloom(*arguments: object) -> Ended:
    """Run one command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run([str(argument) for argument in arguments])
    return Ended(status, out.getvalue(), err.getvalue())
