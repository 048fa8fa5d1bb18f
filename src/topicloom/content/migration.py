"""Migration of users between brokers.

The post between brokers and users: what is sent arrives later, and between the same two in the order sent.

What brokers have told each other: the sums by channel and the load of each, and what follows for a user's move.

All brokers hear the same announcements in the same order, and none decides before it has heard all. So what they know
is the same, and is kept once.

Brokers and users that exchange the calls of the Content paper, section V.

A broker asks a user to move (`request_to_move`); it accepts or declines. Its home then stops delivering to it,
replicates what it holds to the foreign broker, and redirects there what still comes for the user. The foreign broker
announces that it wants the user's channels, and holds its messages until it connects. Once nothing can come any more
to the home alone, after the time to live, the home stops redirecting and announces which channels it no longer wants.

A message may so reach the foreign broker twice, by itself and redirected. Brokers remember which messages they have
delivered to a user lately and replicate that too, so the user gets each of them once.

Migration: the Content paper, sections IV-C and V, the distributed algorithm.

Rule: brokers take turns. In its turn a broker looks at its users, those with most traffic first, and asks each to
move to the broker that lowers the whole cost most, among those with room. It knows its own users and what the others
announced: the sums by channel and the load of each. A round is one turn of every broker; rounds go on until one brings
no move.

Or they decide at once, and selfishly: each broker may "independently redirect its associated clients to another broker
that can reduce its cost of routing messages to all other brokers", those that have "the most traffic" (IV-C).
In each period every broker looks for its user of most traffic that gains by a move: on its own link, and by what its
own messages cost from there. It does not look at what the move costs others, nor at what other brokers decide in the
same period; a broker that has promised all its room refuses. Nothing says that this ends: `periods` does.

Users register by messages. With a `history`, the rates that brokers know are summarized from as many messages as users
happen to publish in so much time; without, they are right.

Guarantee, in turn and without history: the cost falls with every accepted move, as only the broker whose turn it is
moves users and all announcements have arrived before it decides. A broker over its capacity, after interests have
changed, moves users whatever that costs until it fits; those moves are counted apart.

Cost: each look at a user takes brokers x its channels, and brokers^2 x the tree for each channel that its broker
wants for this user alone.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.content import clustering, packing, random, steiner_mixing
from topicloom.content.core_trees import channel_weights
from topicloom.content.cost import Counts, core_tables
from topicloom.content.move_costs import (
    ChannelTrees,
    first_that_may_move,
    move_changes,
    set_weights,
    user_demand,
    users_demand,
)
from topicloom.content.network import DoesNotFit, Floats, Ids, Network, SparseRows, summed
from topicloom.content.placing import Assigner, Placed, fits
from topicloom.errors import InputError
from topicloom.registry import Parameter

# ("broker", id) or ("user", id).
Address = tuple[str, int]
# How long a message takes: always the same, or by sender and receiver.
Delay = float | Callable[[Address, Address], float]


class Post:
    """Carries calls from actor to actor in the order of their arrival, and counts them by name."""

    def __init__(self, delay: Delay = 1.0) -> None:
        self.now = 0.0
        self.sent: Counter[str] = Counter()
        self._delay = delay
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()
        self._last: dict[tuple[Address, Address], float] = {}

    def send(self, sender: Address, receiver: Address, call: Callable[..., None], *given: Any) -> None:
        """Make a call of the receiver, when it arrives there."""
        self.sent[call.__name__] += 1
        self._at(self._arrival(sender, receiver), lambda: call(*given))

    def send_all(self, sender: Address, receivers: Sequence[int], call: Callable[..., None], *given: Any) -> None:
        """Make a call of many brokers; it is given the ids of those whom it reaches at the same time."""
        self.sent[call.__name__] += len(receivers)
        by_time: dict[float, list[int]] = {}
        if isinstance(self._delay, float):
            by_time[self.now + self._delay] = list(receivers)
        else:
            for receiver in receivers:
                by_time.setdefault(self._arrival(sender, ("broker", receiver)), []).append(receiver)
        for time, ids in by_time.items():
            self._at(time, lambda ids=ids: call(ids, *given))  # type: ignore[misc]

    def later(self, wait: float, do: Callable[[], None]) -> None:
        """Do something after a time; nobody is sent anything."""
        self._at(self.now + wait, do)

    def step(self) -> bool:
        """Let the next arrive; False where there is nothing on its way."""
        if not self._queue:
            return False
        self.now, _, do = heapq.heappop(self._queue)
        do()
        return True

    def _arrival(self, sender: Address, receiver: Address) -> float:
        if isinstance(self._delay, float):
            return self.now + self._delay
        link = (sender, receiver)
        time = max(self.now + self._delay(sender, receiver), self._last.get(link, 0.0))
        self._last[link] = time
        return time

    def _at(self, time: float, do: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (time, next(self._number), do))


@dataclass(frozen=True, eq=False)
class Record:
    """What a broker holds of a user: what it registered, and the rates summarized from its messages."""

    user: int
    channels: Ids
    rates: Floats
    wants: Ids
    prices: Floats


def record(network: Network, user: int) -> Record:
    """What a user registers, with the rates of its history."""
    published = slice(network.rates.start[user], network.rates.start[user + 1])
    wanted = slice(network.wants.start[user], network.wants.start[user + 1])
    return Record(
        user,
        network.rates.columns[published],
        network.rates.values[published],
        network.wants.columns[wanted],
        network.access[user],
    )


class Told:
    """The announced sums, and the weights of the trees that follow from them."""

    def __init__(self, network: Network, brokers: Ids) -> None:
        tables = core_tables(network, brokers)
        self.published: Floats = tables.published
        self.subscribers: Counts = tables.subscribers
        self.load: Floats = summed(brokers, network.traffic.demand, network.broker_count)
        self._total: Floats = tables.published.sum(axis=1)
        self._wanting = tables.subscribers.sum(axis=1)
        self._core, self._capacity = network.core, network.capacity
        self._network = network
        channels, count = network.channel_count, network.broker_count
        # Growth and pairs are filled where they are needed: pages that nobody writes take no memory.
        self._trees = ChannelTrees(
            weights=channel_weights(network.core, tables.subscribers),
            outside=(tables.subscribers == 0).sum(axis=1),
            growth=np.empty((channels, count)),
            growth_is_known=np.zeros(channels, np.bool_),
            pairs=np.empty((channels, count, count)),
            pair_is_known=np.zeros(channels, np.bool_),
        )

    def demand(self, of: Record) -> float:
        """What a user sends and is delivered."""
        return float(user_demand(self._own(of), of.wants, self._total, self._wanting))

    def changes(self, of: Record, home: int, demand: float) -> Floats:
        """How the cost changes if a user of that demand leaves its home for each broker."""
        found: Floats = move_changes(
            self._core,
            of.prices,
            demand,
            home,
            self._own(of),
            of.wants,
            self.published,
            self.subscribers,
            self._trees,
        )
        return found

    def demands(self, users: Ids) -> Floats:
        """What each of some users sends and is delivered."""
        found: Floats = users_demand(users, self._network.rates, self._network.wants, self._total, self._wanting)
        return found

    def first_that_may_move(self, users: Ids, demand: Floats, begin: int, home: int) -> int:
        """The place of the first of a broker's users, from one on, for whom some move may lower the cost."""
        network = self._network
        given = (network.access, network.rates, network.wants, network.capacity)
        sums = (self.published, self.subscribers, self.load, self._trees)
        return int(first_that_may_move(users, demand, begin, home, self._core, given, *sums))

    def own_changes(self, of: Record, home: int, demand: float) -> Floats:
        """How what a user itself costs changes if it leaves its home for each broker: its link, and its messages."""
        links = (of.prices - of.prices[home]) * demand
        weights = self._trees.weights[of.channels]
        trees = weights - weights[:, home : home + 1]
        changes: Floats = links + of.rates @ trees
        changes[home] = 0.0
        return changes

    def has_room(self, broker: int, demand: float) -> bool:
        """Whether a broker can take a user."""
        return bool(fits(self.load[broker], demand, self._capacity[broker]))

    def is_full(self, broker: int) -> bool:
        """Whether a broker has more than its capacity."""
        return not self.has_room(broker, 0.0)

    def hear_moved(self, of: Record, home: int, foreign: int) -> None:
        """A user is at another broker now."""
        demand = self.demand(of)
        self.load[home] -= demand
        self.load[foreign] += demand
        self.published[of.channels, home] -= of.rates
        self.published[of.channels, foreign] += of.rates
        self.subscribers[of.wants, home] -= 1
        self.subscribers[of.wants, foreign] += 1
        others = (self.subscribers[of.wants, home] == 0) | (self.subscribers[of.wants, foreign] == 1)
        self._trees.growth_is_known[of.channels] = False
        for channel in of.wants[others]:
            set_weights(self._core, self.subscribers, channel, self._trees)

    def _own(self, of: Record) -> Floats:
        own = np.zeros(len(self._total))
        own[of.channels] = of.rates
        return own


