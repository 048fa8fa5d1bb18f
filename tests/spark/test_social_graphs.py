"""Social graphs for figures: found, ingested and sampled once, and refused in one line."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from reference import sample as twin
from reference.folders import write_folder
from reference.ingest import graph_pairs
from topicloom.experiments import graph_samples as graphs_module
from topicloom.experiments.graph_samples import GRAPHS, Graphs, find_edges
from topicloom.model import InputError, Interest

dice = random.Random(3)
EDGES = [(f"u{dice.randrange(20)}", f"u{dice.randrange(20)}") for _ in range(60)]
DIRECTED = Interest.from_pairs(graph_pairs(EDGES, directed=True, include_self=False))
UNDIRECTED = Interest.from_pairs(graph_pairs(EDGES, directed=False, include_self=False))


def lines(separator: str, edges: list[tuple[str, str]] = EDGES) -> str:
    return "".join(f"{one}{separator}{other}\n" for one, other in edges)


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".gz":
        file.write_bytes(gzip.compress(text.encode()))
    else:
        file.write_text(text)
    return file


def taken(spark: SparkSession, graphs: Graphs, **parameters: Any) -> Interest:
    graphs.prepare(spark, parameters, lambda step: None)
    return graphs.interest(parameters)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("twitter_followers.csv.gz", "src,dst\n" + lines(",")),
        ("graphs/twitter_followers.tsv", "src\tdst\n" + lines("\t")),
        ("twitter_followers.txt.gz", lines("\t")),
    ],
)
def test_every_format_gives_the_same_graph(spark: SparkSession, tmp_path: Path, file: str, text: str) -> None:
    write(tmp_path / "data" / file, text)
    assert taken(spark, Graphs(tmp_path / "data", tmp_path / "out"), graph="twitter-followers", seed=1) == DIRECTED


def test_friends_follow_each_other(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "facebook_pages.txt", lines(" "))
    assert taken(spark, Graphs(tmp_path, tmp_path / "out"), graph="facebook-pages", seed=1) == UNDIRECTED


def test_samples_are_breadth_first(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "slashdot_followers.csv", "a,b\n" + lines(","))
    graphs = Graphs(tmp_path, tmp_path / "out")
    whole = {(row["node"], row["topic"]) for row in DIRECTED.to_arrow().to_pylist()}
    expected = [twin.sample(whole, social=True, nodes=6, seeds=3, seed=seed, uniform=False) for seed in (1, 2)]
    assert expected[0] != expected[1]
    part = taken(spark, graphs, graph="slashdot-followers", nodes=6, seed=2)
    assert {(row["node"], row["topic"]) for row in part.to_arrow().to_pylist()} == expected[1]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is ingested and sampled from now on."""
    names: list[str] = []

    def noting(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            names.append(name)
            return work(*arguments, **named)

        return noted

    for name in ("ingest", "sample"):
        monkeypatch.setattr(graphs_module, name, noting(name, getattr(graphs_module, name)))
    return names


def test_nothing_is_made_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def ingest(_spark: object, _files: object, out: str, *_: object, **__: object) -> None:
        made.append("ingest")
        write_folder(DIRECTED, Path(out), graph="directed")

    def sample(_interned: object, nodes: int, **_: object) -> SimpleNamespace:
        made.append("sample")
        return SimpleNamespace(columns=["node", "topic"], select=lambda *_: SimpleNamespace(toArrow=DIRECTED.to_arrow))

    monkeypatch.setattr(graphs_module, "ingest", ingest)
    monkeypatch.setattr(graphs_module, "sample", sample)
    monkeypatch.setattr(graphs_module, "read_interest", lambda *_: None)
    write(tmp_path / "twitter_followers.csv", "a,b\n" + lines(","))
    for _ in range(2):
        graphs = Graphs(tmp_path, tmp_path / "out")
        for parameters in ({}, {"nodes": 5}):
            graphs.prepare(cast("SparkSession", None), {"graph": "twitter-followers", "seed": 1, **parameters}, print)
        assert made == ["ingest", "sample"]


def test_another_edge_list_makes_another_graph(spark: SparkSession, tmp_path: Path, made: list[str]) -> None:
    for edges in (EDGES, EDGES[:40]):
        write(tmp_path / "twitter_followers.csv", "a,b\n" + lines(",", edges))
        found = taken(spark, Graphs(tmp_path, tmp_path / "out"), graph="twitter-followers", seed=1)
        assert found == Interest.from_pairs(graph_pairs(edges, directed=True, include_self=False))
    assert made == ["ingest", "ingest"]


def test_the_fingerprint_is_that_of_the_edge_list(tmp_path: Path) -> None:
    write(tmp_path / "ego_facebook.txt", "a b\n")
    write(tmp_path / "twitter_followers.txt", "a b\n")
    write(tmp_path / "facebook_pages.txt", "a c\n")
    graphs = Graphs(tmp_path, tmp_path / "out")
    first = graphs.fingerprint("ego-facebook")
    assert first == graphs.fingerprint("twitter-followers") != graphs.fingerprint("facebook-pages")
    write(tmp_path / "ego_facebook.txt", "a d\n")
    assert Graphs(tmp_path, tmp_path / "out").fingerprint("ego-facebook") != first


def test_the_folder_itself_comes_before_its_graphs(tmp_path: Path) -> None:
    write(tmp_path / "graphs" / "facebook_pages.csv.gz", "a,b\n")
    assert find_edges(tmp_path, "facebook-pages") == tmp_path / "graphs" / "facebook_pages.csv.gz"
    write(tmp_path / "facebook_pages.txt", "a b\n")
    assert find_edges(tmp_path, "facebook-pages") == tmp_path / "facebook_pages.txt"


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    known = ", ".join(GRAPHS)
    write(tmp_path / "twitter_followers.csv", "a,b\n")
    write(tmp_path / "twitter_followers.txt.gz", "a b\n")
    files = "facebook_pages.csv, .tsv or .txt"
    for data, graph, says in (
        (None, "facebook-pages", f"graph 'facebook-pages' needs data, a folder with the edge list {files}"),
        (tmp_path / "no", "facebook-pages", f"{tmp_path / 'no'}: no such folder; give one with the edge list {files}"),
        (tmp_path, "myspace", f"graph 'myspace' is unknown; known are {known}"),
        (tmp_path, "facebook-pages", f"{tmp_path}: has no edge list {files}, plain or .gz, nor has graphs/ in it"),
        (
            tmp_path,
            "twitter-followers",
            f"{tmp_path}: has twitter_followers.csv and twitter_followers.txt.gz; leave one of them",
        ),
    ):
        with pytest.raises(InputError) as error:
            find_edges(data, graph)
        assert str(error.value) == says


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("ego_facebook.txt", b"# friends\na b\n", "line 1 is a comment; take out the lines that begin with #"),
        ("ego_facebook.txt.gz", b"a b\n", "cannot be read (Not a gzipped file (b'a '))"),
        ("ego_facebook.txt", b"\xff\xfe b\n", "cannot be read ("),
        ("ego_facebook.csv", b"a\n", "has one column, 'a'"),
        ("ego_facebook.txt", b"", "is empty"),
    ],
)
def test_an_edge_list_that_is_none_leaves_nothing(
    spark: SparkSession, tmp_path: Path, file: str, content: bytes, says: str
) -> None:
    (tmp_path / file).write_bytes(content)
    graphs = Graphs(tmp_path, tmp_path / "out")
    with pytest.raises(InputError) as error:
        taken(spark, graphs, graph="ego-facebook", nodes=2, seed=1)
    assert str(error.value).startswith(f"{tmp_path / file}: {says}")
    assert list((tmp_path / "out" / "graphs").iterdir()) == []


def test_a_sample_that_cannot_be_leaves_the_whole_graph_alone(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "ego_facebook.txt", lines(" "))
    graphs = Graphs(tmp_path, tmp_path / "out")
    with pytest.raises(InputError, match=r"a sample cannot have 1,000"):
        taken(spark, graphs, graph="ego-facebook", nodes=1000, seed=1)
    (whole,) = (tmp_path / "out" / "graphs").iterdir()
    assert Interest.read(whole) == UNDIRECTED
