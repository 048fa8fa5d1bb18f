"""What became of a paper's claim: what `topicloom reproduce` writes and a page shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from topicloom.files.json_files import Count


@dataclass(frozen=True)
class ReadingVerdict:
    """A claim under one reading: our number, the lowest and highest of the repetitions, and whether it holds.

    `holds` is None, and so are the numbers, where no run gave a number.
    """

    reading: str
    number: float | None
    low: float | None
    high: float | None
    repetitions: Count
    holds: bool | None


@dataclass(frozen=True)
class Verdict:
    """A claim, and what became of it under the first reading of its figure; `others` are those under the others.

    `reading` is "" where there is only one. `sentence` says why the claim does not hold.
    """

    id: str
    figure: str
    paper: str
    place: str
    says: str
    rule: str
    published: float | None
    unit: str
    number: float | None
    low: float | None
    high: float | None
    repetitions: Count
    holds: bool | None
    sentence: str
    reading: str = ""
    others: tuple[ReadingVerdict, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return asdict(self)
