"""Views of bridges that exist: what is wrong with them, and the links that they make."""

from __future__ import annotations

from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING

from topicloom.errors import printable
from topicloom.views.designs import written
from topicloom.views.lint_formats import FORMATS, RULES
from topicloom.views.numbers import count, count_of
from topicloom.views.view import Column, Fact, Note, On, Table, View

if TYPE_CHECKING:
    from topicloom.brokers.lint import ExistingLinks, LintReport


def lint(report: LintReport, links_needed: int, *, planned: bool) -> View:
    """Findings in bridges; `planned` if the number of links that would do is that of a design."""
    columns = [Column(key) for key in ("kind", "topic", "text", "where")]
    lines = []
    for kind, rule in RULES.items():
        rows = [finding for finding in report.findings if finding.kind == kind]
        lines += [f"{rule.title} ({rule.code}):"] if rows else []
        for row in rows:
            lines += [f"  {row.text}", *(f"    {where}" for where in row.where)]
    repeats = sum(finding.kind in ("loop", "duplicate") for finding in report.findings)
    instead = "a plan for these subscriptions needs" if planned else "a tree needs"
    return View(
        "lint",
        "Lint",
        (
            Fact("brokers", report.brokers, on=On.DATA),
            Fact("bridges", report.bridges, on=On.DATA),
            Fact("tree_links", report.tree_links, on=On.DATA),
            Table.of("findings", columns, [asdict(finding) for finding in report.findings], on=On.DATA),
            Fact("links_needed", links_needed, on=On.DATA),
            *(Note(printable(line)) for line in lines),
            Note(
                f"{count_of(report.brokers, 'broker')}, {count_of(report.bridges, 'bridge')}; "
                f"{instead} {count(links_needed)}."
            ),
            Note(
                f"Lint: {count_of(repeats, 'loop')} or duplicates, "
                f"{count_of(len(report.findings) - repeats, 'other finding')}."
            ),
        ),
        formats=FORMATS,
    )


def links(found: ExistingLinks, out: str | PathLike[str]) -> View:
    """The links that bridges make, and the file that they were written to."""
    return View(
        "links",
        "Links",
        (
            Fact("brokers", len(found.brokers), count),
            Fact("bridges", found.bridges, count),
            Fact("links", len(found.links), count),
            Fact("outside", list(found.outside), on=On.DATA),
            Fact("out", str(out), on=On.DATA),
            *(Note(f"  {printable(text)}") for text in found.outside),
            *written(out),
        ),
    )
