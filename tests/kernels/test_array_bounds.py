"""Compiled loops stay within their arrays, past whose ends they would read and write without an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from effort import THOROUGH
from topicloom.kernels import jit

TESTS = Path(__file__).parent.parent
# Tests that compare kernels with their slow twins. Compiling with checks takes nearly all of the time: 46 processor
# seconds for the first, whose kernels have most scratch space of their own, and 155 for all.
TWINS = ["churn/test_mending_twins.py"]
MORE_TWINS = [
    *(
        f"kernels/test_{name}.py"
        for name in ("all_pairs", "components", "distances", "random_links", "relays", "routing", "rows")
    ),
    *(f"churn/test_{name}.py" for name in ("constrained_mending", "improving", "pruning")),
    *(f"designers/test_{name}.py" for name in ("greedy", "priced", "constrained", "stars", "spidercast", "rings")),
    *(
        f"designers/test_{name}.py"
        for name in ("backbone", "constrained_backbone", "random_designers", "search", "trees")
    ),
    *(f"metrics/test_{name}.py" for name in ("bounds", "tree_bound", "topics", "link_prices", "traffic")),
    *(f"content/test_content_{name}.py" for name in ("algorithms", "costs", "migration")),
]
PAST_THE_END = """
import numpy as np
from topicloom.kernels import jit

@jit.inner_kernel()
def read(numbers, at):
    return numbers[at]

@jit.tight_kernel()
def past_the_end(numbers):
    return read(numbers, len(numbers))

try:
    past_the_end(np.zeros(3))
except IndexError:
    print("seen")
"""


def checked() -> dict[str, str]:
    """An environment in which all indices are checked; code compiled so is kept apart."""
    return {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": f"{jit.cache_folder()}/checked"}


def test_a_read_past_the_end_is_seen(tmp_path: Path) -> None:
    (tmp_path / "reading.py").write_text(PAST_THE_END)
    ended = subprocess.run(
        [sys.executable, str(tmp_path / "reading.py")],
        env={**checked(), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert ended.stdout == "seen\n", ended.stderr


@pytest.mark.slow
def test_no_kernel_leaves_its_arrays_where_it_equals_its_twin() -> None:
    twins = [*TWINS, *MORE_TWINS] if THOROUGH else TWINS
    command = [sys.executable, "-m", "pytest", "-x", "-m", "not data", *(str(TESTS / name) for name in twins)]
    ended = subprocess.run(
        command,
        cwd=TESTS.parent,
        env={**checked(), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
