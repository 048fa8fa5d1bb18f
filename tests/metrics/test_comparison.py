"""Several overlays side by side, and what the first links of one give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import Rectangle

from reference.interests import SHAPES, random_interest
from reference.measures import LINK_SHAPES, random_links
from topicloom import InputError, Interest, Overlay, compare, design, measure
from topicloom.metrics import support_curve

PAIRS = [("a", "t"), ("b", "t"), ("c", "t"), ("b", "u"), ("c", "u"), ("d", "u")]


@pytest.fixture
def interest() -> Interest:
    return Interest.from_pairs(PAIRS)


@given(seed=st.integers(0, 10**6), shape=st.sampled_from(SHAPES), links=st.sampled_from(LINK_SHAPES))
def test_the_curve_is_the_support_of_the_first_links(seed: int, shape: str, links: str) -> None:
    interest = random_interest(seed, shape)
    names = interest.node_names
    chosen = [(names[u], names[v]) for u, v in random_links(seed, links, interest.node_count)]
    curve = support_curve(interest, Overlay.from_links(interest, chosen))
    for count in range(len(chosen) + 1):
        first = Overlay.from_links(interest, chosen[:count])
        assert curve[count] == pytest.approx(measure(interest, first, diameters=False).support)
    assert len(curve) == len(chosen) + 1
    assert (np.diff(curve) >= 0).all()


def test_the_curve_counts_folds_together(interest: Interest) -> None:
    overlay = design(interest, "gm-fold", folds=2)
    assert overlay.contribution is not None
    assert overlay.contribution.sum() > interest.subscription_count - interest.topic_count
    assert support_curve(interest, overlay)[-1] == 1.0


def test_compares_by_name(interest: Interest) -> None:
    plans = {"plan": design(interest, "gm"), "none": Overlay.from_links(interest, [])}
    comparison = compare(interest, plans)
    assert comparison.measures == {name: measure(interest, overlay) for name, overlay in plans.items()}
    frame = comparison.to_pandas()
    assert list(frame.index) == ["plan", "none"]
    assert frame.loc["none", "links"] == 0
    assert frame.loc["plan", "support"] == 1.0


def test_names_after_designers(interest: Interest) -> None:
    links = Overlay.from_links(interest, [("a", "b")])
    overlays = [
        design(interest, "gm"),
        design(interest, "gm-fold", folds=1),
        design(interest, "gm"),
        links,
        links,
        links,
    ]
    names = ["gm", "gm-fold", "gm (2)", "overlay", "overlay (2)", "overlay (3)"]
    assert list(compare(interest, overlays).measures) == names


def test_refuses_nothing_and_others(interest: Interest) -> None:
    with pytest.raises(InputError, match="there is no overlay to compare; give one or more"):
        compare(interest, [])
    with pytest.raises(InputError, match="links other nodes"):
        compare(interest, [design(Interest.from_pairs([("x", "t"), ("y", "t")]), "gm")])


@pytest.mark.slow
def test_plots_a_panel_a_measure_and_a_bar_an_overlay(interest: Interest) -> None:
    overlays = {"$a$": design(interest, "gm"), "b": design(interest, "ring-per-topic")}
    panels = compare(interest, overlays).plot().axes
    assert [axes.get_title("left") for axes in panels[:4]] == ["links", "average degree", "max degree", "support"]
    assert len(panels) == 8
    assert [bar.get_width() for bar in panels[0].patches if isinstance(bar, Rectangle)] == [
        len(overlay) for overlay in overlays.values()
    ]
    first = panels[0].get_yticklabels()
    assert [label.get_text() for label in first] == ["$a$", "b"]
    assert not any(label.get_parse_math() for label in first)
    assert len(compare(interest, overlays, diameters=False).plot().axes) == 6


def test_shows_itself_in_notebooks(interest: Interest) -> None:
    comparison = compare(interest, {"<plan>": design(interest, "gm")}, diameters=False)
    html = comparison._repr_html_()
    assert "<td>&lt;plan&gt;</td>" in html
    assert html.count("<td data-value") == 8
    measures = measure(interest, design(interest, "gpm", max_degree=1))
    html = measures._repr_html_()
    assert '<th scope="row">topic-connected</th><td>no</td>' in html
    assert f'<th scope="row">links</th><td data-value="{measures.links}"' in html
