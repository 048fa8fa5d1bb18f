"""What all tests share. Being here also puts tests/ on the import path: `from reference.interests import ...`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from machine import NOT_HERE, set_up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SPARK_COMMANDS = tuple(
    f"tests/cli/test_{name}.py" for name in ("spark_commands", "content_spark_commands", "reproduce_command")
)

# The same examples in every run, and no clock: the first example of a kernel may include its compilation.
settings.register_profile("topicloom", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("topicloom")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        set_up(item)


class _OneForSpark(LoadFileScheduling):
    """Files go to workers one by one, except that all tests of Spark go to one: a Java takes long to get warm."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "spark" if file.startswith("tests/spark/") or file in _SPARK_COMMANDS else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _OneForSpark:
    return _OneForSpark(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", []) if report.longrepr]
    reasons = {reason[2].removeprefix("Skipped: ") for reason in skipped}
    missing = [reason for reason in sorted(reasons) if reason.startswith(NOT_HERE)]
    if missing:
        terminalreporter.ensure_newline()
    for reason in missing:
        terminalreporter.write_line(reason)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark session for all tests of a process; starting and warming one takes half a minute."""
    from topicloom.pipeline import SparkOptions, spark_session

    conf = {
        "spark.sql.shuffle.partitions": "2",
        # Neither Java's thorough compiler nor code made for each query pays in runs of a second.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    with spark_session(SparkOptions("local[2]", conf, "1g"), "tests") as session:
        yield session
