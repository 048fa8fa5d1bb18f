"""How a run ends when something stops it: Ctrl-C, a closed pipe, no memory, a bug."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli

from topicloom import workloads
from topicloom.cli import output
from topicloom.cli.main import run

COMMAND = [sys.executable, "-c", "import sys; from topicloom.cli.main import run; sys.exit(run())"]


def heed_interrupts() -> None:
    # A test run in the background ignores SIGINT, and children would inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# Says when it has been at work for a second; reading what it is given takes a tenth of that.
TELLING = """
import sys, threading, time
from topicloom.cli.main import run
from topicloom.cli import progress

def tell():
    while not progress.is_busy():
        time.sleep(0.01)
    time.sleep(1)
    print("busy", flush=True)

threading.Thread(target=tell, daemon=True).start()
sys.exit(run())
"""


@pytest.mark.slow
def test_ctrl_c_leaves_nothing(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    large = tmp_path_factory.mktemp("large") / "subs.parquet"
    workloads.synthetic(4000, 500, sizes="uniform", min_topics=100, max_topics=200, seed=1).write(large)
    out = tmp_path / "overlay.parquet"
    out.write_text("older")
    arguments = ["design", str(large), "--algorithm", "gm-fold", "--folds", "500", "--out", str(out)]
    with subprocess.Popen(
        [sys.executable, "-c", TELLING, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "busy\n"
        assert process.poll() is None, "it must still be designing"
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (130, "", "topicloom: stopped; nothing was written\n")
    assert [path.name for path in tmp_path.iterdir()] == ["overlay.parquet"]
    assert out.read_text() == "older"


def test_ctrl_c_in_process(cli: Cli, subscriptions: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("topicloom.model.Overlay.write", interrupted)
    ended = cli("design", subscriptions, "--algorithm", "gm", "--out", tmp_path / "o.parquet")
    assert (ended.status, ended.err) == (130, "topicloom: stopped; nothing was written\n")


@pytest.mark.slow
def test_a_closed_pipe_is_silent() -> None:
    with subprocess.Popen([*COMMAND, "designers"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError("8 GiB"), "topicloom: ran out of memory; nothing was written (8 GiB)\n"),
        (OSError(28, "No space left on device", "o.parquet"), "topicloom: o.parquet: No space left on device\n"),
    ],
)
def test_what_the_machine_lacks_is_one_line(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, line: str
) -> None:
    def failing(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(workloads, "synthetic", failing)
    ended = cli("generate", "--nodes", 9, "--topics", 9, "--min-topics", 1, "--out", tmp_path / "s.parquet")
    assert (ended.status, ended.err) == (2, line)
    assert not list(tmp_path.iterdir())


def test_a_bug_shows_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(workloads, "synthetic", failing)
    with pytest.raises(RuntimeError, match="a bug"):
        run(["generate", "--nodes", "9", "--topics", "9", "--min-topics", "1", "--out", str(tmp_path / "s.parquet")])


def on_terminal(arguments: list[str]) -> tuple[str, str]:
    """Run a command with stderr on a terminal of 80 columns; give its stdout and what the terminal got."""
    terminal, end = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=end, env=environment) as process:
        os.close(end)
        shown = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # Linux says so when the other end is closed
                break
            if not part:
                break
            shown += part
        assert process.stdout is not None
        printed = process.stdout.read()
    os.close(terminal)
    assert process.returncode == 0
    return printed.decode(), shown.decode()


@pytest.mark.slow
def test_progress_is_for_terminals(subscriptions: Path, tmp_path: Path) -> None:
    design = ["design", str(subscriptions), "--algorithm", "gm", "--out", str(tmp_path / "o.parquet"), "--json"]
    printed, shown = on_terminal(design)
    assert printed.startswith("{")
    assert " of 24 " in shown
    assert on_terminal([*design, "--quiet"])[1] == ""


@pytest.mark.parametrize(
    ("text", "line"), [("a\nb\r\t", "a\\nb\\r\\t"), ("🧵 ä'", "🧵 ä'"), ("\udcff", "\\udcff"), ("\x1b[0m", "\\x1b[0m")]
)
def test_messages_are_one_line(text: str, line: str) -> None:
    assert output.one_line(text) == line
