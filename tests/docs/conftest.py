"""An empty folder for whoever follows a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import Reader


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Reader:
    """Somebody who begins a page, with nothing but a link to the checkout's tools."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return Reader(capsys, monkeypatch)


@pytest.fixture
def reader_on_spark(spark: Any, reader: Reader) -> Reader:
    """Somebody who begins a page that needs Spark; Java began in another folder and must come along."""
    hadoop = spark._jvm.org.apache.hadoop.fs
    hadoop.FileSystem.get(spark._jsc.hadoopConfiguration()).setWorkingDirectory(hadoop.Path(str(Path.cwd())))
    return reader
