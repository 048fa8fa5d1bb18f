"""The data of a view as JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def as_json(data: Any) -> str:
    """Indented JSON."""
    return json.dumps(data, indent=2)


def as_csv(data: Any) -> str:
    """A header and a line for each row, or one line of all facts; values that are no scalars are JSON."""
    rows = data if isinstance(data, list) else [data]
    header = _keys(rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(row.get(key)) for key in header] for row in rows)
    return out.getvalue().rstrip("\n")


def as_markdown(data: Any) -> str:
    """Tables: one of the facts, and one for each list of rows."""
    if isinstance(data, list):
        return _records(data)
    facts = {key: value for key, value in data.items() if not _has_rows(value)}
    parts = [_table(["", "value"], [[key, value] for key, value in facts.items()])] if facts else []
    for key in data.keys() - facts.keys():
        parts.append(f"### {key}\n\n{as_markdown(data[key])}")
    return "\n\n".join(parts)


FORMATS: Mapping[str, Callable[[Any], str]] = {"json": as_json, "csv": as_csv, "markdown": as_markdown}


def _has_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _records(rows: Sequence[Mapping[str, Any]]) -> str:
    header = _keys(rows)
    return _table(header, [[row.get(key) for key in header] for row in rows])


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [header, ["---"] * len(header), *([_marked(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _marked(value: Any) -> str:
    cell = f"{value:.6g}" if isinstance(value, float) else str(_cell(value))
    return " ".join(cell.replace("\\", "\\\\").replace("|", "\\|").split())


def _cell(value: Any) -> Any:
    """A value as text that JSON would have too; nothing for None, and strings as they are."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)
