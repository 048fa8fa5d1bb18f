"""The exception for wrong input, and text that fits into one line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

# How much of a value a message shows.
_SHOWN = 80
_LONG = re.compile(rf"(?<!\w)(['\"])(?P<quoted>[^'\"]{{{_SHOWN + 2},}})\1|(?P<bare>[^\s/]{{300,}}|\d{{{_SHOWN + 2},}})")


# A login in a URL.
_LOGIN = re.compile(r"(?<=:/)(/?)[^\s/@'\"]+(?=@)")


def printable(text: str) -> str:
    """The text in one line: line breaks and all other characters that cannot be printed are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def shortened(message: str) -> str:
    """The message without logins, and with what is in quotes, and any long number or word, cut where it is long."""
    message = _LOGIN.sub(r"\1…", message)
    return _LONG.sub(lambda found: _cut(found["quoted"], found[1]) if found[1] else _cut(found["bare"], ""), message)


def _cut(value: str, quote: str) -> str:
    return f"{quote}{value[:_SHOWN]}…{quote}"


class InputError(ValueError):
    """What the user gave cannot be used; the message says what, where, and what would be right.

    The message is one line. The command line prints it and exits with status 2.

    Args:
        problem: what is wrong and what would be right.
        file: the file it is in. row: which of its rows, from 1. The message begins with both.
        parameters: names of parameters that `problem` mentions, so that whoever asked for them can spell them in
            their own way: `max_edges` in Python, a flag at the command line.
    """

    def __init__(
        self,
        problem: str,
        *parameters: str,
        file: str | os.PathLike[str] | None = None,
        row: int | None = None,
    ) -> None:
        problem = shortened(problem)
        where = "" if file is None else f"{os.fspath(file)}: "
        super().__init__(where + ("" if row is None else f"row {row}: ") + problem)
        self.problem = problem
        self.parameters = parameters
        self.file = None if file is None else os.fspath(file)
        self.row = row

    def spelt(self, spell: Callable[[str], str]) -> str:
        """The message with the names of its parameters spelt otherwise; what is in quotes stays as it was given."""
        if not self.parameters:
            return str(self)
        names = "|".join(map(re.escape, self.parameters))
        problem = re.sub(
            rf"""(?<!\w)(['"]).*?\1(?!\w)|(?<![\w-])({names})(?![\w-])""",
            lambda found: spell(found[2]) if found[2] else found[0],
            self.problem,
        )
        return str(self).removesuffix(self.problem) + problem

    def __reduce__(self) -> tuple[Callable[..., InputError], tuple[Any, ...]]:
        return _restored, (type(self), str(self), self.__dict__)


def _restored(kind: type[InputError], message: str, fields: dict[str, Any]) -> InputError:
    """An error from another process; not by its constructor, as those of subclasses take other arguments."""
    error = kind.__new__(kind, message)
    error.__dict__.update(fields)
    return error
