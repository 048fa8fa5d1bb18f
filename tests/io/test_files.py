from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet
import pytest

from topicloom.io.whole import replacing
from topicloom.model import InputError, Interest

INTEREST = Interest.from_pairs([("a", "t"), ("b", "t")])


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_file_appears_whole_and_only_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    with replacing(target) as temporary:
        temporary.write_text("half")
        assert temporary.parent == tmp_path  # a rename within one file system
        assert not target.exists()
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    assert names_in(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failing_writer_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")

    def write() -> None:
        with replacing(target) as temporary:
            temporary.write_text("new, but not all of it")
            raise error

    with pytest.raises(error):
        write()
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["out.txt"]


def test_a_failing_writer_leaves_nothing_where_there_was_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "out.txt"):
        _ = 1 / 0
    assert names_in(tmp_path) == []


def test_a_failed_rename_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> Path:
        raise OSError("no")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="no"), replacing(tmp_path / "out.txt") as temporary:
        temporary.write_text("new")
    assert names_in(tmp_path) == []


@pytest.mark.usefixtures("umask")
def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "ordinary").touch()
    with replacing(tmp_path / "out.txt") as temporary:
        temporary.write_text("x")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {0o640}
    assert os.umask(0o027) == 0o027


def test_the_umask_of_the_process_is_never_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other threads would make files that anybody can write in that moment."""

    def set_umask(mode: int) -> int:
        raise AssertionError(f"umask({mode:o})")

    monkeypatch.setattr(os, "umask", set_umask)
    with replacing(tmp_path / "out.txt") as temporary:
        temporary.write_text("x")
    assert (tmp_path / "out.txt").read_text() == "x"


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
@pytest.mark.usefixtures("umask")
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    target.chmod(mode)
    with replacing(target) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600, "nobody else reads what is not whole"
        temporary.write_text("new")
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == mode


@pytest.mark.parametrize("name", ["a" * 200 + ".parquet", "é 😀.parquet", ".hidden", "without"])
def test_odd_names(name: str, tmp_path: Path) -> None:
    with replacing(tmp_path / name) as temporary:
        temporary.write_text("x")
    assert names_in(tmp_path) == [name]


def test_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    with replacing(tmp_path / "out") as first, replacing(tmp_path / "out") as second:
        assert first != second
        first.write_text("1")
        second.write_text("2")
    assert (tmp_path / "out").read_text() == "1"  # the first ends last
    assert names_in(tmp_path) == ["out"]


def test_write_replaces_and_fails_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "rows.parquet"
    INTEREST.write(target)
    before = target.read_bytes()
    larger = Interest.from_pairs([("a", "t"), ("b", "t"), ("c", "t")])

    def half(table: object, path: Path, **_: object) -> None:
        path.write_bytes(b"PAR1")
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(pyarrow.parquet, "write_table", half)
        with pytest.raises(OSError, match="disk full"):
            larger.write(target)
    assert target.read_bytes() == before
    assert names_in(tmp_path) == ["rows.parquet"]
    larger.write(str(target))
    assert Interest.read(target) == larger


def test_a_page_with_other_bytes_than_were_written_is_refused(tmp_path: Path) -> None:
    """Every byte between the first page's header and the footer, which only say other names, of the same length."""
    INTEREST.write(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    for name in (b"a", b"b", b"t"):
        at = whole.index(b"\x01\x00\x00\x00" + name) + 4
        (tmp_path / "a.parquet").write_bytes(whole[:at] + b"z" + whole[at + 1 :])
        with pytest.raises(InputError, match=r"a\.parquet: cannot be read \(.*checksum"):
            Interest.read(tmp_path / "a.parquet")
