"""The same subscriptions and the same seed give the same bytes, however they come in and wherever they run."""

from __future__ import annotations

import gzip
import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from topicloom import DESIGNERS, Interest, design, synthetic

Pairs = list[tuple[str, str]]
Reader = Callable[[Pairs, Path], Interest]


def parameters_of(name: str) -> dict[str, float]:
    budget = DESIGNERS[name].budget
    if name == "search":
        return {"rounds": 300}
    return {budget: 3} if budget else {}


def awkward_pairs() -> Pairs:
    """Names whose order or spelling a careless reader would change."""
    dice = random.Random(5)
    nodes = [
        "a",
        "B",
        "b",
        "10",
        "9",
        "007",
        "7",
        "NA",
        "null",
        "nan",
        "True",
        "1.0",
        "é",
        "z",
        "ß",
        "\uffff",
        "\U00010000",
    ]
    nodes += ['say "hi"', "a,b", "a;b", "with space", "slash/name", "tab\tname", "two\nlines", "'quoted'"]
    topics = ["news", "News", "5", "sport/ball", "日本", "😀", "a b", "x,y"]
    return sorted(
        {(node, topic) for node in nodes for topic in topics if dice.random() < 0.4} | {(n, "all") for n in nodes}
    )


def number_pairs() -> Pairs:
    """Names that are whole numbers, of different lengths."""
    dice = random.Random(6)
    return sorted({(str(node), str(dice.randrange(5, 15))) for node in range(90, 112) for _ in range(4)})


def table_of(pairs: Pairs, kind: pa.DataType | None = None) -> pa.Table:
    columns = {"node": [node for node, _ in pairs], "topic": [topic for _, topic in pairs]}
    return pa.table({name: pa.array(values, kind or pa.string()) for name, values in columns.items()})


def from_csv(pairs: Pairs, folder: Path) -> Interest:
    pyarrow.csv.write_csv(table_of(pairs), folder / "rows.csv")
    return Interest.read(folder / "rows.csv")


def from_zipped_csv(pairs: Pairs, folder: Path) -> Interest:
    pyarrow.csv.write_csv(table_of(pairs), folder / "plain.csv")
    (folder / "rows.csv.gz").write_bytes(gzip.compress((folder / "plain.csv").read_bytes()))
    return Interest.read(folder / "rows.csv.gz")


def from_csv_with_other_columns(pairs: Pairs, folder: Path) -> Interest:
    table = table_of(pairs).rename_columns(["broker", "subject"]).append_column("note", pa.array(range(len(pairs))))
    pyarrow.csv.write_csv(table.select(["note", "subject", "broker"]), folder / "rows.csv")
    return Interest.read(folder / "rows.csv", node_column="broker", topic_column="subject")


def from_tsv(pairs: Pairs, folder: Path) -> Interest:
    options = pyarrow.csv.WriteOptions(delimiter="\t")
    pyarrow.csv.write_csv(table_of(pairs), folder / "rows.tsv", options)
    return Interest.read(folder / "rows.tsv")


def from_parquet(pairs: Pairs, folder: Path) -> Interest:
    pyarrow.parquet.write_table(table_of(pairs), folder / "rows.parquet", row_group_size=7)
    return Interest.read(folder / "rows.parquet")


def from_dictionary_parquet(pairs: Pairs, folder: Path) -> Interest:
    table = table_of(pairs)
    for i, name in enumerate(table.column_names):
        table = table.set_column(i, name, table[name].dictionary_encode())
    pyarrow.parquet.write_table(table, folder / "rows.pq")
    return Interest.read(folder / "rows.pq")


def from_written(pairs: Pairs, folder: Path) -> Interest:
    Interest.from_pairs(pairs).write(folder / "rows.parquet")
    return Interest.read(folder / "rows.parquet")


def from_dictionary_arrow(pairs: Pairs, folder: Path) -> Interest:
    """Chunks whose dictionaries differ: the codes of one mean other names in the next."""
    half = len(pairs) // 2
    chunks = [table_of(part) for part in (pairs[:half], pairs[half:])]
    encoded = {
        name: pa.chunked_array([chunk[name].combine_chunks().dictionary_encode() for chunk in chunks])
        for name in ("node", "topic")
    }
    return Interest.from_arrow(pa.table(encoded))


def from_chunked_arrow(pairs: Pairs, folder: Path) -> Interest:
    return Interest.from_arrow(pa.concat_tables([table_of([pair]) for pair in pairs]))


def from_pandas(pairs: Pairs, folder: Path) -> Interest:
    frame = pd.DataFrame(pairs, columns=["node", "topic"])
    frame.index = pd.Index(range(len(pairs), 0, -1), name="node id")
    return Interest.from_pandas(frame)


def from_pandas_categories(pairs: Pairs, folder: Path) -> Interest:
    frame = pd.DataFrame(pairs, columns=["node", "topic"])
    categories = sorted({node for node, _ in pairs} | {"of no row"}, reverse=True)
    return Interest.from_pandas(frame.assign(node=pd.Categorical(frame["node"], categories)))


