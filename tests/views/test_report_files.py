"""Which files are taken for what, which are left aside, and which are refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from pages import write_results, write_trace
from result_files import write_profile, write_topics

from reference.folders import write_folder
from topicloom import InputError, Interest, Overlay, design
from topicloom.views.overlays import OVERLAY, SUBSCRIPTIONS, TOPICS
from topicloom.views.page import find_files, read_results
from topicloom.views.runs import TRACE

PAIRS = [("a", "t"), ("b", "t"), ("b", "u"), ("c", "u")]


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    interest = Interest.from_pairs(PAIRS)
    interest.write(tmp_path / "subs.parquet")
    design(interest, "gm").write(tmp_path / "gm.parquet")
    return tmp_path


def write_other(path: Path) -> Path:
    """An overlay for other subscriptions."""
    design(Interest.from_pairs([("a", "t"), ("b", "t")]), "gm").write(path)
    return path


def refusal(*paths: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_results(find_files(paths))
    return str(caught.value)


def test_tells_files_apart_by_their_columns(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "results")
    (folder / "notes.txt").write_text("not a table")
    (folder / ".hidden.parquet").write_text("half a file")
    (folder / "folder").mkdir()
    (folder / "odd.csv").write_text("x,y\n1,2\n")
    (folder / "broken.parquet").write_text("PAR1")
    found = find_files([folder])
    assert {form: [path.name for path in paths] for form, paths in found.paths.items() if paths} == {
        SUBSCRIPTIONS.name: ["large.parquet", "subs.parquet"],
        OVERLAY.name: ["gm.parquet", "gpm.parquet", "minmax.parquet", "rings.parquet"],
        TRACE.name: ["trace.parquet"],
    }
    assert [each.path.name for each in found.aside] == ["broken.parquet", "odd.csv"]
    assert found.aside[1].reason == "holds no kind of result that a page shows; its columns are 'x', 'y'"
    assert find_files([folder, folder / "gm.parquet"]).paths == found.paths, "given twice, taken once"


def test_takes_what_ingest_wrote(fleet: Path) -> None:
    ingested = write_folder(Interest.from_pairs(PAIRS), fleet / "ingested", parts=2)
    alone = read_results(find_files([ingested, fleet / "gm.parquet"]))
    assert [design.name for design in alone.fleets[0].designs] == ["gm"]
    both = read_results(find_files([fleet]))
    assert [fleet.name for fleet in both.fleets] == ["ingested"]
    assert [(each.path.name, each.reason) for each in both.aside] == [
        ("subs.parquet", "holds the same subscriptions as ingested")
    ]


def test_other_column_names(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("broker,subject\na,t\nb,t\n")
    found = find_files([tmp_path], node_column="broker", topic_column="subject")
    results = read_results(found, node_column="broker", topic_column="subject")
    assert results.fleets[0].interest == Interest.from_pairs([("a", "t"), ("b", "t")])


def test_overlays_find_their_fleets(tmp_path: Path) -> None:
    results = read_results(find_files([write_results(tmp_path / "results")]))
    assert {fleet.name: [design.name for design in fleet.designs] for fleet in results.fleets} == {
        "large.parquet": ["minmax"],
        "subs.parquet": ["gm", "gpm", "rings"],
    }


def test_links_without_a_fingerprint_belong_to_the_only_fleet(fleet: Path) -> None:
    (fleet / "built.csv").write_text("source,target\nb,a\n")
    (design,) = (each for each in read_results(find_files([fleet])).fleets[0].designs if each.name == "built")
    assert design.measures.links == 1
    Interest.from_pairs([("a", "t"), ("b", "t")]).write(fleet / "more.parquet")
    (aside,) = read_results(find_files([fleet])).aside
    assert aside.reason == "does not say which subscriptions it is for; give it with only one such file"


def test_same_names_from_different_folders(fleet: Path) -> None:
    (fleet / "again").mkdir()
    Overlay.from_links(Interest.from_pairs(PAIRS), [("a", "b")]).write(fleet / "again" / "gm.parquet")
    results = read_results(find_files([fleet, fleet / "again"]))
    assert [design.name for design in results.fleets[0].designs] == ["gm", str(fleet / "again" / "gm.parquet")]


def test_same_names_of_one_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = (write_topics(tmp_path / name / "topics.parquet") for name in "ab")
    results = read_results(find_files([one, other]))
    assert [topics.name for topics in results.topics] == ["topics.parquet", str(other)]
    monkeypatch.chdir(write_profile(tmp_path / "profile"))
    (profile,) = read_results(find_files(["."])).profiles
    assert profile.name == "profile"


def test_the_form_that_asks_for_most_wins(tmp_path: Path) -> None:
    path = write_topics(tmp_path / "topics.parquet")
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table.append_column("node", table["topic"]), path)
    assert [form for form, paths in find_files([path]).paths.items() if paths] == [TOPICS.name]
    (tmp_path / "pairs.csv").write_text("user,broker\na,t\nb,t\n")
    chosen = find_files([tmp_path / "pairs.csv"], node_column="user", topic_column="broker")
    assert [form for form, paths in chosen.paths.items() if paths] == [SUBSCRIPTIONS.name], "columns that were named"


def test_what_lies_in_a_folder_is_put_aside(fleet: Path) -> None:
    write_other(fleet / "other.parquet")
    (fleet / "strangers.csv").write_text("source,target\na,nobody\n")
    results = read_results(find_files([fleet]))
    assert [(each.path.name, each.reason) for each in results.aside] == [
        ("other.parquet", "was designed for other subscriptions than subs.parquet; give those too"),
        ("strangers.csv", "row 1: target 'nobody' is not a node of the subscriptions"),
    ]


def test_what_is_named_must_be_shown(fleet: Path) -> None:
    other = write_other(fleet / "other.parquet")
    (fleet / "odd.csv").write_text("x,y\n1,2\n")
    subs, odd, gm = fleet / "subs.parquet", fleet / "odd.csv", fleet / "gm.parquet"
    assert refusal(subs, other) == f"{other}: was designed for other subscriptions than subs.parquet; give those too"
    assert refusal(subs, odd) == f"{odd}: holds no kind of result that a page shows; its columns are 'x', 'y'"
    assert refusal(gm) == (f"{gm}: no subscriptions are given; give those that this overlay was designed for too")
    assert refusal(fleet / "none") == f"{fleet / 'none'}: no such file or folder"
    (fleet / "notes.txt").write_text("text")
    assert refusal(fleet / "notes.txt").startswith(f"{fleet / 'notes.txt'}: unknown kind of file .txt; give Parquet")


def test_folders_without_results(tmp_path: Path) -> None:
    assert refusal(tmp_path) == (
        f"{tmp_path}: no results there; expected subscriptions (columns node, topic), overlays (source, target) "
        "or what another command wrote; docs/report.md lists all kinds"
    )
    write_other(tmp_path / "gm.parquet")
    assert refusal(tmp_path) == (
        f"{tmp_path / 'gm.parquet'}: no subscriptions are given; give those that this overlay was designed for too"
    )


def test_traces_that_are_none(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "trace.parquet", 3)
    table = pyarrow.parquet.read_table(path)
    at = table.column_names.index("links")
    pyarrow.parquet.write_table(table.set_column(at, "links", pa.array(["x", "y", "z"])), path)
    assert refusal(path) == (f"{path}: column 'links' holds string, not numbers; give a trace as 'maintain' wrote it")
    for kinds, problem in (
        (pa.array([["x"], ["y"], ["z"]]), "holds list<element: string>, not names (strings)"),
        (pa.array([b"join", b"\xff", b"join"]).view(pa.string()), "holds text that is not UTF-8"),
    ):
        wrong = table.set_column(table.column_names.index("kind"), "kind", kinds)
        pyarrow.parquet.write_table(wrong, path)
        assert refusal(path) == f"{path}: column 'kind' {problem}"
    pyarrow.parquet.write_table(table.set_column(at, "links", pa.array([1, None, 2])), path)
    assert refusal(path) == f"{path}: column 'links' holds nulls; give a trace as 'maintain' wrote it"
