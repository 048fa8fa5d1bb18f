"""The controller, plan changes and the maintainer on a simulated fleet.

The controller, its decisions, the state of the fleet, the order of a change and the files of brokers are the real ones;
brokers, the network between them and time are simulated. Brokers crash and come back with what lies on their disks,
links are cut, deliveries fail and take time, events come late and twice, and the controller is killed in the middle of
a change and begins again with what is on its disk. Brokers hang and go on with what they ran, people change files and
make bridges of their own, and some brokers take no connections. Of two fleets one tells no events: the controller asks
its brokers.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from campaign.ledger import Ledger
from campaign.simulated_fleet import AtOnce, SimulatedBroker, SimulatedFleet, received
from campaign.simulated_kind import NAME, SimulatedKind
from topicloom.brokers.decisions import Decisions
from topicloom.brokers.feed import CollectedFeed, Feed
from topicloom.brokers.fleet_file import fleet_from_tables
from topicloom.brokers.kind import DeliveryFailed
from topicloom.brokers.rows import BrokerRows, Heard, SourceError, looked_at
from topicloom.brokers.store import opened
from topicloom.brokers.watch import Allowance, Controller, WatchSettings
from topicloom.model.demand import Demand
from topicloom.model.events import Event
from topicloom.model.fleet import Broker, Source

_EVERY_SECONDS = 10.0
_HOUR = 3600.0
# Hours between two bursts of trouble, on average, and how long one lasts.
_CALM_HOURS, _BURST_SECONDS = 6.0, 300.0
# Turns of the controller until which everything must have settled after a burst.
_PATIENCE = 2000
_MAX_LINKS = 4
# How long what brokers told still counts when they tell it no more.
_HOLD_SECONDS = 30.0
# Until when a controller has read back and mended what somebody changed.
_READ_BACK_SECONDS = 150.0


class Broken(Exception):  # noqa: N818  it says what happened
    """A promise was broken."""


class Stuck(Exception):  # noqa: N818  it says what happened
    """No links within the limits connect a topic, which the controller says and waits for."""


class Killed(BaseException):
    """The controller is killed."""


def simulate(ledger: Ledger, seed: int, hours: float) -> None:
    """Let fleets live until so many fleet-hours are over, a day each."""
    done, number = 0.0, 0
    while done < hours:
        world = World(seed + number)
        try:
            world.live(24.0)
        except Stuck:
            ledger.count("simulated fleets whose limits left a topic in pieces")
        except Broken as broken:
            again = f"./dev campaign --part simulation --seed {seed + number} --only 0"
            ledger.fail("simulated fleet-hours", f"{broken} at {world.clock}", again)
        done += world.hours
        ledger.count("simulated fleet-hours", round(world.hours))
        ledger.count("simulated steps, all promises checked at each", world.fleet.steps)
        ledger.count("simulated kills of the controller", world.kills)
        ledger.count("simulated files that somebody changed", world.drifts)
        ledger.count("simulated brokers that hung", world.hangs)
        ledger.count("simulated bridges by hand", world.bridges)
        ledger.count("simulated circles by brokers that came back with old files", world.circles)
        longest = "longest such circle in virtual seconds"
        ledger.counts[longest] = max(ledger.counts[longest], round(world.longest_circle))
        number += 1


class World:
    """One fleet and what happens to it."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.fleet = SimulatedFleet(self.dice)
        self.names = [f"b{number}" for number in range(self.dice.randint(4, 9))]
        self.topics = [f"t{number}" for number in range(self.dice.randint(2, 6))]
        self.limited = self.dice.random() < 0.5
        defaults: dict[str, object] = {"kind": NAME, "apply": {"via": NAME, "url": "http://simulated"}}
        if self.limited:
            defaults["max_links"] = _MAX_LINKS
        # Whether the controller asks brokers who subscribes, instead of being told of events.
        self.collects = seed % 2 == 1
        if self.collects:
            defaults["collect"] = {NAME: "x"}
        brokers: dict[str, dict[str, object]] = {name: {"host": f"{name}.example"} for name in self.names}
        if seed % 3 == 0:
            # The controller cannot connect to it, so it never counts as gone.
            brokers[self.names[0]] |= {"accepts": False, "apply": {"check": "nothing"}}
        self.kind = SimulatedKind(self)
        with self.kind.known():
            self.ways = fleet_from_tables({"defaults": defaults, "brokers": brokers})
        self.wanted = {name: self._some_topics() for name in self.names[: self.dice.randint(3, len(self.names))]}
        self.events: list[Event] = []
        self.told: list[Event] = []
        self.began = self.fleet.now
        self.kills = 0
        self.fails = False
        self.kill_soon = False
        self.controller: Controller | None = None
        # Brokers that came back by themselves, with whatever file they had.
        self.returned: set[str] = set()
        self.back_since: dict[str, float] = {}
        # What each broker was given, and when somebody last put another file there.
        self.had: dict[str, list[str]] = {name: [] for name in self.names}
        self.drifts, self.drifted_at = 0, -_HOUR
        self.hangs, self.bridges = 0, 0
        self.circles, self.longest_circle = 0, 0.0
        self.circle_since: float | None = None
        for name in self.names:
            self.fleet.brokers[name] = SimulatedBroker(name)
        self.fleet.after_step = self.check

    @property
    def hours(self) -> float:
        """How long it has lived."""
        return (self.fleet.now - self.began) / _HOUR

    @property
    def clock(self) -> str:
        """The hour of its life."""
        return f"hour {self.hours:.3f}"

    def live(self, hours: float) -> None:
        """Live for so many hours, in calm and in trouble."""
        with tempfile.TemporaryDirectory(prefix="topicloom-simulated-", dir="/dev/shm") as folder, self.kind.known():
            self.folder = Path(folder)
            first = Demand.of_topics(self.wanted)
            with self._controller(first) as controller:
                self._settle(controller)
            while self.hours < hours:
                self.fleet.pass_time(self.dice.expovariate(1 / (_CALM_HOURS * _HOUR)))
                self._burst()
                while not self._turns_until_settled():
                    self.kills += 1
                self.returned.clear()
                self._check_delivery()
                self.check()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _some_topics(self) -> set[str]:
        return set(self.dice.sample(self.topics, self.dice.randint(1, len(self.topics))))

    # What is real, with the ends of its wires in this world.

    def driver(self, broker: str) -> _Driver:
        """Return the way to a broker."""
        return _Driver(self, broker)

    @contextmanager
    def _controller(self, begin: object = None) -> Iterator[Controller]:
        with opened(self.folder / "state", lambda: self.fleet.now) as state:
            decisions = Decisions(state, self.ways.constraints, begin)  # type: ignore[arg-type]
            settings = WatchSettings(NAME, True, _EVERY_SECONDS, True, 15.0, 30.0)
            feed: Feed = self._feed
            if self.collects:
                first_id, folder = decisions.last_event + 1, self.folder / "collected"
                folder.mkdir(exist_ok=True)
                feed = CollectedFeed(
                    *(self.ways, folder, decisions.demand, first_id, _HOLD_SECONDS, lambda: self.fleet.now),
                    away=lambda: decisions.away,
                    at_once=1,
                )
            controller = Controller(
                self.ways, decisions, state, feed, Allowance(10_000), settings, lambda text: None, pool=AtOnce()
            )
            self.controller = controller
            try:
                yield controller
                decisions.close()
            finally:
                self.controller = None

    def answers(self, broker: Broker) -> bool:
        """Whether a broker answers."""
        if not broker.accepts:
            raise Broken(f"{broker.name}, which accepts no connections, is connected to")
        return self._works(broker.name)

    def _works(self, name: str) -> bool:
        return self.fleet.brokers[name].up and frozenset((name, "")) not in self.fleet.cut

    def tells(self, _source: Source, name: str, before: BrokerRows, now_us: int) -> BrokerRows:
        """What a broker answers that is asked who subscribes; after a restart its clients come back one by one."""
        self.maybe_killed()
        if not self._works(name):
            raise SourceError("no answer")
        here = sorted(self.wanted.get(name, ()))
        if self.fleet.now - self.back_since.get(name, 0.0) < _HOLD_SECONDS / 2:
            here = here[::2]
        told = [Heard(topic, role, f"{topic} at {name}") for topic in here for role in ("sub", "pub")]
        return looked_at(before, told, now_us)

    def _feed(self) -> tuple[list[Event], list[str]]:
        """Events that have come, some of them again."""
        come, self.events = self.events, []
        if self.told and self.dice.random() < 0.3:
            come = self.told[-3:] + come
        self.told += come
        return come, []

    # What happens.

    def _burst(self) -> None:
        for _ in range(self.dice.randint(1, 6)):
            at = self.dice.random() * _BURST_SECONDS
            self.fleet.plan_at(
                at,
                self.dice.choice(
                    (self._churn, self._churn, self._outage, self._partition, self._drift, self._hang, self._by_hand)
                ),
            )
        self.fleet.plan_at(self.dice.random() * _BURST_SECONDS, self._delivery_trouble)
        if self.dice.random() < 0.5:
            self.fleet.plan_at(self.dice.random() * _BURST_SECONDS, self._kill_controller)

    def _churn(self) -> None:
        number = (self.told + self.events)[-1].id + 1 if self.told or self.events else 0
        there = sorted(self.wanted)
        away = [name for name in self.names if name not in self.wanted]
        kind = self.dice.choice(("join", "leave", "change", "change"))
        if kind == "join" and away:
            name = self.dice.choice(away)
            self.wanted[name] = self._some_topics()
            event = Event(number, "join", name, tuple(sorted(self.wanted[name])))
        elif kind == "leave" and len(there) > 3:
            name = self.dice.choice(there)
            del self.wanted[name]
            event = Event(number, "leave", name)
        else:
            name = self.dice.choice(there)
            before, after = self.wanted[name], self._some_topics()
            if before == after:
                return
            self.wanted[name] = after
            event = Event(number, "change", name, tuple(sorted(after - before)), tuple(sorted(before - after)))
        if not self.collects:
            self.events.append(event)

    def _outage(self) -> None:
        name = self.dice.choice(self.names)
        if self.fleet.brokers[name].up:
            self.fleet.crash(name)
            seconds = self.dice.choice((5.0, 60.0, 900.0)) * self.dice.random()
            self.fleet.plan_at(seconds, lambda: self._return(name))

    def _drift(self) -> None:
        """Somebody empties the file of a broker, or puts back an old one, and restarts it."""
        name = self.dice.choice(self.names)
        broker = self.fleet.brokers[name]
        if broker.up:
            self.drifts += 1
            self.drifted_at = self.fleet.now
            broker.disk = self.dice.choice(["", *self.had[name]])
            self._return(name)

    def _hang(self) -> None:
        """A broker hangs for a while, and goes on with what it had."""
        name = self.dice.choice(self.names)
        if self.fleet.brokers[name].up:
            self.hangs += 1
            self.fleet.hang(name)
            self.fleet.plan_at(self.dice.choice((10.0, 60.0, 600.0)) * self.dice.random(), lambda: self._wake(name))

    def _wake(self, name: str) -> None:
        if not self.fleet.brokers[name].up:
            self.returned.add(name)
            self.fleet.wake(name)

    def _by_hand(self) -> None:
        """Somebody bridges two brokers by hand, where that closes no cycle, and takes the bridge away again later."""
        if self.controller is None or self.controller.state.move is not None:
            return
        one, other = self.dice.sample(self.names, 2)
        topic = self.dice.choice(self.topics)
        text = f"connection by-hand\naddress {other}.example:1883\ntopic {topic} both\n"
        if self.fleet.brokers[one].foreign:
            return
        after, self.fleet.after_step = self.fleet.after_step, lambda: None
        self.fleet.by_hand(one, text)
        closes = self._circle(()) is not None
        if closes:
            self.fleet.by_hand(one, "")
        else:
            self.bridges += 1
            self.fleet.plan_at(
                self.dice.choice((60.0, 900.0)) * self.dice.random(), lambda: self.fleet.by_hand(one, "")
            )
        self.fleet.after_step = after

    def _return(self, name: str) -> None:
        self.returned.add(name)
        self.back_since[name] = self.fleet.now
        self.fleet.restart(name)

    def _partition(self) -> None:
        pair = frozenset((self.dice.choice(self.names), self.dice.choice([*self.names, ""])))
        self.fleet.cut.add(pair)
        self.fleet.plan_at(self.dice.choice((5.0, 300.0)) * self.dice.random(), lambda: self.fleet.cut.discard(pair))

    def _delivery_trouble(self) -> None:
        self.fails = True
        self.fleet.plan_at(120.0 * self.dice.random(), self._no_delivery_trouble)

    def _no_delivery_trouble(self) -> None:
        self.fails = False

    def _kill_controller(self) -> None:
        self.kill_soon = True

    def maybe_killed(self) -> None:
        """Where the controller may be killed: at each of its calls into the world."""
        if self.kill_soon and self.dice.random() < 0.4:
            self.kill_soon = False
            raise Killed

    # What is promised.

    def _turns_until_settled(self) -> bool:
        """Whether all settled before the controller was killed."""
        try:
            with self._controller() as controller:
                self._settle(controller)
        except Killed:
            return False
        return True

    def _settle(self, controller: Controller) -> None:
        quiet = 0
        for _ in range(_PATIENCE):
            news = controller.turn(self.fleet.now)
            self.fleet.pass_time(_EVERY_SECONDS)
            known = {
                name: {topic for topic, _ in wishes} for name, wishes in controller.decisions.demand.by_node.items()
            }
            read_back = self.fleet.now - self.drifted_at > _READ_BACK_SECONDS
            calm = (
                read_back
                and not news
                and controller.waiting is None
                and not controller.decisions.away
                and not self.events
            )
            quiet = quiet + 1 if calm and known == self.wanted and self.fleet.next_due is None else 0
            if quiet > 1:
                return
        if self.limited and "falls into pieces" in str(controller.waiting):
            raise Stuck
        raise Broken(f"has not settled after {_PATIENCE} turns: waits for {controller.waiting}")

    def check(self) -> None:
        """What must be so at every step: no message goes in circles.

        A broker that the controller has lost, and that runs on or comes back with its old file, may close one until the
        controller reaches it, which is counted; links that others open never do.
        """
        lost = set(self.returned)
        if self.controller is not None:
            lost |= self.controller.decisions.away | self.controller.state.owed.keys()
        circle = self._circle(lost)
        if circle is not None:
            raise Broken(circle)
        by_lost = self._circle(()) is not None if lost else False
        if by_lost and self.circle_since is None:
            self.circle_since = self.fleet.now
            self.circles += 1
        elif not by_lost and self.circle_since is not None:
            self.longest_circle = max(self.longest_circle, self.fleet.now - self.circle_since)
            self.circle_since = None

    def _circle(self, without: Collection[str]) -> str | None:
        for topic, ways in self.fleet.ways(ideal=True, without=without).items():
            for source in {name for way in ways for name in way}:
                copies = received(ways, source, 4 * len(self.names))
                twice = [name for name, number in copies.items() if number > 1]
                if twice:
                    return f"topic {topic} from {source} reaches {min(twice)} several times, by {dict(ways)}"
        return None

    def _check_delivery(self) -> None:
        """What must be so when all has settled: each message once to everybody who wants it, and to nobody else."""
        ways = self.fleet.ways()
        for topic in self.topics:
            takers = {name for name, topics in self.wanted.items() if topic in topics}
            for source in sorted(takers):
                copies = received(ways.get(topic, _NONE), source, 4 * len(self.names))
                if not self.limited and {*copies} != takers:
                    raise Broken(f"topic {topic} from {source} reaches {sorted(copies)}, and {sorted(takers)} want it")
                if not {*copies} <= takers or max(copies.values()) > 1:
                    raise Broken(f"topic {topic} from {source} reaches {dict(copies)}, and {sorted(takers)} want it")
        if self.limited:
            links = self.fleet.links()
            for name in self.names:
                if sum(name in link for link in links) > _MAX_LINKS:
                    raise Broken(f"{name} has more than {_MAX_LINKS} links")
        if any(number > 1 for number in self.fleet.links().values()):
            raise Broken("both ends open a link")


