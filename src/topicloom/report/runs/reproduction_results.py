"""Reproductions from the folders that `topicloom reproduce` wrote."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from topicloom.experiments.verdict import Verdict
from topicloom.files.json_files import Fields
from topicloom.report.page.kind import Form, Reading
from topicloom.report.runs.svg_files import read_svg

REPRODUCTION = Form("reproduction", parts=("reproduction.json",))


@dataclass(frozen=True)
class PaperFigure:
    """A figure or table of a paper, drawn from our own runs."""

    id: str
    paper: str
    place: str
    title: str
    about: str
    picture: bytes
    runs: int
    failed: int
    repetitions: int


@dataclass(frozen=True)
class Reproduction:
    """The figures of the papers and their claims; `quick` if run on smaller sizes."""

    name: str
    version: str
    quick: bool
    figures: tuple[PaperFigure, ...]
    claims: tuple[Verdict, ...]

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
    return [replace(read, name=name) for name, read in reading.named(REPRODUCTION, _reproduction)]


def _reproduction(folder: Path) -> Reproduction:
    whole = Fields.of_kind(folder / "reproduction.json", "topicloom reproduction")
    figures = tuple(_figure(folder, fields) for fields in whole.each("figures"))
    told = Fields.of_kind(folder / "claims.json", "topicloom claims")
    claims = tuple(map(_claim, told.each("claims")))
    return Reproduction(folder.name, whole.text("version"), whole.truth("quick"), figures, claims)


def _figure(folder: Path, fields: Fields) -> PaperFigure:
    return PaperFigure(
        id=fields.text("id"),
        paper=fields.text("paper"),
        place=fields.text("place"),
        title=fields.text("title"),
        about=fields.text("about"),
        picture=read_svg(folder, fields.text("picture")),
        runs=fields.count("runs"),
        failed=fields.count("failed"),
        repetitions=fields.count("repetitions"),
    )


def _claim(fields: Fields) -> Verdict:
    return Verdict(
        id=fields.text("id"),
        figure=fields.text("figure"),
        paper=fields.text("paper"),
        place=fields.text("place"),
        says=fields.text("says"),
        rule=fields.text("rule"),
        published=fields.number_or_none("published"),
        unit=fields.text("unit"),
        number=fields.number_or_none("number"),
        low=fields.number_or_none("low"),
        high=fields.number_or_none("high"),
        repetitions=fields.count("repetitions"),
        holds=fields.truth_or_none("holds"),
        sentence=fields.text("sentence"),
    )
