"""One explorer for all tests: what it shows, the address that it is served at, and the objects behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from explored import explorer_of, write_demo

from topicloom.explore.explorer import Explorer
from topicloom.explore.server import serving


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every kind of result that the explorer shows."""
    return write_demo(tmp_path_factory.mktemp("explored") / "demo")


@pytest.fixture(scope="session")
def explorer(demo: Path) -> Explorer:
    return explorer_of(demo)


@pytest.fixture(scope="session")
def address(explorer: Explorer) -> Iterator[str]:
    """Where the explorer is served, its token included."""
    with serving(explorer) as where:
        yield where
