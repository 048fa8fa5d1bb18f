"""`./dev campaign`: parts in turn until the time is over; counts, and every failure with a line that makes it again."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from campaign.ledger import Ledger
from campaign.turns import PARTS, counted_turn, take_turn

_PATIENCE_SECONDS = 3600


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
    parts = given.part or list(PARTS)
    if given.only is not None:
        _again(Ledger(), parts[0], given.seed, given.only)
        return
    ends = time.monotonic() + 60 * given.minutes
    seed = given.seed
    with tempfile.TemporaryDirectory(prefix="topicloom-campaign-") as folder:
        counts = given.counts or Path(folder, "counts.json")
        while time.monotonic() < ends:
            for part in parts:
                if time.monotonic() < ends:
                    _in_a_process(part, counts, seed)
            seed += 1_000_003
        Ledger(counts).report()


def _in_a_process(part: str, counts: Path, seed: int) -> None:
    """Take a turn in a new process, so that one that hangs or dies ends nothing else."""
    turn = get_context("spawn").Process(target=counted_turn, args=(part, counts, seed))
    turn.start()
    turn.join(_PATIENCE_SECONDS)
    if turn.is_alive():
        print(f"FAILED {part}: hung for {_PATIENCE_SECONDS} seconds\n  again: --part {part} --seed {seed}", flush=True)
        turn.kill()
        turn.join()
    elif turn.exitcode != 0:
        print(f"FAILED {part}: ended with {turn.exitcode}\n  again: --part {part} --seed {seed}", flush=True)


def _again(ledger: Ledger, part: str, seed: int, number: int) -> None:
    from campaign.fuzzing import fuzz_one

    if part.startswith("fuzz"):
        fuzz_one(ledger, seed, number, spark=part == "fuzz-spark", keep=Path("campaign-again"))
    else:
        take_turn(part, ledger, seed, number)


if __name__ == "__main__":
    main()
