"""The controller: looks at events and at brokers, mends the overlay, plans, and applies where it may.

Every turn: events are taken; brokers that are silent or back for long enough count as lost or back; in a turn with no
news the overlay is tidied where it has become much worse than a fresh design; and where the plan is another than the
fleet has, it is applied, or shown, and kept for later where that is not allowed now.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from topicloom.control.applying.apply import ApplyStopped, Proposal, StepDone, carry_out, propose
from topicloom.control.applying.fleet_state import FleetState, plan_id
from topicloom.control.watching.allowance import Allowance
from topicloom.control.watching.decisions import DecisionFailed, Decisions
from topicloom.control.watching.event_feed import Feed
from topicloom.control.watching.health import answers
from topicloom.control.watching.hold_down import HoldDown
from topicloom.deploy.planning.fleet_file import Fleet
from topicloom.deploy.planning.make_plan import make_plan, with_port
from topicloom.deploy.planning.plan import Plan
from topicloom.errors import InputError
from topicloom.present.numbers import count_of

_AT_ONCE = 32
# Links that one tidying may change.
_TIDY_CHANGES = 20
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
    """

    fleet: Fleet
    decisions: Decisions
    state: FleetState
    feed: Feed
    allowance: Allowance
    settings: WatchSettings
    tell: Callable[[str], None]
    waiting: str | None = None
    problems: tuple[str, ...] = ()
    applied: int = 0
    silent: frozenset[str] = frozenset()
    _shown: str | None = None
    _untidy: str | None = None
    _told_left_out: Collection[object] = ()
    # When brokers that left are tried again, and how long to wait after that.
    _waits: dict[str, tuple[float, float]] = field(default_factory=dict)
    _hold: HoldDown = field(init=False)

    def __post_init__(self) -> None:
        self._hold = HoldDown(self.settings.down_seconds, self.settings.up_seconds)
        for name in self.decisions.away:
            self._hold.begin(name, there=False)

    def turn(self, now: float) -> bool:
        """Look once, and do what there is to do; whether there was any news."""
        news = self._take_events()
        self._tell_left_out()
        if self.settings.health:
            news = self._look(now) or news
        doubtful = sorted(self.silent - self.decisions.away)
        if doubtful:
            # Links to it would be waited for in vain; soon it counts as gone, or answers.
            self.waiting = f"{doubtful[0]} does not answer"
            return news
        if not news and self.waiting is None:
            news = self._tidy()
        self._bring_about(now)
        return news

    def plan(self) -> Plan:
        """The plan for the fleet as decided."""
        overlay = self.decisions.overlay()
        return make_plan(overlay.interest, overlay, self.fleet, target=self.settings.target)

    def _take_events(self) -> bool:
        events, problems = self.feed()
        for problem in problems:
            if problem not in self.problems:
                self.tell(problem)
        self.problems = tuple(problems)
        taken = 0
        for event in events:
            if event.id <= self.decisions.last_event:
                continue
            refusal = self.decisions.take(event)
            if refusal is not None:
                self.tell(f"refused event {event.id}: {refusal}")
            else:
                taken += 1
        if taken:
            self.tell(f"{taken} events taken, the last one {self.decisions.last_event}")
        return taken > 0

    def _tell_left_out(self) -> None:
        """Tell what plans leave out, once for each node or topic as long as that lasts."""
        left_out = {(one.topic, one.topic is None and one.nodes): one for one in self.decisions.left_out}
        for key, one in left_out.items():
            if key not in self._told_left_out:
                self.tell(f"left out of plans: {one}")
        self._told_left_out = left_out.keys()

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
        return changes > 0

    def _look(self, now: float) -> bool:
        """Ask all brokers at once whether they are there."""
        names = [name for name in self.decisions.wanted if self.looks_at(name)]
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
                news = True
        return news

    def looks_at(self, name: str) -> bool:
        """Whether a broker is asked at all if it works."""
        return self.settings.health and name in self.fleet.brokers and self.fleet.looks_at(name)

    def _ask(self, names: Sequence[str]) -> dict[str, bool]:
        """Whether each of some brokers answers, asked at once."""

        def ask(name: str) -> bool:
            delivery = self.fleet.deliveries.get(name)
            broker = with_port(self.fleet.brokers[name], self.settings.target)
            return answers(broker, self.settings.target, None if delivery is None else delivery.url)

        with ThreadPoolExecutor(_AT_ONCE) as asking:
            return dict(zip(names, asking.map(ask, names), strict=True))

    def _bring_about(self, now: float) -> None:
        self.waiting = None
        try:
            wanted = self.plan()
            owed, silent = self._owed(wanted, now)
            proposal = propose(self.state, wanted, older=True, instead=True, silent=silent)
        except InputError as error:
            self.waiting = str(error)
            return
        if not proposal.steps and self.state.move is None:
            return
        if not self.settings.apply:
            self._show(proposal, plan_id(wanted))
            return
        # What is owed to brokers that left was counted when they left.
        refusal = self.allowance.refusal(sum(step.broker not in owed for step in proposal.steps), now)
        if refusal is not None:
            self.waiting = refusal
            return
        leaving = {step.broker for step in proposal.steps if step.may_fail} - silent
        heard = self._ask([name for name in sorted(leaving) if self.looks_at(name)])
        self._apply(proposal, silent | {name for name, answer in heard.items() if not answer}, owed, now)

    def _owed(self, wanted: Plan, now: float) -> tuple[set[str], frozenset[str]]:
        """Brokers that left and may still have a file with links, and those that are silent or not to be tried now."""
        owed = {
            name
            for name in self.state.owed
            if name not in wanted.broker and not (name in self.decisions.wanted and self.looks_at(name))
        }
        self._waits = {name: wait for name, wait in self._waits.items() if name in owed}
        due = [name for name in sorted(owed) if now >= self._waits.get(name, (now, 0.0))[0]]
        heard = self._ask([name for name in due if self.looks_at(name)])
        for name in due:
            wait = self._waits.get(name, (now, _FIRST_WAIT_SECONDS))[1]
            longest = _LONGEST_WAIT_SECONDS if heard.get(name, True) else _LONGEST_SILENT_SECONDS
            self._waits[name] = (now + wait, min(2 * wait, longest))
        return owed, self.silent | (owed - {name for name in due if heard.get(name, True)})

    def _show(self, proposal: Proposal, name: str) -> None:
        self.waiting = "it only shows what it would do"
        if self._shown != name:
            self._shown = name
            brokers = ", ".join(step.broker for step in proposal.steps)
            self.tell(f"would put new files on {brokers}")

    def _apply(self, proposal: Proposal, silent: Collection[str], owed: Collection[str], now: float) -> None:
        done: list[StepDone] = []
        try:
            carry_out(self.state, self.fleet, proposal, done.append, silent=silent)
            self.applied += 1
        except (ApplyStopped, InputError) as error:
            self.waiting = str(error)
        reached = [step for step in done if step.unreached is None]
        if self.waiting is not None:
            self.tell(f"not applied: {self.waiting}")
        elif reached or not done:
            seconds = sum(step.seconds for step in done)
            self.tell(f"applied: {count_of(len(reached), 'broker')} changed in {seconds:.1f} s")
        for step in done:
            if step.unreached is not None and step.step.broker not in self.decisions.away:
                self.tell(f"{step.step.broker} left and was not reached: {step.unreached}")
        self.allowance.note(sum(step.step.broker not in owed for step in done), now)
        self.decisions.note({"applied": [step.step.broker for step in reached], "waiting": self.waiting, "at": now})


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
        news = controller.turn(now)
        after(controller, now)
        if once and not news:
            return
        while time.monotonic() - began < controller.settings.every_seconds and not until() and not once:
            time.sleep(0.05)
