"""The section of a reproduction: the papers' figures from our own runs, and whether their claims hold."""

from __future__ import annotations

from collections.abc import Iterable

from topicloom.experiments.verdict import Verdict
from topicloom.present.html import Cell, Sentence
from topicloom.present.numbers import claimed, count, count_of, measured
from topicloom.report.page.kind import Kind
from topicloom.report.page.section import Section, heading, paragraph, picture, table, tiles
from topicloom.report.runs.reproduction_results import REPRODUCTION, PaperFigure, Reproduction, read_reproductions

# A word and a mark, as colour alone would not tell everybody.
_HOLDS = {True: "✓ holds", False: "✗ does not hold", None: "– not measured"}

_CLAIM = ["what it says", "published", "ours", "holds", "why not"]


def reproduction_section(reproduction: Reproduction) -> Section:
    """All claims at a glance; inside, each paper with its figures."""
    size = "a quick one, of smaller sizes and fewer runs" if reproduction.quick else "a full one"
    holding = reproduction.holding
    about = (
        "Figures of the papers, drawn from our own runs, and what the papers say about them, from "
        f"{reproduction.name}: {size}, made by topicloom {reproduction.version}."
    )
    facts = [
        ("figures", count(len(reproduction.figures))),
        ("claims", count(len(reproduction.claims))),
        ("hold", count(holding[True])),
        ("do not hold", count(holding[False])),
        ("not measured", count(holding[None])),
    ]
    note = (
        "Ours, in brackets from the lowest to the highest of the repetitions where they differ. "
        "Why a claim does not hold is told below its figure."
    )
    places = {figure.id: f"{figure.place}; " for figure in reproduction.figures}
    rows = [
        [claim.paper, f"{places.get(claim.figure, '')}{claim.place}", *_row(claim)[:-1]]
        for claim in reproduction.claims
    ]
    return Section(
        f"Reproduction: {reproduction.name}",
        (
            paragraph(about),
            tiles(facts),
            table("All claims", ["paper", "where", *_CLAIM[:-1]], rows, note=note) if rows else "",
        ),
        tuple(_paper(reproduction, paper) for paper in reproduction.papers),
    )


def _paper(reproduction: Reproduction, paper: str) -> Section:
    claims = [claim for claim in reproduction.claims if claim.paper == paper]
    figures = [figure for figure in reproduction.figures if figure.paper == paper]
    blocks = [_figure(figure, (claim for claim in claims if claim.figure == figure.id)) for figure in figures]
    shown = {figure.id for figure in figures}
    others = [claim for claim in claims if claim.figure not in shown]
    return Section(paper, (*blocks, _claims(others, "Claims about figures that are not here")))


def _figure(figure: PaperFigure, claims: Iterable[Verdict]) -> str:
    runs = f"{count_of(figure.runs, 'run')}, {figure.repetitions:,} for each setting"
    failed = f"; {figure.failed:,} failed" if figure.failed else ""
    place = f"{figure.place[:1].upper()}{figure.place[1:]}"
    drawn = picture(figure.picture, place, f"{figure.about} From {runs}{failed}.")
    return heading(f"{place}: {figure.title}") + drawn + _claims(claims, "")


def _claims(claims: Iterable[Verdict], title: str) -> str:
    rows = list(map(_row, claims))
    if not rows:
        return ""
    # A column without a word in it would only take room from the others.
    columns = len(_CLAIM) if any(row[-1] for row in rows) else len(_CLAIM) - 1
    return table(title, _CLAIM[:columns], [row[:columns] for row in rows])


def _row(claim: Verdict) -> list[Cell]:
    return [
        Sentence(claim.says),
        claimed(claim.rule, claim.published, claim.unit),
        measured(claim.number, claim.low, claim.high, claim.unit, cases=claim.published is None),
        _HOLDS[claim.holds],
        Sentence(claim.sentence),
    ]


def _facts(reproduction: Reproduction) -> dict[str, object]:
    holding = reproduction.holding
    return {
        "name": reproduction.name,
        "quick": reproduction.quick,
        "figures": len(reproduction.figures),
        "claims": len(reproduction.claims),
        "hold": holding[True],
        "do_not_hold": holding[False],
        "not_measured": holding[None],
    }


def _line(reproduction: Reproduction) -> str:
    figures, claims = count_of(len(reproduction.figures), "figure"), count_of(len(reproduction.claims), "claim")
    return f"reproduction {reproduction.name}: {figures}, {reproduction.holding[True]} of {claims} hold"


KIND = Kind(
    name="reproductions",
    forms=(REPRODUCTION,),
    read=read_reproductions,
    section=reproduction_section,
    facts=_facts,
    line=_line,
)
