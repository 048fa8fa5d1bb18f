"""One run of a command: its input, work with progress, findings, and how its view is printed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from topicloom.cli import output
from topicloom.cli.options import shared_values
from topicloom.errors import InputError

if TYPE_CHECKING:
    from topicloom.brokers import Fleet
    from topicloom.cli.progress import Stoppable
    from topicloom.model import Interest, Overlay, Prices, Rates
    from topicloom.views.view import View

T = TypeVar("T")

FOUND = 1


class Run:
    """What the body of a command works with; `status` is its exit status."""

    def __init__(self, shared: dict[str, Any]) -> None:
        self._shared = shared
        from topicloom.cli.progress import Working

        self._format = "json" if shared["json"] else shared["format"]
        self._findings: list[str] = []
        self.quiet: bool = shared["quiet"]
        self._working = Working(quiet=self.quiet)
        output.be_quiet(self.quiet)

    @classmethod
    def of(cls, context: click.Context) -> Run:
        """The run of the command that was parsed."""
        return cls(shared_values(context))

    def __enter__(self) -> Run:
        self._working.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._working.__exit__(*error)

    @property
    def status(self) -> int:
        """0, or 1 if something was found or left undone."""
        return FOUND if self._findings else 0

    def step(
        self,
        text: str | Callable[[], str],
        work: Callable[..., T],
        *arguments: Any,
        watch: Stoppable | None = None,
        total: int | None = None,
        if_slow: str | None = None,
        **keywords: Any,
    ) -> T:
        """Do one step of the work with its own line of progress; see `Working.do`."""
        return self._working.do(text, lambda: work(*arguments, **keywords), watch=watch, total=total, if_slow=if_slow)

    @property
    def subscriptions(self) -> Path:
        """Path of SUBS."""
        path: Path = self._shared["subscriptions"]
        return path

    @cached_property
    def interest(self) -> Interest:
        """The subscriptions of SUBS."""
        from topicloom.model import Interest

        # Small files first: an error in them comes before long work.
        _ = self.fleet, self.rates

        columns = {f"{name}_column": self._shared[f"{name}_column"] for name in ("node", "topic", "role")}
        path = self.subscriptions
        return self.step(f"reading {path.name}", Interest.read, path, **columns, filters=self._shared["filters"])

    def overlay(self, path: Path) -> Overlay:
        """An overlay of these subscriptions."""
        from topicloom.model import Overlay

        return self.step(f"reading {path.name}", Overlay.read, path, self.interest)

    @cached_property
    def fleet(self) -> Fleet | None:
        """The fleet of --fleet, if given."""
        path: Path | None = self._shared.get("fleet")
        return None if path is None else read_fleet(path)

    @cached_property
    def prices(self) -> Prices | None:
        """The prices of --prices, if given."""
        path: Path | None = self._shared.get("prices")
        return None if path is None else read_prices(path, self.fleet, self.interest)

    @cached_property
    def rates(self) -> Rates | None:
        """The rates of --rates, if given."""
        from topicloom.model import Rates

        path: Path | None = self._shared.get("rates")
        return None if path is None else Rates.read(path)

    def finding(self, line: str) -> None:
        """Report something found or left undone, on stderr after the view; the exit status is then 1."""
        self._findings.append(line)

    def show(self, view: View) -> None:
        """Print a view in the format that was asked for, then the findings."""
        if self._format == "text":
            output.show(view)
        else:
            from topicloom.views.formats import FORMATS

            print(FORMATS[self._format](view.data()), flush=True)
        for line in self._findings:
            print(output.one_line(line), file=sys.stderr, flush=True)


def read_fleet(path: Path) -> Fleet:
    """Read a fleet file."""
    from topicloom.brokers import fleet_file

    output.require_readable(path)
    return fleet_file.read_fleet(path)


def read_prices(path: Path, fleet: Fleet | None, interest: Interest) -> Prices:
    """Read prices: of nodes if all are named, else of their regions in a fleet."""
    from topicloom.model import Prices
    from topicloom.model.prices import ANY

    given = Prices.read(path)
    others = ANY in given.between
    if given.names.issuperset(interest.node_names) or (
        others and (not given.names or not given.names.isdisjoint(interest.node_names))
    ):
        return given
    rules = {}
    if fleet is not None:
        known = {*interest.node_names, *fleet.brokers}
        rules = {name: fleet.constraints.rule(name).region for name in sorted(known)}
    for name in interest.node_names:
        if not others and name not in given.names and rules.get(name) is None:
            raise InputError(
                f"{path}: does not name '{name}'; give prices of all nodes, or a fleet with its region", "fleet"
            )
    return replace(given, regions={name: region for name, region in rules.items() if region is not None})
