"""The section of a reproduction: the papers' figures from our own runs, and whether their claims hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from topicloom.experiments.claims import Verdict, others, ours
from topicloom.experiments.reproduction_index import REPRODUCTION, PaperFigure, read_claims, read_figures
from topicloom.views.figures import read_svg
from topicloom.views.html import Cell, Sentence
from topicloom.views.numbers import claimed, count, count_of
from topicloom.views.section import Form, Kind, Reading, Section, heading, paragraph, picture, table, tiles

REPRODUCED = Form("reproduction", parts=(REPRODUCTION,))

# A word and a mark, as colour alone would not tell everybody.
_HOLDS = {True: "✓ holds", False: "✗ does not hold", None: "– not measured"}

_CLAIM = ["what it says", "published", "ours", "holds", "why not", "under other readings"]
# The columns that have words only in some rows.
_SOMETIMES = 2


@dataclass(frozen=True)
class Reproduction:
    """The figures of the papers with their pictures by id, and their claims; `quick` if run on smaller sizes."""

    name: str
    version: str
    quick: bool
    figures: tuple[PaperFigure, ...]
    pictures: Mapping[str, bytes]
    claims: tuple[Verdict, ...]
    folder: Path = Path()

    @property
    def papers(self) -> list[str]:
        """All papers, in the order in which they first come."""
        papers = (*(figure.paper for figure in self.figures), *(claim.paper for claim in self.claims))
        return list(dict.fromkeys(papers))

    @property
    def holding(self) -> Counter[bool | None]:
        """How many claims hold, do not, and were not measured (None)."""
        return Counter(claim.holds for claim in self.claims)


def read_reproductions(reading: Reading) -> list[Reproduction]:
    """Read all reproductions."""
    return [replace(read, name=name) for name, read in reading.named(REPRODUCED, _reproduction)]


def _reproduction(folder: Path) -> Reproduction:
    read = read_figures(folder)
    pictures = {figure.id: read_svg(folder, figure.picture) for figure in read.figures}
    return Reproduction(
        folder.name, read.version, read.quick, read.figures, pictures, read_claims(folder).claims, folder
    )


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
        [claim.paper, f"{places.get(claim.figure, '')}{claim.place}", *_row(claim)[:-_SOMETIMES]]
        for claim in reproduction.claims
    ]
    return Section(
        f"Reproduction: {reproduction.name}",
        (
            paragraph(about),
            tiles(facts),
            table("All claims", ["paper", "where", *_CLAIM[:-_SOMETIMES]], rows, note=note) if rows else Markup(),
        ),
        tuple(_paper(reproduction, paper) for paper in reproduction.papers),
    )


def _paper(reproduction: Reproduction, paper: str) -> Section:
    blocks = paper_blocks(reproduction, paper)
    shown = {figure.id for figure, _ in blocks}
    others = [claim for claim in reproduction.claims if claim.paper == paper and claim.figure not in shown]
    told = _claims(others, "Claims about figures that are not here")
    return Section(paper, (*(block for _, block in blocks), told))


def paper_blocks(reproduction: Reproduction, paper: str) -> list[tuple[PaperFigure, Markup]]:
    """Each figure of a paper with its picture, its readings and what is claimed of it."""
    return [
        (
            figure,
            _figure(
                figure,
                reproduction.pictures[figure.id],
                (claim for claim in reproduction.claims if claim.paper == paper and claim.figure == figure.id),
            ),
        )
        for figure in reproduction.figures
        if figure.paper == paper
    ]


def _figure(figure: PaperFigure, svg: bytes, claims: Iterable[Verdict]) -> Markup:
    runs = f"{count_of(figure.runs, 'run')}, {figure.repetitions:,} for each setting"
    failed = f"; {figure.failed:,} failed" if figure.failed else ""
    place = f"{figure.place[:1].upper()}{figure.place[1:]}"
    drawn = picture(svg, place, f"{figure.about} From {runs}{failed}.")
    return heading(f"{place}: {figure.title}") + drawn + _readings(figure) + _claims(claims, "")


def _readings(figure: PaperFigure) -> Markup:
    rows: list[list[Cell]] = [
        [Sentence(reading.name), Sentence(reading.source), "after" if reading.chosen_after else "before"]
        for reading in figure.readings
    ]
    columns = [
        "reading, the nearest to the print first",
        "where the paper says so",
        "chosen before or after its numbers",
    ]
    return table("", columns, rows) if rows else Markup()


def _claims(claims: Iterable[Verdict], title: str) -> Markup:
    rows = list(map(_row, claims))
    if not rows:
        return Markup()
    # A column without a word in it would only take room from the others.
    said = [column for column in range(len(_CLAIM)) if any(str(row[column]) for row in rows)]
    return table(title, [_CLAIM[column] for column in said], [[row[column] for column in said] for row in rows])


def _row(claim: Verdict) -> list[Cell]:
    return [
        Sentence(claim.says),
        claimed(claim.rule, claim.published, claim.unit),
        ours(claim),
        _HOLDS[claim.holds],
        Sentence(claim.sentence),
        Sentence("; ".join(f"{name}: {number} {_HOLDS[holds]}" for name, number, holds in others(claim))),
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


REPRODUCTION_KIND = Kind(
    name="reproductions",
    forms=(REPRODUCED,),
    read=read_reproductions,
    section=reproduction_section,
    facts=_facts,
    line=_line,
)
