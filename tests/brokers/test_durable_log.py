"""The log that survives: what is lost, moved or changed in it is seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from topicloom.brokers.store import DurableLog
from topicloom.errors import InputError


def written(path: Path) -> list[bytes]:
    """The lines of a log of three entries, in two sittings."""
    for numbers in ((1, 2), (3,)):
        log = DurableLog(path)
        for number in numbers:
            log.append({"number": number})
        log.close()
    return path.read_bytes().splitlines(keepends=True)


def test_an_unfinished_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(written(path)) + b"0123abcd {")
    assert [entry["number"] for entry in DurableLog(path).entries] == [1, 2, 3]


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda lines: [lines[0], lines[2]], 2),
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[0], lines[2], lines[1]], 2),
        (lambda lines: [lines[0], lines[1], lines[1], lines[2]], 3),
        (lambda lines: [lines[0], lines[1].replace(b"2}", b"7}"), lines[2]], 2),
    ],
)
def test_any_other_damage_is_an_error(tmp_path: Path, damage: Callable[[list[bytes]], list[bytes]], line: int) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(damage(written(path))))
    with pytest.raises(InputError, match=f"line {line} is damaged"):
        DurableLog(path)
