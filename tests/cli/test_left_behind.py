"""What killed runs leave, and what is written where no ordinary file is."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli

from topicloom.io import whole
from topicloom.io.whole import new_folder, replacing, scratch_folder, temporary_file, temporary_folder

HOLDING = """
import sys
from pathlib import Path
from topicloom.io.whole import scratch_folder, temporary_file, temporary_folder
target = Path(sys.argv[1])
with temporary_file(target) as file, temporary_folder(target) as folder, scratch_folder("spark") as scratch:
    for path in (file, folder / "password", scratch / "log"):
        path.write_text("secret")
    print("made", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holding(target: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process with temporary files of all kinds for a target, among which the system's are beside it."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(target)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(target.parent)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"made\n"
        yield process


@pytest.fixture(autouse=True)
def not_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test clears as a process of its own would."""
    monkeypatch.setattr(whole, "_cleared", set())


def test_what_a_killed_run_left_is_cleared_and_what_a_living_one_has_is_not(tmp_path: Path) -> None:
    target = tmp_path / "out.*.parquet"
    own = tmp_path / ".out.part"
    own.write_text("of a person")
    with holding(target) as process:
        whole.clear_left_over(tmp_path)
        made = [path for path in tmp_path.iterdir() if path != own]
        assert len(made) == 3
        assert all(stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600) for path in made)
        process.send_signal(signal.SIGKILL)
        process.wait()
    whole._cleared.clear()
    with replacing(target) as written:
        written.write_text("new")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.part", "out.*.parquet"]


@pytest.mark.parametrize("moment", ["open", "flock"])
def test_what_another_run_takes_for_a_dead_ones_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Before it is opened, and between that and the lock."""
    module: Any = {"open": os, "flock": fcntl}[moment]
    original, cleared = getattr(module, moment), list[Path]()

    def late(*arguments: Any) -> Any:
        if not cleared and arguments[1] in (os.O_RDONLY, fcntl.LOCK_EX):
            cleared.extend(tmp_path.iterdir())
            cleared[0].unlink()
        return original(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(whole, "_cleared", {tmp_path})
        patched.setattr(module, moment, late)
        with temporary_file(tmp_path / "a") as file:
            assert [file] == list(tmp_path.iterdir()) != cleared
    assert len(cleared) == 1
    assert list(tmp_path.iterdir()) == []


def test_nothing_stays_after_success_and_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with temporary_file(tmp_path / ("ö" * 120)) as file, temporary_folder(tmp_path / "a") as folder:
        assert file.exists()
        (folder / "more").mkdir()
    with pytest.raises(RuntimeError), scratch_folder("x"), new_folder(tmp_path / "b"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_one_that_was_cleared_before_it_was_locked_is_made_again(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(path: Path) -> None:
        made.append(path)
        path.write_text("")
        if len(made) == 1:
            path.unlink()  # by another run, which finds it unlocked
            path.mkdir()

    with whole._locked(tmp_path, ".x", make) as path:
        assert path == made[-1]


def test_devices_and_pipes_are_written_to_and_links_followed(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    def design(out: Path) -> None:
        assert cli("design", subscriptions, "--algorithm", "gm", "--out", out).status == 0

    plain, link, pipe = tmp_path / "plain", tmp_path / "link", tmp_path / "pipe"
    design(plain)
    (tmp_path / "to").mkdir()
    link.symlink_to(Path("to", "linked"))
    for _ in ("new", "replaced"):
        design(link)
    assert link.is_symlink()
    assert (tmp_path / "to" / "linked").read_bytes() == plain.read_bytes()
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    design(pipe)
    reader.join()
    assert pipe.is_fifo()
    assert read == [plain.read_bytes()]
    design(Path("/dev/null"))
    assert Path("/dev/null").is_char_device()


def test_a_full_disk_is_named(cli: Cli, subscriptions: Path) -> None:
    ended = cli("design", subscriptions, "--algorithm", "gm", "--out", "/dev/full")
    assert (ended.status, ended.err) == (2, "topicloom: /dev/full: No space left on device\n")


def test_a_folder_that_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "link").symlink_to("old")
    with new_folder(tmp_path / "link") as folder:
        folder.mkdir()
        (folder / "new").write_text("")
    assert (tmp_path / "link").is_symlink()
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["new"]


@pytest.mark.slow
def test_streams_that_are_closed_or_know_few_letters(tmp_path: Path) -> None:
    out = tmp_path / "ø.parquet"
    code = "import sys; from topicloom.cli.main import run; sys.exit(run())"
    command = [
        sys.executable,
        "-c",
        code,
        "generate",
        "--nodes",
        "2",
        "--topics",
        "1",
        "--min-topics",
        "1",
        "--out",
        str(out),
    ]

    def close() -> None:
        os.close(0)
        os.close(1)

    ended = subprocess.run(command, preexec_fn=close, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert out.read_bytes()[:4] == b"PAR1"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert ended.returncode == 0
    assert ended.stdout.endswith(b"\\xf8.parquet\n")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGHUP, 129), (signal.SIGTERM, 143)])
def test_stopped_by_a_signal(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    def write(*_: object) -> None:
        os.kill(os.getpid(), number)
        signal.sigtimedwait([], 5)

    monkeypatch.setattr("topicloom.model.Interest.write", write)
    # Whoever started the tests with nohup has them ignore one, and so would the command.
    before = signal.signal(number, signal.SIG_DFL)
    ended = cli("generate", "--nodes", 2, "--topics", 1, "--min-topics", 1, "--out", tmp_path / "o")
    signal.signal(number, before)
    assert (ended.status, ended.err) == (status, "topicloom: stopped; nothing was written\n")
    assert list(tmp_path.iterdir()) == []
