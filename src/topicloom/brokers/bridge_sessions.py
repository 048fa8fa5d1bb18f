"""Sessions of bridges, made ready before their bridge comes and forgotten when it does not come back.

A bridge with `cleansession false` has a session at the other broker, which keeps for it what comes while it is away,
and one at its own. Whoever connects under their names can make them before the bridge exists: from then on brokers keep
the link's messages, and the bridge finds them when it starts. So a topic whose old links are gone loses nothing until
its new ones are there. What came over the old links after that is delivered twice.

What was published before the sessions were ready, and is still on its way over old links when these end, is lost. So
they stay for `UNDER_WAY_SECONDS` more. Without that wait 11 of 19,560 deliveries of QoS 2, at 200 messages a second
and topic on a busy machine, were lost, all published at most 0.16 s before the first old link went.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from topicloom.brokers.diff import topic_families
from topicloom.brokers.kind import Pair, Session
from topicloom.brokers.kinds import DEFAULT, kind_of, placed
from topicloom.brokers.local import connect, mqtt_library
from topicloom.brokers.plan import Line, Plan
from topicloom.brokers.store import FleetState
from topicloom.errors import InputError
from topicloom.model.fleet import LINKS, Broker, Fleet

_SECONDS = 5.0
# How long a message may be under way over old links before it is lost with them.
UNDER_WAY_SECONDS = 0.5
Sessions = Mapping[Pair, tuple[Line, ...]]


def new_sessions(old: Plan, new: Plan) -> Sessions:
    """The links of a plan whose sessions another plan has not, with what they carry; of kinds that keep messages."""
    had = all_sessions(old)
    return {link: lines for link, lines in new.lines_of_link.items() if not had.issuperset(sessions_of(new, link))}


def first_needed(old: Plan, new: Plan, steps: Sequence[tuple[str, bool]]) -> dict[int, list[Pair]]:
    """For each step the new links that must be ready before it, as it takes links from a topic that they will carry.

    Args:
        old: the plan that the fleet has.
        new: the plan that it gets.
        steps: what is left of the change: brokers in order, each with whether it gets its new file or goes without
            links. A link whose broker has its new file already is up, and would be cut by a second login as its
            session.
    """
    needed: dict[int, list[Pair]] = {}
    family = topic_families(old, new)
    broken = [{family[topic] for topic in _broken(old, new, broker, has_new=has_new)} for broker, has_new in steps]
    to_come = {broker for broker, has_new in steps if has_new}
    for link in new_sessions(old, new):
        if link[0] not in to_come:
            continue
        topics = {family[route.topic] for route in new.routes_of_link[link]}
        for number, (broker, _) in enumerate(steps):
            if broker == link[0] or not topics.isdisjoint(broken[number]):
                needed.setdefault(number, []).append(link)
                break
    return needed


def _broken(old: Plan, new: Plan, broker: str, *, has_new: bool) -> Iterator[str]:
    """The topics of links that a broker opens by the old plan, and not, or with other sessions, by the new one."""
    gone = new_sessions(new, old)
    for link in old.links_of.get(broker, ()):
        if link[0] == broker and (link in gone or not has_new):
            yield from (route.topic for route in old.routes_of_link[link])


def let_arrive() -> None:
    """Wait until what was under way when sessions were made ready has come over the old links."""
    time.sleep(UNDER_WAY_SECONDS)


def sessions_of(plan: Plan, link: Pair) -> tuple[Session, ...]:
    """The sessions of a link, none if a kind at one of its ends keeps no messages."""
    kinds = [kind_of(plan.broker[name]) for name in link]
    return kinds[0].sessions(link, plan.lines_of_link[link]) if all(kind.keeps_messages for kind in kinds) else ()


def make_session(broker: Broker, name: str, wanted: Sequence[tuple[str, int]]) -> None:
    """Make a session of MQTT with these subscriptions, or end it if there are none."""
    mqtt = mqtt_library()
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, name, clean_session=not wanted, protocol=mqtt.MQTTv311)
    waiting = [1 + len(wanted)]

    def on_connect(_client: Any, _data: Any, _flags: Any, code: Any, _properties: Any) -> None:
        waiting[0] -= not code.is_failure
        for begin in range(0, len(wanted), 100):
            client.subscribe(list(wanted[begin : begin + 100]))

    def on_subscribe(_client: Any, _data: Any, _mid: int, codes: list[Any], _properties: Any) -> None:
        waiting[0] -= sum(not code.is_failure for code in codes)

    client.on_connect, client.on_subscribe = on_connect, on_subscribe
    # What comes meanwhile is not acknowledged, so it stays for the bridge.
    client.manual_ack_set(True)
    # A broker sends a bridge nothing back that came from it, and remembers that with its subscriptions.
    client.enable_bridge_mode()
    try:
        connect(client, broker)
    except OSError as error:
        raise InputError(f"broker '{broker.name}' does not answer ({error.strerror or error})") from None
    deadline = time.monotonic() + _SECONDS
    while waiting[0] > 0:
        if client.loop(0.05) != mqtt.MQTT_ERR_SUCCESS or time.monotonic() > deadline:
            raise InputError(f"broker '{broker.name}' does not let the session {name} log in and subscribe")
    client.disconnect()


class Keeping:
    """Makes sessions ready before the steps that need them, where we may log in at both brokers of a link.

    A broker that refuses stops nothing; `refused` says which did, and messages of its links may be lost. Brokers in
    `silent` are not asked. `needed` gives the links for each step, unless the two plans tell.
    """

    def __init__(
        self,
        fleet: Fleet,
        has: Plan,
        wants: Plan,
        steps: Sequence[tuple[str, str | None]],
        silent: Collection[str] = (),
        needed: Mapping[int, list[Pair]] | None = None,
    ) -> None:
        asked = {name for name, delivery in fleet.deliveries.items() if delivery.check == LINKS}
        self._brokers = {name: broker for name, broker in {**has.broker, **wants.broker}.items() if name in asked}
        self._silent = {*silent}
        self._has, self._wants = has, wants
        self._needed = needed or {}
        self._lasting = bool(has.brokers) and bool(wants.brokers)
        if self._lasting:
            self._needed = first_needed(has, wants, [(name, file is not None) for name, file in steps])
        self.refused: tuple[str, ...] = ()

    def before(self, step: int) -> None:
        """Make ready what a step needs."""
        answering = self._brokers.keys() - self._silent
        needed = [link for link in self._needed.get(step, []) if answering >= set(link)]
        for link in needed:
            try:
                kind_of(self._wants.broker[link[0]]).prepare(self._brokers, link, self._wants.lines_of_link[link])
            except InputError as error:
                self.refused = (*self.refused, str(error))
        if needed:
            let_arrive()

    def end(self) -> frozenset[Session]:
        """Let brokers forget the sessions of links that are gone; gives those that they could not be asked to."""
        if not self._lasting:
            return frozenset()
        gone = new_sessions(self._wants, self._has)
        sessions = (session for link in gone for session in sessions_of(self._has, link))
        owed, refused = _ended(sessions, self._brokers, self._silent)
        self.refused = (*self.refused, *refused)
        return owed


def _ended(
    sessions: Iterable[Session], brokers: Mapping[str, Broker], silent: Collection[str]
) -> tuple[frozenset[Session], list[str]]:
    """End sessions; gives those that are left, and why. A broker that refuses once is not asked again."""
    owed, refused = set(), {}
    for broker, name in sessions:
        if broker not in brokers:
            continue
        if broker not in silent and broker not in refused:
            try:
                kind_of(brokers[broker]).forget(brokers[broker], name)
                continue
            except InputError as error:
                refused[broker] = str(error)
        owed.add((broker, name))
    return frozenset(owed), list(refused.values())


def all_sessions(*plans: Plan) -> frozenset[Session]:
    """The sessions of all links of some plans."""
    return frozenset(session for plan in plans for link in plan.links for session in sessions_of(plan, link))


def end_old_sessions(
    state: FleetState, fleet: Fleet, silent: Collection[str] = (), kept: Iterable[Plan] = ()
) -> list[str]:
    """End the sessions of links that are gone, as far as earlier runs left them; gives which brokers refused.

    Args:
        state: says which they are.
        fleet: says how to log in at brokers; what is owed at a broker that we may not log in at is forgotten.
        silent: brokers that do not answer, which stay for later.
        kept: plans whose sessions are needed, besides that of the plan that the fleet has.
    """
    refused: list[str] = []
    if state.clearing is not None:
        has, wants = (state.plan(known_as, DEFAULT) for known_as in state.clearing)
        keeping = Keeping(fleet, has, wants, [], silent)
        state.finish(state.owed_sessions | keeping.end())
        refused += keeping.refused
    if state.owed_sessions:
        brokers = {
            name: placed(fleet.brokers[name], DEFAULT)
            for name in {broker for broker, _ in state.owed_sessions} & fleet.brokers.keys()
            if name in fleet.deliveries and fleet.deliveries[name].check == LINKS
        }
        gone = state.owed_sessions - all_sessions(state.plan(state.has, DEFAULT), *kept)
        owed, more = _ended(sorted(gone), brokers, silent)
        if owed != state.owed_sessions:
            state.finish(owed)
        refused += more
    return refused
