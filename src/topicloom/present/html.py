"""Tables as HTML, for notebooks and pages. Names may hold anything, so all text is escaped here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from topicloom.present.numbers import Number


class Sentence(str):
    """Text for a table that is never cut, unlike names."""


Cell = str | Number

# Longer names are cut in tables; the whole name shows when pointed at.
_LONGEST = 120


def printable(text: str) -> str:
    """The text with line breaks and whatever else cannot be seen written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def shortened(name: str, longest: int = _LONGEST) -> str:
    """The name in printable characters, cut where it is too long."""
    text = printable(name)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def name_html(name: str) -> str:
    """A name as escaped text."""
    text, whole = shortened(name), printable(name)
    return escape(text) if text == whole else f'<span title="{escape(whole)}">{escape(text)}</span>'


def table_html(headers: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table; a number carries the value that it is sorted by, and stands to the right."""
    listed = [list(row) for row in rows]
    numeric = [all(isinstance(row[column], Number) for row in listed) for column in range(len(headers))]
    head = "".join(
        f'<th scope="col"{_right(right)}>{escape(header)}</th>' for header, right in zip(headers, numeric, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in listed)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def facts_html(facts: Iterable[tuple[str, Cell]]) -> str:
    """Names and values, one a row."""
    rows = "".join(f'<tr><th scope="row">{escape(name)}</th>{_cell(value)}</tr>\n' for name, value in facts)
    return f'<table class="facts">\n<tbody>\n{rows}</tbody>\n</table>\n'


def _cell(cell: Cell) -> str:
    if isinstance(cell, Number):
        value = "" if cell.value is None else f"{cell.value!r}"
        return f'<td data-value="{value}"{_right(True)}>{escape(cell.text)}</td>'
    if isinstance(cell, Sentence):
        return f'<td class="sentence">{escape(printable(cell))}</td>'
    return f"<td>{name_html(cell)}</td>"


def _right(right: bool) -> str:
    return ' style="text-align:right"' if right else ""
