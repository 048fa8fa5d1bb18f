"""The two files that tell what a reproduction holds: `reproduction.json` its figures, `claims.json` the verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from topicloom._version import __version__
from topicloom.experiments.claims import Verdict
from topicloom.io.settings import Count, read_json
from topicloom.io.whole import write_whole

REPRODUCTION = "reproduction.json"
CLAIMS = "claims.json"


@dataclass(frozen=True)
class ReadingTold:
    """A reading of the paper: where it says so, and whether it was chosen after seeing the published numbers."""

    name: str
    source: str
    chosen_after: bool


@dataclass(frozen=True)
class PaperFigure:
    """A figure or table of a paper, drawn from our own runs; `picture` and `data` are files beside the index.

    `readings` are those that were run, the first the nearest to the print; none where the paper leaves nothing open.
    """

    id: str
    paper: str
    place: str
    title: str
    about: str
    picture: str
    data: str
    runs: Count
    failed: Count
    repetitions: Count
    readings: tuple[ReadingTold, ...] = ()


@dataclass(frozen=True)
class Figures:
    """The figures that a reproduction drew; `quick` if on smaller sizes."""

    kind: Literal["topicloom reproduction"]
    version: str
    quick: bool
    figures: tuple[PaperFigure, ...]


@dataclass(frozen=True)
class Claims:
    """What became of the claims about these figures."""

    kind: Literal["topicloom claims"]
    version: str
    quick: bool
    claims: tuple[Verdict, ...]


def read_figures(folder: Path) -> Figures:
    """The figures of a folder that a reproduction wrote."""
    return read_json(folder / REPRODUCTION, Figures)


def read_claims(folder: Path) -> Claims:
    """The verdicts of a folder that a reproduction wrote."""
    return read_json(folder / CLAIMS, Claims)


def write_figures(folder: Path, figures: Sequence[PaperFigure], *, quick: bool) -> None:
    """Write the figures; others recognise the folder by this file, so it is written last."""
    _write(folder / REPRODUCTION, Figures("topicloom reproduction", __version__, quick, tuple(figures)))


def write_claims(folder: Path, verdicts: Sequence[Verdict], *, quick: bool) -> None:
    """Write the verdicts."""
    _write(folder / CLAIMS, Claims("topicloom claims", __version__, quick, tuple(verdicts)))


def _write(path: Path, content: Any) -> None:
    write_whole(path, json.dumps(asdict(content), indent=1, ensure_ascii=False) + "\n")
