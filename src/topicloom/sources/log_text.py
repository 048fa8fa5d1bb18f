"""Lines of a log as arrays: when each was written, and what it says, without a copy of the text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Places = npt.NDArray[np.int64]
_Bytes = npt.NDArray[np.uint8]

_NEW_LINE, _RETURN, _COLON, _SPACE, _ZERO = b"\n\r: 0"
# Seconds since 1970, a colon and a space, as Mosquitto writes them unless told otherwise.
_DIGITS = 10
_STAMP = _DIGITS + 2
_WORD = 8
# Other times that `log_timestamp_format` may give; journals put words of their own before them.
_LINE = (
    r"^(?:[^:]*:\d\d:\d\d[^:]* mosquitto\[\d+\]: )?"
    r"(?:(?P<time>\d{8,11}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.]\d+)?(?:Z|[+-]\d\d:?\d\d)?): )?(?P<said>.*)$"
)


@dataclass(frozen=True)
class LogText:
    """Lines: `times` in microseconds since 1970, -1 where a line has none, and where in the text is what each says."""

    times: Places
    _text: _Bytes
    _start: Places
    _pieces: pa.StringArray

    def said(self, places: Places) -> pa.StringArray:
        """What lines say after their times."""
        return self._pieces.take(pa.array(2 * places))

    def begins(self, places: Places, beginning: str) -> npt.NDArray[np.bool_]:
        """Whether lines begin so."""
        sought = beginning.encode()
        first = np.frombuffer(sought[:_WORD].ljust(_WORD, b"\0"), np.uint64)[0]
        mask = np.frombuffer((b"\xff" * len(sought))[:_WORD].ljust(_WORD, b"\0"), np.uint64)[0]
        found: npt.NDArray[np.bool_] = (self._words[places] & mask) == first
        rows = np.flatnonzero(found)
        for number, byte in enumerate(sought[_WORD:], _WORD):
            found[rows] &= self._byte(places[rows], number) == byte
        return found

    def _byte(self, places: Places, number: int) -> _Bytes:
        # The text ends in a line's end, which nothing begins with.
        found: _Bytes = self._text[np.minimum(self._start[places] + number, len(self._text) - 1)]
        return found

    @cached_property
    def _words(self) -> npt.NDArray[np.uint64]:
        """The first bytes of what lines say, as one number each."""
        places = np.arange(len(self.times))
        words = np.stack([self._byte(places, number) for number in range(_WORD)], axis=1)
        return words.view(np.uint64)[:, 0]


def log_text(text: bytes) -> LogText:
    """Whole lines, taken apart."""
    try:
        text.decode()
    except UnicodeDecodeError:
        # No client can have a name that is not UTF-8; what else such a line says does not matter.
        text = text.decode(errors="replace").encode()
    bytes_ = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(bytes_ == _NEW_LINE)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    usual = _is_usual(bytes_, starts, ends)
    times = np.full(len(ends), -1)
    times[usual] = _seconds(bytes_, starts[usual]) * 1_000_000
    said = np.where(usual, starts + _STAMP, starts)
    ends = ends - ((bytes_[ends - 1] == _RETURN) & (ends > said))
    others = np.flatnonzero(~usual)
    if len(others):
        parsed = pc.extract_regex(_pieces(text, starts, ends).take(pa.array(2 * others)), _LINE)
        said[others] = ends[others] - np.asarray(pc.binary_length(parsed.field("said")))
        times[others] = _told(parsed.field("time"))
    return LogText(times, bytes_, said, _pieces(text, said, ends))


def _is_usual(text: _Bytes, starts: Places, ends: Places) -> npt.NDArray[np.bool_]:
    """Which lines begin with seconds since 1970."""
    right = ends - starts >= _STAMP
    for number in range(_STAMP):
        byte = text[np.minimum(starts + number, len(text) - 1)]
        if number < _DIGITS:
            right &= (byte - _ZERO) < _DIGITS  # below 0 it is large, as bytes have no sign
        else:
            right &= byte == (_COLON if number == _DIGITS else _SPACE)
    return right


def _seconds(text: _Bytes, starts: Places) -> Places:
    seconds: Places = np.zeros(len(starts), np.int64)
    for number in range(_DIGITS):
        seconds = seconds * 10 + (text[starts + number] - _ZERO)
    return seconds


def _pieces(text: bytes, starts: Places, ends: Places) -> pa.StringArray:
    """What lies between starts and ends, and between those, in turn: pieces of one text need no copies."""
    bounds = np.empty(2 * len(starts), np.int32)
    bounds[0::2], bounds[1::2] = starts, ends
    count = max(len(bounds) - 1, 0)
    return pa.StringArray.from_buffers(count, pa.py_buffer(bounds), pa.py_buffer(text))


def _told(times: pa.StringArray) -> Places:
    """Times since 1970; -1 where there is none."""
    encoded = times.dictionary_encode()
    known = np.array([_time(text) for text in encoded.dictionary.to_pylist()] or [-1], np.int64)
    found: Places = known[encoded.indices.to_numpy()]
    return found


def _time(text: str) -> int:
    if text.isdecimal():
        return int(text) * 1_000_000
    try:
        # Without a zone it is that of this machine.
        return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1_000_000)
    except ValueError:
        return -1
