"""Sections put together into one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable
from html import escape
from importlib.resources import files

from topicloom._version import __version__
from topicloom.files.atomic import replacing
from topicloom.report.page.kind import Aside
from topicloom.report.page.kinds import KINDS
from topicloom.report.page.results import Results
from topicloom.report.page.section import Section, paragraph, table


def page_html(results: Results, *, title: str = "Topicloom report") -> str:
    """The whole page; the same results give the same text."""
    sections = [
        *(kind.section(result) for kind in KINDS for result in getattr(results, kind.name)),
        *([_aside(results.aside)] if results.aside else []),
    ]
    style, script = (
        files("topicloom.report.page").joinpath(name).read_text("utf-8") for name in ("page.css", "page.js")
    )
    # Nothing is fetched and no other script runs, even if a name got through that should have been escaped.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<nav aria-label="Contents">
{_contents(sections)}</nav>
</header>
<main>
{_sections(sections)}</main>
<footer><p>Made by topicloom {escape(__version__)}. Tables are sorted by a click on a header.</p></footer>
<script>{script}</script>
</body>
</html>
"""


def write_page(html: str, out: str | os.PathLike[str]) -> None:
    """Write the page."""
    with replacing(out) as temporary:
        temporary.write_text(html, encoding="utf-8")


def _contents(sections: Iterable[Section], above: str = "s") -> str:
    entries = ""
    for number, section in enumerate(sections, start=1):
        inside = _contents(section.inside, f"{above}{number}-") if section.inside else ""
        entries += f'<li><a href="#{above}{number}">{escape(section.title)}</a>{inside}</li>\n'
    return f"<ul>\n{entries}</ul>\n"


def _sections(sections: Iterable[Section], above: str = "s", level: int = 2) -> str:
    html = ""
    for number, section in enumerate(sections, start=1):
        heading = f"<h{level}>{escape(section.title)}</h{level}>\n"
        inside = _sections(section.inside, f"{above}{number}-", level + 1)
        html += f'<section id="{above}{number}">\n{heading}{"".join(section.blocks)}{inside}</section>\n'
    return html


def _aside(aside: Iterable[Aside]) -> Section:
    rows = [[each.path.name, each.reason] for each in aside]
    note = paragraph("These lay in the given folders, and this page does not show them.")
    return Section("Files left aside", (note, table("Files", ["file", "why"], rows)))
