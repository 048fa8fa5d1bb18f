"""Examples in docstrings give what they show, with a session as `spark`."""

from __future__ import annotations

import doctest
import sys
from importlib import import_module
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import topicloom.spark

ROOM = Path(topicloom.spark.__file__).parent
WITH_EXAMPLES = sorted(file.stem for file in ROOM.glob("*.py") if ">>> " in file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples(spark: SparkSession, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    import_module(f"topicloom.spark.{module}")
    # Functions of the package have the names of their modules.
    result = doctest.testmod(sys.modules[f"topicloom.spark.{module}"], extraglobs={"spark": spark})
    assert result.attempted > 0
    assert result.failed == 0
