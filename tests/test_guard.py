"""The guards: results are those of version 0.2, as far as a short run shows, and every seeded fault has its place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = str(ROOT / "tools" / "fingerprints.py")


@pytest.mark.slow
def test_results_are_those_of_version_0_2(tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    subprocess.run([sys.executable, SCRIPT, str(found), "--quick", "--processes", "1"], check=True)
    command = [
        sys.executable,
        SCRIPT,
        "--compare",
        str(ROOT / "tools" / "fingerprints-0.2.json"),
        str(found),
        "--subset",
    ]
    compared = subprocess.run(command, capture_output=True, text=True)
    assert compared.returncode == 0, compared.stdout + compared.stderr


def test_every_fault_has_its_place_in_the_code() -> None:
    listed = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "faults.py"), "--list"], capture_output=True, text=True
    )
    assert listed.returncode == 0, listed.stdout
