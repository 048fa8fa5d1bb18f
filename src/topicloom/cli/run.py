"""One run of a command: its input, work with progress, findings, and how its view is printed."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from topicloom.cli import output
from topicloom.cli.options import FLEET, spark_settings
from topicloom.errors import InputError

if TYPE_CHECKING:
    from topicloom.brokers import Fleet, Plan
    from topicloom.cli.progress import Stoppable
    from topicloom.cli.spark_work import OnSpark
    from topicloom.designers import Designer, DesignProblem, DesignRun
    from topicloom.model import Constraints, Interest, Overlay, Prices, Rates
    from topicloom.registry import Prepared
    from topicloom.views.view import View

T = TypeVar("T")

FOUND = 1
INTERRUPTED = 130
_SHOWN_TOPICS = 3


class Run:
    """What the body of a command works with.

    `shared` has the values of shared options, `status` is the exit status, and `working` shows progress.
    """

    def __init__(self, shared: dict[str, Any]) -> None:
        from topicloom.cli.progress import Working

        self.shared = shared
        self.status = 0
        self._format = "json" if shared["json"] else shared["format"]
        self._told = False
        self._findings: list[str] = []
        output.be_quiet(shared["quiet"])
        # Spark shows its own progress with --verbose.
        self.working = Working(quiet=shared["quiet"] or shared.get("verbose", False))

    def step(
        self,
        text: str | Callable[[], str],
        work: Callable[..., T],
        *arguments: Any,
        watch: Stoppable | None = None,
        total: int | None = None,
        if_slow: str | None = None,
        note: Callable[[], str] | None = None,
        keep: bool = False,
        **keywords: Any,
    ) -> T:
        """Do one step of the work with its own line of progress; see `Working.do`."""
        done = partial(work, *arguments, **keywords)
        return self.working.do(text, done, watch=watch, total=total, if_slow=if_slow, note=note, keep=keep)

    @staticmethod
    def given(parameter: str) -> bool:
        """Whether an option of the command stands on the command line."""
        import click

        return click.get_current_context().get_parameter_source(parameter) is click.core.ParameterSource.COMMANDLINE

    @property
    def subscriptions(self) -> Path:
        """Path of SUBS."""
        path: Path = self.shared["subscriptions"]
        return path

    @cached_property
    def interest(self) -> Interest:
        """The subscriptions of SUBS."""
        # Small files first: an error in them comes before long work.
        _ = self.fleet, self.rates
        return self.read_interest(self.subscriptions)

    def read_interest(self, path: Path) -> Interest:
        """Subscriptions of a file or folder, with the columns and wildcards that are given."""
        from topicloom.model import Interest

        columns = {f"{name}_column": self.shared[f"{name}_column"] for name in ("node", "topic", "role")}
        return self.step(f"reading {path.name}", Interest.read, path, **columns, filters=self.shared["filters"])

    def overlay(self, path: Path, *, changed: bool = False) -> Overlay:
        """An overlay of these subscriptions, or of earlier ones if they may have changed."""
        from topicloom.model import Overlay

        return self.step(f"reading {path.name}", Overlay.read, path, self.interest, changed=changed)

    @cached_property
    def plan(self) -> Plan:
        """The plan of PLAN."""
        return read_plan(self.shared["plan"])

    @cached_property
    def fleet(self) -> Fleet | None:
        """The fleet of --fleet, if given."""
        path: Path | None = self.shared.get("fleet")
        return None if path is None else read_fleet(path)

    @property
    def brokers(self) -> Fleet:
        """The fleet of a command that needs one."""
        fleet = self.fleet
        assert fleet is not None
        return fleet

    def prices_of(self, interest: Interest) -> Prices | None:
        """The prices of --prices for an interest, if given."""
        path: Path | None = self.shared.get("prices")
        return None if path is None else read_prices(path, self.fleet, interest)

    @cached_property
    def prices(self) -> Prices | None:
        """The prices of --prices, if given."""
        return None if self.shared.get("prices") is None else self.prices_of(self.interest)

    @cached_property
    def rates(self) -> Rates | None:
        """The rates of --rates, if given."""
        from topicloom.model import Rates

        path: Path | None = self.shared.get("rates")
        return None if path is None else Rates.read(path)

    @property
    def asks(self) -> frozenset[str]:
        """What a designer has to honour, as `DesignProblem.asks`; a fleet is read, so that errors in it come first."""
        from topicloom.designers.contract import asked_for

        constraints = None if self.fleet is None else self.fleet.constraints
        return asked_for(constraints, self.shared.get("prices"), self.shared.get("rates"))

    def require_honoured(self, designer: Designer, more: frozenset[str] = frozenset()) -> None:
        """Refuse a designer that does not honour the fleet, prices or rates that are given, or `more`."""
        from topicloom.designers.run import require_honoured

        require_honoured(designer, self.asks | more)

    def problem(self, seed: int) -> DesignProblem:
        """The subscriptions with the limits of the fleet, prices and rates."""
        from topicloom.designers import DesignProblem

        constraints = None if self.fleet is None else constraints_of(self.fleet, self.interest)
        return DesignProblem.of(self.interest, constraints=constraints, prices=self.prices, rates=self.rates, seed=seed)

    def design(self, prepared: Prepared[Designer], problem: DesignProblem) -> DesignRun:
        """Run a designer; compilation and the design itself are steps of their own."""
        from topicloom.cli.progress import COMPILING
        from topicloom.designers import Watch, run
        from topicloom.designers.run import warm_up

        self.step("loading kernels", warm_up, problem, prepared, if_slow=COMPILING)
        total = prepared.algorithm.total
        watch = Watch()
        made = self.step(
            prepared.name,
            run,
            replace(problem, watch=watch),
            prepared,
            watch=watch,
            total=None if total is None else total(problem.interest, prepared.parameters),
            note=lambda: watch.note,
            keep=prepared.algorithm.anytime,
        )
        if watch.stopped:
            self.finding(f"{prepared.name} was stopped; its best links so far are kept", INTERRUPTED)
        return made

    @property
    def place(self) -> str:
        """FLEET: where subscriptions are."""
        where: str = self.shared["place"]
        return where

    @contextmanager
    def on_spark(self, command: str, *, little_data: bool = False) -> Iterator[OnSpark]:
        """A session of Spark for the steps within."""
        from topicloom.cli.spark_work import on_spark
        from topicloom.spark import SparkOptions

        settings = spark_settings(self.shared["conf"])
        from topicloom.spark.places import has_scheme

        if "place" in self.shared and not has_scheme(self.place):
            from topicloom.io.ingest_folder import read_manifest

            # Starting Spark takes seconds.
            read_manifest(Path(self.place))
        chosen = SparkOptions(self.shared["master"], settings, self.shared["verbose"], remote=self.shared.get("remote"))
        with on_spark(self.working, chosen, f"topicloom spark {command}", little_data=little_data) as work:
            yield work

    def finding(self, line: str, status: int = FOUND) -> None:
        """Report something found or left undone, on stderr after the view, with an exit status."""
        self._findings.append(line)
        self.status = max(self.status, status)

    def report_blocked(self, overlay: Overlay, status: int = FOUND) -> bool:
        """Report topics that limits of the fleet leave unconnected; return whether there are any."""
        line = None if self.fleet is None else blocked_line(overlay, self.fleet.constraints)
        if line is not None:
            self.finding(line, status)
        return line is not None

    def refuse(self, error: InputError, view: View) -> NoReturn:
        """Refuse the input, and print a view that says more than the line of the error."""
        self.show(view)
        raise error

    def tell(self, view: View) -> None:
        """Print a view while the command runs; JSON in one line. Then `show` prints no more data."""
        self._told = True
        if self._format == "json":
            print(json.dumps(view.data()), flush=True)
        else:
            self._print(view)

    def show_text(self, view: View) -> None:
        """Print a view while the command runs, if people read it; what programs read comes at the end."""
        if self._format == "text":
            self._print(view)

    def show(self, view: View | None) -> None:
        """Print a view, if there is one, in the format that was asked for, then the findings."""
        if view is not None and (self._format == "text" or not self._told):
            self._print(view)
        for line in self._findings:
            print(output.one_line(line), file=sys.stderr, flush=True)

    def _print(self, view: View) -> None:
        if self._format != "text":
            from topicloom.views.formats import FORMATS

            print({**FORMATS, **view.formats}[self._format](view.data()), flush=True)
        elif not self.shared["quiet"]:
            from topicloom.views import terminal

            terminal.show(view)


@contextmanager
def hearing_signals() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM in place of ending by them."""
    heard: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: heard.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def read_fleet(path: Path) -> Fleet:
    """Read a fleet file."""
    from topicloom.brokers import fleet_file

    if path == FLEET and not path.exists():
        raise InputError("no such file; give fleet, or write it with 'topicloom init'", "fleet", file=path)
    output.require_readable(path)
    return fleet_file.read_fleet(path)


