"""What all tests share. Being here also puts tests/ on the import path: `from reference.interests import ...`."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from browser import Visitor, chromium
from effort import times
from machine import NOT_HERE, ON_CONNECT, set_up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ON_SPARK = (
    "tests/spark/",
    *(f"tests/cli/test_{name}.py" for name in ("spark_commands", "content_spark_commands", "reproduce_command")),
    "tests/docs/test_shown_commands.py::test_a_page_on_spark",
)

_SPARK = "spark "
# Folders whose tests stay together, longest first: they compile the same kernels, look at the same pages.
_TOGETHER = ("tests/designers", "tests/views", "tests/churn")

# Every Spark of the tests takes its settings from here, also those that commands start.
os.environ["SPARK_CONF_DIR"] = str(Path(__file__).parent / "spark" / "conf")

# The same examples in every run, and no clock: the first example of a kernel may include its compilation.
settings.register_profile("tests", derandomize=True, deadline=None, database=None, max_examples=times(60))
settings.load_profile("tests")


# Of all that is imported while tests are collected nothing is garbage; looking for it takes a fifth of the time.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        set_up(item)
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """Tests of Spark, which take longest, begin; single files, which fill what is left, come last."""
    if item.nodeid.startswith(_ON_SPARK):
        return -1
    folder = item.nodeid.partition("::")[0].rpartition("/")[0]
    return _TOGETHER.index(folder) if folder in _TOGETHER else len(_TOGETHER)


class _FileByFile(LoadFileScheduling):
    """Give files to workers one by one, some folders as a whole, and all tests of Spark to one worker.

    A second session of Spark took 40 processor seconds to start and to warm up.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        if nodeid.startswith(_ON_SPARK):
            return f"{_SPARK}{file}"
        folder = file.rpartition("/")[0]
        return folder if folder in _TOGETHER else file

    def _reschedule(self, node: Any) -> None:
        if self._is_for_spark(node) or node.shutting_down or self._without_spark() or not self.workqueue:
            super()._reschedule(node)
        else:
            node.shutdown()

    def _assign_work_unit(self, node: Any) -> None:
        if not self._is_for_spark(node) and (scope := self._without_spark()):
            self.workqueue.move_to_end(scope, last=False)
        super()._assign_work_unit(node)

    def _is_for_spark(self, node: Any) -> bool:
        return node is next((other for other in self.nodes if not other.shutting_down), None)

    def _without_spark(self) -> str | None:
        return next((scope for scope in self.workqueue if not scope.startswith(_SPARK)), None)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _FileByFile:
    return _FileByFile(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", []) if report.longrepr]
    reasons = {reason[2].removeprefix("Skipped: ") for reason in skipped}
    missing = [reason for reason in sorted(reasons) if reason.startswith(NOT_HERE)]
    if missing:
        terminalreporter.ensure_newline()
    for reason in missing:
        terminalreporter.write_line(reason)


@pytest.fixture(scope="session")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that Spark knows as viewfs://m/d."""
    return tmp_path_factory.mktemp("mounted")


@pytest.fixture(scope="session")
def spark(mounted: Path) -> Iterator[SparkSession]:
    """One Spark session for all tests of a process; starting and warming one takes half a minute."""
    from topicloom.spark import SparkOptions, spark_session

    where = {"remote" if ON_CONNECT in os.environ else "master": "local[2]"}
    conf = {"spark.driver.memory": "1g", "spark.hadoop.fs.viewfs.mounttable.m.link./d": mounted.as_uri()}
    with spark_session(SparkOptions(**where, conf=conf), "tests") as session:
        assert (ON_CONNECT in os.environ) == ("connect" in type(session).__module__)
        yield session


@pytest.fixture(scope="session")
def browser() -> Iterator[Visitor]:
    """One window of Chromium for all tests of a process."""
    with chromium() as visitor:
        yield visitor
