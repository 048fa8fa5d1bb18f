"""Pages of results, and one explorer, made once for all tests: drawing a page takes seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from explored import explorer_of, write_demo
from pages import NASTY, TITLES, page_of, write_nasty, write_results
from result_files import write_every_kind

from topicloom.views.explorer import Explorer
from topicloom.views.network_views import ask
from topicloom.views.pages import page
from topicloom.views.server import serving


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Results of all designs, nasty names, every other kind of result, and that with nasty names."""
    folder = tmp_path_factory.mktemp("pages")
    return {
        "results": write_results(folder / "results"),
        "nasty": write_nasty(folder / "nasty"),
        "kinds": write_every_kind(folder / "kinds"),
        "nasty-kinds": write_every_kind(folder / "nasty-kinds", name=NASTY[3]),
    }


@pytest.fixture(scope="session")
def pages(folders: dict[str, Path]) -> dict[str, str]:
    """The page of each folder."""
    return {name: page_of(folder, title=TITLES.get(name, "Topicloom report")) for name, folder in folders.items()}


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
