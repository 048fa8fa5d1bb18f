"""Log files read piece by piece, from where they were left; also when they were rotated meanwhile.

A file is known by its first bytes, whatever it is called now: `broker.log` may have become `broker.log.1` or
`broker.log.2.gz`.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from topicloom.brokers.rows import SourceError

_PIECE_BYTES = 32_000_000
_HEAD_BYTES = 256
_HASH_BYTES = 8


@dataclass(frozen=True)
class LogPosition:
    """How far a log was read: the hash of a file's first bytes, how many these are, and where to go on in it."""

    path: str
    head: str
    head_bytes: int
    offset: int

    def as_dict(self) -> dict[str, Any]:
        """The position for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Piece:
    """Whole lines of a log, and the position after them; a `note` where something is to be said."""

    text: bytes
    position: LogPosition
    note: str | None = None


def read_pieces(paths: Sequence[str], left: Mapping[str, Any] | None) -> Iterator[Piece]:
    """Pieces of files, oldest first; `left` is the position, as a dict, where they were left before."""
    position = None if left is None else LogPosition(**left)
    files, offset, note = _where_to_go_on([Path(path) for path in paths], position)
    for number, file in enumerate(files):
        yield from _pieces(file, offset if number == 0 else 0, note, is_last=number == len(files) - 1)
        note = None


def _where_to_go_on(paths: list[Path], position: LogPosition | None) -> tuple[list[Path], int, str | None]:
    """The files to read, where to begin in the first of them, and what is to be said."""
    if position is None:
        return paths, 0, None
    for number, path in enumerate(paths):
        if str(path) == position.path and _begins_alike(path, position):
            if _size(path) < position.offset:
                raise SourceError(
                    f"{path} is cut short: {position.offset:,} bytes of it were read before, and it has {_size(path):,}"
                )
            return paths[number:], position.offset, None
    last = paths[-1]
    rotated = sorted(
        (file for file in last.parent.glob(f"{_literal(last.name)}?*") if file.is_file()),
        key=lambda file: (file.stat().st_mtime_ns, file.name),
    )
    for number, file in enumerate(rotated):
        if _begins_alike(file, position):
            return [*rotated[number:], last], position.offset, None
    return [last], 0, f"{last} is not the file that was read before, and that one is gone; lines between may be missing"


def _begins_alike(path: Path, position: LogPosition) -> bool:
    with _open(path) as file:
        return _hash(file.read(position.head_bytes)) == position.head


def _pieces(path: Path, offset: int, note: str | None, *, is_last: bool) -> Iterator[Piece]:
    with _open(path) as file:
        head = _read(file, _HEAD_BYTES, path)
        file.seek(offset)
        rest = b""
        while True:
            more = _read(file, _PIECE_BYTES, path)
            end = more.rfind(b"\n") + 1
            if end == 0 and len(more) == _PIECE_BYTES:
                raise SourceError(f"{path} has a line of more than {_PIECE_BYTES // 1_000_000} MB, and is no log")
            text, rest = (rest + more[:end], more[end:]) if end else (b"", rest + more)
            if not more and rest:
                told = "that is read when it is whole" if is_last else "that is left out"
                note = note or f"{path} ends within a line, and {told}"
            offset += len(text)
            head_bytes = min(offset, len(head))
            yield Piece(text, LogPosition(str(path), _hash(head[:head_bytes]), head_bytes, offset), note)
            note = None
            if not more:
                return


def _open(path: Path) -> IO[bytes]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise SourceError(f"{path} cannot be read ({error.strerror})") from None
    unpacked: Any = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
    opened: IO[bytes] = unpacked
    return opened


def _read(file: IO[bytes], count: int, path: Path) -> bytes:
    try:
        return file.read(count)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "it is damaged or cut short"
        raise SourceError(f"{path} cannot be read ({reason})") from None


def _size(path: Path) -> int:
    return 2**63 if path.suffix == ".gz" else path.stat().st_size


def _hash(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=_HASH_BYTES).hexdigest()


def _literal(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)
