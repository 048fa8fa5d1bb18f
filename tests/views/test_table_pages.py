"""Profiles, sweeps and tables of topics on the page, and those that cannot be shown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from pages import Reader, page_of
from result_files import sweep_rows, write_profile, write_sweep, write_topics

from topicloom import InputError, design, synthetic
from topicloom.metrics import topic_measures
from topicloom.spark.sweep_spec import SCHEMA
from topicloom.views import runs
from topicloom.views.overlays import TOPICS
from topicloom.views.page import find_files, read_results
from topicloom.views.runs import SWEEP, Axis, panels, pictured, sweep_axis, sweep_section

pytestmark = pytest.mark.slow


def tiles_of(page: str) -> dict[str, str]:
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))


def cells_of(part: str) -> list[list[str]]:
    body = part[part.index("<tbody>") : part.index("</tbody>")]
    return [re.findall(r">([^<>]*)(?:</span>)?</td>", row) for row in body.split("</tr>")[:-1]]


def refusal(*paths: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_results(find_files(paths))
    return str(caught.value)


def respoiled(file: Path, column: str, values: list[Any]) -> Path:
    table = pyarrow.parquet.read_table(file)
    at = table.column_names.index(column)
    pyarrow.parquet.write_table(table.set_column(at, column, pa.array(values)), file)
    return file


def test_whole_numbers_that_no_float_holds_are_shown(tmp_path: Path) -> None:
    file = write_topics(tmp_path / "topics.parquet")
    rows = pyarrow.parquet.read_table(file).num_rows
    page = page_of(respoiled(file, "relays", [2**62 + 1] * rows))
    assert "4.61e+18" in page or f"{float(2**62):,.0f}" in page


def test_profiles(tmp_path: Path) -> None:
    page = page_of(write_profile(tmp_path / "profile"))
    assert tiles_of(page) == {
        "nodes": "3",
        "topics": "4",
        "subscriptions": "6",
        "of them in the top 1% of topics": "33.33%",
        "of them in the top 10% of topics": "33.33%",
        "of them in the top 20% of topics": "33.33%",
        "pairs of nodes that share a topic": "2",
    }
    assert cells_of(page[page.index("<h4>Sizes</h4>") :]) == [
        ["topics per node", "1", "1", "1", "4", "4", "4", "2.00"],
        ["nodes per topic", "1", "1", "1", "2", "2", "2", "1.50"],
        ["topics that pairs of nodes share", "1", "1", "1", "1", "1", "1", "1.00"],
    ]
    assert Reader(page).count("img") == 2
    assert cells_of(page[page.index("Memory that") :])[0][0] == "gm"
    assert "estimated" not in page
    assert "estimated from a sample" in page_of(write_profile(tmp_path / "sampled", sampled=True))


def test_profiles_that_are_none(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "profile")
    file = folder / "profile.json"
    whole = json.loads(file.read_text(encoding="utf-8"))
    for more, message in (
        ({"nodes": "3"}, "'nodes' is \"3\"; it should be a whole number"),
        ({"topics_per_node": []}, "'topics_per_node' is []; it should be an object"),
        ({"topics_per_node": {}}, "'topics_per_node': has no 'min'"),
        (
            {"subscriptions_in_most_popular": {"0.1": -1}},
            "'subscriptions_in_most_popular': '0.1' is -1; it should be at least 0",
        ),
    ):
        file.write_text(json.dumps(whole | more), encoding="utf-8")
        assert refusal(folder) == f"{file}: {message}"
    file.write_text(json.dumps(whole), encoding="utf-8")
    (folder / "ccdf.svg").unlink()
    assert refusal(folder) == f"{folder}: has no ccdf.svg"
    manifest = folder / "manifest.json"
    manifest.write_text('{"kind": "topicloom sample", "fingerprint": "", "version": ""}', encoding="utf-8")
    assert refusal(folder) == f"{manifest}: 'kind' is \"topicloom sample\"; it should be 'topicloom profile'"


def test_topics(tmp_path: Path) -> None:
    page = page_of(write_topics(tmp_path / "topics.parquet"))
    assert "<h2>Topics: topics.parquet</h2>" in page
    # Topic k has 2k subscribers in k pieces: together 12 in 6, and 9 merges are possible.
    assert tiles_of(page) == {
        "topics": "3",
        "not connected": "2",
        "support of all": "66.66%",
        "subscribers, mean": "4.00",
        "relays": "3",
        "unreachable": "0",
    }
    assert cells_of(page) == [
        ["c", "6", "60.00%", "3", "1", "2", "0"],
        ["b", "4", "66.66%", "2", "1", "1", "0"],
        ["a", "2", "100%", "1", "1", "0", "0"],
    ]
    assert Reader(page).count("figure") == 3
    without = page_of(write_topics(tmp_path / "without.parquet", diameters=False))
    assert Reader(without).count("figure") == 2
    assert Reader(page_of(write_topics(tmp_path / "none.parquet", ()))).count("figure") == 0


def test_topics_are_read_as_they_were_measured(tmp_path: Path) -> None:
    interest = synthetic(30, 12, sizes="uniform", min_topics=2, max_topics=5, seed=1)
    measured = topic_measures(interest, design(interest, "gpm", max_degree=1))
    measured.write(tmp_path / "topics.parquet")
    (read,) = read_results(find_files([tmp_path])).topics
    assert read.measures.to_arrow() == measured.to_arrow()
    assert set(TOPICS.columns) <= set(measured.to_arrow().column_names)


def test_topics_that_are_none(tmp_path: Path) -> None:
    path = write_topics(tmp_path / "topics.parquet")
    whole = path.read_bytes()
    for column, values, message in (
        ("relays", ["x", "y", "z"], "column 'relays' holds string, not numbers"),
        ("links", [1, None, 2], "row 2: links is null; give a number of at least 0"),
        ("links", [1, 2, -1], "row 3: links is -1; give a number of at least 0"),
        ("relays", [1, 0.5, 2], "row 2: relays is 0.5; give a whole number"),
        ("diameter", [1, None, 2], "row 2: diameter is null; give a number of at least 0"),
        ("topic", ["a", None, "c"], "row 2: null name in column 'topic'; every row needs a name"),
        ("components", [1, 5, 1], "row 2: 4 subscribers cannot be in 5 components"),
        ("components", [1, 1, 0], "row 3: 6 subscribers cannot be in 0 components"),
    ):
        path.write_bytes(whole)
        assert refusal(respoiled(path, column, values)) == f"{path}: {message}"


def test_knows_the_columns_of_a_sweep() -> None:
    assert set(SWEEP.columns) <= set(SCHEMA.names)


def test_sweeps_average_over_seeds(tmp_path: Path) -> None:
    page = page_of(write_sweep(tmp_path / "sweep.parquet"))
    assert tiles_of(page) == {"designers": "2", "workloads": "2", "runs": "8", "failed": "0"}
    assert cells_of(page) == [
        ["100", "gm", "2", "65.00%", "2.50", "1.50", "100.00", "0.375"],
        ["100", "minmax-oda", "2", "65.00%", "2.50", "1.50", "100.00", "0.375"],
        ["200", "gm", "2", "65.00%", "3.50", "1.50", "200.00", "0.375"],
        ["200", "minmax-oda", "2", "65.00%", "3.50", "1.50", "200.00", "0.375"],
    ]
    titles = re.findall(r"<figcaption><strong>(.*?)\.</strong>", page)
    assert titles == [
        f"{name} against nodes" for name in ("Support", "Average degree", "Max degree", "Links", "Seconds")
    ]


def test_a_sweep_folder_is_found_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "grid" / "cells").mkdir(parents=True)
    (tmp_path / "grid" / "cells" / "one.json").write_text("{}")
    write_sweep(tmp_path / "grid" / "results.parquet")
    for given in (tmp_path, tmp_path / "grid"):
        results = read_results(find_files([given]))
        assert [sweep.name for sweep in results.sweeps] == ["grid"]
        assert results.aside == ()
    (named,) = read_results(find_files([tmp_path / "grid" / "results.parquet"])).sweeps
    assert named.name == "results.parquet"


def test_designers_are_told_with_their_parameters(tmp_path: Path) -> None:
    rows = [
        *sweep_rows(designers=["gpm"], parameter_max_degree=4),
        *sweep_rows(designers=["gpm"], parameter_max_degree=9, parameter_budget_ratio=0.5),
        *sweep_rows(designers=["gpm"], parameter_max_degree=8, parameter_budget_ratio=0.5),
    ]
    (sweep,) = read_results(find_files([write_sweep(tmp_path / "s.parquet", rows)])).sweeps
    assert [(cell.designer, cell.runs) for cell in sweep.cells] == [
        *[("gpm (max_degree 4)", 2)] * 2,
        *[("gpm (budget_ratio 0.5)", 4)] * 2,
    ]


def axis_of(tmp_path: Path, *rows: list[dict[str, Any]]) -> tuple[str, list[str]]:
    path = write_sweep(tmp_path / "axis.parquet", [row for group in rows for row in group])
    (sweep,) = read_results(find_files([path])).sweeps
    axis = sweep_axis(sweep)
    assert axis.along is not None
    return sweep.varying[axis.along], [sweep.varying[at] for at in axis.across]


def test_what_varies_is_the_axis(tmp_path: Path) -> None:
    zipf, uniform = {"workload_popularity": "zipf"}, {"workload_popularity": "uniform"}
    assert axis_of(tmp_path, sweep_rows(**zipf), sweep_rows(**uniform)) == ("nodes", ["popularity"])
    assert axis_of(tmp_path, sweep_rows((9,), **zipf), sweep_rows((9,), **uniform)) == ("popularity", [])
    named = [sweep_rows((9,), workload="small"), sweep_rows((99,), workload="large")]
    assert axis_of(tmp_path, *named) == ("nodes", []), "the name tells nothing more"
    grown = [sweep_rows((n,), workload_topics=t) for n in (1, 2) for t in (5, 6, 7)]
    assert axis_of(tmp_path, *grown) == ("topics", ["nodes"])


def test_files_have_no_panel_among_made_up_workloads(tmp_path: Path) -> None:
    made_up = [row for kind in ("zipf", "uniform") for row in sweep_rows(workload_popularity=kind)]
    files = sweep_rows((9,), workload="file", workload_file="subs.parquet")
    path = write_sweep(tmp_path / "s.parquet", [*made_up, *files])
    (sweep,) = read_results(find_files([path])).sweeps
    shown = pictured(sweep)
    assert [sweep.varying[at] for at in sweep_axis(shown).across] == ["popularity"]
    assert panels(shown, sweep_axis(shown)) == [("zipf",), ("uniform",)]
    told = "".join(map(str, sweep_section(sweep).blocks))
    assert "The pictures leave out 1 file, which have none of what made-up workloads vary" in told
    assert len(cells_of(told)) == 5 * 2
    (alone,) = read_results(find_files([write_sweep(path, files)])).sweeps
    assert pictured(alone) is alone


def test_sweeps_of_one_workload_are_bars(tmp_path: Path) -> None:
    path = write_sweep(tmp_path / "s.parquet", sweep_rows((100,)))
    (sweep,) = read_results(find_files([path])).sweeps
    assert sweep_axis(sweep) == Axis(None, ())
    page = page_of(path)
    assert "<strong>Support.</strong>" in page
    assert page.count(">minmax-oda</text>") == 5


@pytest.mark.slow
def test_panels_and_lines_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To fewer here than usual, as drawing many takes seconds."""
    assert (runs.MOST_PANELS, runs.MOST_LINES) == (6, 12)
    monkeypatch.setattr(runs, "MOST_PANELS", 2)
    monkeypatch.setattr(runs, "MOST_LINES", 3)
    rows = [
        row
        for alpha in range(4)
        for row in sweep_rows((1, 2), [f"d{k}" for k in range(5)], workload_popularity=f"p{alpha}")
    ]
    page = page_of(write_sweep(tmp_path / "s.parquet", rows))
    assert "These are the first 3 of 5 designers and 2 of 4 panels; the table has all." in page
    assert page.count(">popularity p1</text>") == 5
    assert ">popularity p2</text>" not in page
    assert len(cells_of(page)) == 4 * 2 * 5


