"""`./dev bench`: run the benchmarks and print their tables."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

from benchmarks import (
    backbone,
    bounds,
    brokers,
    check,
    churn,
    content,
    designs,
    evaluate,
    ingest,
    long_run,
    measures,
    real_data,
    search,
    short_forms,
)
from benchmarks.instances import collection
from topicloom.designers import DESIGNERS

PARTS = (
    "designs",
    "search",
    "backbone",
    "bounds",
    "measures",
    "real-data",
    "ingest",
    "evaluate",
    "churn",
    "long-run",
    "brokers",
    "content",
)


def main() -> None:
    """Choose what to run, run it, print it."""
    if sys.argv[1:2] == ["instances"]:
        sys.exit(collection.main(sys.argv[2:]))
    parser = argparse.ArgumentParser(
        prog="./dev bench", description="Time designers, measures, the Spark pipeline, churn, broker plans and content."
    )
    parser.add_argument(
        "parts", nargs="*", help=f"{', '.join(PARTS)}; all of them if none is named. `instances --help` is apart"
    )
    parser.add_argument(
        "--sizes", default="1000,2000,5000,10000", help="numbers of nodes or users (default: %(default)s)"
    )
    parser.add_argument(
        "--designers",
        default=",".join(name for name in DESIGNERS if name != "exact"),
        help="names (default: all but exact)",
    )
    parser.add_argument("--rows", default=",".join(map(str, ingest.ROWS)), help="rows to ingest (default: %(default)s)")
    for name, default, text in (
        ("messages", brokers.MESSAGES, "messages through 50 live brokers"),
        ("events", brokers.EVENTS, "events of 30 brokers under control"),
        ("kills", brokers.KILLS, "times that apply is killed"),
    ):
        parser.add_argument(
            f"--{name}", type=int, default=default, help=f"{text}; 0 to leave it out (default: %(default)s)"
        )
    parser.add_argument(
        "--decisions", type=int, default=long_run.EVENTS, help="events of the long run (default: %(default)s)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.add_argument(
        "--check", action="store_true", help="in five minutes: has any ratio grown by more than a quarter?"
    )
    parser.add_argument("--renew", action="store_true", help="with --check: make the ratios of this run the baseline")
    given = parser.parse_args()
    if given.renew and not given.check:
        parser.error("--renew goes with --check")
    sizes = tuple(int(size) for size in given.sizes.split(","))
    rows = tuple(int(size) for size in given.rows.split(","))
    designers = tuple(DESIGNERS.find(name).name for name in given.designers.split(","))
    console = Console(width=150)
    parts = {
        "designs": lambda: designs.report(console, sizes, designers),
        "search": lambda: search.report(console),
        "bounds": lambda: bounds.report(console),
        "backbone": lambda: backbone.report(console),
        "measures": lambda: measures.report(console, (max(sizes),)),
        "real-data": lambda: real_data.report(console),
        "ingest": lambda: ingest.report(console, rows),
        "evaluate": lambda: evaluate.report(console),
        "churn": lambda: churn.report(console),
        "long-run": lambda: long_run.report(console, given.decisions),
        "brokers": lambda: brokers.report(console, given.messages, given.events, given.kills),
        "content": lambda: content.report(console, sizes),
    }
    unknown = [part for part in given.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; known are {', '.join(PARTS)}")
    if given.check:
        short = {part: ratios for part, ratios in short_forms.PARTS.items() if not given.parts or part in given.parts}
        if not short:
            parser.error(
                f"no short form of {', '.join(given.parts)}; there are those of {', '.join(short_forms.PARTS)}"
            )
        sys.exit(not check.check(console, short, renew=given.renew))
    results = {part: run() for part, run in parts.items() if not given.parts or part in given.parts}
    if given.json:
        Path(given.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
