"""How many rows of each kind an ingest has seen, and whether they are good enough to go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topicloom.errors import InputError
from topicloom.pipeline.ingesting.delimited import BLANK
from topicloom.pipeline.ingesting.quarantine import first_bad_row
from topicloom.pipeline.ingesting.raw_rows import readable_path
from topicloom.pipeline.ingesting.row_cleaning import (
    COUNTED,
    FILTERED,
    HEADER,
    LINES,
    OTHER_HEADER,
)
from topicloom.pipeline.ingesting.staging import PAIRS, SELF_LOOPS, WITH_ROLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Tally:
    """How many rows were read, left out by the condition, and bad; pairs that came of the others."""

    rows: int
    filtered: int
    reasons: Mapping[str, int]
    pairs: int
    self_loops: int

    @property
    def bad(self) -> int:
        """Rows that cannot be used, for whatever reason."""
        return sum(self.reasons.values())

    @property
    def good(self) -> int:
        """Rows that are neither left out nor bad."""
        return self.rows - self.filtered - self.bad


def tally_of(counts: Mapping[str, int]) -> Tally:
    """The tally of what tasks counted."""
    known = {*COUNTED, PAIRS, SELF_LOOPS, WITH_ROLES}
    return Tally(
        rows=counts.get(LINES, 0) - counts.get(HEADER, 0) - counts.get(BLANK, 0),
        filtered=counts.get(FILTERED, 0),
        reasons={kind: counts[kind] for kind in sorted(set(counts) - known)},
        pairs=counts.get(PAIRS, 0),
        self_loops=counts.get(SELF_LOOPS, 0),
    )


def require_usable(tally: Tally, notes: DataFrame, max_bad: float) -> None:
    """Refuse rows that are all bad, or more of them than accepted, and files that do not fit together."""
    if OTHER_HEADER in tally.reasons:
        odd = notes.where(notes.kind == OTHER_HEADER).orderBy("file").first()
        assert odd is not None
        raise InputError(
            f"its columns, {odd['raw']}, are not those of the other files; ingest files with other columns apart",
            file=readable_path(odd["file"]),
        )
    if tally.good == 0 and tally.bad == 0:
        what = f"all {tally.rows:,} rows are left out by where" if tally.filtered else "there are no rows"
        raise InputError(f"nothing to ingest: {what}", "where")
    if tally.pairs == 0 and tally.good:
        raise InputError(f"nothing to ingest: all {tally.good:,} edges are self-loops")
    share = tally.bad / (tally.good + tally.bad)
    if tally.good and share <= max_bad:
        return
    first = first_bad_row(notes)
    assert first is not None
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in tally.reasons.items())
    limit = f", more than max_bad {max_bad:g} accepts" if tally.good else ""
    raise InputError(
        f"{tally.bad:,} of {tally.good + tally.bad:,} rows are bad{limit} ({reasons}); "
        f"the first is {readable_path(first['file'])}, line {first['line']}: {first['raw'][:80]!r}",
        "max_bad",
    )
