"""The built wheel, installed where nothing of ours is, works: its code, its data and its command."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

import topicloom

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Build and install the wheel; gives a function that runs a program of that environment."""
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], ROOT)
    (wheel,) = folder.glob("*.whl")
    run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", folder / "venv"], folder)
    python = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", python]
    run([*pip, "install", "--no-deps", "--no-index", wheel], folder)
    # The libraries are those of these tests. Our own editable install stays out: it is in a .pth file there, and
    # Python reads none of the folders that a .pth file adds.
    (packages,) = (folder / "venv" / "lib").glob("python3.*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    work = folder / "work"
    work.mkdir()
    return lambda program, *arguments: run([folder / "venv" / "bin" / program, *arguments], work)


def run(command: list[object], folder: Path) -> str:
    # Compiling is not what is tested; without it all kernels are plain Python.
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    environment.pop("PYTHONPATH", None)
    ended = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_version(installed: Callable[..., str]) -> None:
    version = f"topicloom {topicloom.__version__}\n"
    assert installed("python", "-m", "topicloom", "--version") == version
    assert installed("topicloom", "--version") == version


def test_it_is_the_installed_one_and_typed(installed: Callable[..., str]) -> None:
    code = "import sys, topicloom; print(topicloom.__file__, sys.prefix)"
    file, prefix = installed("python", "-c", code).split()
    assert file.startswith(prefix)
    assert (Path(file).parent / "py.typed").exists()


def test_from_subscriptions_to_a_page(installed: Callable[..., str], tmp_path: Path) -> None:
    subs, page = tmp_path / "subs.parquet", tmp_path / "page.html"
    topicloom.synthetic(6, 3, min_topics=2).write(subs)
    installed("topicloom", "design", subs, "--algorithm", "ring-per-topic", "--out", tmp_path / "rings.parquet")
    installed("topicloom", "report", tmp_path, "--out", page)
    assert "<h2>Fleet: subs.parquet</h2>" in page.read_text(encoding="utf-8")


def test_the_papers_figures_are_in_it(installed: Callable[..., str]) -> None:
    assert "gm-2007-fig-2" in installed("topicloom", "reproduce", "list")
