"""`./dev campaign`: parts in turn until the time is over; counts, and every failure with a line that makes it again."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

from campaign.ledger import Ledger

# How many of each part one turn tries: some minutes altogether.
_FUZZED, _FUZZED_ON_SPARK, _KILLS, _FAULTS, _EXECUTORS, _HOURS = 4000, 10, 20, 6, 1, 200
PARTS = ("fuzz", "fuzz-spark", "kills", "faults", "executors", "simulation")


def main() -> None:
    """Choose what to run, run it, print what came of it."""
    parser = argparse.ArgumentParser(prog="./dev campaign", description="Try to break it, and count.")
    parser.add_argument("minutes", nargs="?", type=float, default=10.0, help="how long (default: %(default)g)")
    parser.add_argument("--seed", type=int, default=1, help="where it begins (default: %(default)s)")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; may be repeated")
    parser.add_argument("--only", type=int, metavar="N", help="one part, and of it what failed before, again")
    parser.add_argument("--counts", type=Path, metavar="FILE", help="add to the counts that this file has")
    given = parser.parse_args()
    os.environ.pop("COLUMNS", None)
    ledger = Ledger(given.counts)
    parts = given.part or list(PARTS)
    if given.only is not None:
        _again(ledger, parts[0], given.seed, given.only)
        return
    ends = time.monotonic() + 60 * given.minutes
    seed = given.seed
    while time.monotonic() < ends:
        for part in parts:
            if time.monotonic() < ends:
                _turns()[part](ledger, seed)
        seed += 1_000_003
    ledger.report()


def _turns() -> dict[str, Callable[[Ledger, int], None]]:
    from campaign.executors import lose_executors
    from campaign.faults import suffer
    from campaign.fuzzing import fuzz
    from campaign.killing import kill_and_go_on
    from campaign.simulation import simulate

    return {
        "fuzz": lambda ledger, seed: fuzz(ledger, seed, _FUZZED),
        "fuzz-spark": lambda ledger, seed: fuzz(ledger, seed, _FUZZED_ON_SPARK, spark=True),
        "kills": lambda ledger, seed: kill_and_go_on(ledger, seed, _KILLS),
        "faults": lambda ledger, seed: suffer(ledger, seed, _FAULTS),
        "executors": lambda ledger, seed: lose_executors(ledger, seed, _EXECUTORS),
        "simulation": lambda ledger, seed: simulate(ledger, seed, _HOURS),
    }


def _again(ledger: Ledger, part: str, seed: int, number: int) -> None:
    from campaign.fuzzing import fuzz_one

    if part.startswith("fuzz"):
        fuzz_one(ledger, seed, number, spark=part == "fuzz-spark", keep=Path("campaign-again"))
    else:
        _turns()[part](ledger, seed)


if __name__ == "__main__":
    main()
