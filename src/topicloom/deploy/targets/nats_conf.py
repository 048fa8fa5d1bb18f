"""Reading the leafnode remotes in configurations of NATS servers, as people write them and as we do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from topicloom.deploy.targets.mosquitto_conf import Bridge, Configured
from topicloom.errors import InputError

_DEFAULT_PORT = 7422
_LEAFNODES = ("leafnodes", "leaf")
_HEADING = re.compile(r"^# Topicloom: leafnode remotes of broker (\S+) at (\S+):(\d+)$", re.MULTILINE)
_IS_NATS = re.compile(r"^\s*(leafnodes|leaf)\b\s*[:={]|^# Topicloom: leafnode remotes", re.MULTILINE)
_TOKEN = re.compile(r"""\s+|(?:\#|//).*|"((?:\\.|[^"\\])*)"|'([^']*)'|([{}\[\],:=;])|((?:(?!//)[^\s{}\[\],;"'=\#])+)""")


@dataclass(frozen=True)
class _Token:
    text: str
    mark: bool
    line: int


def are_nats(paths: Sequence[Path]) -> bool:
    """Whether the given configurations are of NATS servers; some of which are and some not is an error."""
    files = list(_files(paths))
    kinds = {file: _IS_NATS.search(_text(file)) is not None for file in files}
    if len(set(kinds.values())) > 1:
        nats = next(file for file, is_nats in kinds.items() if is_nats)
        other = next(file for file, is_nats in kinds.items() if not is_nats)
        raise InputError(f"{nats} is of a NATS server and {other} is not; give the brokers of one kind at a time")
    return any(kinds.values())


def read_servers(paths: Sequence[Path]) -> tuple[Configured, ...]:
    """The servers of files, and of the `.conf` files of folders; each is called like its file."""
    servers = tuple(_server(file) for file in _files(paths))
    names = [server.name for server in servers]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two configurations are both of broker '{name}'; give each file its own name")
    return servers


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from (entry for entry in sorted(path.iterdir()) if entry.suffix == ".conf" and entry.is_file())
        elif path.is_file():
            yield path


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read ({getattr(error, 'strerror', None) or 'it is not UTF-8'})") from None


def _server(file: Path) -> Configured:
    text = _text(file)
    name, addresses = file.stem, [("", _DEFAULT_PORT)]
    headed = _HEADING.search(text)
    if headed:
        name, addresses = unquote(headed[1]), [(headed[2], int(headed[3]))]
    main = _Reader(file, text).table()
    leaf = next((main[key] for key in _LEAFNODES if isinstance(main.get(key), dict)), main)
    listen = str(leaf.get("listen", leaf.get("port", "")))
    port = listen.rpartition(":")[2]
    if port.isdecimal():
        addresses = [(listen.rpartition(":")[0], int(port))]
    bridges = tuple(_bridge(file, remote) for remote in leaf.get("remotes", []) if isinstance(remote, dict))
    return Configured(name, tuple(addresses), bridges)


def _bridge(file: Path, remote: dict[str, Any]) -> Bridge:
    urls = remote.get("urls") or [remote.get("url", "")]
    where = f"{file}:{remote[_LINE]}"
    parts = urlsplit(str(urls[0]))
    try:
        host, port = parts.hostname or "", parts.port or _DEFAULT_PORT
    except ValueError:
        host, port = "", 0
    if not host:
        raise InputError(f"{where}: a remote has no url; give one, such as nats-leaf://HOST:7422")
    return Bridge(f"to {host}:{port}", host, port, (), True, where)


# Under this name a table holds the line that it begins at; no key of a file can be empty.
_LINE = ""


class _Reader:
    """Reads tables, lists and values; enough of the format to find remotes."""

    def __init__(self, file: Path, text: str) -> None:
        self._file = file
        self._tokens = list(_tokens(file, text))
        self._at = 0

    def table(self, line: int = 1) -> dict[str, Any]:
        """Keys and values up to the end, or to a brace that closes it."""
        found: dict[str, Any] = {_LINE: line}
        while self._at < len(self._tokens):
            token = self._next()
            if token.mark and token.text == "}":
                break
            if token.mark:
                continue
            if token.text.lower() == "include":
                included = self._file.parent / self._next().text
                if included.is_file():
                    found |= {key: value for key, value in _Reader(included, _text(included)).table().items() if key}
                continue
            while self._at < len(self._tokens) and self._tokens[self._at].text in (":", "="):
                self._at += 1
            found[token.text.lower().rstrip(":")] = self._value(token)
        return found

    def _value(self, key: _Token) -> Any:
        if self._at == len(self._tokens):
            raise InputError(f"{self._file}:{key.line}: '{key.text}' has no value")
        token = self._next()
        if token.mark and token.text == "{":
            return self.table(token.line)
        if token.mark and token.text == "[":
            values: list[Any] = []
            while self._at < len(self._tokens):
                token = self._next()
                if token.mark and token.text == "]":
                    break
                if token.mark and token.text == "{":
                    values.append(self.table(token.line))
                elif not token.mark:
                    values.append(token.text)
            return values
        return token.text

    def _next(self) -> _Token:
        self._at += 1
        return self._tokens[self._at - 1]


def _tokens(file: Path, text: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise InputError(f"{file}:{line}: cannot be read; a quote may not be closed")
        double, single, mark, word = found.groups()
        if double is not None or single is not None:
            yield _Token(double if double is not None else single, False, line)
        elif mark is not None:
            yield _Token(mark, True, line)
        elif word is not None:
            # A colon after a key is part of the word here, as addresses hold colons, too.
            yield _Token(word, False, line)
        line += found[0].count("\n")
        at = found.end()
