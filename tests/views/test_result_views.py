"""Views of sweeps and of content-based networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from explored import explorer_of, write_content

from topicloom import InputError
from topicloom.views.network import cheapest_tree, places_by_distance
from topicloom.views.run_views import content_html, curves_html, networks_with_trees
from topicloom.views.runs import MEASURES, Averaged, ShownSweep


def averaged(workload: object, designer: str) -> Averaged:
    return Averaged((workload,), designer, 2, dict.fromkeys(MEASURES, 0.5))


@pytest.mark.slow
def test_a_chart_for_each_measure() -> None:
    cells = tuple(averaged(nodes, designer) for nodes in (10, 20) for designer in ("gm", "<b>odd</b>"))
    html = curves_html(ShownSweep("sweep", ("nodes",), cells, ()))
    assert [title in html for title in ("Support", "Links", "Seconds")] == [True] * 3
    assert html.count('class="drawing chart"') == len(MEASURES)
    assert "<b>odd" not in html
    words = curves_html(ShownSweep("sweep", ("kind",), tuple(averaged(kind, "gm") for kind in ("a", "b")), ()))
    assert '"major_label_overrides"' in words
    with pytest.raises(InputError, match="no run gave a result"):
        curves_html(ShownSweep("sweep", (), (), ()))


def test_designers_stand_side_by_side_where_nothing_varies() -> None:
    cells = tuple(Averaged((), designer, 1, dict.fromkeys(MEASURES, 0.5)) for designer in ("gm", "low-oda"))
    assert "low-oda" in curves_html(ShownSweep("sweep", (), cells, ()))


def test_brokers_tell_their_users(tmp_path: Path) -> None:
    write_content(tmp_path / "net")
    explorer = explorer_of(tmp_path)
    html = content_html(explorer, 0)
    assert "Links are those of the cheapest tree" in html
    assert "users that it is cheapest for" in html
    assert "inf" not in html.lower().replace("info", "")
    trees = {"channel": ["c"], "source": ["b0"], "broker": ["b0"], "other": ["b2"], "price": [1.0], "rate": [2.0]}
    pyarrow.parquet.write_table(pa.table(trees), tmp_path / "trees.parquet")
    assert "Links are those that the trees of trees.parquet use" in content_html(explorer_of(tmp_path), 0)
    write_content(tmp_path / "other")
    assert [trees for _, trees in networks_with_trees(explorer_of(tmp_path))] == [[], []]


def test_places_keep_distances_and_the_tree_is_cheapest() -> None:
    at = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.1], [9.0, 1.0]])
    far = np.linalg.norm(at[:, None] - at[None, :], axis=2)
    places = places_by_distance(far)
    assert np.abs(np.diff(places[:, 0])).argmax() == 2
    assert {frozenset(link) for link in zip(*(ends.tolist() for ends in cheapest_tree(far)), strict=True)} == {
        frozenset(link) for link in ((0, 1), (1, 2), (2, 3))
    }
    assert places_by_distance(np.zeros((1, 1))).shape == (1, 2)
