"""The collection of instances: its page shows the records, and tiny instances are as recorded."""

from __future__ import annotations

import pytest
from benchmarks.instances import collection
from benchmarks.instances.catalogue import INSTANCES
from rich.console import Console

TINY = [name for name, instance in INSTANCES.items() if instance.kind == "tiny"]


def test_the_page_shows_the_records() -> None:
    assert collection.PAGE.read_text(encoding="utf-8") == collection.page()


def test_records_are_of_instances_and_no_better_than_their_bounds() -> None:
    for name, record in collection.read_records().items():
        assert name in INSTANCES
        assert record["bound"] <= collection.lowered(record), name
        if INSTANCES[name].kind == "tiny":
            assert record["bound"] == record["links"], name


def test_tiny_instances_are_as_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert collection.check(Console(width=150), TINY), capsys.readouterr().out


def test_what_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    name, *_ = TINY
    record = collection.read_records()[name]
    for change, text in (
        ({"fingerprint": "2-0"}, "is another interest than that of the record"),
        ({"links": record["links"] - 1}, "bound 7 is above the 6 links of the record"),
    ):
        monkeypatch.setattr(collection, "read_records", lambda change=change: {name: record | change})
        assert not collection.check(Console(width=150), [name])
        assert text in capsys.readouterr().out


def test_better_results_and_bounds_are_kept() -> None:
    record = {"links": 10, "max_degree": 5, "bound": 7, "found_by": "one"}
    for found, kept in (
        ((10, 4, 6), (10, 4, 7)),
        ((9, 9, 8), (9, 9, 8)),
        ((10, 5, 9), (10, 5, 9)),
        ((11, 1, 0), (10, 5, 7)),
    ):
        result = dict(zip(("links", "max_degree", "bound"), found, strict=True)) | {"found_by": "other"}
        renewed = collection.renewed(result, record)
        assert (renewed["links"], renewed["max_degree"], renewed["bound"]) == kept
