"""One explorer for all tests: what it shows, the address that it is served at, and the objects behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from explored import explorer_of, write_demo

from topicloom.explore.explorer import Explorer
from topicloom.explore.pages import page
from topicloom.explore.server import serving
from topicloom.explore.views.network_view import ask


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every kind of result that the explorer shows."""
    return write_demo(tmp_path_factory.mktemp("explored") / "demo")


@pytest.fixture(scope="session")
def explorer(demo: Path) -> Explorer:
    made = explorer_of(demo)
    # Kernels may have to be compiled first, which no browser waits for.
    page(made, "network", {})
    ask(made, "0:", "topic", 0)
    return made


@pytest.fixture(scope="session")
def address(explorer: Explorer) -> Iterator[str]:
    """Where the explorer is served, its token included."""
    with serving(explorer) as where:
        yield where
