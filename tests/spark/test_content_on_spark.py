"""Message histories to rates."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from reference.summarize import summarized
from topicloom import InputError
from topicloom.spark.summarize import Summary, summarize
from topicloom.workloads.content import content_network

ATTRIBUTES = [("price", 0.0, 50.0, 10), ("size", -1.0, 1.0, 3)]


def write_space(folder: Path) -> Path:
    names, lows, highs, cells = zip(*ATTRIBUTES, strict=True)
    table = pa.table({"attribute": list(names), "low": list(lows), "high": list(highs), "cells": list(cells)})
    pyarrow.parquet.write_table(table, folder / "space.parquet")
    return folder / "space.parquet"


def some_messages(count: int, bad: float) -> list[tuple]:
    rng = random.Random(7)
    messages = []
    for _ in range(count):
        row = [f"u{rng.randrange(9)}", float(rng.randrange(51)), rng.uniform(-1, 1), rng.uniform(1000, 2000)]
        if rng.random() < bad:
            place, wrong = rng.choice([(0, None), (0, "  "), (1, None), (1, 50.5), (2, -1.25), (3, None)])
            row[place] = wrong
        messages.append(tuple(row))
    return messages


def write_log(path: Path, messages: list[tuple]) -> Path:
    columns = dict(zip(("user", "price", "size", "time"), map(list, zip(*messages, strict=True)), strict=True))
    if path.suffix == ".csv":
        rows = ["user,price,size,time"]
        rows += [",".join("" if value is None else str(value) for value in message) for message in messages]
        path.write_text("\n".join(rows) + "\n")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(columns, message, strict=True))) + "\n" for message in messages))
    else:
        pyarrow.parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_summarize_counts_as_its_twin(spark: SparkSession, tmp_path: Path, ending: str) -> None:
    messages = some_messages(3000, bad=0.05)
    rates, reasons, seconds = summarized(messages, ATTRIBUTES)
    log = write_log(tmp_path / f"log.{ending}", messages)
    found = summarize(spark, [log], write_space(tmp_path), tmp_path / "out")
    assert found == Summary(3000, sum(reasons.values()), dict(reasons), 9, len({c for _, c in rates}), seconds)
    table = pyarrow.parquet.read_table(tmp_path / "out" / "rates.parquet").to_pylist()
    assert {(row["user"], row["channel"]): row["rate"] for row in table} == pytest.approx(rates)
    assert [(row["user"], row["channel"]) for row in table] == sorted(rates)
    users = pyarrow.parquet.read_table(tmp_path / "out" / "users.parquet").to_pandas()
    channels = pyarrow.parquet.read_table(tmp_path / "out" / "channels.parquet").to_pandas()
    assert users.messages.sum() == channels.messages.sum() == 3000 - found.bad
    assert users.rate.sum() == pytest.approx(sum(rates.values()))
    assert channels.publishers.sum() == users.channels.sum() == len(rates)
    quarantine = pyarrow.parquet.read_table(tmp_path / "out" / "quarantine").to_pandas()
    assert quarantine.reason.value_counts().to_dict() == dict(reasons)
    assert quarantine.file.str.endswith(f"log.{ending}").all()


def test_summarize_takes_dates_and_is_read_by_a_network(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "who,x,at\n" + "".join(f"u{k % 2 + 1},{k % 4},2026-01-01 00:00:{10 * k // 4:02}\n" for k in range(17))
    )
    drawn = content_network(2, 2, 4, seed=1)
    net = tmp_path / "net"
    net.mkdir()
    drawn.write(net)
    (net / "quadratics.parquet").unlink()
    space = pa.table({"attribute": ["x"], "low": [0.0], "high": [4.0], "cells": [4]})
    pyarrow.parquet.write_table(space, net / "space.parquet")
    boxes = pa.table({"user": ["u1", "u2"], "low_x": [0.0, 0.0], "high_x": [4.0, 4.0]})
    pyarrow.parquet.write_table(boxes, net / "boxes.parquet")
    found = summarize(spark, [log], net / "space.parquet", tmp_path / "out", user_column="who", time_column="at")
    assert found.seconds == 40
    (tmp_path / "out" / "rates.parquet").rename(net / "rates.parquet")
    from topicloom.content import read_network

    network = read_network(net)
    assert network.traffic.out.tolist() == pytest.approx([9 / 40, 8 / 40])
    assert network.traffic.into.tolist() == pytest.approx([8 / 40, 9 / 40])


def test_summarize_refuses(spark: SparkSession, tmp_path: Path) -> None:
    space = write_space(tmp_path)
    log = write_log(tmp_path / "log.csv", some_messages(200, bad=0.5))
    with pytest.raises(InputError, match=r"of 200 messages are bad, more than max_bad 0.1 accepts \("):
        summarize(spark, [log], space, tmp_path / "out")
    same = write_log(tmp_path / "same.csv", [("u", 1.0, 0.5, 7.0)] * 3)
    with pytest.raises(InputError, match="all messages have the same time; give how long the log spans, as seconds"):
        summarize(spark, [same], space, tmp_path / "out")
    with pytest.raises(InputError, match=r"same.csv: no column 'node'; it has 'user', 'price', 'size', 'time'"):
        summarize(spark, [same], space, tmp_path / "out", user_column="node")
    assert not (tmp_path / "out").exists()
    found = summarize(spark, [same], space, tmp_path / "out", seconds=6.0)
    assert (found.messages, found.seconds) == (3, 6)
    assert pyarrow.parquet.read_table(tmp_path / "out" / "rates.parquet")["rate"].to_pylist() == [0.5]