Flags = npt.NDArray[np.bool_]


class User:
    """Publishes, is delivered messages, and moves when asked to unless it sticks to its broker."""

    def __init__(self, number: int, home: BrokerActor, post: Post, *, sticks: bool) -> None:
        self.address: Address = ("user", number)
        self.broker = home
        self.delivered: list[int] = []
        self._post = post
        self._sticks = sticks

    def publish(self, message: int, channel: int) -> None:
        """Send a message to the broker that it is connected to."""
        self._post.send(self.address, self.broker.address, self.broker.publish, message, channel, self.address[1])

    def deliver(self, message: int) -> None:
        """Be given a message."""
        self.delivered.append(message)

    def request_to_move(self, home: BrokerActor) -> None:
        """Be asked to move."""
        answer = home.decline if self._sticks else home.accept
        self._post.send(self.address, home.address, answer, self.address[1])

    def moved(self, foreign: BrokerActor) -> None:
        """Be given the address of the foreign broker, and connect."""
        self.broker = foreign
        self._post.send(self.address, foreign.address, foreign.connect, self.address[1])


class BrokerActor:
    """Holds the records of its users, delivers to them, and hands them over to other brokers.

    `wanted[c, b]` says whether, as far as it has heard, broker b wants channel c.
    """

    def __init__(self, number: int, wanted: Flags, post: Post, ttl: float) -> None:
        self.address: Address = ("broker", number)
        self.records: dict[int, Record] = {}
        self.users: dict[int, User] = {}
        self.others: dict[int, BrokerActor] = {}
        self.wanted = wanted
        # What the run is told: a move is over, or was declined; a user is here now; channels nobody here wants any
        # more.
        self.on_end: Callable[[int, bool], None] = lambda user, accepted: None
        self.on_arrival: Callable[[Record, int, int], None] = lambda record, home, foreign: None
        self.on_unwanted: Callable[[int, Ids], None] = lambda broker, channels: None
        self._post = post
        self._ttl = ttl
        # Users here and on their way to another broker that want each channel.
        self._subscribers = np.zeros(len(wanted), np.int64)
        self._destination: dict[int, int] = {}
        self._leaving: dict[int, Record] = {}
        self._held: dict[int, list[int]] = {}
        self._recent: dict[int, deque[tuple[float, int]]] = {}

    def register(self, user: User, record: Record) -> None:
        """Take a user in, or take note of its new interests; its rates are those summarized from its messages."""
        number = user.address[1]
        if number in self.records:
            self._subscribers[self.records[number].wants] -= 1
        self._subscribers[record.wants] += 1
        self.users[number], self.records[number] = user, record

    def ask(self, user: int, foreign: int) -> None:
        """Ask a user to move to another broker."""
        self._destination[user] = foreign
        self._post.send(self.address, ("user", user), self.users[user].request_to_move, self)

    def decline(self, user: int) -> None:
        """The user stays."""
        del self._destination[user]
        self.on_end(user, False)

    def accept(self, user: int) -> None:
        """The user goes: from here on its messages are redirected, never delivered from here."""
        foreign = self.others[self._destination[user]]
        self._leaving[user] = self.records.pop(user)
        replica = (self._leaving[user], self.users[user], self._recent.pop(user, deque()), self)
        self._post.send(self.address, foreign.address, foreign.replicate, *replica)

    def replicate(self, record: Record, user: User, recent: deque[tuple[float, int]], home: BrokerActor) -> None:
        """Take over what the home held of a user; it has not connected yet, so its messages are held."""
        number = record.user
        self.register(user, record)
        self._recent[number] = recent
        self._held[number] = []
        self.wanted[record.wants, self.address[1]] = True
        self.on_arrival(record, home.address[1], self.address[1])
        self._post.send(self.address, home.address, home.replicated, number)

    def replicated(self, user: int) -> None:
        """The foreign broker is ready: tell the user where it is, and redirect until the time to live is over."""
        foreign = self.others[self._destination[user]]
        self._post.send(self.address, ("user", user), self.users.pop(user).moved, foreign)
        self._post.later(self._ttl, lambda: self._stop_redirecting(user))

    def connect(self, user: int) -> None:
        """The user is here: deliver what was held."""
        for message in self._held.pop(user):
            self._send(user, message)

    def publish(self, message: int, channel: int, publisher: int) -> None:
        """A message of one of the users here: to each broker that wants its channel, once, and to the users here."""
        here = self.address[1]
        for broker in np.flatnonzero(self.wanted[channel]):
            if broker != here:
                other = self.others[int(broker)]
                self._post.send(self.address, other.address, other.forward, message, channel, publisher)
        self.forward(message, channel, publisher)

    def forward(self, message: int, channel: int, publisher: int) -> None:
        """A message for the users here, and for those on their way to another broker."""
        for user, record in self.records.items():
            if user != publisher and channel in record.wants:
                self.redirect(user, message)
        for user, record in self._leaving.items():
            if user != publisher and channel in record.wants:
                foreign = self.others[self._destination[user]]
                self._post.send(self.address, foreign.address, foreign.redirect, user, message)

    def redirect(self, user: int, message: int) -> None:
        """A message for one user here, unless it was delivered already."""
        recent = self._recent.setdefault(user, deque())
        # Whatever is older can come no second time.
        while recent and recent[0][0] < self._post.now - 2 * self._ttl:
            recent.popleft()
        if any(message == known for _, known in recent):
            return
        recent.append((self._post.now, message))
        if user in self._held:
            self._held[user].append(message)
        else:
            self._send(user, message)

    def _send(self, user: int, message: int) -> None:
        self._post.send(self.address, ("user", user), self.users[user].deliver, message)

    def _stop_redirecting(self, user: int) -> None:
        gone = self._leaving.pop(user)
        del self._destination[user]
        self._subscribers[gone.wants] -= 1
        unwanted = gone.wants[self._subscribers[gone.wants] == 0]
        self.wanted[unwanted, self.address[1]] = False
        self.on_unwanted(self.address[1], unwanted)
        self.on_end(user, True)


