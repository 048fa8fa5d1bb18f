"""Configurations of NATS as tables and lists.

Keys and values with `:`, `=` or a space between them; `{ }` and `[ ]`; values end with a comma, a semicolon or their
line; text in quotes or without; comments after `#` and `//`. Variables and includes are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from topicloom.errors import InputError

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r,;]+|(?:\#|//)[^\n]*)|(?P<line>\n)|(?P<sign>[{}\[\]:=])"""
    r"""|"(?P<double>(?:\\.|[^"\\])*)"|'(?P<single>[^']*)'|(?P<word>(?:[^\s{}\[\]:=,;"'\#]|:(?=//|\d|\w))+)"""
)

Token = tuple[str, str, int]


def parse_nats(text: str, where: str) -> dict[str, Any]:
    """What a configuration holds; `where` names it in errors."""
    return _Parser(list(_tokens(text, where)), where).table(None)


def _tokens(text: str, where: str) -> Iterator[Token]:
    place, line = 0, 1
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise InputError("cannot be read as a configuration of NATS", file=f"{where}:{line}")
        place = found.end()
        kind = found.lastgroup or ""
        if kind != "blank":
            yield "text" if kind in ("double", "single", "word") else kind, found[kind], line
        line += found[0].count("\n")


class _Parser:
    def __init__(self, tokens: list[Token], where: str) -> None:
        self._tokens = tokens
        self._place = 0
        self._where = where

    def table(self, end: str | None) -> dict[str, Any]:
        """Keys and values up to the sign that ends them; None stands for the end of the file."""
        found: dict[str, Any] = {}
        while (token := self._next(end)) is not None:
            kind, key, line = token
            if kind != "text":
                raise self._wrong(key, line)
            if self._peek() in (":", "="):
                self._place += 1
            found[key.lower()] = self._value(line)
        return found

    def _value(self, line: int) -> Any:
        token = self._next("")
        if token is None:
            raise self._wrong("the end", line)
        kind, text, line = token
        if kind == "text":
            return text
        if text == "{":
            return self.table("}")
        if text == "[":
            values = []
            while (token := self._next("]")) is not None:
                self._place -= 1
                values.append(self._value(token[2]))
            return values
        raise self._wrong(text, line)

    def _peek(self) -> str | None:
        return self._tokens[self._place][1] if self._place < len(self._tokens) else None

    def _next(self, end: str | None) -> Token | None:
        """The next token that is no line's end; None where it is the sign that ends what is read."""
        while self._place < len(self._tokens):
            token = self._tokens[self._place]
            self._place += 1
            if token[0] == "sign" and token[1] == end:
                return None
            if token[0] != "line":
                return token
        if end:
            raise InputError(f"ends before '{end}'; give the whole file", file=self._where)
        return None

    def _wrong(self, text: str, line: int) -> InputError:
        return InputError(f"'{text}' stands where a key or a value should", file=f"{self._where}:{line}")
