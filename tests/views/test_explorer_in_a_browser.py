"""The explorer in Chromium: every view silent and alone, clicks answered, the keyboard enough."""

from __future__ import annotations

from pathlib import Path

import pytest
from explored import explorer_of

from browser import Visitor
from real_data import needs_data, viewers
from topicloom import design, measure
from topicloom.views.explorer import Explorer
from topicloom.views.pages import begin
from topicloom.views.server import serving
from topicloom.views.static_page import write_static

pytestmark = pytest.mark.browser


def visit(browser: Visitor, address: str, *, width: int = 1280) -> None:
    """Open a view and wait until its pictures are drawn."""
    browser.open(address, width=width)
    browser.wait("[...document.querySelectorAll('.drawing')].every(box => box.figure)")


def require_quiet(browser: Visitor, address: str) -> None:
    """Nothing was complained of, and nobody else was asked."""
    assert browser.complaints == []
    host = address.split("/")[2]
    assert [url for url in browser.requests if url.split("/")[2] != host] == []


def nodes_by_colour(browser: Visitor) -> dict[str, int]:
    """How many nodes are strongly drawn in each colour."""
    script = """(() => {
        const data = topicloom.part(document.querySelector(".drawing").figure, "nodes").data, found = {};
        for (const [row, colour] of [...data.colour].entries())
            if (data.alpha[row] === 1) found[colour] = (found[colour] || 0) + 1;
        return found;
    })()"""
    return dict(browser.run(script))


def test_a_topic_shows_its_tree(browser: Visitor, address: str, explorer: Explorer) -> None:
    seen = explorer.collection.overlay(0).seen
    topic = seen.overlay.interest.topic_names[0]
    visit(browser, address + "network")
    browser.page.fill("[name=find]", topic)
    browser.page.press("[name=find]", "Enter")
    browser.wait("document.querySelector('.network').dataset.shown === 'topic/0'")
    assert nodes_by_colour(browser)["#0072B2"] == len(seen.overlay.interest.nodes_of(0))
    strong = (
        "[...topicloom.part(document.querySelector('.drawing').figure, 'links').data.alpha].filter(a => a === 1).length"
    )
    assert browser.run(strong) == len(seen.plan.route[topic].links)
    assert f"Topic {topic}" in browser.page.inner_text(".answer")
    browser.page.keyboard.press("Escape")
    assert "Click a node" in browser.page.inner_text(".answer")
    require_quiet(browser, address)


def test_clicks_on_nodes_and_links_are_answered(browser: Visitor, address: str, explorer: Explorer) -> None:
    visit(browser, address + "network?of=0")
    where = """(() => {
        const box = document.querySelector(".drawing"), figure = box.figure;
        const nodes = topicloom.part(figure, "nodes").data;
        const frame = Bokeh.index.find_one(figure).frame, at = box.getBoundingClientRect();
        const x = frame.x_scale.compute(nodes.x[0]), y = frame.y_scale.compute(nodes.y[0]);
        return [at.x + x, at.y + y];
    })()"""
    x, y = browser.run(where)
    browser.page.mouse.click(x, y)
    browser.wait("document.querySelector('.network').dataset.shown === 'node/0'")
    name = explorer.collection.overlay(0).seen.overlay.interest.node_names[0]
    assert f"Node {name}" in browser.page.inner_text(".answer")
    browser.run("document.querySelector('.network').choose('link', 0)")
    browser.wait("document.querySelector('.answer').innerText.includes('Link ')")
    assert "What it is for" in browser.page.inner_text(".answer")
    require_quiet(browser, address)


