"""Pages in a real browser: silent, alone, sortable, printable."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import TITLES

from browser import Visitor
from topicloom.views.page import write_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def files(pages: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages as files."""
    folder = tmp_path_factory.mktemp("browser")
    for name, page in pages.items():
        write_page(page, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in pages}


def test_the_browser_would_tell(browser: Visitor, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text("<!DOCTYPE html><script>console.error('oh')</script><img src='missing.png'><script>no()</script>")
    browser.open(page)
    assert len(browser.complaints) >= 2
    assert browser.requests == [(tmp_path / "missing.png").as_uri()]


@pytest.mark.parametrize(("name", "width"), [("results", 1280), ("nasty", 800), ("kinds", 1280), ("nasty-kinds", 800)])
def test_is_silent_and_alone(browser: Visitor, files: dict[str, Path], name: str, width: int) -> None:
    browser.open(files[name], width=width)
    assert browser.run("document.title") == TITLES.get(name, "Topicloom report")
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelectorAll('figure svg, figure img').length") > 10
    hidden = "[...document.querySelectorAll('figure > *')].filter(e => e.getBoundingClientRect().height < 15).length"
    small = "[...document.querySelectorAll('figure svg, figure img')].filter(e => e.clientHeight < 50).length"
    assert (browser.run(hidden), browser.run(small)) == (0, 0)
    broken = "[...document.querySelectorAll('figure img')].filter(i => !i.complete || !i.naturalWidth).length"
    assert browser.run(broken) == 0
    assert (browser.complaints, browser.requests) == ([], [])


def test_a_script_in_the_page_would_not_run(browser: Visitor, files: dict[str, Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    page = files["results"].read_text(encoding="utf-8")
    broken.write_text(page.replace("<h2>", "<script>document.title = 'broken out'</script><h2>", 1), encoding="utf-8")
    browser.open(broken)
    assert browser.run("document.title") == "Topicloom report"
    assert len(browser.complaints) == 1


def test_tables_are_sorted_by_a_click(browser: Visitor, files: dict[str, Path]) -> None:
    browser.open(files["results"])
    find = "const t = [...document.querySelectorAll('main table')].find(t => t.tHead.rows[0].cells.length == 11);"
    column = "[...t.tBodies[0].rows].map(r => r.cells[{}].textContent)"

    def click(header: int) -> list[str]:
        shown = column.format(header)
        return list(
            browser.run(f"(() => {{{find} t.tHead.rows[0].cells[{header}].firstChild.click(); return {shown}}})()")
        )

    links = click(1)
    assert [int(text) for text in links] == sorted(map(int, links))
    assert len(set(links)) == 3
    assert click(1) == links[::-1]
    assert click(0) == ["gm", "gpm", "rings"]
    assert click(0) == ["rings", "gpm", "gm"]
    sorts = f"(() => {{{find} return [...t.tHead.rows[0].cells].map(c => c.getAttribute('aria-sort'))}})()"
    assert browser.run(sorts) == ["descending", *[None] * 10]
    assert (browser.complaints, browser.requests) == ([], [])


def test_claims_are_sorted_by_their_numbers(browser: Visitor, files: dict[str, Path]) -> None:
    browser.open(files["kinds"])
    script = """(() => {
        const table = document.querySelector("main table");
        table.tHead.rows[0].cells[4].firstChild.click();
        return [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent));
    })()"""
    rows = browser.run(script)
    assert [row[4] for row in rows] == ["9.5 plain (1.7 to 1.8)", "10.5 times (1.7 to 1.8)", "–"]


def test_numbers_are_sorted_as_numbers(browser: Visitor, files: dict[str, Path]) -> None:
    browser.open(files["results"])
    script = """(() => {
        const table = [...document.querySelectorAll("main table")].find(t => t.tHead.textContent.includes("streams"));
        table.tHead.rows[0].cells[4].firstChild.click();
        return [...table.tBodies[0].rows].map(row => row.cells[4].textContent);
    })()"""
    streams = browser.run(script)
    assert {len(text) for text in streams} == {1, 2}
    assert [int(text) for text in streams] == sorted(map(int, streams))


def test_prints(browser: Visitor, files: dict[str, Path]) -> None:
    browser.open(files["results"])
    assert browser.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    browser.page.emulate_media(media="print")
    assert browser.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    browser.page.emulate_media(media="null")
    assert browser.page.screenshot().startswith(b"\x89PNG")