def read_token(variable: str | None) -> str | None:
    """The token in a variable, if one is named."""
    token = None if variable is None else os.environ.get(variable)
    if variable is not None and not token:
        raise InputError(f"the token should be in the variable {variable}, which is not set", "token_env")
    return token


def read_plan(path: Path) -> Plan:
    """Read a plan."""
    from topicloom.brokers import read_plan

    output.require_readable(path)
    return read_plan(path)


def constraints_of(fleet: Fleet, interest: Interest) -> Constraints:
    """The limits of a fleet, which must have a broker for every node."""
    fleet.require_brokers(interest.node_names)
    return fleet.constraints


def blocked_line(overlay: Overlay, constraints: Constraints) -> str | None:
    """A line about topics that constraints leave unconnected, and what is in the way; None if there are none."""
    from topicloom.designers import DESIGNERS, blocked_topics
    from topicloom.views.numbers import count_of

    designer = DESIGNERS.get(overlay.provenance.algorithm) if overlay.provenance else None
    relays = designer is not None and designer.relays
    blocked = blocked_topics(overlay, constraints, relays=relays)
    if not blocked.topics or blocked.reason is None:
        return None
    shown = ", ".join(f"'{topic}'" for topic in blocked.topics[:_SHOWN_TOPICS])
    more = f" and {len(blocked.topics) - _SHOWN_TOPICS:,} more" if len(blocked.topics) > _SHOWN_TOPICS else ""
    are = count_of(len(blocked.topics), "topic") + (" is" if len(blocked.topics) == 1 else " are")
    line = f"{are} in pieces, as the fleet allows no more links: {shown}{more}; in the way: {blocked.reason}"
    if relays:
        others = f" and {len(blocked.cut_off) - 1:,} more" if len(blocked.cut_off) > 1 else ""
        line += f"; cut off is '{blocked.cut_off[0]}'{others}"
    return line


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


def unconnected_line(overlay: Overlay, reason: str) -> str:
    """A line about the topics that an overlay leaves unconnected, and why."""
    from topicloom.designers import blocked_topics
    from topicloom.model import Constraints
    from topicloom.views.numbers import count_of

    topics = blocked_topics(overlay, Constraints()).topics
    shown = ", ".join(f"'{topic}'" for topic in topics[:_SHOWN_TOPICS])
    more = f" and {len(topics) - _SHOWN_TOPICS:,} more" if len(topics) > _SHOWN_TOPICS else ""
    return f"{count_of(len(topics), 'topic')} not connected: {shown}{more}; {reason}"
