"""Writes what a fleet of brokers might log about its clients' subscriptions, as messy as such logs are.

`python tools/demo_log.py FOLDER` writes two gzipped CSV files, the same in every run. `./dev demo` ingests them.
"""

from __future__ import annotations

import csv
import gzip
import random
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

SITES = ("berlin", "göteborg", "kraków", "lyon", "málaga", "oslo", "porto", "zürich")
BROKERS_PER_SITE = 40
KINDS = ("alerts", "energy", "firmware", "orders", "positions", "prices", "stock", "temperature")
LOCAL_LINES = 6

Row = list[str]


def rows(rng: random.Random) -> Iterator[Row]:
    """Rows of time, event, broker and topic: what clients ask for, and what else a log holds."""
    for site in SITES:
        for number in range(1, BROKERS_PER_SITE + 1):
            broker = f"{site}-{number:02}"
            for topic in topics(rng, site):
                yield [clock(rng), "subscribe", broker, topic]
                if rng.random() < 0.4:
                    yield [clock(rng), "publish", broker, topic]


def topics(rng: random.Random, site: str) -> list[str]:
    """What the clients of one broker want: much of what is local, some of what is common."""
    local = [f"{site}/{kind}/line-{line}" for kind in KINDS for line in range(1, LOCAL_LINES + 1)]
    common = [f"all/{kind}" for kind in KINDS] + [f"{other}/{kind}" for other in SITES for kind in KINDS]
    return rng.sample(local, rng.randint(4, 20)) + rng.sample(common, rng.randint(1, 10))


def clock(rng: random.Random) -> str:
    """A time of one night."""
    return f"2026-03-01T{rng.randrange(6):02}:{rng.randrange(60):02}:{rng.randrange(60):02}Z"


def messy(rng: random.Random, clean: list[Row]) -> Iterator[Row]:
    """The rows as they come: some again, some with stray spaces, other spellings of the same letters, some broken."""
    for row in clean:
        time, event, broker, topic = row
        if rng.random() < 0.1:
            topic = f" {topic} "
        if rng.random() < 0.3:
            # ö may be one character or an o with dots to be put on it; both look the same.
            broker = unicodedata.normalize("NFD", broker)
        yield [time, event, broker, topic]
        if rng.random() < 0.2:
            yield [clock(rng), event, broker, topic]
        if rng.random() < 0.01:
            yield rng.choice([[time, event, "", topic], [time, event, broker], [time, event, broker, "  "]])


def main(folder: Path) -> None:
    """Write the files."""
    rng = random.Random(7)
    clean = list(rows(rng))
    rng.shuffle(clean)
    lines = list(messy(rng, clean))
    folder.mkdir(parents=True, exist_ok=True)
    half = len(lines) // 2
    for name, part in (("night-1.csv.gz", lines[:half]), ("night-2.csv.gz", lines[half:])):
        with gzip.open(folder / name, "wt", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["time", "event", "broker", "topic"], *part])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
