"""HTML for notebooks and pages, from templates beside the modules that use them.

Names may hold anything. Jinja escapes whatever goes into a template unless it is `Markup`, which only templates give.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from topicloom.errors import printable
from topicloom.views.numbers import Number

if TYPE_CHECKING:
    from jinja2 import Environment


class Sentence(str):
    """Text for a table that is never cut, unlike names."""


Cell = str | Number

# Longer names are cut in tables; the whole name shows when pointed at.
_LONGEST = 120


def shortened(name: str, longest: int = _LONGEST) -> str:
    """The name in printable characters, cut where it is too long."""
    text = printable(name)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def rendered(template: str, **values: Any) -> Markup:
    """A whole template, filled."""
    return Markup(_environment().get_template(template).render(values))


def asset(name: str) -> str:
    """The text of a style or script."""
    return files(__package__).joinpath("assets", name).read_text("utf-8")


def macro(template: str, name: str, *arguments: Any) -> Markup:
    """What a macro of a template gives."""
    made: Markup = getattr(_environment().get_template(template).module, name)(*arguments)
    return made


def name_html(name: str) -> Markup:
    """A name, cut where it is too long."""
    return _of_tables("name", name)


def table_html(headers: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Markup:
    """A table."""
    return _of_tables("table", headers, list(rows))


def facts_html(facts: Iterable[tuple[str, Cell]]) -> Markup:
    """Names and values, one a row."""
    return _of_tables("facts", facts)


def links_html(about: str, headers: Sequence[str], rows: Iterable[Sequence[Cell]], more: str) -> Markup:
    """A sentence, the first rows of a table, and how many more it has, if any."""
    return _of_tables("links", about, headers, list(rows), more)


def _of_tables(name: str, *arguments: Any) -> Markup:
    return macro("tables.html", name, *arguments)


@lru_cache
def _environment() -> Environment:
    # Imported where it is needed, so that importing topicloom stays quick.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("topicloom.views", "assets"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"printable": printable, "shortened": shortened}
    environment.tests |= {
        "numeric": lambda cell: isinstance(cell, Number),
        "sentence": lambda cell: isinstance(cell, Sentence),
        "all_numeric": lambda cells: all(isinstance(cell, Number) for cell in cells),
    }
    return environment
