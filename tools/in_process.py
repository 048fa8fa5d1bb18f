"""Run commands of topicloom in this process: what the guards need of the program.

Only this file says where the program is and what its commands are called. `PYTHONPATH=other/tree/src` runs the
commands of another tree.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

from topicloom.cli.main import run

# What commands of version 0.2 are called now, such as {"live": "test"}; None if a command is gone.
COMMANDS: dict[str, str | None] = {
    "version": None,
    "evaluate": "spark measure",
    "ingest": "spark ingest",
    "profile": "spark profile",
    "sample": "spark sample",
    "sweep": "spark sweep",
    "stream": "spark stream",
    "content sweep": None,
    "content summarize": "spark rates",
    "live": "test",
}
# What options and arguments of theirs are called now, such as {"plan": {"--target": "--kind"}}.
# None for words that are left out.
OPTIONS: dict[str, dict[str, str | None]] = {
    "ingest": {"--format": "--input-format"},
    "collect": {"fleet.toml": "--fleet=fleet.toml", "--watch": "--follow"},
    "watch": {"fleet.toml": "--fleet=fleet.toml"},
    "plan": {"--relays": None, "allow": "--relays", "forbid": None},
}


@dataclass(frozen=True)
class Ended:
    """Exit status and output of a command."""

    status: int
    out: str
    err: str


class GoneError(Exception):
    """A command of version 0.2 that there is no more."""


def topicloom(*arguments: object) -> Ended:
    """Run one command, which is given as in version 0.2."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(translated([str(argument) for argument in arguments]))
    return Ended(status, out.getvalue(), err.getvalue())


def translated(words: list[str]) -> list[str]:
    """A command of version 0.2 as it is given now."""
    for length in (2, 1):
        command = " ".join(words[:length])
        if command in COMMANDS or command in OPTIONS:
            now = COMMANDS.get(command, command)
            if now is None:
                raise GoneError(command)
            options = OPTIONS.get(command, {})
            return [*now.split(), *filter(None, (options.get(word, word) for word in words[length:]))]
    return words
