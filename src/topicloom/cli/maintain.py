"""`topicloom maintain`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.cli.run import blocked_line, constraints_of
from topicloom.cli.typer_options import maintainer_options, taking
from topicloom.io.tables import write_parquet
from topicloom.views import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from topicloom.churn.assumptions import AssumptionRow
    from topicloom.churn.maintainer import Maintainer
    from topicloom.churn.state import MaintainedState, Outcome
    from topicloom.churn.trace import TraceRow
    from topicloom.model import Interest
    from topicloom.model.events import Event


EXAMPLES = """\b
Example:
  topicloom maintain subs.parquet overlay.parquet events.jsonl \\
      --out mended.parquet
  topicloom maintain subs.parquet overlay.parquet events.jsonl \\
      --state fleet-state --trace trace.parquet --out mended.parquet \\
      --out-subs subs-now.parquet
  topicloom maintain subs.parquet overlay.parquet events.jsonl \\
      --fleet fleet.toml --prices latency.csv --out mended.parquet
"""


@taking(maintainer_options)
def command(
    *,
    subs: options.InterestFile,
    overlay: options.OverlayFile,
    events: Annotated[
        Path,
        typer.Argument(
            metavar="EVENTS",
            help="JSON Lines: nodes that join, leave and change their topics, with ids that rise.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OVERLAY2", help="Parquet file to write the links to.")],
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="DIR",
            help="Folder of the state. A run that was killed goes on from there, and so does the next one with more "
            "events.",
            show_default=False,
        ),
    ] = None,
    out_subs: Annotated[
        Path | None,
        typer.Option(
            "--out-subs",
            metavar="SUBS2",
            help="Parquet file to write the subscriptions to as they are in the end; OVERLAY2 goes with them.",
            show_default=False,
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="Parquet file with a row for each event.", show_default=False),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check after each event that every topic is connected; slow.")
    ] = False,
    jointly: Annotated[
        int, typer.Option("--jointly", metavar="N", help="Mend once for so many events, instead of for each.", min=1)
    ] = 1,
    assumptions: Annotated[
        Path | None,
        typer.Option(
            "--assumptions",
            metavar="FILE",
            help="Parquet file that says, for each event, how far the assumptions of the paper's bounds hold; slow.",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first event that cannot have happened.")
    ] = False,
    seed: options.Seed = 0,
    limits: options.FleetLimits,
    costs: options.PriceFile,
    printing: options.Printing,
    **parameters: Any,
) -> None:
    """Mend an overlay while nodes come, go and change topics.

    Events that cannot have happened, such as the leave of a node that is not there, are refused, counted and named.
    """
    from topicloom.churn import Settings
    from topicloom.churn.assumptions import write_assumptions
    from topicloom.churn.state import open_state
    from topicloom.churn.trace import summary, write_trace
    from topicloom.errors import InputError
    from topicloom.model import Overlay
    from topicloom.model.events import read_events
    from topicloom.model.filters import require_plain_names

    settings = Settings(**parameters, seed=seed)
    fleet = limits.read()
    inputs = (subs.path, overlay, events)
    if assumptions is not None and jointly > 1:
        raise InputError("assumptions are about single events; leave out jointly", "assumptions", "jointly")
    for file in (out, out_subs, trace, assumptions):
        if file is not None:
            checked_paths.require_writable(file, *inputs)
    with printing.working() as working, ExitStack() as stack:
        interest = subs.read(working)
        require_plain_topics(interest)
        given = working.do(f"reading {overlay.name}", lambda: Overlay.read(overlay, interest))
        due = working.do(f"reading {events.name}", lambda: read_events(events))
        if subs.filters is None:
            require_plain_names(sorted({topic for event in due for topic in event.add}), str(events))
        run = _Run(due, check=check, strict=strict, jointly=jointly, assumptions=assumptions is not None)
        constraints = None if fleet is None else constraints_of(fleet, interest)
        prices = costs.read(fleet, interest)
        begin = partial(open_state, given, settings, state, constraints=constraints, prices=prices)
        maintained = working.do("making ready", lambda: stack.enter_context(begin()))
        working.do("mending", lambda: run.through(maintained), watch=run, total=len(due))
        result = working.do("writing", lambda: _written(maintained, interest, out, out_subs))
        # Where all had happened before, an earlier run has told of it.
        if trace is not None and (run.rows or not trace.exists()):
            write_trace(run.rows, trace)
        if assumptions is not None and (run.assumptions or not assumptions.exists()):
            write_assumptions(run.assumptions, assumptions)
        # Last: what comes before a snapshot is not written again, should this process be killed before it is written.
        maintained.checkpoint()
    if result["silent"] and not printing.json:
        output.complain(f"{numbers.count_of(result['silent'], 'topic')} wanted, and published by nobody any more")
    facts = {"method": settings.method, **summary(run.rows), "done_before": run.done_before, **result, "out": str(out)}
    if printing.json:
        output.print_json(facts)
    else:
        _print(facts)
        printing.written(out)
    for row in [row for row in run.rows if row.error is not None][:1]:
        others = f" (and {facts['refused'] - 1:,} more)" if facts["refused"] > 1 else ""
        output.complain(f"refused event {row.event}: {row.error}{others}")
    blocked = None if constraints is None else blocked_line(maintained.maintainer.overlay(), constraints)
    if blocked is not None:
        typer.echo(output.one_line(blocked), err=True)
        raise typer.Exit(1)


class _Run:
    """Events taken one after the other; can be watched and asked to stop."""

    def __init__(
        self, events: Sequence[Event], *, check: bool, strict: bool, jointly: int = 1, assumptions: bool = False
    ) -> None:
        self._events = events
        self._at_once = jointly
        self._assuming = assumptions
        self._check = check
        self._strict = strict
        self._stopped = False
        self.done = 0
        self.done_before = 0
        self.rows: list[TraceRow] = []
        self.assumptions: list[AssumptionRow] = []

    def stop(self) -> None:
        """Stop after the event that is being taken."""
        self._stopped = True

    def through(self, state: MaintainedState) -> None:
        """Take all events that are due."""
        from topicloom.churn.trace import trace_row

        ids = {event.id for event in self._events}
        if self._assuming:
            state.around = self._assumed(state, ids)
        for outcome in state.begin():
            if outcome.event.id in ids:
                self.rows.append(trace_row(outcome, state.maintainer))
            self.done += 1
        again = len(self.rows)
        due = [event for event in self._events if state.is_due(event)]
        self.done_before += len(self._events) - len(due)
        for outcomes in self._taken(state, due):
            for outcome in outcomes:
                row = trace_row(outcome, state.maintainer)
                if self._strict and row.error is not None:
                    raise _refusal(row)
                self.rows.append(row)
                self.done += 1
            if self._check:
                _require_whole(state.maintainer, outcomes[0].event)
            if self._stopped and outcomes[-1].event is not due[-1]:
                raise KeyboardInterrupt(
                    f"stopped after event {state.last_event}; with --state, the same command goes on from there"
                )
        self.done_before -= again

    def _taken(self, state: MaintainedState, due: Sequence[Event]) -> Iterator[list[Outcome]]:
        """Take events, and give the outcomes of those that take effect together."""
        from topicloom.churn.state import BATCH

        if self._at_once > 1:
            for begin in range(0, len(due), self._at_once):
                yield state.take_jointly(due[begin : begin + self._at_once])
            return
        # With --strict nothing after a refused event may be committed.
        for outcome in state.take_all(due, 1 if self._strict else BATCH):
            yield [outcome]

    def _assumed(self, state: MaintainedState, ids: set[int]) -> Callable[[Event, Callable[[], Outcome]], Outcome]:
        from topicloom.churn.assumptions import assumed

        def around(event: Event, happen: Callable[[], Outcome]) -> Outcome:
            outcome, row = assumed(state.maintainer, event, happen)
            if event.id in ids:
                self.assumptions.append(row)
            return outcome

        return around


def _refusal(row: TraceRow) -> Exception:
    from topicloom.model import InputError

    return InputError(f"event {row.event}: {row.error}")


def _require_whole(maintainer: Maintainer, event: Event) -> None:
    from topicloom.churn.maintainer import broken_topics

    broken = broken_topics(maintainer.overlay())
    if broken:
        raise AssertionError(f"after event {event.id} topic '{broken[0]}' is not connected")


def require_plain_topics(interest: Interest) -> None:
    """Refuse filters: events say which topics nodes want, and maintainers take them as plain names."""
    from topicloom.errors import InputError

    if interest.roles is not None and interest.roles.protocol is not None:
        raise InputError("maintainers know plain topics, no filters; design anew for those", "filters")


def _unspoken(interest: Interest) -> int:
    return 0 if interest.roles is None else interest.roles.unspoken


def _written(state: MaintainedState, before: Interest, out: Path, out_subs: Path | None) -> dict[str, Any]:

    from topicloom.io.whole import replacing
    from topicloom.model import Interest

    overlay = state.maintainer.overlay()
    subscriptions = overlay.interest.to_arrow()
    if before.roles is not None:
        subscriptions = _with_roles(subscriptions, before)
        overlay = replace(overlay, interest=Interest.from_arrow(subscriptions))
    overlay.write(out)
    if out_subs is not None:
        with replacing(out_subs) as temporary:
            write_parquet(subscriptions, temporary)
    degrees = overlay.degrees
    return {
        "nodes": overlay.interest.node_count,
        "topics": overlay.interest.topic_count,
        "links": len(overlay),
        "average_degree": float(degrees.mean()),
        "max_degree": int(degrees.max(initial=0)),
        "last_event": state.last_event,
        # Not those that nobody was known to publish from the beginning.
        "silent": max(0, _unspoken(overlay.interest) - _unspoken(before)),
    }


def _with_roles(subscriptions: pa.Table, before: Interest) -> pa.Table:
    """Subscriptions with the roles that they had before; new ones do both."""
    known = {(row["node"], row["topic"]): row["role"] for row in before.to_arrow().to_pylist()}
    roles = [known.get((row["node"], row["topic"]), "both") for row in subscriptions.to_pylist()]
    return subscriptions.append_column("role", [roles])


def _print(facts: dict[str, Any]) -> None:
    headers = ("events", "number", "links\nadded", "links\nremoved", "repair\nratio", "shadow\nset", "ms", "upkeep\nms")
    rows = []
    for kind in ("join", "leave", "change"):
        means = facts[kind]
        if means["events"]:
            links = [numbers.mean(means[name]) for name in ("links_added", "links_removed")]
            milliseconds = [f"{1000 * means[name]:,.3f}" for name in ("seconds", "upkeep_seconds")]
            shadow = numbers.mean(means["shadow"])
            ratio = f"{100 * means['repair_ratio']:.3f}%"
            rows.append([kind, numbers.count(means["events"]), *links, ratio, shadow, *milliseconds])
    if rows:
        output.print_table(headers, rows)
        output.say("")
    output.print_facts(
        [
            ("events", numbers.count(facts["events"])),
            ("refused", numbers.count(facts["refused"])),
            ("done before", numbers.count(facts["done_before"])),
            ("nodes", numbers.count(facts["nodes"])),
            ("links", numbers.count(facts["links"])),
            ("average degree", numbers.mean(facts["average_degree"])),
            ("max degree", numbers.count(facts["max_degree"])),
        ]
    )
