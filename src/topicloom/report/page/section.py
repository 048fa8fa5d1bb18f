"""What sections are made of. Everything that these functions give is HTML, with all text escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from topicloom.present.figures import to_svg
from topicloom.present.html import Cell, table_html
from topicloom.present.numbers import Number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Section:
    """A title, what stands below it, and the sections inside."""

    title: str
    blocks: tuple[str, ...]
    inside: tuple[Section, ...] = ()


def paragraph(text: str) -> str:
    """A paragraph of text."""
    return f"<p>{escape(text)}</p>\n"


def tiles(facts: Iterable[tuple[str, Number]]) -> str:
    """The numbers that matter most, large, each with its name."""
    drawn = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(number.text)}</dd></div>\n" for name, number in facts)
    return f'<dl class="tiles">\n{drawn}</dl>\n'


def table(title: str, headers: Sequence[str], rows: Iterable[Sequence[Cell]], *, note: str = "") -> str:
    """A table that the reader can sort, with a title and a note above it, if any."""
    above = f"{heading(title) if title else ''}{paragraph(note) if note else ''}"
    return f'<div class="table">\n{above}{table_html(headers, rows)}</div>\n'


def figure(drawn: Figure, name: str, title: str, note: str) -> str:
    """A figure, with a title and a note that says what is seen; `name` must differ from that of all others."""
    svg = to_svg(drawn, name).replace("<svg ", f'<svg role="img" aria-label="{escape(f"{title}. {note}")}" ', 1)
    caption = f"<figcaption><strong>{escape(title)}.</strong> {escape(note)}</figcaption>"
    return f"<figure>\n{svg}{caption}\n</figure>\n"


def picture(svg: bytes, title: str, note: str) -> str:
    """An SVG file inside the page, as an image: its ids meet no others and its scripts, if any, do not run."""
    inside = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    caption = f"<figcaption><strong>{escape(title)}.</strong> {escape(note)}</figcaption>"
    return f'<figure>\n<img src="{inside}" alt="{escape(f"{title}. {note}")}">\n{caption}\n</figure>\n'


def heading(text: str) -> str:
    """A heading within a section."""
    return f"<h4>{escape(text)}</h4>\n"


def beside(blocks: Iterable[str]) -> str:
    """Blocks beside each other where there is room."""
    return f'<div class="beside">\n{"".join(blocks)}</div>\n'
