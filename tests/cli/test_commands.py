"""The commands, with input as it should be."""

from __future__ import annotations

import csv
import gzip
import json
import random
from pathlib import Path

import pyarrow.parquet
import pytest
from command_line import Cli, write_subscriptions

from topicloom import DESIGNERS, Interest, Overlay, measure
from topicloom.cli.compare import DEFAULT_ALGORITHMS

# Facts of some designers only.
OF_SOME = {
    *("lower_bound", "optimal", "relays", "ring_links"),
    *("start_links", "start_max_degree", "rounds", "accepted", "gap"),
}
DESIGN_KEYS = [
    *("designer", "parameters", "seed", "nodes", "topics", "subscriptions", "links", "average_degree"),
    *("max_degree", "support", "topic_connected", "seconds", "out"),
]
MEASURE_KEYS = [
    *("nodes", "topics", "subscriptions", "links", "average_degree", "max_degree"),
    *("components", "components_unlinked", "components_connected", "support", "topic_connected"),
    *("mean_topic_diameter", "max_topic_diameter", "relays", "unreachable"),
]
PARAMETERS = {"max_edges": ("--max-edges", 9), "max_degree": ("--max-degree", 3)}


def test_generate(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "subs.parquet"
    options = ["--nodes", 1200, "--topics", 20, "--popularity", "zipf", "--alpha", 2.0, "--sizes", "power-law"]
    options += ["--min-topics", 2, "--max-topics", 9, "--seed", 1, "--out", out]
    ended = cli("generate", *options)
    assert (ended.status, ended.err) == (0, "")
    interest = Interest.read(out)
    assert ended.out == (
        f"1,200 nodes, {interest.topic_count} topics, {interest.subscription_count:,} subscriptions, written to {out}\n"
    )
    first = out.read_bytes()
    ended = cli("generate", *options, "--json")
    assert out.read_bytes() == first
    assert ended.json == {
        "nodes": 1200,
        "topics": interest.topic_count,
        "subscriptions": interest.subscription_count,
        "seed": 1,
        "out": str(out),
    }


def test_generate_says_how_many_topics_nobody_drew(cli: Cli, tmp_path: Path) -> None:
    ended = cli("generate", "--nodes", 3, "--topics", 1000, "--min-topics", 1, "--out", tmp_path / "s.parquet")
    assert "3 of 1,000 topics" in ended.out


def test_designers_lists_all(cli: Cli) -> None:
    ended = cli("designers")
    assert ended.status == 0
    titles = [line for line in ended.out.splitlines() if line and not line.startswith((" ", "-"))]
    assert titles == list(DESIGNERS)
    for designer in DESIGNERS.values():
        assert designer.rule in ended.out
        assert designer.guarantee in ended.out
        assert designer.paper in ended.out


def test_designers_as_json(cli: Cli) -> None:
    listed = cli("designers", "--json").json
    assert [entry["name"] for entry in listed] == list(DESIGNERS)
    assert list(listed[0]) == ["name", "paper", "rule", "parameters", "guarantee", "random"]
    assert [
        (p["name"], p["default"]) for entry in listed if entry["name"] == "low-oda" for p in entry["parameters"]
    ] == [("k", 3), ("strict", False), ("ties", None)]


@pytest.mark.parametrize("algorithm", DESIGNERS)
def test_design_and_measure_agree(cli: Cli, subscriptions: Path, tmp_path: Path, algorithm: str) -> None:
    out = tmp_path / "overlay.parquet"
    budget = DESIGNERS[algorithm].budget
    options = PARAMETERS[budget] if budget else ()
    ended = cli("design", subscriptions, "--algorithm", algorithm, *options, "--out", out, "--json")
    assert (ended.status, ended.err) == (0, "")
    facts = ended.json
    assert [key for key in facts if key not in OF_SOME] == DESIGN_KEYS
    assert ("optimal" in facts) == (algorithm in ("exact", "search"))
    assert facts["designer"] == algorithm
    taken = {parameter.name for parameter in DESIGNERS[algorithm].parameters if not parameter.optional}
    assert set(facts["parameters"]) == taken
    assert facts["seed"] == (0 if DESIGNERS[algorithm].random else None)
    assert facts["seconds"] >= 0
    assert facts["out"] == str(out)
    measures = cli("measure", subscriptions, out, "--json").json
    assert list(measures) == MEASURE_KEYS
    assert {key: facts[key] for key in MEASURE_KEYS if key in facts} == {
        key: measures[key] for key in MEASURE_KEYS if key in facts
    }


def test_design_for_people(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    out = tmp_path / "overlay.parquet"
    ended = cli("design", subscriptions, "--algorithm", "gm", "--out", out)
    lines = ended.out.splitlines()
    assert (ended.status, ended.err) == (0, "")
    assert [line[: line.rindex(" ")].strip() for line in lines[:-1]] == [
        *("links", "average degree", "max degree", "support", "seconds")
    ]
    assert len({len(line) for line in lines[:-1]}) == 1, "numbers are right-aligned"
    assert lines[-1] == f"written to {out}"


def test_a_limit_that_is_too_low_is_kept_and_told(cli: Cli, tmp_path: Path) -> None:
    star = [(f"n{u}", f"t{t}") for u in range(9) for t in range(u + 1)]
    file = write_subscriptions(tmp_path / "subs.parquet", star)
    options = ["--algorithm", "backbone", "--core-size", 1, "--max-degree", 1, "--out", tmp_path / "overlay.parquet"]
    ended = cli("design", file, *options, "--json")
    assert ended.status == 1
    assert ended.err == "not all topics are connected: --max-degree 1 is too low\n"
    assert ended.json["max_degree"] == 1
    assert ended.json["support"] < 1
    interest = Interest.read(file)
    assert measure(interest, Overlay.read(tmp_path / "overlay.parquet", interest)).support == ended.json["support"]


def test_design_passes_on_every_option(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    out = tmp_path / "overlay.parquet"
    for options, parameters in (
        (["low-oda", "--k", 2.5], {"k": 2.5, "strict": False}),
        (["gm-fold", "--folds", 3], {"folds": 3}),
        (["spidercast", "--greedy", 2, "--random", 4], {"greedy": 2, "random": 4}),
    ):
        facts = cli("design", subscriptions, "--out", out, "--json", "--algorithm", *options).json
        assert facts["parameters"] == parameters
    whole = cli("design", subscriptions, "--algorithm", "minmax-oda", "--out", out, "--json").json
    half = cli("design", subscriptions, "--algorithm", "gpa", "--budget-ratio", 0.5, "--out", out, "--json").json
    assert half["parameters"] == {"max_edges": whole["links"] // 2, "budget_ratio": 0.5}
    assert half["links"] == whole["links"] // 2


def test_seed_matters_to_random_designers(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    outs = [tmp_path / f"{name}.parquet" for name in ("a", "b", "c")]
    for out, seed in zip(outs, (3, 3, 4), strict=True):
        cli("design", subscriptions, "--algorithm", "random-a", "--max-edges", 8, "--seed", seed, "--out", out)
    first, same, other = (out.read_bytes() for out in outs)
    assert first == same
    assert first != other


def test_row_order_and_repeats_do_not_matter(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    rows = pyarrow.parquet.read_table(subscriptions).to_pylist()
    pairs = [(row["node"], row["topic"]) for row in rows]
    pairs += pairs[:5]
    random.Random(4).shuffle(pairs)
    shuffled = write_subscriptions(tmp_path / "shuffled.parquet", pairs)
    for algorithm in ("gm", "minmax-oda", "spidercast"):
        outs = tmp_path / "first.parquet", tmp_path / "second.parquet"
        for source, out in zip((subscriptions, shuffled), outs, strict=True):
            assert cli("design", source, "--algorithm", algorithm, "--seed", 5, "--out", out).status == 0
        assert outs[0].read_bytes() == outs[1].read_bytes()


def test_measure_writes_topics(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    overlay, topics = tmp_path / "overlay.parquet", tmp_path / "topics.parquet"
    cli("design", subscriptions, "--algorithm", "gm", "--out", overlay)
    ended = cli("measure", subscriptions, overlay, "--topics", topics)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.endswith(f"topics written to {topics}\n")
    assert pyarrow.parquet.read_table(topics)["topic"].to_pylist() == [f"t{topic:02}" for topic in range(12)]


def test_measure_without_diameters(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.parquet"
    cli("design", subscriptions, "--algorithm", "gm", "--out", overlay)
    measures = cli("measure", subscriptions, overlay, "--no-diameters", "--json").json
    assert list(measures) == MEASURE_KEYS
    assert measures["mean_topic_diameter"] is None
    assert "diameter" not in cli("measure", subscriptions, overlay, "--no-diameters").out


def test_measure_takes_links_from_elsewhere(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    links = tmp_path / "links.csv"
    links.write_text("target,source\nn01,n00\nn02,n01\n")
    assert cli("measure", subscriptions, links, "--json").json["links"] == 2


def test_compare_is_one_table(cli: Cli, subscriptions: Path) -> None:
    ended = cli("compare", subscriptions)
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert [line.split()[0] for line in lines[3:]] == DEFAULT_ALGORITHMS.split(",")
    assert len({len(line) for line in lines}) == 1
    assert set(lines[2]) == {"─"}


def test_compare_as_json(cli: Cli, subscriptions: Path) -> None:
    rows = cli("compare", subscriptions, "--algorithms", "gm, gpa,random-m", "--budget-ratio", 0.5, "--json").json
    assert [row["designer"] for row in rows] == ["gm", "gpa", "random-m"]
    for row in rows:
        assert list(row) == ["designer", "parameters", "seed", *MEASURE_KEYS, "seconds"]
    assert [set(row["parameters"]) for row in rows] == [
        set(),
        {"max_edges", "budget_ratio"},
        {"max_degree", "budget_ratio"},
    ]


def test_compare_gives_each_what_it_takes(cli: Cli, subscriptions: Path) -> None:
    rows = cli(
        *("compare", subscriptions, "--algorithms", "gm,gpa,gpm,low-oda,gm-fold,spidercast-m", "--json"),
        *("--max-edges", 7, "--max-degree", 2, "--k", 2, "--folds", 1, "--greedy", 1, "--random", 1),
    ).json
    assert [row["parameters"] for row in rows] == [
        *({}, {"max_edges": 7}, {"max_degree": 2, "matching": "useful"}, {"k": 2.0, "strict": False}, {"folds": 1}),
        {"max_degree": 2, "greedy": 1, "random": 1, "turns": "nodes"},
    ]


def test_compare_without_diameters(cli: Cli, subscriptions: Path) -> None:
    assert "diam." not in cli("compare", subscriptions, "--algorithms", "gm", "--no-diameters").out


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "tsv.gz"])
def test_text_files_and_other_columns(cli: Cli, tmp_path: Path, ending: str) -> None:
    path, out = tmp_path / f"subs.{ending}", tmp_path / "overlay.parquet"
    opened = gzip.open if ending.endswith("gz") else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter="\t" if ending.startswith("tsv") else ",")
        rows.writerows([("broker", "n", "channel"), ("a", 1, "x"), ("b", 2, "x"), ("c", 3, "y")])
    columns = ["--node-column", "broker", "--topic-column", "channel"]
    assert cli("design", path, *columns, "--algorithm", "gm", "--out", out, "--json").json["links"] == 1
    assert cli("measure", path, out, *columns, "--json").json["support"] == 1.0
    assert cli("compare", path, *columns, "--algorithms", "gm", "--json").json[0]["nodes"] == 3


STRANGE = ["two words", "a/b\\c", "'single' \"double\"", "line\nbreak\r\n", "tab\t", "🧵🪡", "[red]x[/red]", "ß,;", " "]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_names_may_hold_anything(cli: Cli, tmp_path: Path, ending: str) -> None:
    path, out, topics = tmp_path / f"subs.{ending}", tmp_path / "o.parquet", tmp_path / "t.parquet"
    names = sorted(name.strip() for name in STRANGE if name.strip()) if ending == "csv" else sorted(STRANGE)
    pairs = [(node, topic) for node in names for topic in names]
    if ending == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("node", "topic"), *pairs])
    else:
        write_subscriptions(path, pairs)
    assert cli("design", path, "--algorithm", "gm", "--out", out).status == 0
    assert cli("measure", path, out, "--topics", topics).status == 0
    interest = Interest.read(path)
    assert interest.node_names == interest.topic_names == tuple(names)
    links = pyarrow.parquet.read_table(out)
    assert set(links["source"].to_pylist() + links["target"].to_pylist()) == set(names)
    assert pyarrow.parquet.read_table(topics)["topic"].to_pylist() == names
    assert measure(interest, Overlay.read(out, interest)).topic_connected


@pytest.mark.parametrize("algorithm", ["gm", "minmax-oda", "cd-oda", "ring-per-topic", "gm-fold"])
def test_nothing_to_link_is_no_error(cli: Cli, tmp_path: Path, algorithm: str) -> None:
    path = write_subscriptions(tmp_path / "subs.parquet", [("a", "x"), ("b", "y"), ("c", "z")])
    out = tmp_path / "overlay.parquet"
    ended = cli("design", path, "--algorithm", algorithm, "--out", out, "--json")
    assert (ended.status, ended.err) == (0, "")
    assert (ended.json["links"], ended.json["support"], ended.json["topic_connected"]) == (0, 1.0, True)
    measures = cli("measure", path, out, "--json").json
    assert (measures["links"], measures["support"], measures["max_topic_diameter"]) == (0, 1.0, 0)
    assert cli("compare", path, "--algorithms", algorithm).status == 0


def test_provenance_is_written(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    out = tmp_path / "overlay.parquet"
    cli("design", subscriptions, "--algorithm", "gpm", "--max-degree", 4, "--out", out)
    overlay = Overlay.read(out, Interest.read(subscriptions))
    assert overlay.provenance is not None
    assert (overlay.provenance.algorithm, dict(overlay.provenance.parameters)) == (
        "gpm",
        {"max_degree": 4, "matching": "useful"},
    )
    metadata = pyarrow.parquet.read_schema(out).metadata
    assert json.loads(metadata[b"parameters"]) == {"max_degree": 4, "matching": "useful"}


def test_an_older_file_is_replaced(cli: Cli, subscriptions: Path, tmp_path: Path) -> None:
    out = tmp_path / "overlay.parquet"
    out.write_text("something older")
    assert cli("design", subscriptions, "--algorithm", "gm", "--out", out).status == 0
    assert len(Overlay.read(out, Interest.read(subscriptions))) > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["overlay.parquet", "subs.parquet"]
