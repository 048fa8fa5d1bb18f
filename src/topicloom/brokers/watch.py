"""Watch a fleet: repair, plan and apply as brokers come and go.

In every turn the controller takes events and looks at brokers. Brokers that are silent or back for long enough count as
lost or back. In a turn without news it tidies the overlay if that is much worse than a fresh design. If the plan then
differs from what the fleet has, it is applied, shown, or kept for later. An `Allowance` says when the fleet may be
changed, and how much. A `StatusBoard` keeps the present status for people and programs.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from topicloom.brokers.apply import ApplyStopped, Proposal, StepDone, adjusted, carry_out, propose
from topicloom.brokers.bridge_sessions import end_old_sessions
from topicloom.brokers.decisions import DecisionFailed, Decisions, LeftOut
from topicloom.brokers.feed import Feed
from topicloom.brokers.health import HoldDown, answers
from topicloom.brokers.kinds import one_tree, placed
from topicloom.brokers.plan import Plan, make_plan
from topicloom.brokers.present import Present, brokers_of, drift_of, read_present
from topicloom.brokers.store import FleetState
from topicloom.errors import InputError
from topicloom.metrics import measure
from topicloom.model.fleet import Fleet
from topicloom.model.overlay import Overlay
from topicloom.views.html import rendered
from topicloom.views.numbers import count_of

_HOUR_SECONDS = 3600.0
_MINUTES = 24 * 60


@dataclass(frozen=True)
class Allowance:
    """So many brokers may get another file within an hour, and only between two times of the day, where given.

    Args:
        changes_an_hour: how many.
        window: the first and the last minute of the day, which may be past midnight; None for always.
    """

    changes_an_hour: int
    window: tuple[int, int] | None = None

    def refusal(self, changes: int, made: int, now: float) -> str | None:
        """Why so many changes may not be made now; None if they may.

        A change larger than the limit waits for an hour without any, and is then made whole, as half of it would leave
        topics interrupted.

        Args:
            changes: how many.
            made: how many were made within the hour.
            now: the time.
        """
        if self.window is not None:
            clock = datetime.fromtimestamp(now)
            minute = clock.hour * 60 + clock.minute
            begin, end = self.window
            if not (begin <= minute < end if begin <= end else minute >= begin or minute < end):
                return f"changes may be made from {_clock(begin)} to {_clock(end)}"
        if changes and made and made + changes > self.changes_an_hour:
            return f"{made} brokers were changed within the hour, and {self.changes_an_hour} may be"
        return None


def read_window(text: str) -> tuple[int, int]:
    """A window as HH:MM-HH:MM."""
    found = re.fullmatch(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})", text)
    if found is not None:
        begin, end = (int(found[i]) * 60 + int(found[i + 1]) for i in (1, 3))
        if begin < _MINUTES and end <= _MINUTES and begin != end and int(found[2]) < 60 and int(found[4]) < 60:
            return begin, end
    raise InputError(f"a window is two times of the day, such as 22:00-05:30, not '{text}'")


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


_AT_ONCE = 32
# Time until a move that was refused is tried again: the files of all brokers are read each time.
_REFUSED_SECONDS = 10.0
# Links that one tidying may change.
_TIDY_CHANGES = 20
# How often the file of a broker is read back, and how many are in a second at most.
_READ_SECONDS, _READS_A_SECOND = 60.0, 10.0
# Between two tries to reach a broker that left; one that answers again may have links that close a cycle.
_FIRST_WAIT_SECONDS, _LONGEST_SILENT_SECONDS, _LONGEST_WAIT_SECONDS = 1.0, 60.0, 3600.0


@dataclass(frozen=True)
class WatchSettings:
    """What a controller may do: apply, how long it waits between looks, and whether it looks whether brokers answer."""

    target: str = "mosquitto"
    apply: bool = False
    every_seconds: float = 1.0
    health: bool = True
    down_seconds: float = 3.0
    up_seconds: float = 5.0


@dataclass
class Controller:
    """One fleet under control.

    Args:
        fleet: its brokers, and how files get to them. decisions: what was decided. state: what the fleet has.
        feed: gives events. allowance: when it may be changed. settings: the rest. tell: hears a line for what happens.
        kept: how far feeds were read, which is committed with their events. ending: whether to end after a step.
        pool: asks brokers, and reads their files beside the turns.
    """

    fleet: Fleet
    decisions: Decisions
    state: FleetState
    feed: Feed
    allowance: Allowance
    settings: WatchSettings
    tell: Callable[[str], None]
    kept: Callable[[], Mapping[str, str]] = dict
    ending: Callable[[], bool] = lambda: False
    pool: Executor = field(default_factory=lambda: ThreadPoolExecutor(_AT_ONCE))
    waiting: str | None = None
    problems: tuple[str, ...] = ()
    applied: int = 0
    silent: frozenset[str] = frozenset()
    _shown: str | None = None
    # A plan that was refused before the first step, the time of the next attempt, and the reason.
    _refused: tuple[str, float, str] | None = None
    _untidy: str | None = None
    _told_left_out: tuple[LeftOut, ...] = ()
    # When brokers that left are tried again, and how long to wait after that.
    _waits: dict[str, tuple[float, float]] = field(default_factory=dict)
    # After how many decisions there was nothing to tidy, and nothing to bring about.
    _tidied: int = -1
    _settled: int = -1
    # When sessions that could not be ended are tried again.
    _sessions_due: float = -math.inf
    _kept: Mapping[str, str] = field(default_factory=dict)
    # When each broker's file is read back, those that are being read, and what has drifted.
    _reads: dict[str, float] = field(default_factory=dict)
    _reading: dict[str, tuple[int, Future[Present]]] = field(default_factory=dict)
    _next_read: float = -math.inf
    _drifted: dict[str, str | None] = field(default_factory=dict)
    _told_drift: Collection[str] = ()
    _hold: HoldDown = field(init=False)

    def __post_init__(self) -> None:
        self._hold = HoldDown(self.settings.down_seconds, self.settings.up_seconds)
        for name in self.decisions.away:
            self._hold.begin(name, there=False)

    def turn(self, now: float, steady: float | None = None) -> bool:
        """Look once, and do what there is to do; whether there was any news.

        Args:
            now: the time of day.
            steady: the time of a clock that nobody sets; that of day unless given.
        """
        steady = now if steady is None else steady
        news = self._take_events()
        if self.decisions.left_out is not self._told_left_out:
            self._tell_left_out()
        if self.settings.health:
            news = self._look(steady) or news
        doubtful = sorted(self.silent - self.decisions.away)
        if doubtful:
            # Links to it would be waited for in vain; soon it counts as gone, or answers.
            self.waiting = f"{doubtful[0]} does not answer"
            self._settled = -1
            return news
        self._read_back(steady)
        decided = self.decisions.count
        if not news and self.waiting is None and self._tidied != decided:
            news = self._tidy()
        if (
            self._settled != decided
            or news
            or self._drifted
            or (self.state.owed_sessions and steady >= self._sessions_due)
        ):
            self._bring_about(now, steady)
        return news

    def plan(self) -> Plan:
        """The plan for the fleet as decided."""
        overlay = self.decisions.overlay()
        return make_plan(overlay.interest, overlay, self.fleet, target=self.settings.target)

    def _take_events(self) -> bool:
        events, problems = self.feed()
        if problems or self.problems:
            for problem in problems:
                if problem not in self.problems:
                    self.tell(problem)
            self.problems = tuple(problems)
        kept = self.kept()
        if not events and kept == self._kept:
            return False
        taken = 0
        with self.state.store.transaction():
            for event in events:
                if event.id <= self.decisions.last_event:
                    continue
                refusal = self.decisions.take(event)
                if refusal is not None:
                    self.tell(f"refused event {event.id}: {refusal}")
                else:
                    taken += 1
            self.state.store.set_meta(kept)
        self._kept = dict(kept)
        if taken:
            self.tell(f"{taken} events taken, the last one {self.decisions.last_event}")
        return taken > 0

    def _tell_left_out(self) -> None:
        """Tell what plans leave out, once for each node or topic as long as that lasts."""
        told = {_what(one) for one in self._told_left_out}
        for one in self.decisions.left_out:
            if _what(one) not in told:
                self.tell(f"left out of plans: {one}")
        self._told_left_out = self.decisions.left_out

    def _tidy(self) -> bool:
        """Tidy some links; whether there was anything to tidy."""
        try:
            changes = self.decisions.tidy(_TIDY_CHANGES)
        except InputError as error:
            changes = 0
            if self._untidy != str(error):
                self._untidy = str(error)
                self.tell(f"links are not tidied: {error}")
        if changes:
            self.tell(f"tidied: {count_of(changes, 'link')} changed")
        else:
            self._tidied = self.decisions.count
        return changes > 0

    def _look(self, now: float) -> bool:
        """Ask all brokers at once whether they are there."""
        names = [name for name in self.decisions.demand.by_node if self.looks_at(name)]
        heard = self._ask(names)
        self.silent = frozenset(name for name, answer in heard.items() if not answer)
        # A broker that was looked at before, and is not any more, does not stay gone.
        heard |= dict.fromkeys(self.decisions.away - heard.keys(), True)
        if names and len(self.silent) == len(names):
            # Rather our own network than everybody at once.
            return False
        news = False
        for name, answer in heard.items():
            there = name not in self.decisions.away
            if self._hold.counts_as_there(name) != there:
                # It left, and joined again, while it was away.
                self._hold.begin(name, there=there)
            decided = self._hold.see(name, answers=answer, now=now)
            if decided is not None and decided == (name in self.decisions.away):
                try:
                    (self.decisions.regain if decided else self.decisions.lose)(name)
                except DecisionFailed as failure:
                    self.tell(f"{name} is {'back' if decided else 'gone'}, which {failure}")
                    continue
                self.tell(f"{name} is {'back' if decided else 'gone'}")
                self._reads[name] = self._next_read = -math.inf
                news = True
        return news

    def looks_at(self, name: str) -> bool:
        """Whether a broker is asked at all if it works."""
        return self.settings.health and name in self.fleet.brokers and self.fleet.looks_at(name)

    def _ask(self, names: Sequence[str]) -> dict[str, bool]:
        """Whether each of some brokers answers, asked at once."""

        def ask(name: str) -> bool:
            delivery = self.fleet.deliveries.get(name)
            broker = placed(self.fleet.brokers[name], self.settings.target)
            return answers(broker, self.settings.target, None if delivery is None else delivery.url)

        return dict(zip(names, self.pool.map(ask, names), strict=True))

    def _bring_about(self, now: float, steady: float) -> None:
        self.waiting = None
        self._settled = -1
        try:
            wanted = self.plan()
            owed, silent = self._owed(wanted, steady)
            proposal = propose(self.state, wanted, older=True, instead=True, silent=silent)
            if self._drifted:
                proposal = adjusted(self.state, self.fleet, proposal, Present(self._drifted, {}, {}), silent)
                self._tell_drift(proposal)
        except InputError as error:
            self.waiting = str(error)
            return
        if not proposal.steps and self.state.move is None:
            self._drifted = {}
            if self.settings.apply and self.state.unfinished and steady >= self._sessions_due:
                self._sessions_due = steady + _LONGEST_SILENT_SECONDS
                end_old_sessions(self.state, self.fleet, silent)
            if not owed:
                self._settled = self.decisions.count
            return
        if not self.settings.apply:
            self._show(proposal, wanted.id)
            self._settled = self.decisions.count
            return
        # What is owed to brokers that left was counted when they left.
        changes = sum(step.broker not in owed for step in proposal.steps)
        refusal = self.allowance.refusal(changes, self.state.changed(now - _HOUR_SECONDS, now), now)
        if refusal is None and self._refused is not None and self._refused[0] == wanted.id:
            refusal = self._refused[2] if steady < self._refused[1] else None
        if refusal is not None:
            self.waiting = refusal
            return
        leaving = {step.broker for step in proposal.steps if step.may_fail} - silent
        heard = self._ask([name for name in sorted(leaving) if self.looks_at(name)])
        self._apply(proposal, silent | {name for name, answer in heard.items() if not answer}, now, steady)

    def _owed(self, wanted: Plan, now: float) -> tuple[set[str], frozenset[str]]:
        """Brokers that left and may still have a file with links, and those that are silent or not to be tried now."""
        owed = {
            name
            for name in self.state.owed
            if name not in wanted.broker and not (name in self.decisions.demand.by_node and self.looks_at(name))
        }
        self._waits = {name: wait for name, wait in self._waits.items() if name in owed}
        due = [name for name in sorted(owed) if now >= self._waits.get(name, (now, 0.0))[0]]
        heard = self._ask([name for name in due if self.looks_at(name)])
        for name in due:
            wait = self._waits.get(name, (now, _FIRST_WAIT_SECONDS))[1]
            longest = _LONGEST_WAIT_SECONDS if heard.get(name, True) else _LONGEST_SILENT_SECONDS
            self._waits[name] = (now + wait, min(2 * wait, longest))
        return owed, self.silent | (owed - {name for name in due if heard.get(name, True)})

    def _read_back(self, steady: float) -> None:
        """Read back the files of brokers now and then, beside the turns; take in those that have drifted."""
        if self._reading:
            for name in [name for name, (_, reading) in self._reading.items() if reading.done()]:
                moves, reading = self._reading.pop(name)
                if moves == self.state.moves:
                    self._take_read(name, reading.result())
        if steady < self._next_read or self.state.has is None or self.state.move is not None:
            return
        brokers = brokers_of(self.fleet, self.state.plan(self.state.has, self.settings.target))
        seconds = max(_READ_SECONDS, len(brokers) / _READS_A_SECOND)
        self._reads = {name: self._reads.get(name, -math.inf) for name in brokers}
        due = [name for name, at in self._reads.items() if at <= steady and name not in self._reading]
        for name in due[:_AT_ONCE]:
            self._reads[name] = steady + seconds
            if name in self.fleet.deliveries and name not in self.silent:
                reading = self.pool.submit(read_present, self.fleet, [brokers[name]], self.state.folder, at_once=1)
                self._reading[name] = self.state.moves, reading
        self._next_read = min(self._reads.values(), default=steady + seconds)

    def _take_read(self, name: str, present: Present) -> None:
        """Take in what a broker has; if it is what it should have, or cannot be read, it has not drifted."""
        self._drifted.pop(name, None)
        if name not in present.own or self.state.has is None or self.state.move is not None:
            return
        plan = self.state.plan(self.state.has, self.settings.target)
        if name not in self.decisions.away and (name in plan.broker or name not in self.state.owed):
            with suppress(InputError):  # its password is not here now
                if drift_of(plan, brokers_of(self.fleet, plan)[name], present.own[name]) is not None:
                    self._drifted[name] = present.own[name]

    def _tell_drift(self, proposal: Proposal) -> None:
        for drift in proposal.drift:
            if drift.broker not in self._told_drift:
                self.tell(f"{drift.broker} {drift.why}")
        self._told_drift = [drift.broker for drift in proposal.drift]

    def _show(self, proposal: Proposal, name: str) -> None:
        self.waiting = "it only shows what it would do"
        if self._shown != name:
            self._shown = name
            brokers = ", ".join(step.broker for step in proposal.steps)
            self.tell(f"would put new files on {brokers}")

    def _apply(self, proposal: Proposal, silent: Collection[str], now: float, steady: float) -> None:
        done: list[StepDone] = []
        try:
            carry_out(self.state, self.fleet, proposal, done.append, silent=silent, ending=self.ending)
            self.applied += 1
            self._refused = None
        except InputError as error:
            self.waiting = str(error)
            known = self._refused is not None and self._refused[2] == self.waiting
            self._refused = (proposal.wants.id, steady + _REFUSED_SECONDS, self.waiting)
            if not done:
                if not known:
                    self.tell(f"not applied: {self.waiting}")
                return
        except ApplyStopped as error:
            self.waiting = str(error)
        # All files were read for it.
        self._drifted = {}
        reached = [step for step in done if step.unreached is None]
        if self.waiting is not None:
            self.tell(f"not applied: {self.waiting}")
        elif reached or not done:
            seconds = sum(step.seconds for step in done)
            self.tell(f"applied: {count_of(len(reached), 'broker')} changed in {seconds:.1f} s")
        for step in done:
            if step.unreached is not None and step.step.broker not in self.decisions.away:
                self.tell(f"{step.step.broker} left, and could not be reached: {step.unreached}")
        self.decisions.note({"applied": [step.step.broker for step in reached], "waiting": self.waiting, "at": now})


def _what(one: LeftOut) -> object:
    return one.topic, one.topic is None and one.nodes


def watch(
    controller: Controller,
    *,
    once: bool = False,
    until: Callable[[], bool] = lambda: False,
    after: Callable[[Controller, float], None] = lambda controller, now: None,
) -> None:
    """Take turns until asked to end; with `once` until there is no more news. `after` is called after each."""
    while not until():
        began, now = time.monotonic(), time.time()
        news = controller.turn(now, began)
        after(controller, now)
        if once and not news:
            return
        while time.monotonic() - began < controller.settings.every_seconds and not until() and not once:
            time.sleep(0.05)


_HISTORY = 300
# More brokers than these are counted, not named.
_NAMED_ON_BOARD = 5


@dataclass(frozen=True)
class FleetStatus:
    """A fleet at one time. A link is down where one of its brokers does not answer.

    `support` has the latest times and how much of the overlay's merging was done then; 1 where every topic is whole.
    """

    at: float
    brokers: tuple[str, ...]
    away: tuple[str, ...]
    silent: tuple[str, ...]
    not_looked_at: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    links_down: tuple[tuple[str, str], ...]
    max_degree: int
    topics: int
    decisions: int
    last_event: int
    applied: int
    waiting: str | None
    problems: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    support: tuple[tuple[float, float], ...]
    latest: tuple[str, ...]


class StatusBoard:
    """Keeps the present status, which others may read at any time."""

    def __init__(self) -> None:
        self._support: deque[tuple[float, float]] = deque(maxlen=_HISTORY)
        self.present: FleetStatus | None = None
        self._last: tuple[object, ...] = ()
        # After how many decisions, and the links that they led to.
        self.decided: tuple[int, Overlay] | None = None

    def update(self, controller: Controller, now: float) -> None:
        """Take in how a fleet is after a turn."""
        shown = self._shown(controller)
        if self.present is not None and shown == self._last:
            self.present = replace(self.present, at=now)
            return
        self._last = shown
        decisions = controller.decisions
        overlay = decisions.overlay()
        names = overlay.interest.node_names
        links = tuple((names[u], names[v]) for u, v in zip(overlay.source, overlay.target, strict=True))
        self.decided = (decisions.count, overlay)
        relays = one_tree(controller.fleet.brokers.values(), controller.settings.target)
        self._support.append((now, _support(overlay, relays=relays)))
        self.present = FleetStatus(
            at=now,
            brokers=tuple(sorted(decisions.demand.by_node)),
            away=tuple(sorted(decisions.away)),
            silent=tuple(sorted(controller.silent)),
            not_looked_at=tuple(name for name in sorted(decisions.demand.by_node) if not controller.looks_at(name)),
            links=links,
            links_down=tuple(link for link in links if not controller.silent.isdisjoint(link)),
            max_degree=int(overlay.degrees.max(initial=0)),
            topics=overlay.interest.topic_count,
            decisions=decisions.count,
            last_event=decisions.last_event,
            applied=controller.applied,
            waiting=controller.waiting,
            problems=controller.problems,
            left_out=decisions.left_out,
            support=tuple(self._support),
            latest=tuple(_said(entry) for entry in decisions.latest()),
        )

    @staticmethod
    def _shown(controller: Controller) -> tuple[object, ...]:
        """What changes a status."""
        return (
            *(controller.decisions.count, controller.silent, controller.applied, controller.waiting),
            *(controller.problems, controller.decisions.left_out),
        )

    def as_table(self) -> dict[str, Any]:
        """The present status by the names of its fields; nothing before the first look."""
        return {} if self.present is None else asdict(self.present)

    def as_json(self) -> str:
        """The present status."""
        return json.dumps(self.as_table()) + "\n"

    def as_metrics(self) -> str:
        """The present status in the text format of Prometheus."""
        status = self.present
        if status is None:
            return ""
        values = {
            "brokers": (len(status.brokers), "Brokers of the fleet."),
            "brokers_away": (len(status.away), "Brokers that count as gone."),
            "brokers_silent": (len(status.silent), "Brokers that did not answer at the last look."),
            "brokers_not_looked_at": (len(status.not_looked_at), "Brokers that are never asked whether they work."),
            "links": (len(status.links), "Links of the overlay."),
            "links_down": (len(status.links_down), "Links with a broker that does not answer."),
            "max_degree": (status.max_degree, "The most links of a broker."),
            "topics": (status.topics, "Topics that somebody wants."),
            "support": (status.support[-1][1], "Share of the possible merging that is done; 1 is topic-connected."),
            "left_out": (len(status.left_out), "Nodes without a broker and topics that cannot be carried."),
            "waiting": (int(status.waiting is not None), "Whether a change waits to be made."),
            "decisions_total": (status.decisions, "Decisions since the state began."),
            "applied_total": (status.applied, "Plans applied since the controller started."),
            "look_timestamp_seconds": (status.at, "When the fleet was last looked at."),
        }
        lines = []
        for name, (value, text) in values.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP topicloom_{name} {text}", f"# TYPE topicloom_{name} {kind}", f"topicloom_{name} {value}"]
        return "\n".join(lines) + "\n"

    def as_page(self) -> str:
        """The present status for a browser."""
        status = self.present
        points = [] if status is None else [share for _, share in status.support]
        return str(rendered("status.html", status=status, curve=_curve(points)))


def _support(overlay: Overlay, *, relays: bool) -> float:
    """How much of the possible merging is done: over links between those that want a topic, or over any."""
    found = measure(overlay.interest, overlay, diameters=False)
    possible = found.components_unlinked - found.components_connected
    return found.support if not relays or not possible else 1 - found.unreachable / possible


def _curve(shares: list[float]) -> str:
    """Points of a line from left to right, in a box of 300 by 40."""
    last = max(1, len(shares) - 1)
    return " ".join(f"{300 * place / last:.1f},{40 - 38 * share:.1f}" for place, share in enumerate(shares))


def _said(entry: dict[str, Any]) -> str:
    """A decision in a few words."""
    if "event" in entry:
        return f"event {entry['event']['id']}: {entry['event']['event']} of {entry['event']['node']}"
    if "refused" in entry:
        return f"event {entry['refused']['id']} refused: {entry['why']}"
    if "tidied" in entry:
        return f"{len(entry['tidied'])} links tidied"
    if "applied" in entry:
        waiting = f"; {entry['waiting']}" if entry.get("waiting") else ""
        few = 0 < len(entry["applied"]) <= _NAMED_ON_BOARD
        brokers = ", ".join(entry["applied"]) if few else count_of(len(entry["applied"]), "broker")
        return f"new files on {brokers}{waiting}"
    for word in ("lost", "back"):
        if word in entry:
            return f"{entry[word]} {'is gone' if word == 'lost' else 'is back'}"
    return "began"
