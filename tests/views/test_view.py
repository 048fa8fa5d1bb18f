"""Views: data for programs, text for a terminal, and the formats of data."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from topicloom.views import numbers, terminal
from topicloom.views.formats import as_csv, as_json, as_markdown
from topicloom.views.view import Column, Entry, Fact, Note, On, Table, View

RECORDS = [{"name": "a|b", "links": 1234, "parameters": {"k": 3}}, {"name": "c", "links": None, "parameters": {}}]
COLUMNS = (Column("name"), Column("links", numbers.count), Column("parameters", on=On.DATA))
FACTS = (
    Fact("max_degree", 1234, numbers.count),
    Fact("out", "o\n.csv", on=On.DATA),
    Fact("ratio", 0.123456789, numbers.mean, "share of all", on=On.ALL),
)


def test_data_are_facts_and_rows_by_key() -> None:
    view = View("v", "V", (*FACTS, Table.of("rows", COLUMNS, RECORDS), Entry("t", (("l", "x"),)), Note("n")))
    assert view.data() == {"max_degree": 1234, "out": "o\n.csv", "ratio": 0.123456789, "rows": RECORDS}
    assert View("w", "W", FACTS[:1], (view,)).data() == {"max_degree": 1234, "v": view.data()}


def test_a_table_without_a_key_is_all_the_data() -> None:
    ratio = Column("ratio", on=On.TEXT)
    table = Table.of("", (*COLUMNS, ratio), [record | {"ratio": 1} for record in RECORDS])
    assert View("v", "V", (Note("n"), table)).data() == RECORDS


def test_text_has_titles_and_numbers_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table.of("rows", COLUMNS, RECORDS)
    inner = View("w", "W", (Fact("name", "x\ny"),))
    terminal.show(View("v", "V", (*FACTS, table, Note("written"), Entry("gm", (("rule", "add"),))), (inner,)))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "max degree     1,234",
        "share of all    0.12",
        "",
        "name  links",
        "───────────",
        "a|b   1,234",
        "c         –",
        "written",
        "gm",
        "  rule  add",
        "",
        "name   x\\ny",
    ]


@pytest.mark.parametrize("data", [{"a": 1, "b": None, "c": [1, 2]}, RECORDS])
def test_formats_hold_the_same(data: Any) -> None:
    assert json.loads(as_json(data)) == data
    rows = data if isinstance(data, list) else [data]
    read = list(csv.DictReader(io.StringIO(as_csv(data))))
    assert [list(row) for row in read] == [list(row) for row in rows]
    for row, record in zip(read, rows, strict=True):
        for key, value in record.items():
            assert row[key] == ("" if value is None else value if isinstance(value, str) else json.dumps(value))


def test_markdown() -> None:
    facts = {"links": 3, "ratio": 1 / 3, "connected": True, "rows": RECORDS, "none": []}
    assert as_markdown(facts).splitlines() == [
        "|  | value |",
        "| --- | --- |",
        "| links | 3 |",
        "| ratio | 0.333333 |",
        "| connected | true |",
        "| none | [] |",
        "",
        "### rows",
        "",
        "| name | links | parameters |",
        "| --- | --- | --- |",
        '| a\\|b | 1234 | {"k": 3} |',
        "| c |  | {} |",
    ]
    assert as_markdown(RECORDS).startswith("| name | links | parameters |\n")


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_tables_fit(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    headers = ["algorithm", *(f"measure\n{i}" for i in range(8))]
    terminal.print_table(headers, [["ring-per-topic", *("1,234,567" for _ in range(8))]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert sum(line.count("1,234,567") for line in lines) == 8
    assert "…" not in "".join(lines)


def test_what_is_piped_has_no_width(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    terminal.print_table(["name", *"abcdefghijklmnopqrst"], [["x", *("1,234,567" for _ in range(20))]])
    assert len(capsys.readouterr().out.splitlines()) == 3
