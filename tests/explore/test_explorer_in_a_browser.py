"""The explorer in Chromium: every view silent and alone, clicks answered, the keyboard enough."""

from __future__ import annotations

import pytest

from browser import Visitor
from topicloom import design, measure
from topicloom.explore.explorer import Explorer

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
