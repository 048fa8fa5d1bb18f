"""TOML files: fleets, sweeps and figures are read by one function, which refuses in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from topicloom.errors import InputError
from topicloom.io import settings, tables
from topicloom.io.settings import read_toml


def test_the_text_and_the_tables(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("x = 1 # é\n[t]\ny = 'z'\n", encoding="utf-8")
    assert read_toml(tmp_path / "a.toml") == ("x = 1 # é\n[t]\ny = 'z'\n", {"x": 1, "t": {"y": "z"}})


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"=", "is not TOML: invalid statement (at line 1, column 1)"),
        (b"a = " + b"[" * 3_000, "is not TOML that can be read: it is nested too deep"),
        (b"a = " + b"9" * 5_000, "is not TOML that can be read: a number has too many digits"),
        (b"\xff", "is not UTF-8 text; give a TOML file"),
        (None, "no such file"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path, content: bytes | None, wrong: str) -> None:
    path = tmp_path / "a.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_toml(path)
    assert str(refused.value) == f"{path}: {wrong}"


def test_folders_and_files_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="is a folder; give a file"):
        read_toml(tmp_path)
    monkeypatch.setattr(settings, "TOML_BYTES", 3)
    (tmp_path / "a.toml").write_text("x = 1")
    with pytest.raises(InputError, match="has 5 bytes; the most are 3"):
        read_toml(tmp_path / "a.toml")
    assert tables.TOML_BYTES > 1_000_000
