"""Pictures of overlays, tables in notebooks, and files of figures."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from topicloom import InputError, Interest, Overlay, design, synthetic
from topicloom.views.figures import draw_ccdfs, new_figure, styled, to_svg, write_figure
from topicloom.views.html import name_html, shortened, table_html
from topicloom.views.numbers import count


def chain(nodes: int) -> Overlay:
    """Nodes in a row, each linked with the next."""
    names = [f"{node:03}" for node in range(nodes)]
    interest = Interest.from_pairs([(name, "t") for name in names])
    return Overlay.from_links(interest, pairwise(names))


def test_small_overlays_are_drawn_link_by_link() -> None:
    (axes,) = chain(60).plot().axes
    assert len(axes.lines) == 59
    named = sorted(text.get_text() for text in axes.texts)
    assert len(named) > 40
    assert set(named) <= {f"{node:03}" for node in range(60)}
    places = np.asarray(axes.collections[0].get_offsets())
    assert len(np.unique(places.round(6), axis=0)) == 60
    drawn = {tuple(np.round(np.column_stack(line.get_data()), 9).ravel()) for line in axes.lines}
    assert drawn == {tuple(np.round(places[[u, u + 1]], 9).ravel()) for u in range(59)}


def test_names_in_a_picture_of_40_nodes_cover_no_other() -> None:
    made = synthetic(40, 12, sizes="uniform", min_topics=2, max_topics=5, seed=1)
    rows = made.to_arrow().to_pylist()
    interest = Interest.from_pairs([(f"gateway-{row['node']}.oslo", row["topic"]) for row in rows])
    figure = design(interest, "gm").plot()
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) > 20
    assert [(one, two) for one, two in combinations(boxes, 2) if one.overlaps(two)] == []


def test_large_overlays_are_a_matrix() -> None:
    figure = chain(61).plot()
    links = np.nan_to_num(np.ma.filled(figure.axes[0].images[0].get_array(), 0))
    assert links.shape == (61, 61)
    assert links.sum() == 2 * 60
    assert (links == links.T).all()
    # The two ends of the row have one link each and so come last.
    assert links.sum(axis=0).tolist() == [2] * 59 + [1] * 2


def test_cells_of_large_matrices_count_all_links() -> None:
    overlay = design(synthetic(400, 30, sizes="uniform", min_topics=2, max_topics=8, seed=3), "gm")
    cells = np.ma.filled(overlay.plot().axes[0].images[0].get_array(), 0)
    assert cells.shape == (150, 150)
    assert (cells.sum() + np.diag(cells).sum()) / 2 == len(overlay)


@pytest.mark.parametrize("nodes", [1, 2, 61])
def test_overlays_without_links(nodes: int) -> None:
    to_svg(Overlay.from_links(chain(nodes).interest, []).plot(), "none")


def test_no_nodes_at_all() -> None:
    assert Overlay.from_links(Interest.from_pairs([]), []).plot().axes


@pytest.mark.slow
def test_the_same_overlay_gives_the_same_picture(tmp_path: Path) -> None:
    for number in range(2):
        write_figure(chain(20).plot(), tmp_path / f"{number}.svg")
        write_figure(chain(20).plot(), tmp_path / f"{number}.pdf")
    for kind in ("svg", "pdf"):
        assert (tmp_path / f"0.{kind}").read_bytes() == (tmp_path / f"1.{kind}").read_bytes()
    assert to_svg(chain(20).plot(), "a") == to_svg(chain(20).plot(), "a")


def test_legends_name_every_line() -> None:
    names = ["$a$", "_b", "x" * 30, "x" * 31]
    lines = {name: (np.array([1, 10]), np.array([1.0, 0.1])) for name in names}
    with styled():
        figure, (axes,) = new_figure(4, 3)
        draw_ccdfs(axes, lines)
    drawn = to_svg(figure, "legend")
    assert "$a$" in drawn
    assert "_b" in drawn
    assert drawn.count("x" * 23 + "…") == 2


def test_pictures_are_of_known_kinds(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"odd\.xyz: unknown kind of picture; give a name that ends in \.svg"):
        write_figure(chain(3).plot(), tmp_path / "odd.xyz")
    assert not list(tmp_path.iterdir())


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"^plots need matplotlib: pip install 'topicloom\[plots\]'$"):
        chain(3).plot()


def test_importing_topicloom_brings_no_matplotlib() -> None:
    code = "import sys, topicloom; topicloom.Interest, topicloom.compare; print('matplotlib' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


def test_interests_and_overlays_in_notebooks() -> None:
    overlay = design(Interest.from_pairs([(f"<n{node:02}>", "t") for node in range(13)]), "gm")
    html = overlay._repr_html_()
    assert html.startswith("<p>Overlay by gm: 12 links over 13 nodes</p>")
    assert html.count("<tr>") == 1 + 10
    assert "<p>and 2 more</p>" in html
    assert "<n" not in html
    few = Overlay.from_links(overlay.interest, [("<n00>", "<n01>")])._repr_html_()
    assert "contribution" not in few
    assert "more" not in few
    facts = overlay.interest._repr_html_()
    assert '<th scope="row">nodes</th><td data-value="13"' in facts
    assert '<th scope="row">nodes a topic, most</th><td data-value="13"' in facts


def test_names_are_cut_and_escaped() -> None:
    assert name_html("a<b>&\"'") == "a&lt;b&gt;&amp;&#34;&#39;"
    assert shortened("x" * 120) == "x" * 120
    assert shortened("x" * 121) == "x" * 119 + "…"
    assert name_html("x" * 121) == f'<span title="{"x" * 121}">{"x" * 119}…</span>'
    assert shortened("a\nb\x00") == "a\\nb\\x00"


def test_numbers_carry_what_they_are_sorted_by() -> None:
    html = table_html(["name", "links"], [["a", count(1234)], ["b", count(None)]])
    assert '<th scope="col">name</th><th scope="col" style="text-align:right">links</th>' in html
    assert '<td data-value="1234" style="text-align:right">1,234</td>' in html
    assert '<td data-value="" style="text-align:right">–</td>' in html