STARTS = {module.ALGORITHM.name: module.ALGORITHM for module in (packing, random, clustering, steiner_mixing)}

# Less is rounding, not a gain: a share of what the user costs now.
_SMALLEST_GAIN = 1e-9


@dataclass(frozen=True)
class Move:
    """An accepted move, and by how much its broker expected the cost to change."""

    user: int
    home: int
    foreign: int
    change: float
    relief: bool


class Migration:
    """Brokers and users of a network that begin with an assignment and move until nothing improves.

    `ttl` is how long a home redirects after a user has gone: messages are lost where it is shorter than announcing
    that and a message on its way take together. `sticking` users decline. `known` is the network with the rates that
    brokers know, unless they know the right ones. `watch` is called with each move that is over.
    """

    def __init__(
        self,
        network: Network,
        brokers: Ids,
        *,
        sticking: frozenset[int] = frozenset(),
        ttl: float = 3.0,
        delay: Delay = 1.0,
        known: Network | None = None,
        watch: Callable[[Move], None] = lambda move: None,
    ) -> None:
        self.network = network
        self.post = Post(delay)
        self.moves: list[Move] = []
        self.declined = 0
        self.rounds = 0
        self._watch = watch
        self._asked: dict[int, Move] = {}
        self._stay: set[int] = set()
        self._known = known or network
        self._told = Told(self._known, brokers)
        wanted = self._told.subscribers > 0
        # What each broker has heard of who wants what: a byte for each two brokers and channel.
        self._heard = np.repeat(wanted[None], network.broker_count, axis=0)
        self.brokers = [BrokerActor(b, self._heard[b], self.post, ttl) for b in range(network.broker_count)]
        everybody = dict(enumerate(self.brokers))
        for broker in self.brokers:
            broker.others = everybody
            broker.on_end, broker.on_arrival, broker.on_unwanted = self._end, self._announce, self._announce_unwanted
        self.users = [User(u, self.brokers[b], self.post, sticks=u in sticking) for u, b in enumerate(brokers.tolist())]
        self._register()

    @property
    def assigned(self) -> Ids:
        """The broker of each user now."""
        return np.array([user.broker.address[1] for user in self.users], np.int32)

    @property
    def overloaded(self) -> list[int]:
        """Brokers that have more than their capacity, which only a change of interests can bring about."""
        return [broker for broker in range(len(self.brokers)) if self._told.is_full(broker)]

    def publish_at(self, time: float, message: int, user: int, channel: int) -> None:
        """Let a user publish a message at some time from now."""
        self.post.later(time, lambda: self.users[user].publish(message, channel))

    def run(self, most_rounds: int | None = None) -> None:
        """Let brokers take turns until a round brings no move."""
        self._run(self._take_turns, most_rounds)

    def run_at_once(self, periods: int) -> None:
        """Let all brokers decide at the same time, each for its own users, until a period brings no move."""
        self._run(self._decide_at_once, periods)

    def _run(self, let_decide: Callable[[], None], most_rounds: int | None) -> None:
        rounds = 0
        while most_rounds is None or rounds < most_rounds:
            before = len(self.moves)
            let_decide()
            rounds += 1
            if len(self.moves) == before:
                break
        self.rounds += rounds

    def finish(self) -> None:
        """Let everything that is on its way arrive."""
        while self.post.step():
            pass

    def change(self, network: Network, known: Network | None = None) -> None:
        """Let users register other interests and rates; brokers announce new sums. Users, brokers and prices stay."""
        names = (network.user_names, network.broker_names) == (self.network.user_names, self.network.broker_names)
        same = names and all(
            np.array_equal(getattr(network, prices), getattr(self.network, prices)) for prices in ("access", "core")
        )
        if not same:
            raise InputError("users, brokers and prices must be those of the network before; only interests may change")
        network.require_capacity()
        self.finish()
        self.network, self._known = network, known or network
        self._stay.clear()
        self._told = Told(self._known, self.assigned)
        self._heard[:] = self._told.subscribers > 0
        self._register()

    def _register(self) -> None:
        for number, user in enumerate(self.users):
            home, told = user.broker, record(self._known, number)
            self.post.send(user.address, home.address, home.register, user, told)
            self.post.sent["summarize"] += 1
        self.finish()
        self.post.sent["announce"] += len(self.brokers) * (len(self.brokers) - 1)

    def _take_turns(self) -> None:
        for broker in self.brokers:
            self._take_turn(broker)

    def _take_turn(self, broker: BrokerActor) -> None:
        here = broker.address[1]
        users = np.array(sorted(broker.records), np.int32)
        demand = self._told.demands(users)
        order = np.argsort(-demand, kind="stable")
        users, demand = users[order], demand[order]
        place = -1
        while (place := self._next_that_may_move(users, demand, place + 1, here)) < len(users):
            user = int(users[place])
            if user in self._stay:
                continue
            of, needs = broker.records[user], float(demand[place])
            move = self._best_move(of, here, needs, self._told.changes(of, here, needs))
            if move is None:
                continue
            self._asked[user] = move
            broker.ask(user, move.foreign)
            while user in self._asked:
                self.post.step()

    def _next_that_may_move(self, users: Ids, demand: Floats, begin: int, home: int) -> int:
        if self._told.is_full(home):
            return begin
        return self._told.first_that_may_move(users, demand, begin, home)

    def _decide_at_once(self) -> None:
        promised = np.zeros(len(self.brokers))
        asked = []
        for broker in self.brokers:
            here = broker.address[1]
            demand = {user: self._told.demand(of) for user, of in broker.records.items() if user not in self._stay}
            for user in sorted(demand, key=lambda user: (-demand[user], user)):
                of = broker.records[user]
                move = self._best_move(of, here, demand[user], self._told.own_changes(of, here, demand[user]))
                if move is None:
                    continue
                if self._told.has_room(move.foreign, promised[move.foreign] + demand[user]):
                    promised[move.foreign] += demand[user]
                    asked.append((broker, move))
                break
        for broker, move in asked:
            self._asked[move.user] = move
            broker.ask(move.user, move.foreign)
        while self._asked:
            self.post.step()

    def _best_move(self, of: Record, home: int, demand: float, changes: Floats) -> Move | None:
        relief = self._told.is_full(home)
        least = np.inf if relief else -_SMALLEST_GAIN * demand * of.prices[home]
        best = None
        if changes.min() >= least:
            return best
        for foreign in np.argsort(changes, kind="stable").tolist():
            if changes[foreign] >= least:
                break
            knows = np.isfinite(of.prices[foreign])
            if foreign != home and knows and self._told.has_room(foreign, demand):
                best = Move(of.user, home, foreign, float(changes[foreign]), relief)
                break
        return best

    def _end(self, user: int, accepted: bool) -> None:
        move = self._asked.pop(user)
        if accepted:
            self.moves.append(move)
            self._watch(move)
        else:
            self._stay.add(user)
            self.declined += 1

    def _announce(self, of: Record, home: int, foreign: int) -> None:
        self._told.hear_moved(of, home, foreign)
        sender = self.brokers[foreign].address
        self.post.send_all(sender, self._all_but(foreign), self.announce, foreign, of.wants, True)

    def _announce_unwanted(self, broker: int, channels: Ids) -> None:
        if len(channels):
            sender = self.brokers[broker].address
            self.post.send_all(sender, self._all_but(broker), self.announce, broker, channels, False)

    def announce(self, receivers: Sequence[int], broker: int, channels: Ids, wanted: bool) -> None:
        """Brokers hear that another one wants channels now, or wants them no more."""
        self._heard[np.ix_(np.array(receivers), channels, np.array([broker]))] = wanted

    def _all_but(self, broker: int) -> list[int]:
        return [other for other in range(len(self.brokers)) if other != broker]


