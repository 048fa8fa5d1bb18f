"""Where compiled kernels are kept, and for how long."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

_DAY = 24 * 3600


def test_kernels_of_versions_that_nobody_uses_are_cleared(tmp_path: Path) -> None:
    kept = tmp_path / "topicloom"
    for name, days in (("kernels-old", 8), ("kernels-lately", 6), ("something-else", 100)):
        (kept / name).mkdir(parents=True)
        (kept / name / "kernel.nbc").touch()
        os.utime(kept / name, (time.time() - days * _DAY,) * 2)
    own = Path(_imported({"XDG_CACHE_HOME": str(tmp_path)}).stdout.strip())
    assert own.parent == kept
    assert {folder.name for folder in kept.iterdir()} == {"kernels-lately", "something-else", own.name}


def test_without_a_home_nothing_stays_even_after_a_kill(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    nowhere = {"XDG_CACHE_HOME": "/dev/null", "TMPDIR": str(temporary)}
    killed = _imported(nowhere, "; import os, signal; sys.stdout.flush(); os.kill(os.getpid(), signal.SIGKILL)")
    assert [str(folder) for folder in temporary.iterdir()] == [killed.stdout.strip()]
    assert Path(_imported(nowhere).stdout.strip()).parent == temporary
    assert list(temporary.iterdir()) == []


def _imported(environment: dict[str, str], then: str = "") -> subprocess.CompletedProcess[str]:
    """A process that says where it keeps kernels."""
    code = f"import sys, numba, topicloom.kernels.jit; print(numba.config.CACHE_DIR){then}"
    environment = {**os.environ, **environment}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
