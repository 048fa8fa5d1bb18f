"""Something done in a child process that is killed at one of its writes or commits."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from topicloom.io.store import Store

_WRITES = ("write", "pwrite", "fsync", "truncate", "ftruncate", "open")


def dies_at(turn: int, how: str, do: Callable[[], object]) -> bool:
    """Do it in a child that dies before, within or after a write; tell whether it came to that."""

    def prepare() -> None:
        countdown = [turn]
        for name in _WRITES:
            setattr(os, name, _watched(getattr(os, name), countdown, how))
        Path.replace = _watched(Path.replace, countdown, how)  # type: ignore[method-assign]

    return _dies(prepare, do)


def dies_at_commit(turn: int, how: str, do: Callable[[], object]) -> bool:
    """Do it in a child that dies before or after a commit of a store; tell whether it came to that."""

    def prepare() -> None:
        countdown, execute = [turn], Store.execute

        def instead(store: Store, statement: str, values: Sequence[Any] = ()) -> list[Any]:
            if statement != "COMMIT":
                return execute(store, statement, values)
            rows: list[Any] = _watched(execute, countdown, how)(store, statement, values)
            return rows

        Store.execute = instead  # type: ignore[method-assign,assignment]

    return _dies(prepare, do)


def commits_of(do: Callable[[], object]) -> int:
    """Do it, and count the commits of stores."""
    with mock.patch.object(Store, "execute", autospec=True, side_effect=Store.execute) as execute:
        do()
    return sum(call.args[1] == "COMMIT" for call in execute.call_args_list)


def _dies(prepare: Callable[[], object], do: Callable[[], object]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            prepare()
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