def assign(network: Network, parameters: Mapping[str, Any], rng: np.random.Generator) -> Placed:
    """Begin with another algorithm's assignment and move users until nothing improves."""
    return migrate([network], parameters, rng)


def migrate(networks: Sequence[Network], parameters: Mapping[str, Any], rng: np.random.Generator) -> Placed:
    """Move users of the first network until nothing improves; then let interests be those of the next, and go on."""
    first = networks[0]
    begin = STARTS[parameters["start"]]
    start = begin.assign(first, begin.checked({}), rng).brokers
    sticking = np.flatnonzero(rng.random(first.user_count) < parameters["decline"])
    known = [summarized(network, parameters["history"], rng) for network in networks]
    simulated = Migration(first, start, sticking=frozenset(sticking.tolist()), known=known[0])

    def go_on() -> None:
        if parameters["decide"] == "in-turn":
            simulated.run()
        else:
            simulated.run_at_once(parameters["periods"])

    go_on()
    for network, its in zip(networks[1:], known[1:], strict=True):
        simulated.change(network, its)
        go_on()
        for broker in simulated.overloaded:
            raise DoesNotFit(
                f"no assignment found that fits: broker '{network.broker_names[broker]}' is over its capacity and "
                "no user there can move; raise capacities"
            )
    return Placed(simulated.assigned, facts(simulated))


