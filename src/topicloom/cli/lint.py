"""`topicloom lint`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import FOUND, Run
from topicloom.views.view import View

if TYPE_CHECKING:
    from topicloom.model import Interest


EXAMPLES = """
  topicloom lint /srv/mosquitto
  topicloom lint berlin.conf paris.conf rome.conf --interests subs.csv
  topicloom lint configurations --format sarif > lint.sarif
"""


@command("lint", examples=EXAMPLES, formats=("sarif", "github"))
@options.configurations
@options.file("--interests", metavar="SUBS", help="Subscriptions of these brokers: also find subscribers not reached.")
@options.filters
def lint(run: Run, paths: tuple[Path, ...], interests: Path | None) -> View:
    """Find loops and duplicates in the bridges of a fleet.

    Reads configurations of Mosquitto and NATS as people wrote them, and lists topics that loop or arrive twice, with
    the path they take. Exit status 1 if there are any, or if a line cannot be read; the other lines are read.
    """
    from topicloom.brokers.kinds import KINDS
    from topicloom.brokers.lint import lint, read_configured
    from topicloom.errors import InputError
    from topicloom.views import bridges

    problems: list[InputError] = []
    brokers = read_configured(paths, [kind for kind in KINDS.values() if kind.lints], problems.append)
    interest = None
    if interests is not None:
        interest = _interest(interests, run.shared["filters"], {broker.name for broker in brokers})
    report = run.step("following messages", lint, brokers, interest, problems)
    needed = report.tree_links if interest is None else run.step("planning", _planned_links, interest)
    if report.serious:
        run.status = FOUND
    return bridges.lint(report, needed, planned=interest is not None)


def _interest(path: Path, filters: str | None, known: set[str]) -> Interest:
    from topicloom.model import InputError, Interest

    if not path.is_dir():
        output.require_readable(path)
    interest = Interest.read(path, filters=filters)
    for name in interest.node_names:
        if name not in known:
            raise InputError(f"{path}: node '{name}' has no configuration among {', '.join(sorted(known))}")
    return interest


def _planned_links(interest: Interest) -> int:
    """How many links a plan for these subscriptions has."""
    from topicloom.designers import design

    return len(design(interest, "gm"))
