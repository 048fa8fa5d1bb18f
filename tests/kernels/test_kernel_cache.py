"""How kernels are compiled, where compiled code is kept, and for how long."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import event

from topicloom.kernels import jit

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


def _run(code: str, environment: dict[str, str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **environment}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=folder)


def _imported(environment: dict[str, str], then: str = "") -> subprocess.CompletedProcess[str]:
    """A process that says where it keeps kernels."""
    return _run(f"import sys; from topicloom.kernels import jit; print(jit.cache_folder()){then}", environment)


OF_A_USER = """
import numba

@numba.njit(cache=True)
def doubled(number):
    return 2 * number
"""
DESIGNED = """
import topicloom
topicloom.design(topicloom.Interest.from_pairs([("a", "t"), ("b", "t")]), "gm")
import mine, numba
print(mine.doubled(21), repr(numba.config.CACHE_DIR))
"""


def test_code_of_a_user_is_cached_beside_its_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OF_A_USER)
    ended = _run(DESIGNED, {"PYTHONPATH": os.pathsep.join([*sys.path, str(tmp_path)])}, tmp_path)
    assert ended.stdout == "42 ''\n", ended.stderr
    assert list((tmp_path / "__pycache__").glob("mine.doubled-*.nbi"))


@contextmanager
def collecting() -> Iterator[list[tuple[str, bool]]]:
    """What is compiled meanwhile, and whether the garbage collector was on."""
    seen: list[tuple[str, bool]] = []

    class Seeing(event.Listener):
        def on_start(self, event: Any) -> None:
            seen.append((event.data["dispatcher"].py_func.__name__, gc.isenabled()))

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Seeing()):
        yield seen


def test_the_collector_is_off_for_our_own_kernels_alone() -> None:
    def theirs(number: int) -> int:
        return number + 1

    def ours(number: int) -> int:
        return number + 2

    ours.__module__ = "topicloom.kernels.made_up"
    with collecting() as seen:
        for function, result in ((theirs, 2), (ours, 3)):
            assert numba.njit()(function)(1) == result
    assert seen == [("theirs", True), ("ours", False)]
    assert gc.isenabled()


@pytest.fixture(params=["flags of this version of numba", "public flags"])
def flags(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Kernels are compiled with the private flags of numba, or without."""
    monkeypatch.setattr(jit, "cache_folder", lambda: str(tmp_path))
    assert all(jit.private_flags(numba.__version__)), "CI pins a version that the private flags were tried with"
    if request.param == "public flags":
        for flags in (jit.KERNEL, jit.TIGHT, jit.INNER, jit.inner_array_kernel.args[0]):  # type: ignore[attr-defined]
            for name in ("no_cfunc_wrapper", "_nrt", "no_cpython_wrapper"):
                monkeypatch.delitem(flags, name, raising=False)


@pytest.mark.usefixtures("flags")
def test_a_kernel_of_each_kind_compiles(tmp_path: Path) -> None:
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]

    @jit.step()
    def stepped(numbers, at):
        numbers[at] += 1

    @jit.inlined()
    def inlined(number):
        return 2 * number

    @jit.inner_kernel()
    def inner(numbers, at):
        stepped(numbers, at)
        return inlined(numbers[at])

    @jit.tight_kernel()
    def tight(numbers):
        for at in range(len(numbers)):
            numbers[at] = inner(numbers, at)

    @jit.inner_array_kernel()
    def doubled(numbers):
        return np.append(numbers, numbers)

    @jit.kernel()
    def whole(numbers):
        tight(numbers)
        return doubled(numbers)

    numbers = np.arange(3)
    tight(numbers)
    assert numbers.tolist() == [2, 4, 6]
    assert whole(numbers).tolist() == [6, 10, 14, 6, 10, 14]
    assert list(tmp_path.rglob("*.nbi")), "kept in our own folder"
    assert before == numba.config.CACHE_DIR  # type: ignore[attr-defined]


def test_private_flags_are_for_versions_that_they_were_tried_with() -> None:
    assert jit.private_flags("0.99.0") == jit.private_flags("1.0.0rc1") == ({}, {}, {})
