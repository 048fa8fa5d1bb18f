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
    PAIRS,
    SELF_LOOPS,
    WITH_ROLES,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Tally:
    """How many rows were read, left out by the condition, and bad; pairs that came of the others, those with roles."""

    rows: int
    filtered: int
    reasons: Mapping[str, int]
    pairs: int
    self_loops: int
    with_roles: int

    @property
    def bad(self) -> int:
        """Rows that cannot be used, for whatever reason."""
        return sum(self.reasons.values())

    @property
    def good(self) -> int:
        """Rows that are neither left out nor bad."""
        return self.rows - self.filtered - self.bad


def count_rows(notes: DataFrame) -> Tally:
    """Count what notes tell of."""
    from pyspark.sql import functions as sql

    by_kind = notes.groupBy("kind").agg(sql.count("*").alias("notes"), sql.sum("number").alias("number"))
    seen = {row["kind"]: row for row in by_kind.collect()}
    counted = {kind: int(seen[kind]["number"]) if kind in seen else 0 for kind in COUNTED}
    return Tally(
        rows=counted[LINES] - counted[HEADER] - counted[BLANK],
        filtered=counted[FILTERED],
        reasons={kind: int(seen[kind]["notes"]) for kind in sorted(set(seen) - set(COUNTED))},
        pairs=counted[PAIRS],
        self_loops=counted[SELF_LOOPS],
        with_roles=counted[WITH_ROLES],
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
