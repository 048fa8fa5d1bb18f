"""Something done in a child process that is killed at one of its writes: before, within or after it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WRITES = ("write", "pwrite", "fsync", "truncate", "ftruncate", "open")


def dies_at(turn: int, how: str, do: Callable[[], object]) -> bool:
    """Do it in a child that dies at a turn; tell whether it came to that."""
    child = os.fork()
    if child == 0:
        try:
            countdown = [turn]
            for name in _WRITES:
                setattr(os, name, _watched(getattr(os, name), countdown, how))
            Path.replace = _watched(Path.replace, countdown, how)  # type: ignore[method-assign]
            do()
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def _watched(call: Callable[..., Any], countdown: list[int], how: str) -> Callable[..., Any]:
    """The same call, which kills the process when its turn has come."""

    def instead(*arguments: Any, **named: Any) -> Any:
        countdown[0] -= 1
        if countdown[0] == 0:
            if how == "within" and call is os.write:
                call(arguments[0], arguments[1][: len(arguments[1]) // 2])
            elif how == "after":
                call(*arguments, **named)
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **named)

    return instead
