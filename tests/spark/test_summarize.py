"""Message histories to rates."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from reference.summarize import summarized
from topicloom import InputError
from topicloom.spark import rates, summarize
from topicloom.spark.summarize import read_messages
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
    expected, reasons, seconds = summarized(messages, ATTRIBUTES)
    log = write_log(tmp_path / f"log.{ending}", messages)
    found = summarize(read_messages(spark, [str(log)]), write_space(tmp_path))
    assert (found.messages, found.bad, found.bad_by_reason) == (3000, sum(reasons.values()), dict(reasons))
    assert (found.users, found.channels, found.seconds) == (9, len({c for _, c in expected}), seconds)
    table = found.rates.to_pylist()
    assert {(row["user"], row["channel"]): row["rate"] for row in table} == pytest.approx(expected)
    assert [(row["user"], row["channel"]) for row in table] == sorted(expected)
    users, channels = (found.by(key).to_pylist() for key in ("user", "channel"))
    for sums in (users, channels):
        assert sum(row["messages"] for row in sums) == 3000 - found.bad
        assert sum(row["rate"] for row in sums) == pytest.approx(sum(expected.values()))
    assert sum(row["publishers"] for row in channels) == sum(row["channels"] for row in users) == len(expected)
    rejected = found.rejected.toArrow().to_pylist()
    assert Counter(row["reason"] for row in rejected) == dict(reasons)
    assert all(row["file"].endswith(f"log.{ending}") for row in rejected)


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
    found = summarize(read_messages(spark, [str(log)]), net / "space.parquet", user="who", time="at")
    assert found.seconds == 40
    pyarrow.parquet.write_table(found.rates, net / "rates.parquet")
    from topicloom.content import read_network

    network = read_network(net)
    assert network.traffic.out.tolist() == pytest.approx([9 / 40, 8 / 40])
    assert network.traffic.into.tolist() == pytest.approx([8 / 40, 9 / 40])


def test_summarize_refuses(spark: SparkSession, tmp_path: Path) -> None:
    space = write_space(tmp_path)
    log = write_log(tmp_path / "log.csv", some_messages(200, bad=0.5))
    with pytest.raises(InputError, match=r"of 200 messages are bad, more than max_bad 0.1 accepts \("):
        summarize(read_messages(spark, [str(log)]), space)
    same = read_messages(spark, [str(write_log(tmp_path / "same.csv", [("u", 1.0, 0.5, 7.0)] * 3))])
    with pytest.raises(InputError, match="all messages have the same time; give how long the log spans, as seconds"):
        summarize(same, space)
    with pytest.raises(InputError, match=r"messages: no column 'node'; it has 'user', 'price', 'size', 'time'"):
        summarize(same, space, user="node")
    found = summarize(same, space, seconds=6.0)
    assert (found.messages, found.seconds) == (3, 6)
    assert rates(same, space, seconds=6.0).toArrow()["rate"].to_pylist() == [0.5]
    (tmp_path / "log.txt").write_text("user\n")
    with pytest.raises(InputError, match=r"log\.txt: its name does not tell what it holds; endings are \.csv, "):
        read_messages(spark, [str(tmp_path / "log.txt")])


def test_headers_that_differ_are_not_swapped(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("user,price,size,time\nu,1,0.5,7\n")
    (tmp_path / "b.csv").write_text("price,user,size,time\n1,u,0.5,9\n")
    with pytest.raises((PySparkException, Py4JError), match="CSV header does not conform to the schema"):
        summarize(read_messages(spark, [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]), write_space(tmp_path))
