"""Sections put together into one HTML file that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.resources import files

from markupsafe import Markup

from topicloom._version import __version__
from topicloom.files.atomic import replacing
from topicloom.present.html import rendered
from topicloom.present.interactive import drawing_scripts, page_scripts, styles
from topicloom.report.page.kind import Aside
from topicloom.report.page.kinds import KINDS
from topicloom.report.page.results import Results
from topicloom.report.page.section import Section, paragraph, table

_HERE = "topicloom.report.page"


def page_html(results: Results, *, title: str = "Topicloom report") -> str:
    """The whole page; the same results give the same text."""
    sections = [
        *(kind.section(result) for kind in KINDS for result in getattr(results, kind.name)),
        *([_aside(results.aside)] if results.aside else []),
    ]
    style, script = (files(_HERE).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    drawn = any(map(_has_network, sections))
    scripts = page_scripts([script], drawing_scripts() if drawn else ())
    return rendered(
        _HERE,
        "page.html",
        title=title,
        sections=sections,
        style=Markup(style + (styles() if drawn else "")),
        scripts=scripts.html,
        policy=scripts.policy,
        version=__version__,
    )


def _has_network(section: Section) -> bool:
    return any('<div class="network"' in block for block in section.blocks) or any(map(_has_network, section.inside))


def write_page(html: str, out: str | os.PathLike[str]) -> None:
    """Write the page."""
    with replacing(out) as temporary:
        temporary.write_text(html, encoding="utf-8")


def _aside(aside: Iterable[Aside]) -> Section:
    rows = [[each.path.name, each.reason] for each in aside]
    note = paragraph("These lay in the given folders, and this page does not show them.")
    return Section("Files left aside", (note, table("Files", ["file", "why"], rows)))
