"""A reproduction as Markdown: all claims, then every figure with its picture."""

from __future__ import annotations

import re
from collections.abc import Sequence

from topicloom.experiments.claims import Verdict, others, ours
from topicloom.experiments.reproduction_index import PaperFigure
from topicloom.views.numbers import claimed

_AFTER = " Chosen after seeing the published numbers."
_WORDS = {True: "yes", False: "**no**", None: "not measured"}


def results_page(figures: Sequence[PaperFigure], claims: Sequence[Verdict], *, quick: bool) -> str:
    """The page; pictures are linked as files beside it."""
    kind, holds = "quick" if quick else "full", [claim.holds for claim in claims]
    summary = (
        f"A {kind} reproduction of {len(figures)} figures and tables. Of {len(claims)} claims "
        f"{holds.count(True)} hold, {holds.count(False)} do not, {holds.count(None)} were not measured."
    )
    lines = ["# Results", "", summary, "", "## Claims", ""]
    for paper in dict.fromkeys(figure.paper for figure in figures):
        lines += [f"### {paper}", "", *_claims_table([claim for claim in claims if claim.paper == paper]), ""]
    lines += ["## Figures and tables", ""]
    for figure in figures:
        lines += [
            f"### {figure.paper}, {figure.place}: {figure.title}",
            "",
            f"{figure.about} {_runs(figure)}.",
            "",
            *_readings(figure),
            f"![{_cell(figure.title)}]({figure.picture})",
            "",
        ]
    return "\n".join(lines)


def _runs(figure: PaperFigure) -> str:
    failed = f", {figure.failed:,} runs failed" if figure.failed else ""
    return f"{figure.runs:,} runs, {figure.repetitions:,} repetitions{failed}"


def _readings(figure: PaperFigure) -> list[str]:
    lines = [
        f"- *{reading.name}*: {reading.source}{_AFTER if reading.chosen_after else ''}" for reading in figure.readings
    ]
    return ["Readings, the nearest to the print first:", "", *lines, ""] if lines else []


def _claims_table(claims: Sequence[Verdict]) -> list[str]:
    several = any(verdict.others for verdict in claims)
    names = ["where", "what the paper says", "published", "here", "holds", *(["other readings"] if several else [])]
    rows = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    for verdict in claims:
        cells = (
            f"{re.sub('.*-(?=fig-|table-)', '', verdict.figure)}; {verdict.place}",
            verdict.says,
            claimed(verdict.rule, verdict.published, verdict.unit),
            f"{ours(verdict)}{f', *{verdict.reading}*' if verdict.reading else ''}",
            f"{_WORDS[verdict.holds]}{f'. {verdict.sentence}' if verdict.sentence else ''}",
            *(["; ".join(f"*{name}*: {number}, {_WORDS[holds]}" for name, number, holds in others(verdict))] * several),
        )
        rows.append(f"| {' | '.join(map(_cell, cells))} |")
    return rows


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
