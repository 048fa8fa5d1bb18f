"""`topicloom lint`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.brokers.lint import LintReport
    from topicloom.model import Interest


EXAMPLES = """\b
Example:
  topicloom lint /srv/mosquitto
  topicloom lint berlin.conf paris.conf rome.conf --interests subs.csv
"""

SERIOUS = 1

_TITLES = {
    "loop": "loops",
    "duplicate": "duplicates",
    "unreadable": "cannot be read",
    "both-ends": "bridged twice between the same brokers",
    "unreachable": "subscribers that a topic cannot reach",
    "unwanted": "bridged to where nobody wants it",
    "outside": "bridges to brokers that are not given",
}


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR|FILE...",
            help="Configurations of all brokers: files, or folders that hold a file or a folder for each broker.",
            show_default=False,
        ),
    ],
    interests: Annotated[
        Path | None,
        typer.Option(
            "--interests",
            metavar="SUBS",
            help="Subscriptions, by the brokers' names: say also who is not reached, and what nobody wants.",
            show_default=False,
        ),
    ] = None,
    filters: options.Filters = None,
    json: options.Json = False,
) -> None:
    """Find loops in the bridges of Mosquitto and NATS.

    Reads configurations as people wrote them, and says which topics loop or arrive twice, with the way they take.
    Status 1 if there is any, or if a line cannot be read; the other lines are read.
    """
    from topicloom.brokers.kinds import KINDS
    from topicloom.brokers.lint import lint, read_configured
    from topicloom.model import InputError

    problems: list[InputError] = []
    brokers = read_configured(paths, [kind for kind in KINDS.values() if kind.lints], problems.append)
    interest = None
    if interests is not None:
        interest = _interest(interests, filters, {broker.name for broker in brokers})
    report = lint(brokers, interest, problems)
    needed = report.tree_links if interest is None else _planned_links(interest)
    if json:
        output.print_json(asdict(report) | {"links_needed": needed})
    else:
        _print(report, needed, planned=interest is not None)
    if report.serious:
        raise typer.Exit(SERIOUS)


def _interest(path: Path, filters: str | None, known: set[str]) -> Interest:
    from topicloom.model import InputError, Interest

    if not path.is_dir():
        checked_paths.require_readable(path)
    interest = Interest.read(path, filters=filters)
    for name in interest.node_names:
        if name not in known:
            raise InputError(f"{path}: node '{name}' has no configuration among {', '.join(sorted(known))}")
    return interest


def _planned_links(interest: Interest) -> int:
    """How many links a plan for these subscriptions has."""
    from topicloom.designers import design

    return len(design(interest, "gm"))


def _print(report: LintReport, needed: int, *, planned: bool) -> None:
    for kind, title in _TITLES.items():
        rows = [finding for finding in report.findings if finding.kind == kind]
        if rows:
            output.say(f"{title}:")
        for row in rows:
            output.say(output.one_line(f"  {row.text}"))
            for where in row.where:
                output.say(output.one_line(f"    {where}"))
    instead = "a plan for these subscriptions needs" if planned else "a tree needs"
    bridges = f"{numbers.count_of(report.brokers, 'broker')}, {numbers.count_of(report.bridges, 'bridge')}"
    output.say(f"{bridges}; {instead} {numbers.count(needed)}.")
    serious = sum(finding.kind in ("loop", "duplicate") for finding in report.findings)
    others = numbers.count_of(len(report.findings) - serious, "other finding")
    output.say(f"Lint: {numbers.count_of(serious, 'loop')} or duplicates, {others}.")
