"""Examples in docstrings give what they show."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import topicloom

ROOT = Path(topicloom.__file__).parent
# Those of Spark are in tests/spark.
WITH_EXAMPLES = sorted(
    file for file in ROOT.rglob("*.py") if ">>> " in file.read_text(encoding="utf-8") and file.parent.name != "spark"
)


@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=lambda file: str(file.relative_to(ROOT)))
def test_examples(file: Path) -> None:
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    result = doctest.testmod(import_module(".".join(part for part in parts if part != "__init__")))
    assert result.attempted > 0
    assert result.failed == 0
