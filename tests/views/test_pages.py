"""Pages as text: complete, escaped, the same every time, and in need of nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pyarrow.parquet
import pytest
from matplotlib.figure import Figure
from pages import NASTY, Reader, page_of, without_scripts, write_trace

from topicloom import Interest, Overlay, design, measure
from topicloom.churn.trace import read_trace
from topicloom.errors import printable
from topicloom.metrics import support_curve
from topicloom.views.html import shortened
from topicloom.views.numbers import percent
from topicloom.views.page import KINDS, Results, find_files, page_html, read_results
from topicloom.views.section import figure

pytestmark = pytest.mark.slow

FIGURES_OF_FLEET, FIGURES_OF_COMPARISON, FIGURES_OF_DESIGN, FIGURES_OF_TRACE = 2, 3, 4, 6


@pytest.fixture
def results(folders: dict[str, Path]) -> Path:
    return folders["results"]


def test_every_kind_has_a_field_of_the_results() -> None:
    assert [field.name for field in fields(Results)] == [*(kind.name for kind in KINDS), "aside"]
    forms = [form.name for kind in KINDS for form in kind.forms]
    assert len(forms) == len(set(forms))


def test_every_kind_has_a_section(pages: dict[str, str]) -> None:
    assert re.findall(r"<h2>(.*?)</h2>", pages["kinds"]) == [
        "Reproduction: reproduction",
        "Profile: profile",
        "Topics: topics.parquet",
        "Sweep: sweep.parquet",
        "Network: network",
        "Costs: 2 plans",
        "Cost: many.json",
        "Core trees: trees.parquet",
    ]


def test_names_of_every_kind_stay_text(pages: dict[str, str]) -> None:
    read = Reader(pages["nasty-kinds"])
    assert read.count("script") == 1
    assert read.count("b") == read.count("i") == 0
    assert all(attributes["src"].startswith("data:") for tag, attributes in read.elements if tag == "img")
    assert not [key for _, attributes in read.elements for key in attributes if key.startswith("on")]
    assert shortened(NASTY[3]) in "".join(read.texts)
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_has_a_section_for_each_result(pages: dict[str, str]) -> None:
    page = pages["results"]
    titles = re.findall(r"<h([23])>(.*?)</h[23]>", page)
    assert titles == [
        ("2", "Fleet: large.parquet"),
        ("3", "minmax"),
        ("2", "Fleet: subs.parquet"),
        ("3", "Comparison"),
        ("3", "gm"),
        ("3", "gpm"),
        ("3", "rings"),
        ("2", "Churn: trace.parquet"),
    ]
    read = Reader(page)
    figures = 2 * FIGURES_OF_FLEET + FIGURES_OF_COMPARISON + 4 * FIGURES_OF_DESIGN + FIGURES_OF_TRACE
    # The three small overlays have a network to point at in place of a picture.
    figures -= 3
    assert page.count('<div class="network"') == 4
    assert read.count("figure") == read.count("figcaption") == figures
    links = [attributes["href"] for tag, attributes in read.elements if tag == "a"]
    ids = {attributes.get("id") for _, attributes in read.elements}
    assert len(links) == len(titles)
    assert all(link and link[1:] in ids for link in links)


def test_says_what_is_measured(results: Path) -> None:
    page = without_scripts(page_of(results / "subs.parquet", results / "gpm.parquet"))
    interest = Interest.read(results / "subs.parquet")
    overlay = Overlay.read(results / "gpm.parquet", interest)
    measures = measure(interest, overlay)
    assert not measures.topic_connected
    for name, text in (
        ("links", f"{measures.links:,}"),
        ("max degree", "1"),
        ("relays", f"{measures.relays:,}"),
        ("unreachable", f"{measures.unreachable:,}"),
        ("average degree", f"{measures.average_degree:.2f}"),
    ):
        assert f"<dt>{name}</dt><dd>{text}</dd>" in page
    (support,) = re.findall(r"<dt>support</dt><dd>(.*?)%</dd>", page)
    assert measures.support * 100 - 0.01 < float(support) <= measures.support * 100
    assert "made by gpm, matching = useful, max_degree = 1 (topicloom" in page
    assert "topics are not connected; those with the least support come first." in page
    assert "Comparison" not in page


def test_says_what_the_first_links_give(results: Path) -> None:
    interest = Interest.read(results / "subs.parquet")
    overlay = Overlay.read(results / "rings.parquet", interest)
    curve, links = support_curve(interest, overlay), len(overlay)
    enough = next(count for count in range(links) if curve[count] >= 0.8)
    page = page_of(results / "subs.parquet", results / "rings.parquet")
    assert f"The first fifth of the links gives {percent(curve[links // 5]).text}." in page
    assert f"For 80% it takes {enough:,} of {links:,} links." in page


def test_the_worst_topics_come_first(results: Path) -> None:
    page = page_of(results / "subs.parquet", results / "gpm.parquet")
    part = page[page.index("Worst-served topics") : page.index("Nodes that carry most")]
    rows = [re.findall(r'data-value="(.*?)"', row) for row in part.split("<tr>")[2:]]
    supports = [float(row[1]) for row in rows]
    assert supports == sorted(supports)
    assert supports[0] < supports[-1]


def test_is_the_same_everywhere_and_without_spark(
    folders: dict[str, Path], pages: dict[str, str], tmp_path: Path
) -> None:
    moved = tmp_path / "kinds"
    moved.symlink_to(folders["kinds"])
    code = (
        "import sys; sys.modules['pyspark'] = None; from topicloom.views.page import *\n"
        "print(page_html(read_results(find_files([sys.argv[1]]))), end='')"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "SOURCE_DATE_EPOCH": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", code, str(moved)],
        capture_output=True,
        check=True,
        env=environment,
        encoding="utf-8",
    )
    assert ended.stdout == pages["kinds"]


def test_needs_nothing_else(pages: dict[str, str]) -> None:
    for page in pages.values():
        read = Reader(page)
        for tag, attributes in read.elements:
            for name, value in attributes.items():
                if name in ("src", "href", "xlink:href", "srcset", "data", "poster", "action"):
                    assert value is not None
                    assert value.startswith(("#", "data:")), f"<{tag} {name}={value}>"
        assert not re.search(r"url\((?!#)", without_scripts(page))
        assert "@import" not in without_scripts(page)


def test_ids_are_unique(pages: dict[str, str]) -> None:
    ids = [attributes["id"] for _, attributes in Reader(pages["results"]).elements if "id" in attributes]
    assert len(ids) > 20
    assert len(ids) == len(set(ids))


def test_names_stay_text(pages: dict[str, str]) -> None:
    page = pages["nasty"]
    read = Reader(page)
    plain = [attributes for tag, attributes in read.elements if tag == "script" and not attributes.get("type")]
    # What sorts tables, and what unpacks the scripts that draw networks; the others are data.
    assert len(plain) == 2
    assert read.count("b") == read.count("i") == read.count("img") == 0
    assert not [name for _, attributes in read.elements for name in attributes if name.startswith("on")]
    text = "".join(read.texts)
    for name in NASTY:
        assert shortened(name) in text
        assert printable(name).strip() in text or any(
            attributes.get("title") == printable(name) for _, attributes in read.elements
        )
    assert "Fleet: <b>subs<b>.parquet" in text
    assert "Churn: trace & <i>.parquet" in text
    assert "\u202e" not in page


def test_overlays_without_links_and_fleets_of_one(tmp_path: Path) -> None:
    interest = Interest.from_pairs([("only", "a"), ("only", "b")])
    interest.write(tmp_path / "subs.parquet")
    Overlay.from_links(interest, []).write(tmp_path / "none.parquet")
    page = page_of(tmp_path)
    assert "<dt>support</dt><dd>100%</dd>" in page
    Reader(page)


def test_traces_short_and_refused(tmp_path: Path) -> None:
    all_refused = page_of(write_trace(tmp_path / "refused.parquet", 30, refused=30))
    assert "No event was applied." in all_refused
    assert "These are the first 20 of 30." in all_refused
    assert Reader(all_refused).count("figure") == 0
    one = page_of(write_trace(tmp_path / "one.parquet", 1))
    assert Reader(one).count("figure") == FIGURES_OF_TRACE
    assert "averaged" not in one
    assert "averaged" in page_of(write_trace(tmp_path / "many.parquet", 301))
    assert "No event was applied." in page_of(write_trace(tmp_path / "none.parquet", 0))


def test_support_of_traces_is_drawn_where_it_falls(tmp_path: Path) -> None:
    file = write_trace(tmp_path / "trace.parquet", 3, support=0.9)
    page = page_of(file)
    assert "support, lowest" in page
    assert "constraints keep topics in pieces" in page
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(file).drop_columns(["support"]), file)
    assert "support" not in read_trace(file).column_names


def test_times_are_in_milliseconds(tmp_path: Path) -> None:
    page = page_of(write_trace(tmp_path / "trace.parquet", 50))
    assert "<dt>time an event, median</dt><dd>4.000 ms</dd>" in page
    (time,) = (each for each in page.split("<figure>") if "<strong>Time an event.</strong>" in each)
    assert ">milliseconds</text>" in time
    ticks = {float(text) for text in re.findall(r">([\d.]+)</text>", time)}
    assert {1, 2, 5} <= ticks
    assert min(tick for tick in ticks if tick) >= 1


def test_figures_escape_what_they_say() -> None:
    drawn = figure(Figure(), "name", '"><b>', "<i>")
    assert 'aria-label="&#34;&gt;&lt;b&gt;. &lt;i&gt;"' in drawn
    assert "<b>" not in drawn
    assert "<i>" not in drawn


def test_without_diameters(tmp_path: Path) -> None:
    interest = Interest.from_pairs([("a", "t"), ("b", "t")])
    interest.write(tmp_path / "subs.parquet")
    design(interest, "gm").write(tmp_path / "gm.parquet")
    design(interest, "minmax-oda").write(tmp_path / "minmax.parquet")
    page = page_html(read_results(find_files([tmp_path]), diameters=False))
    assert "Topic diameters" not in page
    assert "–</td>" in page
