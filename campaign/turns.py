"""The parts of a campaign, and one turn of each."""

from __future__ import annotations

import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path

from campaign.ledger import Ledger

# How many of each part one turn tries: some minutes altogether.
_TRIED = {
    "fuzz": 1200,
    "simulation": 240,
    "kills": 60,
    "faults": 22,
    "executors": 1,
    "fuzz-spark": 10,
    "kills-spark": 2,
    "faults-spark": 2,
}
PARTS = tuple(_TRIED)
# What asks for more addresses than that ends as it would on a small machine.
_MEMORY = 6 << 30


def counted_turn(part: str, counts: Path, seed: int) -> None:
    """Take a turn, and add to the counts in a file."""
    ledger = Ledger(counts)
    take_turn(part, ledger, seed)
    ledger.save()


def take_turn(part: str, ledger: Ledger, seed: int, only: int | None = None) -> None:
    """Take a turn of a part, or of it what has a number."""
    from campaign.executors import lose_executors
    from campaign.faults import suffer, suffer_on_spark
    from campaign.fuzzing import fuzz
    from campaign.killing import kill_and_go_on
    from campaign.simulation import simulate

    name, _, spark = part.partition("-")
    ways: dict[str, Callable[..., None]] = {
        "fuzz": partial(fuzz, spark=bool(spark)),
        "simulation": simulate,
        "kills": partial(kill_and_go_on, spark=bool(spark)),
        "faults": suffer_on_spark if spark else suffer,
        "executors": lose_executors,
    }
    if part == "fuzz":
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    if name in ("fuzz", "simulation"):
        ways[name](ledger, seed, _TRIED[part] if only is None else 1)
    else:
        ways[name](ledger, seed, range(_TRIED[part]) if only is None else [only])
