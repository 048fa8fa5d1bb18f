"""The notebooks in examples/ run from top to bottom, and are kept without what they print."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


RUN = [
    pytest.param(file, id=file.stem, marks=[pytest.mark.spark] if "SparkSession" in file.read_text() else [])
    for file in NOTEBOOKS
]


@pytest.mark.slow
@pytest.mark.parametrize("file", RUN)
def test_runs(file: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(file, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert not list(tmp_path.iterdir()), "a notebook leaves no files"


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_is_kept_without_output(file: Path) -> None:
    notebook = nbformat.read(file, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count is None and cell.outputs == [] for cell in code)


def test_there_are_some() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["design_on_spark", "plan_a_fleet", "study_a_workload"]
