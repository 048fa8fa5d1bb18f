"""Running the command line inside the test process."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Cli, Ended, write_subscriptions
from pyspark.sql import SparkSession

from topicloom.cli.main import run


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed goes into no terminal, whatever runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command; arguments may be paths and numbers."""

    def call(*arguments: object) -> Ended:
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ended(status, captured.out, captured.err)

    return call


@pytest.fixture
def subscriptions(tmp_path: Path) -> Path:
    """Twelve nodes on a circle of twelve topics, each wanting three neighbouring ones."""
    pairs = [(f"n{node:02}", f"t{(node + step) % 12:02}") for node in range(12) for step in range(3)]
    return write_subscriptions(tmp_path / "subs.parquet", pairs)


@pytest.fixture(scope="module")
def on_one_session(spark: SparkSession) -> None:
    """Commands that tests run inside their own process use the session of the tests."""
