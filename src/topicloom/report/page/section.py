"""What sections are made of."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from topicloom.present.figures import to_svg
from topicloom.present.html import Cell, macro, table_html
from topicloom.present.numbers import Number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Section:
    """A title, what stands below it, and the sections inside."""

    title: str
    blocks: tuple[Markup, ...]
    inside: tuple[Section, ...] = ()


def paragraph(text: str) -> Markup:
    """A paragraph of text."""
    return _block("paragraph", text)


def tiles(facts: Iterable[tuple[str, Number]]) -> Markup:
    """The numbers that matter most, large, each with its name."""
    return _block("tiles", facts)


def table(title: str, headers: Sequence[str], rows: Iterable[Sequence[Cell]], *, note: str = "") -> Markup:
    """A table that the reader can sort, with a title and a note above it, if any."""
    return _block("titled", title, note, table_html(headers, rows))


def figure(drawn: Figure, name: str, title: str, note: str) -> Markup:
    """A figure, with a title and a note that says what is seen; `name` must differ from that of all others."""
    # Matplotlib escapes the text in its pictures.
    svg = Markup(to_svg(drawn, name))
    named = Markup('<svg role="img" aria-label="{}. {}" ').format(title, note)
    return _block("figure", svg.replace("<svg ", named, 1), title, note)


def picture(svg: bytes, title: str, note: str) -> Markup:
    """An SVG file inside the page, as an image: its ids meet no others and its scripts, if any, do not run."""
    return _block("picture", base64.b64encode(svg).decode(), title, note)


def heading(text: str) -> Markup:
    """A heading within a section."""
    return _block("heading", text)


def beside(blocks: Iterable[Markup]) -> Markup:
    """Blocks beside each other where there is room."""
    return _block("beside", blocks)


def _block(name: str, *arguments: Any) -> Markup:
    return macro("topicloom.report.page", "blocks.html", name, *arguments)