READERS: dict[str, Reader] = {
    "pairs": lambda pairs, folder: Interest.from_pairs(pairs),
    "a generator": lambda pairs, folder: Interest.from_pairs(pair for pair in pairs),
    "csv": from_csv,
    "csv.gz": from_zipped_csv,
    "csv, other columns": from_csv_with_other_columns,
    "tsv": from_tsv,
    "parquet": from_parquet,
    "parquet, dictionaries": from_dictionary_parquet,
    "what write wrote": from_written,
    "arrow": lambda pairs, folder: Interest.from_arrow(table_of(pairs)),
    "arrow, large_string": lambda pairs, folder: Interest.from_arrow(table_of(pairs, pa.large_string())),
    "arrow, string_view": lambda pairs, folder: Interest.from_arrow(table_of(pairs, pa.string_view())),
    "arrow, dictionaries": from_dictionary_arrow,
    "arrow, one row a chunk": from_chunked_arrow,
    "pandas": from_pandas,
    "pandas, categories": from_pandas_categories,
}
INTEGER_READERS: dict[str, Reader] = {
    "arrow": lambda pairs, folder: Interest.from_arrow(table_of(pairs, pa.string()).cast(_integers(pa.int64()))),
    "arrow, small": lambda pairs, folder: Interest.from_arrow(table_of(pairs).cast(_integers(pa.uint8()))),
    "pandas": lambda pairs, folder: Interest.from_pandas(
        pd.DataFrame(pairs, columns=["node", "topic"]).astype("int64")
    ),
    "csv": from_csv,
}


def _integers(kind: pa.DataType) -> pa.Schema:
    return pa.schema([("node", kind), ("topic", kind)])


def overlay_bytes(interest: Interest, name: str, folder: Path) -> bytes:
    path = folder / f"{name}.parquet"
    design(interest, name, seed=11, **parameters_of(name)).write(path)
    return path.read_bytes()


def shuffled_with_repeats(pairs: Pairs, seed: int) -> Pairs:
    dice = random.Random(seed)
    rows = pairs + dice.choices(pairs, k=len(pairs) // 2)
    dice.shuffle(rows)
    return rows


# Of `exact` the time would run out.
@pytest.mark.parametrize("name", [name for name in DESIGNERS if name != "exact"])
def test_same_bytes_whatever_the_order_of_rows_and_their_repeats(name: str, tmp_path: Path) -> None:
    pairs = awkward_pairs()
    expected = overlay_bytes(Interest.from_pairs(pairs), name, tmp_path)
    for seed in range(5):
        rows = shuffled_with_repeats(pairs, seed)
        assert overlay_bytes(Interest.from_pairs(rows), name, tmp_path) == expected, f"seed {seed}"
    assert overlay_bytes(Interest.from_pairs(pairs[:-1]), name, tmp_path) != expected


@pytest.mark.parametrize("reader", READERS)
def test_same_bytes_whatever_the_form_of_the_input(reader: str, tmp_path: Path) -> None:
    pairs = awkward_pairs()
    expected = Interest.from_pairs(pairs)
    found = READERS[reader](shuffled_with_repeats(pairs, 3), tmp_path)
    assert found == expected
    assert found.node_names == tuple(sorted({node for node, _ in pairs}))
    for name in ("gm", "minmax-oda", "spidercast", "random-a"):
        assert overlay_bytes(found, name, tmp_path) == overlay_bytes(expected, name, tmp_path)


@pytest.mark.parametrize("reader", INTEGER_READERS)
def test_same_bytes_from_whole_numbers_as_from_their_texts(reader: str, tmp_path: Path) -> None:
    pairs = number_pairs()
    found = INTEGER_READERS[reader](shuffled_with_repeats(pairs, 3), tmp_path)
    assert found.node_names[:3] == ("100", "101", "102")  # in the order of texts, not of numbers
    assert overlay_bytes(found, "gm", tmp_path) == overlay_bytes(Interest.from_pairs(pairs), "gm", tmp_path)


def test_subscriptions_are_written_as_the_same_bytes(tmp_path: Path) -> None:
    pairs = awkward_pairs()
    written = []
    for seed in range(3):
        Interest.from_pairs(shuffled_with_repeats(pairs, seed)).write(tmp_path / "rows.parquet")
        written.append((tmp_path / "rows.parquet").read_bytes())
    assert len(set(written)) == 1


SCRIPT = """
import hashlib, pathlib, sys
from topicloom import DESIGNERS, design, synthetic
folder = pathlib.Path(sys.argv[1])
interest = synthetic(60, 30, popularity="zipf", sizes="uniform", min_topics=1, max_topics=12, seed=4)
for name, designer in DESIGNERS.items():
    for budget in (3, 1500) if name != "exact" else ():
        path = folder / f"{name}.parquet"
        design(interest, name, seed=11, **({designer.budget: budget} if designer.budget else {})).write(path)
        print(name, budget, hashlib.sha256(path.read_bytes()).hexdigest())
"""


@pytest.mark.slow
def test_same_bytes_in_processes_that_hash_differently(tmp_path: Path) -> None:
    """Of all designers but `exact`, whose time would run out."""
    runs = []
    for seed in ("1", "4711"):
        (tmp_path / seed).mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / seed)]
        runs.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    first, second = (run.communicate(timeout=120)[0] for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    assert first == second
    interest = synthetic(60, 30, popularity="zipf", sizes="uniform", min_topics=1, max_topics=12, seed=4)
    here = [
        hashlib.sha256(overlay_bytes(interest, name, tmp_path)).hexdigest() for name in DESIGNERS if name != "exact"
    ]
    assert [line.split()[2] for line in first.splitlines()][::2] == here
