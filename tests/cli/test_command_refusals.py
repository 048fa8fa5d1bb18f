"""Wrong input: one line that says what is wrong, status 2, and nothing written."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from command_line import Cli, Ended, write_subscriptions

from topicloom import DESIGNERS


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def refused(cli: Cli, tmp_path: Path) -> Any:
    """Run a command that must be refused; give its one line."""

    def call(*arguments: object) -> str:
        before = files_in(tmp_path)
        ended: Ended = cli(*arguments)
        assert ended.status == 2, ended
        assert ended.out == ""
        assert ended.err.count("\n") == 1, ended.err
        assert ended.err.startswith("topicloom: ")
        assert ended.err.endswith("\n")
        assert "Traceback" not in ended.err
        assert files_in(tmp_path) == before, "no file may be left or changed"
        return ended.err.removeprefix("topicloom: ").rstrip("\n")

    return call


@pytest.fixture
def refused_subscriptions(refused: Any, tmp_path: Path) -> Any:
    """Every command that reads subscriptions must refuse these, with the same line."""

    def call(path: Path, *options: object) -> str:
        overlay = tmp_path / "given.parquet"
        pyarrow.parquet.write_table(pa.table({"source": ["a"], "target": ["b"]}), overlay)
        lines = {
            refused("design", path, "--algorithm", "gm", "--out", tmp_path / "out.parquet", *options),
            refused("measure", path, overlay, "--topics", tmp_path / "topics.parquet", *options),
            refused("compare", path, "--algorithms", "gm", *options),
        }
        assert len(lines) == 1
        line: str = lines.pop()
        assert line.startswith(str(path))
        return line

    return call


def test_missing_file(refused_subscriptions: Any, tmp_path: Path) -> None:
    assert refused_subscriptions(tmp_path / "none.parquet") == f"{tmp_path}/none.parquet: no such file"


def test_folder(refused_subscriptions: Any, tmp_path: Path) -> None:
    line = refused_subscriptions(tmp_path)
    assert "is not a folder that 'topicloom spark ingest' wrote" in line


def test_unknown_ending(refused_subscriptions: Any, tmp_path: Path) -> None:
    path = tmp_path / "subs.xlsx"
    path.write_text("node,topic\na,x\n")
    assert "give Parquet (.parquet), CSV" in refused_subscriptions(path)


def test_missing_column(refused_subscriptions: Any, tmp_path: Path) -> None:
    path = tmp_path / "subs.csv"
    path.write_text("node,subject\na,x\n")
    assert "no column 'topic'; it has 'node', 'subject'" in refused_subscriptions(path)
    assert "no column 'broker'" in refused_subscriptions(path, "--node-column", "broker")
    parquet = tmp_path / "subs.parquet"
    pyarrow.parquet.write_table(pa.table({"node": ["a"]}), parquet)
    assert "no column 'topic'; it has 'node'" in refused_subscriptions(parquet)


@pytest.mark.parametrize("ending", ["csv", "parquet", "csv.gz"])
def test_empty_file(refused_subscriptions: Any, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"subs.{ending}"
    path.touch()
    assert "is empty; expected the columns node, topic" in refused_subscriptions(path)


def test_no_rows(refused_subscriptions: Any, tmp_path: Path) -> None:
    path = tmp_path / "subs.csv"
    path.write_text("node,topic\n")
    assert "has no rows" in refused_subscriptions(path)
    assert "has no rows" in refused_subscriptions(write_subscriptions(tmp_path / "subs.parquet", []))


def test_blank_text_files(refused_subscriptions: Any, tmp_path: Path) -> None:
    path = tmp_path / "subs.csv"
    path.write_text("\n")
    assert "no column 'node'" in refused_subscriptions(path)
    packed = tmp_path / "subs.csv.gz"
    packed.write_bytes(gzip.compress(b""))
    assert "no column 'node'; it has none" in refused_subscriptions(packed)


@pytest.mark.parametrize(("name", "kind"), [("", "empty"), (None, "null")])
def test_empty_and_null_names(refused_subscriptions: Any, tmp_path: Path, name: str | None, kind: str) -> None:
    path = write_subscriptions(tmp_path / "subs.parquet", [("a", "x"), (name, "x")])
    assert f"row 2: {kind} name in column 'node'" in refused_subscriptions(path)
    path = write_subscriptions(tmp_path / "subs.parquet", [("a", "x"), ("b", "x"), ("b", name)])
    assert f"row 3: {kind} name in column 'topic'" in refused_subscriptions(path)


def test_empty_names_in_text(refused_subscriptions: Any, tmp_path: Path) -> None:
    path = tmp_path / "subs.csv"
    path.write_text("node,topic\na,x\nb,\n")
    assert "row 2: empty name in column 'topic'" in refused_subscriptions(path)


def test_names_that_are_no_text(refused_subscriptions: Any, tmp_path: Path) -> None:
    path = tmp_path / "subs.parquet"
    pyarrow.parquet.write_table(pa.table({"node": [1.5], "topic": ["x"]}), path)
    assert "column 'node' holds double, not names" in refused_subscriptions(path)


def test_not_a_parquet_file(refused_subscriptions: Any, tmp_path: Path) -> None:
    path = tmp_path / "subs.parquet"
    path.write_text("node,topic\na,x\n" * 20)
    assert "cannot be read" in refused_subscriptions(path)


@pytest.mark.parametrize("content", [b"node,topic\na,x\n\xff\xfe,x\n", b"\xffnode,topic\na,x\n"])
def test_text_that_is_not_utf8(refused_subscriptions: Any, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "subs.csv"
    path.write_bytes(content)
    assert "cannot be read" in refused_subscriptions(path)


def test_rows_of_other_lengths(refused_subscriptions: Any, tmp_path: Path) -> None:
    path = tmp_path / "subs.csv"
    path.write_text("node,topic\na,x\nb\n")
    assert "cannot be read" in refused_subscriptions(path)


def test_broken_gzip(refused_subscriptions: Any, tmp_path: Path) -> None:
    path = tmp_path / "subs.csv.gz"
    path.write_text("node,topic\na,x\n")
    assert "cannot be read" in refused_subscriptions(path)
    path.write_bytes(gzip.compress(os.urandom(3000))[:1000])
    assert "cannot be read" in refused_subscriptions(path)


@pytest.mark.parametrize("value", [0, -1])
@pytest.mark.parametrize(
    ("algorithm", "option"),
    [
        ("gpa", "--max-edges"),
        ("random-a", "--max-edges"),
        ("gpm", "--max-degree"),
        ("spidercast-m", "--max-degree"),
        ("random-m", "--max-degree"),
        ("gpa", "--budget-ratio"),
        ("gpm", "--budget-ratio"),
        ("gm-fold", "--folds"),
        ("low-oda", "--k"),
    ],
)
def test_budgets_must_be_positive(
    refused: Any, subscriptions: Path, tmp_path: Path, algorithm: str, option: str, value: int
) -> None:
    out = tmp_path / "o.parquet"
    line = refused("design", subscriptions, "--algorithm", algorithm, option, value, "--out", out)
    assert line.startswith(f"{option} of {algorithm} must be")
    assert f"not {value}" in line
    refused("compare", subscriptions, "--algorithms", f"gm,{algorithm}", option, value)


def test_a_budget_is_needed_once(refused: Any, subscriptions: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.parquet"
    assert refused("design", subscriptions, "--algorithm", "gpm", "--out", out) == (
        "gpm needs --max-degree or --budget-ratio; none is given"
    )
    both = ["--max-edges", 3, "--budget-ratio", 0.5]
    assert refused("design", subscriptions, "--algorithm", "gpa", *both, "--out", out) == (
        "gpa needs --max-edges or --budget-ratio; not both"
    )


def test_unknown_algorithm(refused: Any, subscriptions: Path, tmp_path: Path) -> None:
    known = ", ".join(DESIGNERS)
    line = refused("design", subscriptions, "--algorithm", "gmm", "--out", tmp_path / "o.parquet")
    assert line == f"unknown algorithm 'gmm'; known are {known}"
    assert refused("compare", subscriptions, "--algorithms", "gm,gmm") == line
    assert refused("compare", subscriptions, "--algorithms", "gm,") == f"unknown algorithm ''; known are {known}"


def test_a_backbone_that_cannot_be(refused: Any, subscriptions: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.parquet"
    design = ["design", subscriptions, "--algorithm", "backbone", "--out", out]
    assert refused(*design, "--core-size", 10**6).startswith("--core-size is 1000000 and there are ")
    assert refused(*design, "--max-degree", 0) == "--max-degree of backbone must be a whole number, 1 or more, not 0"
    assert not out.exists()


def test_a_parameter_that_is_not_taken(refused: Any, subscriptions: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.parquet"
    line = refused("design", subscriptions, "--algorithm", "gm", "--max-degree", 3, "--out", out)
    assert line == "gm does not take --max-degree; it takes --ties"
    line = refused("design", subscriptions, "--algorithm", "gpa", "--max-degree", 3, "--out", out)
    assert line == "gpa does not take --max-degree; it takes --max-edges, --ties, --budget-ratio, --matching"
    line = refused("compare", subscriptions, "--algorithms", "gm,low-oda", "--max-degree", 3)
    assert line == "--max-degree: none of gm, low-oda takes it"
    line = refused("compare", subscriptions, "--algorithms", "gpm,gpa", "--max-degree", 3)
    assert line == "gpa needs --max-edges or --budget-ratio; none is given"


def test_everything_is_checked_before_files_are_read(refused: Any, tmp_path: Path) -> None:
    missing, out = tmp_path / "none.parquet", tmp_path / "o.parquet"
    assert "unknown algorithm" in refused("design", missing, "--algorithm", "x", "--out", out)
    assert "needs --max-edges" in refused("compare", missing, "--algorithms", "gm,gpa")
    assert "folder" in refused("design", missing, "--algorithm", "gm", "--out", tmp_path / "none" / "o.parquet")


def test_negative_seed(refused: Any, subscriptions: Path, tmp_path: Path) -> None:
    line = refused("design", subscriptions, "--algorithm", "gm", "--seed", -1, "--out", tmp_path / "o.parquet")
    assert line == "--seed must be a whole number, 0 or more, not -1"


def test_an_overlay_of_another_interest(cli: Cli, refused: Any, subscriptions: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.parquet"
    other = write_subscriptions(tmp_path / "other.parquet", [("n00", "t00"), ("n01", "t00")])
    cli("design", subscriptions, "--algorithm", "gm", "--out", overlay)
    line = refused("measure", other, overlay, "--topics", tmp_path / "topics.parquet")
    assert line.startswith(f"{overlay}: was designed for other subscriptions")


@pytest.mark.parametrize(
    ("links", "wrong"),
    [
        ("n00,n01\nn00,n99\n", "row 2: target 'n99' is not a node of the subscriptions"),
        ("n00,n00\n", "row 1: links 'n00' with itself; a link needs two nodes"),
        ("n00,n01\nn01,n00\n", "row 2: repeats the link 'n01' - 'n00' of row 1"),
        ("n00,\n", "row 1: empty name in column 'target'"),
        ('"a\nb",n01\n', "row 1: source 'a\\nb' is not a node of the subscriptions"),
    ],
)
def test_wrong_links(refused: Any, subscriptions: Path, tmp_path: Path, links: str, wrong: str) -> None:
    overlay = tmp_path / "links.csv"
    overlay.write_text(f"source,target\n{links}")
    line = refused("measure", subscriptions, overlay, "--topics", tmp_path / "topics.parquet")
    assert line.startswith(f"{overlay}: {wrong}")


def test_wrong_overlay_files(refused: Any, subscriptions: Path, tmp_path: Path) -> None:
    assert "no such file" in refused("measure", subscriptions, tmp_path / "none.parquet")
    assert "no column 'source'" in refused("measure", subscriptions, subscriptions)


@pytest.fixture
def unwritable(tmp_path: Path) -> Path:
    if os.geteuid() == 0:
        return Path("/proc")  # root may write anywhere else
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    return folder


def test_unwritable_folders(refused: Any, subscriptions: Path, tmp_path: Path, unwritable: Path) -> None:
    sizes = ["--nodes", 5, "--topics", 5, "--min-topics", 1]
    for out, wrong in (
        (unwritable / "o.parquet", "cannot be written"),
        (tmp_path / "none" / "o.parquet", f"the folder {tmp_path / 'none'} does not exist"),
        (subscriptions / "o.parquet", "does not exist"),
    ):
        assert wrong in refused("generate", *sizes, "--out", out)
        assert wrong in refused("design", subscriptions, "--algorithm", "gm", "--out", out)
        assert wrong in refused("measure", subscriptions, subscriptions, "--topics", out)


def test_output_that_could_not_be_read_again(refused: Any, subscriptions: Path, tmp_path: Path) -> None:
    line = refused("design", subscriptions, "--algorithm", "gm", "--out", tmp_path / "o.csv")
    assert line == f"{tmp_path}/o.csv: is written as Parquet; give a name that ends in .parquet"
    folder = tmp_path / "folder.parquet"
    folder.mkdir()
    assert "is a folder" in refused("design", subscriptions, "--algorithm", "gm", "--out", folder)


def test_input_is_never_replaced(refused: Any, subscriptions: Path) -> None:
    line = refused("design", subscriptions, "--algorithm", "gm", "--out", subscriptions)
    assert "is read by this command" in line
    assert "is read by" in refused("measure", subscriptions, subscriptions, "--topics", subscriptions)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (["--nodes", 0], "--nodes is 0; give a whole number of at least 1"),
        (["--topics", -4], "--topics is -4"),
        (["--min-topics", 0], "--min-topics is 0; give a whole number from 1 to the number of topics, 10"),
        (["--min-topics", 11], "--min-topics is 11"),
        (["--max-topics", 1], "--max-topics is 1; give a whole number from --min-topics, 2,"),
        (["--sizes", "uniform"], "--sizes 'uniform' needs --max-topics"),
        (["--alpha", 0], "--alpha is 0.0"),
        (["--alpha", "nan"], "--alpha is nan"),
        (["--seed", -1], "--seed is -1"),
        (
            ["--popularity", "normal"],
            "--popularity: 'normal' is not one of 'uniform', 'zipf', 'exponential', 'steep-exponential'; see",
        ),
        (
            ["--sizes", "large"],
            "--sizes: 'large' is not one of 'fixed', 'uniform', 'power-law', 'shifted-zipf', 'by-chance'; see",
        ),
        (["--nodes", "many"], "--nodes: 'many' is not a whole number; see"),
        (["--nodes", 1.5], "--nodes: '1.5' is not a whole number"),
        (["--alpha", "x"], "--alpha: 'x' is not a number"),
    ],
)
def test_generate_refuses(refused: Any, tmp_path: Path, options: list[object], wrong: str) -> None:
    usual = ["--nodes", 10, "--topics", 10, "--min-topics", 2, "--out", tmp_path / "s.parquet"]
    assert refused("generate", *usual, *options).startswith(wrong)


def test_wrong_command_lines(refused: Any, subscriptions: Path, tmp_path: Path) -> None:
    out = ["--out", tmp_path / "o.parquet"]
    assert refused("generate", "--nodes", 3) == (
        "--topics is missing: how many topics there are to choose from; see 'topicloom generate --help'"
    )
    assert refused("design", subscriptions, *out).startswith("--algorithm is missing: designer; ")
    assert refused("design", "--algorithm", "gm", *out).startswith("SUBS is missing: subscriptions, one a row")
    assert refused("design", subscriptions, "--algorithm", "gm").startswith("--out is missing: parquet file")
    assert "--algorithm" in refused("design", subscriptions, "--algoritm", "gm", *out)
    assert "--max-degree" in refused("design", subscriptions, "--algorithm", "gpm", *out, "--max-degree", "x")
    assert "--algorithm" in refused("design", subscriptions, *out, "--algorithm")
    assert "extra" in refused("measure", subscriptions, subscriptions, subscriptions)
    assert "desing" in refused("desing")
    assert "--bogus" in refused("--bogus")