def test_failed_runs_are_listed(tmp_path: Path) -> None:
    rows = [*sweep_rows(), *sweep_rows(designers=["cd-oda"], error="out of <memory>", support=None, links=None)]
    page = page_of(write_sweep(tmp_path / "s.parquet", rows))
    assert tiles_of(page)["failed"] == "4"
    assert cells_of(page[page.index("Runs that failed") :]) == [["cd-oda", "out of &lt;memory&gt;", "4"]]
    failed = page_of(write_sweep(tmp_path / "all.parquet", sweep_rows(error="no")))
    assert "No run gave a result." in failed
    assert Reader(failed).count("figure") == 0


def test_sweeps_that_are_none(tmp_path: Path) -> None:
    path = write_sweep(tmp_path / "s.parquet")
    whole, rows = path.read_bytes(), len(sweep_rows())
    for column, values, message in (
        ("support", ["x"] * rows, "column 'support' holds string, not numbers"),
        ("links", [1, None, *[2] * (rows - 2)], "row 2: links is null; give a number of at least 0"),
        ("designer", [None] * rows, "column 'designer' holds null, not names (strings)"),
        ("workload_nodes", [[1]] * rows, "column 'workload_nodes' holds list<element: int64>, not numbers or text"),
    ):
        path.write_bytes(whole)
        assert refusal(respoiled(path, column, values)) == f"{path}: {message}"
    (tmp_path / "grid" / "cells").mkdir(parents=True)
    (tmp_path / "grid" / "results.parquet").write_text("PAR1")
    assert refusal(tmp_path / "grid").startswith(f"{tmp_path / 'grid' / 'results.parquet'}: cannot be read (")


def test_support_is_drawn_by_rising_support(tmp_path: Path) -> None:
    page = page_of(write_topics(tmp_path / "t.parquet", [f"t{k}" for k in range(5)]))
    assert "20.00% of the topics are connected." in page
    assert np.all(np.diff([float(row[2][:-1]) for row in cells_of(page)]) >= 0)