_NONE: Counter[tuple[str, str]] = Counter()


class _Driver:
    """Puts files onto simulated brokers; it takes time, and may fail before or after."""

    def __init__(self, world: World, broker: str) -> None:
        self._world = world
        self._broker = broker

    @property
    def place(self) -> str:
        """Where its file lies."""
        return self._broker

    def get(self) -> dict[str, str]:
        """What lies on the disk of a broker."""
        broker = self._world.fleet.brokers[self._broker]
        if not broker.up:
            raise DeliveryFailed("no answer")
        files = {self.place: broker.disk, f"{self.place}/by-hand.conf": broker.foreign}
        return {place: text for place, text in files.items() if text}

    def set_aside(self, places: Iterable[str]) -> None:
        """Nothing: there are no bridges of others."""

    def bring_back(self) -> None:
        """Nothing was set aside."""

    def ready(self) -> tuple[tuple[str, str | None], ...]:
        """Nothing is needed."""
        return ()

    def put(self, text: str) -> None:
        """Put the file of a broker."""
        world = self._world
        world.maybe_killed()
        world.fleet.pass_time(world.dice.random() * 3)
        if world.fails and world.dice.random() < 0.3:
            raise DeliveryFailed("the network is down")
        if not world.fleet.brokers[self._broker].up:
            raise DeliveryFailed("no answer")
        world.fleet.put(self._broker, text)
        world.had[self._broker] = [*world.had[self._broker][-3:], text]
        world.maybe_killed()

    def reload(self) -> None:
        """Make the broker take it."""
        world = self._world
        world.fleet.pass_time(world.dice.random() * 2)
        if not world.fleet.brokers[self._broker].up:
            raise DeliveryFailed("no answer")
        world.returned.discard(self._broker)
        world.fleet.restart(self._broker)
        if world.fails and world.dice.random() < 0.2:
            raise DeliveryFailed("the answer was lost")
        world.maybe_killed()
