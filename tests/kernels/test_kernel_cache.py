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
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    code = "import numba, topicloom.kernels.jit; print(numba.config.CACHE_DIR)"
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    own = Path(ended.stdout.strip())
    assert own.parent == kept
    assert {folder.name for folder in kept.iterdir()} == {"kernels-lately", "something-else", own.name}
