"""Bring a running fleet to a plan.

The steps of a move are done one after the other, on real brokers. Each step: the file is put, the broker takes it, it
answers and its links are up, and where that is asked for, messages come through. A step that fails stops the move; it
goes on from there, or back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from topicloom.brokers.adopt import adopting_move, needed_sessions, still_there, take_over
from topicloom.brokers.bridge_sessions import Keeping, all_sessions, end_old_sessions
from topicloom.brokers.deliver import driver_of, probe, put_and_wait
from topicloom.brokers.diff import Difference, compare_plans
from topicloom.brokers.foreign import foreign_bridges, require_no_repeats
from topicloom.brokers.kind import DeliveryFailed, LinkState, Session
from topicloom.brokers.kinds import kind_of
from topicloom.brokers.local import mqtt_library
from topicloom.brokers.moves import OLD_BRIDGES, FleetMove, MoveStep, move_along
from topicloom.brokers.names import quoted
from topicloom.brokers.plan import Plan, empty_plan
from topicloom.brokers.plan_file import configuration_of
from topicloom.brokers.present import Drift, Present, brokers_of, drift_of, read_present, silent_of
from topicloom.brokers.store import FleetState
from topicloom.errors import InputError
from topicloom.model.fleet import LINKS, Broker, Fleet


class ApplyStopped(Exception):  # noqa: N818  it says what happened
    """A step failed; the message says which, why, and where the fleet stands."""


@dataclass(frozen=True)
class StepDone:
    """A step that was done: the number it has among those of its move, links that are up, probes that arrived.

    `links` is None if they were not looked at, `unreached` says why a broker that leaves could not be told.
    """

    number: int
    total: int
    step: MoveStep
    links: LinkState | None
    probes: int
    seconds: float
    unreached: str | None = None


@dataclass(frozen=True)
class Proposal:
    """A move that can be made: from one plan to another, all of it or what is left of it.

    `has` is the plan that the move leaves, `wants` the one that it leads to. `drift` are brokers whose files are not
    those of `has`. Of the brokers that do not answer, `left_out` get their files later, and `silent` have no step.
    """

    move: FleetMove
    has: Plan
    wants: Plan
    difference: Difference
    drift: tuple[Drift, ...] = ()
    left_out: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[MoveStep, ...]:
        """What is to be done, in order."""
        move, steps = self.move, []
        while not move.finished:
            steps.append(move.next_step())
            move = move.after("done")
        return tuple(steps)


def propose(
    state: FleetState,
    plan: Plan,
    *,
    older: bool = False,
    instead: bool = False,
    silent: Collection[str] = (),
) -> Proposal:
    """The move that brings a fleet to a plan.

    Args:
        state: the fleet.
        plan: what it shall have. Where a move is under way, one of its two plans.
        older: whether it may be a plan that others have replaced.
        instead: whether it may be a third plan while a move is under way; brokers that the move has touched then first
            go without their links.
        silent: brokers that are known not to answer; those that left are not told now.
    """
    wanted = plan.id
    if state.move is not None and instead and wanted not in (state.move.old, state.move.new):
        return _proposed(state, state.plan(state.has, plan.target), plan, silent)
    if state.move is not None:
        if wanted not in (state.move.old, state.move.new):
            raise InputError(
                f"the fleet is on its way to another plan, {state.move.done} of {len(state.move.steps)} steps are "
                "done; apply that one, or roll back, before this one",
                "rollback",
            )
        return _under_way(state, plan, back=wanted != state.move.new)
    has = state.plan(state.has, plan.target)
    _require_same_fleet(state, has, plan)
    if state.had(wanted) and not older:
        raise InputError(
            "the plan is behind the state: it was applied before, and others since; give older to apply it again",
            "older",
        )
    return _proposed(state, has, plan, silent)


def propose_back(state: FleetState) -> Proposal:
    """The move that brings a fleet back: to where the move under way began, or to the plan before the present one."""
    if state.move is not None:
        known = state.plan(state.move.new or state.move.old, "")
        return _under_way(state, known, back=True)
    if state.new:
        raise InputError(f"{state.folder}: nothing was applied, so there is nothing to go back to")
    before = state.earlier[-2] if len(state.earlier) > 1 else None
    if before == state.has:
        raise InputError(f"{state.folder}: there is no other plan to go back to")
    has = state.plan(state.has, "")
    wants = state.plan(before, has.target)
    return _proposed(state, has, wants)


def _under_way(state: FleetState, known: Plan, *, back: bool) -> Proposal:
    assert state.move is not None
    old, new = (state.plan(name, known.target) for name in (state.move.old, state.move.new))
    if back and not state.move.back and not state.move.can_turn:
        return _proposed(state, old, old)
    has, wants = (new, old) if back else (old, new)
    return Proposal(state.move.turned(back), has, wants, compare_plans(has, wants))


def _proposed(
    state: FleetState, has: Plan, wants: Plan, silent: Collection[str] = (), drift: Sequence[Drift] = ()
) -> Proposal:
    strays = {one.broker for one in drift if one.broker not in has.broker and one.broker not in wants.broker}
    difference = compare_plans(has, wants)
    new = wants.id if wants.brokers else None
    touched = {one.broker for one in drift if not one.lost} - strays
    touched |= set(state.move.touched if state.move is not None else ())
    owed = {name for name in state.owed if name not in has.broker and name not in silent} | strays
    lost = {one.broker for one in drift if one.lost} - touched
    move = move_along(difference, state.has, new, owed, touched, wants.broker, lost)
    return Proposal(move, has, wants, difference, tuple(drift))


def adjusted(
    state: FleetState,
    fleet: Fleet,
    proposal: Proposal,
    present: Present,
    silent: Collection[str] = (),
    dead: Collection[str] = (),
) -> Proposal:
    """The move that leads to the same plan from what brokers have; a move that is under way goes on as it is.

    Args:
        state: the fleet.
        fleet: its brokers; those that are in no plan should have no links.
        proposal: a move from what brokers should have.
        present: what they have.
        silent: brokers that are known not to answer; those that left are not told now.
        dead: brokers of the plan that do not answer; they get their files later.

    Raises:
        ApplyStopped: a broker that does not answer has links that go.
    """
    if proposal.move.adopts or _is_resumed(state, proposal):
        return proposal
    has, wants = proposal.has, proposal.wants
    drift = [*_drifted(fleet, has, wants, present, state.owed), *_owed(state, has, wants, present, silent)]
    new = _proposed(state, has, wants, silent, drift)
    ordered = {step.broker: step.may_fail for step in new.steps}
    left_out = [name for name in sorted(dead) if not ordered.get(name, True)]
    for name in left_out:
        if name in new.move.doubtful or not _only_gains(has, wants, name):
            raise ApplyStopped(
                f"broker {quoted(name)} does not answer, and has links that go before others come; nothing was done"
            )
    steps = tuple(step for step in new.move.steps if step.broker not in left_out)
    rest = tuple(sorted({*dead} - ordered.keys()))
    return replace(new, move=replace(new.move, steps=steps), left_out=tuple(left_out), silent=rest)


def adopting(state: FleetState, proposal: Proposal, old: Iterable[str], dead: Collection[str]) -> Proposal:
    """The move that takes over bridges that people made at the brokers `old`.

    Raises:
        InputError: the fleet has a plan, or a broker does not answer.
    """
    if state.move is not None and state.move.adopts:
        return proposal
    if state.has is not None or state.move is not None or not proposal.wants.brokers:
        raise InputError(f"{state.folder}: has a plan; take over bridges before the first one", "adopt")
    for drift in proposal.drift:
        raise InputError(f"broker {quoted(drift.broker)}: {drift.why}: its file is of another plan; remove it", "adopt")
    for name in sorted(dead):
        raise InputError(f"broker {quoted(name)} does not answer; bridges are taken over at all brokers", "adopt")
    return replace(proposal, move=adopting_move(proposal.wants, proposal.wants.id, old))


def _is_resumed(state: FleetState, proposal: Proposal) -> bool:
    return state.move is not None and state.move.steps == proposal.move.steps


def _drifted(fleet: Fleet, has: Plan, wants: Plan, present: Present, owed: Collection[str]) -> Iterator[Drift]:
    """Brokers whose files are not those of a plan; those that left and are owed their step are known."""
    for name, broker in sorted((brokers_of(fleet, wants) | {**has.broker}).items()):
        if name in present.own and (name in has.broker or name not in owed):
            with suppress(InputError):  # a password is not here, so its file is not known
                found = drift_of(has, broker, present.own[name])
                if found is not None:
                    yield found


def _owed(state: FleetState, has: Plan, wants: Plan, present: Present, silent: Collection[str]) -> Iterator[Drift]:
    """Brokers that did not answer when they were to get the files of a plan, and whose files cannot be read."""
    for name, known_as in sorted(state.owed.items()):
        if name in has.broker and name in wants.broker and name not in present.own and name not in silent:
            yield Drift(name, "did not answer before", lost=known_as is None)


def _only_gains(has: Plan, wants: Plan, broker: str) -> bool:
    """Whether a broker keeps all links that its file makes, so that it may get those of another plan at any time."""
    made = [link for link in has.links_of.get(broker, ()) if link[0] == broker or kind_of(has.broker[broker]).both_ends]
    return all({*has.lines_of_link[link]} <= {*wants.lines_of_link.get(link, ())} for link in made)


def _without(plan: Plan, brokers: Collection[str]) -> Plan:
    """A plan without the links of some brokers, to look at whether the others are up."""
    if not brokers:
        return plan
    return plan.unlinked(brokers)


def unanswering(fleet: Fleet, proposal: Proposal) -> frozenset[str]:
    """Brokers of two plans that do not answer; none if no broker does, which is rather our own network."""
    known = {**proposal.has.broker, **proposal.wants.broker}
    dead = silent_of(fleet, known.values())
    asked = [name for name in known if name in fleet.brokers and fleet.looks_at(name)]
    return dead if len(dead) < len(asked) else frozenset()


def _require_same_fleet(state: FleetState, has: Plan, plan: Plan) -> None:
    there = {(broker.name, broker.host) for broker in has.brokers}
    if there and there.isdisjoint((broker.name, broker.host) for broker in plan.brokers):
        raise InputError(
            f"{state.folder}: is the state of another fleet; it has no broker of this plan, but {quoted(min(there)[0])}"
        )


def require_deliveries(fleet: Fleet, proposal: Proposal, *, probing: bool = False) -> None:
    """An error if a step cannot be done: the way to its broker, a password or the MQTT client is missing."""
    silent = next((broker for broker in proposal.wants.brokers if "mqtt" not in kind_of(broker).speaks), None)
    if probing and silent is not None:
        raise InputError(f"probe sends its messages by MQTT, which {silent.kind} does not speak; leave it out", "probe")
    if probing and proposal.steps:
        mqtt_library()
    for step in proposal.steps:
        if step.broker in proposal.wants.broker:
            if step.broker not in fleet.brokers:
                raise InputError(f"{fleet.where}: has no broker {quoted(step.broker)}, which the plan has")
            if step.broker not in fleet.deliveries:
                raise InputError(
                    f"{fleet.where}: broker {quoted(step.broker)}: has no apply, which says how its file gets there"
                )
            if step.file is not None:
                configuration_of(proposal.wants, step.broker)
            if fleet.deliveries[step.broker].check == LINKS:
                _require_client(fleet, proposal.wants.broker[step.broker])


def _require_client(fleet: Fleet, broker: Broker) -> None:
    try:
        kind_of(broker).require_library()
    except InputError as error:
        raise InputError(f'{fleet.where}: broker {quoted(broker.name)}: check = "links" needs it: {error}') from None


def carry_out(
    state: FleetState,
    fleet: Fleet,
    proposal: Proposal,
    tell: Callable[[StepDone], None],
    *,
    probing: bool = False,
    silent: Collection[str] = (),
    present: Present | None = None,
    ending: Callable[[], bool] = lambda: False,
) -> tuple[str, ...]:
    """Make a move, or what is left of it; gives what stood in the way of keeping messages meanwhile.

    What brokers have is read before, and files that are not as they should be are put again. Nothing is done if
    messages would loop over the plan and bridges that are not of it.

    Args:
        state: the fleet; each step is in it before it begins and when it is done.
        fleet: says how files get to brokers.
        proposal: the move.
        tell: hears of every step.
        probing: whether a message is sent on every topic that changes, once its links are there.
        silent: brokers that are known not to answer; those that leave the fleet, and links to them, are not waited
            for.
        present: what brokers have; read now unless given.
        ending: asked before each step but the first; if it says so, the move stops there.
    """
    require_deliveries(fleet, proposal, probing=probing)
    brokers = brokers_of(fleet, proposal.wants)
    present = present or read_present(fleet, brokers.values(), state.folder, silent)
    proposal = adjusted(state, fleet, proposal, present, silent, proposal.left_out)
    require_deliveries(fleet, proposal, probing=probing)
    if proposal.steps and proposal.wants.links:
        require_no_repeats(proposal.wants, still_there(foreign_bridges(brokers, present), proposal.move.steps))
    resumed = _is_resumed(state, proposal)
    if not resumed:
        state.settle({*state.owed} & {*present.own} & {*proposal.has.broker} - {one.broker for one in proposal.drift})
    refused = end_old_sessions(state, fleet, silent, [proposal.wants] if resumed else [])
    if resumed:
        state.turn(back=proposal.move.back)
    elif proposal.steps or proposal.move.reached != state.has:
        state.begin(
            proposal.move, proposal.wants, _abandoned(state, proposal), dict.fromkeys(proposal.left_out, state.has)
        )
    ready = _ready_topics(proposal) if probing else {}
    steps = [(step.broker, step.file) for step in proposal.steps]
    needed = None
    if proposal.move.adopts and not proposal.move.back:
        needed = needed_sessions(proposal.wants, proposal.steps, foreign_bridges(brokers, present))
    keeping = Keeping(fleet, proposal.has, proposal.wants, steps, silent, needed)
    count = len(proposal.steps)
    for number, step in enumerate(proposal.steps):
        done = proposal.move.done + (-1 - number if proposal.move.back else number + 1)
        place = len(proposal.move.steps) - count + number + 1
        if number and ending():
            raise ApplyStopped(
                f"asked to end; {place - 1} of {len(proposal.move.steps)} steps are done. Apply again to go on"
            )
        state.begun()
        began = time.perf_counter()
        unreached, links, probes = None, None, 0
        keeping.before(number)
        try:
            if step.may_fail and step.broker in silent:
                raise DeliveryFailed("it does not answer")
            links = _give(state, fleet, proposal, step, silent)
            topics = ready.get(number, [])
            if topics:
                probes = probe(proposal.wants, topics, fleet.deliveries[step.broker].seconds)
        except (DeliveryFailed, InputError, OSError) as failure:
            if not step.may_fail:
                state.stopped(f"{step.broker}: {failure}")
                raise ApplyStopped(_stopped(proposal, place, step, failure)) from None
            unreached = str(failure)
        state.done(unreached=unreached is not None)
        seconds = time.perf_counter() - began
        tell(StepDone(place, len(proposal.move.steps), step, links, probes, seconds, unreached))
        assert state.move is None or state.move.done == done
    if state.clearing is not None:
        owed = state.owed_sessions | keeping.end()
        state.finish(owed - all_sessions(proposal.wants) if owed else owed)
    return (*refused, *keeping.refused)


def _abandoned(state: FleetState, proposal: Proposal) -> frozenset[Session]:
    """Sessions that a move which is given up may have made, and that neither plan of the new one has."""
    if state.move is None:
        return frozenset()
    given_up = state.plan(state.move.new, proposal.wants.target)
    return all_sessions(given_up) - all_sessions(proposal.has, proposal.wants)


def _give(
    state: FleetState, fleet: Fleet, proposal: Proposal, step: MoveStep, silent: Collection[str]
) -> LinkState | None:
    """Give a broker its file; which of its links are up then."""
    broker, known = _known(state, fleet, proposal, step)
    delivery = fleet.deliveries.get(step.broker)
    if delivery is None:
        raise DeliveryFailed(f"{fleet.where} does not say how to get there")
    # Without links it still has a file, so that nothing of an earlier one is left.
    plan = known.bare
    if step.file is not None and step.file != OLD_BRIDGES:
        plan = proposal.wants if step.file == proposal.wants.id else proposal.has
    if OLD_BRIDGES in (step.file, step.before):
        # Before our file comes, so that no broker that restarts meanwhile has both.
        take_over(driver_of(broker, delivery, state.folder), broker, step, brokers_of(fleet, proposal.wants))
    text = configuration_of(plan, step.broker)
    return put_and_wait(_without(plan, silent), broker, delivery, text, state.folder)


def _known(state: FleetState, fleet: Fleet, proposal: Proposal, step: MoveStep) -> tuple[Broker, Plan]:
    """A broker, and a plan that has it; one of another kind is cleared by the kind that it has."""
    name, plans = step.broker, (proposal.wants, proposal.has)
    if step.file is None and name in proposal.difference.other_kind:
        plans = plans[::-1]
    for plan in plans:
        if name in plan.broker:
            return plan.broker[name], plan
    try:
        plan = state.plan_with(name)
    except InputError:
        if name not in fleet.brokers:
            raise
        broker = brokers_of(fleet, proposal.wants)[name]
        return broker, empty_plan(broker)
    return plan.broker[name], plan


def _ready_topics(proposal: Proposal) -> dict[int, list[str]]:
    """For each step the topics that change and have all their new links when it is done."""
    ready: dict[int, list[str]] = {}
    for change in proposal.difference.topics:
        route = proposal.wants.route.get(change.topic)
        before = proposal.has.route.get(change.topic)
        if route is not None and not set(route.members) & {*proposal.left_out}:
            members = {*route.members, *(before.members if before else ())}
            last = [number for number, step in enumerate(proposal.steps) if step.broker in members]
            if last:
                ready.setdefault(last[-1], []).append(change.topic)
    return ready


def _stopped(proposal: Proposal, place: int, step: MoveStep, failure: Exception) -> str:
    total = len(proposal.move.steps)
    return (
        f"step {place} of {total}, broker {quoted(step.broker)}: {failure}; {place - 1} of {total} steps are done. "
        "Apply again to go on, or roll back"
    )