def test_what_if_answers_while_sliding(browser: Visitor, address: str, explorer: Explorer) -> None:
    interest = explorer.collection.overlay(0).seen.overlay.interest
    visit(browser, address + "what-if?of=0")
    browser.page.wait_for_selector(".answered[data-answers] table")
    browser.page.select_option("[name=algorithm]", "gpm")
    slider = browser.page.locator(".parameters:not([hidden]) input[type=range]")
    slider.focus()
    slider.press("Home")
    slider.press("ArrowRight")
    browser.wait(
        "[...document.querySelectorAll('.answered table tr')]"
        ".some(row => row.innerText.startsWith('max degree') && row.cells[2].innerText === '2')"
    )
    expected = measure(interest, design(interest, "gpm", max_degree=2))
    cells = dict(
        browser.run(
            "[...document.querySelectorAll('.answered tbody tr')]"
            ".map(row => [row.cells[0].innerText, row.cells[2].dataset.value])"
        )
    )
    assert int(cells["links"]) == expected.links
    assert float(cells["support"]) == expected.support
    browser.page.select_option("[name=reaction]", "mend")
    assert not browser.page.is_visible("[name=algorithm]")
    browser.page.fill("[name=killed]", "nobody")
    browser.page.wait_for_selector(".doing.problem")
    assert "there is no node 'nobody'" in browser.page.inner_text(".doing")
    require_quiet(browser, address)


@pytest.mark.parametrize("width", [1280, 380])
@pytest.mark.parametrize("view", ["network", "what-if"])
def test_hostile_names_stay_names(browser: Visitor, address: str, explorer: Explorer, view: str, width: int) -> None:
    number = next(
        at for at, each in enumerate(explorer.collection.overlays) if each.wanted and "nasty" in each.wanted.name
    )
    visit(browser, f"{address}{view}?of={number}", width=width)
    assert browser.run("document.title") == "Topicloom"
    assert browser.run("document.documentElement.scrollWidth") <= width
    if view == "network":
        for kind, row in (("node", 0), ("topic", 2), ("link", 0)):
            browser.run(f"document.querySelector('.network').choose('{kind}', {row})")
        browser.page.fill("[name=find]", "<script>")
        browser.page.wait_for_selector(".found button")
    assert browser.run("document.title") == "Topicloom"
    require_quiet(browser, address)


@pytest.mark.parametrize("view", ["network", "what-if"])
def test_the_keyboard_is_enough(browser: Visitor, address: str, view: str) -> None:
    visit(browser, address + view)
    reached = []
    focused = "document.activeElement"
    for _ in range(40):
        browser.page.keyboard.press("Tab")
        reached.append(browser.run(f"`${{{focused}.tagName}}:${{{focused}.name || {focused}.textContent.trim()}}`"))
    assert "A:Network" in reached
    assert "A:What if" in reached
    assert ("INPUT:find" if view == "network" else "SELECT:algorithm") in reached


def test_dark_pages_have_light_text(browser: Visitor, address: str) -> None:
    browser.page.emulate_media(color_scheme="dark")
    try:
        visit(browser, address + "network")
        labels = (
            "[...document.querySelector('.drawing').figure.references()].find(m => m.type === 'Text').text_color.value"
        )
        assert browser.run(labels) == "#e6edf3"
        assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
    finally:
        browser.page.emulate_media(color_scheme="light")


@pytest.fixture(scope="session")
def compared(explorer: Explorer) -> None:
    """All designers have worked, compiled where they were not."""
    explorer.jobs.find(begin(explorer, "trade-off", {"wanted": 0})).result()


@pytest.mark.usefixtures("compared")
@pytest.mark.parametrize("view", ["trade-off", "sweep", "content", "time", "papers"])
def test_views_are_silent_and_alone(browser: Visitor, address: str, view: str) -> None:
    visit(browser, address + view, width=380)
    if view == "trade-off":
        browser.wait("[...document.querySelectorAll('.drawing')].length >= 3")
        browser.wait("[...document.querySelectorAll('.drawing')].every(box => box.figure)")
    assert browser.run("document.title") == "Topicloom"
    assert browser.run("document.documentElement.scrollWidth") <= 380
    require_quiet(browser, address)


@pytest.mark.usefixtures("compared")
def test_a_point_is_loaded(browser: Visitor, address: str, explorer: Explorer) -> None:
    visit(browser, address + "trade-off")
    browser.page.click("text=minmax-oda")
    browser.page.wait_for_selector(".network")
    assert browser.run("document.querySelector('.choice select').selectedOptions[0].text").startswith("minmax-oda")
    assert any(each.name == "minmax-oda" for each in explorer.collection.overlays)