def summarized(network: Network, history: float, rng: np.random.Generator) -> Network:
    """The network with the rates that brokers find who count messages for so long; as it is where they do not."""
    if history == 0:
        return network
    rates = rng.poisson(network.rates.values * history) / history
    return replace(network, rates=SparseRows(network.rates.start, network.rates.columns, rates))


def facts(simulated: Migration) -> dict[str, Any]:
    """What a run came to: rounds, moves and messages."""
    return {
        "rounds": simulated.rounds,
        "moves": len(simulated.moves),
        "relief_moves": sum(move.relief for move in simulated.moves),
        "declined": simulated.declined,
        "messages": dict(sorted(simulated.post.sent.items())),
    }


ALGORITHM = Assigner(
    name="migration",
    paper="Content, sections IV-C and V",
    rule="brokers in turn move their users to where the whole cost is least, until nothing improves",
    assign=assign,
    parameters=(
        Parameter("start", str, "the assignment to begin with", "packing", choices=tuple(STARTS)),
        Parameter(
            "decide",
            str,
            "whether brokers decide in turn, for the whole cost, or at once, each for its own users",
            "in-turn",
            choices=("in-turn", "at-once"),
        ),
        Parameter("periods", int, "the most periods, where brokers decide at once", 100),
        Parameter(
            "history", float, "how long brokers count messages to know rates; 0 gives them the right ones", 0, minimum=0
        ),
        Parameter("decline", float, "the share of users that decline to move", 0, minimum=0, maximum=1),
    ),
    random=True,
)
