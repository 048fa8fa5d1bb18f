"""Folders of results and their pages, made once for all tests of pages: drawing one takes seconds."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import NASTY, TITLES, page_of, write_nasty, write_results
from result_files import write_every_kind


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