def test_time_goes_on(browser: Visitor, address: str) -> None:
    visit(browser, address + "time")
    browser.page.focus(".play input")
    browser.page.keyboard.press("Home")
    assert browser.page.inner_text(".moment").startswith("Event 1: leave of <script>")
    assert "support 75.00%" in browser.page.inner_text(".moment")
    titles = browser.run("[...document.querySelectorAll('.time h3')].map(h => h.innerText)")
    assert titles == ["Degrees", "Nodes and links", "Links changed by an event", "Repair ratio", "Support"]
    browser.page.click(".play button")
    browser.wait("document.querySelector('.moment').innerText.startsWith('Event 2')")
    assert browser.run("topicloom.part(document.querySelector('.over-time').figure, 'now').location") == 2


def test_a_claim_leads_to_its_data_and_nowhere_else(browser: Visitor, address: str) -> None:
    visit(browser, address + "papers")
    assert "✓ holds" in browser.page.inner_text("#fig-1")
    for number in (1, 2):
        browser.page.click(f"#fig-{number} summary")
        browser.page.wait_for_selector(f"#fig-{number} details div")
    assert "2 of 2 rows" in browser.page.inner_text("#fig-1 details")
    assert "is no file of the reproduction" in browser.page.inner_text("#fig-2 details")
    require_quiet(browser, address)


def test_one_file_has_the_views_that_need_no_server(browser: Visitor, demo: Path, tmp_path: Path) -> None:
    given = (demo / name for name in ("subs.parquet", "gm.parquet", "trace.parquet", "papers", "net", "sweep.parquet"))
    write_static(explorer_of(*given), tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    browser.wait("[...document.querySelectorAll('.drawing')].every(box => box.figure)")
    browser.page.locator("[name=find]").first.fill("t0")
    browser.page.locator("[name=find]").first.press("Enter")
    browser.wait("document.querySelector('.network').dataset.shown.startsWith('topic/')")
    assert "Its tree has" in browser.page.locator(".answer").first.inner_text()
    titles = browser.run("[...document.querySelectorAll('main section > h2')].map(h => h.innerText.split(':')[0])")
    assert set(titles) >= {"Network", "Trade-off", "Sweep", "Content", "Time", "Paper"}
    assert (browser.complaints, [url for url in browser.requests if not url.startswith("blob:")]) == ([], [])


@pytest.mark.slow
@pytest.mark.data
@needs_data
def test_a_hundred_thousand_nodes_are_shown_in_groups(browser: Visitor, tmp_path: Path) -> None:
    interest = viewers()
    interest.write(tmp_path / "subs.parquet")
    design(interest, "ring-per-topic").write(tmp_path / "rings.parquet")
    with serving(explorer_of(tmp_path)) as address:
        visit(browser, address + "network")
        groups = browser.run("topicloom.part(document.querySelector('.drawing').figure, 'nodes').data.x.length")
        assert 10 < groups <= 2000
        assert f"A network of {groups} groups of nodes" in browser.page.inner_text("main")
        browser.run("document.querySelector('.network').choose('node', 0)")
        browser.wait("document.querySelector('.network').dataset.shown === 'node/0'")
        require_quiet(browser, address)


def test_a_notebook_shows_the_network(browser: Visitor, explorer: Explorer, tmp_path: Path) -> None:
    shown = explorer.collection.overlay(0).seen.overlay.explore()._repr_html_()
    (tmp_path / "cell.html").write_text(f"<!DOCTYPE html><meta charset='utf-8'><link rel='icon' href='data:,'>{shown}")
    browser.open(tmp_path / "cell.html")
    frame = browser.page.frames[1]
    frame.wait_for_selector(".network .bk-Figure")
    assert frame.evaluate("topicloom.part(document.querySelector('.drawing').figure, 'nodes').data.x.length") == 30
    assert browser.complaints == []
