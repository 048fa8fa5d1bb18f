"""Does what a page shows, in the folder of the test, and compares what comes out."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from shown import ROOT, Block, Command, blocks, commands

from topicloom import InputError
from topicloom.brokers.local import mosquitto_path
from topicloom.cli.main import run

STATUS = "echo $?"
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NUMBER = re.compile(r"\d[\d,.]*")
# Lines, and columns of tables, that hold measured times and memory.
MEASURED = re.compile(r"\b(seconds|latency|ms|[KMG]B)\b")


class Reader:
    """Somebody who follows a page from top to bottom."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys = capsys
        self.monkeypatch = monkeypatch
        self.names: dict[str, Any] = {}
        self.left_out: list[str] = []
        # Pages for a checkout begin there.
        for folder in ("examples", "tools"):
            Path(folder).symlink_to(ROOT / folder)

    def follow(self, page: Path) -> None:
        """Do all that the page shows."""
        for block in blocks(page):
            self._file(block)
            if block.not_run is None:
                self._do(block)

    def _file(self, block: Block) -> None:
        if block.file is not None:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.content, encoding="utf-8")

    def _do(self, block: Block) -> None:
        if block.language == "console":
            self._commands(commands(block))
        elif block.language == "python" and block.file is None:
            exec(compile(block.content, block.where, "exec"), self.names)
        elif block.language == "pycon":
            self._doctest(block)

    def _commands(self, shown: list[Command]) -> None:
        """Run them; one that fails says so in a line of its own, or `echo $?` after it does."""
        statuses = [0]
        for command, following in zip_longest(shown, shown[1:]):
            if command.line == STATUS:
                assert command.prints == f"{statuses[-1]}\n", f"{command.where}: status {statuses[-1]}"
            elif command.of_ours == "test" and (missing := _missing_broker()):
                self.left_out.append(f"{command.where}: {missing}")
            else:
                status, printed = (_in_bash if command.of_ours is None else self._in_process)(command.line)
                compare(command, printed)
                told = "topicloom: " in command.prints or (following is not None and following.line == STATUS)
                assert status == 0 or told, f"{command.where}: $ {command.line}\nended with status {status}"
                statuses.append(status)

    def _in_process(self, line: str) -> tuple[int, str]:
        words = shlex.split(line, comments=True)
        while "=" in words[0]:
            self.monkeypatch.setenv(*words.pop(0).split("=", 1))
        self.capsys.readouterr()
        status = run(words[1 : words.index(">") if ">" in words else None])
        captured = self.capsys.readouterr()
        if ">" in words:
            Path(words[-1]).write_text(captured.out, encoding="utf-8")
            return status, captured.err
        return status, captured.out + captured.err

    def _doctest(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(block.content, self.names, block.where, block.where, 0)
        report: list[str] = []
        doctest.DocTestRunner(optionflags=LENIENT, verbose=False).run(test, out=report.append, clear_globs=False)
        self.names.update(test.globs)
        assert not report, "".join(report)


def _missing_broker() -> str | None:
    try:
        mosquitto_path()
    except InputError as error:
        return str(error)
    return None


def _in_bash(line: str) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def compare(command: Command, printed: str) -> None:
    """Fail with a difference unless a command printed what the page shows, measured numbers aside."""
    printed = printed.replace(str(Path.cwd()), "")
    wanted, got = without_measurements(command.prints), without_measurements(printed)
    checker = doctest.OutputChecker()
    if not checker.check_output(wanted, got, LENIENT):
        difference = checker.output_difference(doctest.Example("", command.prints), printed, doctest.REPORT_NDIFF)
        pytest.fail(f"{command.where}: $ {command.line}\n{difference}", pytrace=False)


def without_measurements(text: str) -> str:
    """Text with a `#` for every measured number, and rules of tables of one length."""
    lines = text.splitlines()
    columns: set[int] = set()
    for i, line in enumerate(lines):
        if set(line.strip()) == {"─"}:
            columns = {word.end() for header in lines[max(0, i - 3) : i] for word in MEASURED.finditer(header)}
            lines[i] = "─"
        elif not line.strip():
            columns = set()
        elif columns:
            lines[i] = NUMBER.sub(partial(_hidden, columns), line)
        elif MEASURED.search(line):
            lines[i] = NUMBER.sub("#", line)
    return "\n".join([*lines, ""])


def _hidden(columns: set[int], number: re.Match[str]) -> str:
    return "#" if number.end() in columns else number[0]
