"""Migration: the Content paper, sections IV-C and V, the distributed algorithm.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicloom.algorithms import Parameter
from topicloom.content.assigning import clustering, packing, random_assignment, steiner_mixing
from topicloom.content.base import Assigner, Placed
from topicloom.content.migration.actors import BrokerActor, User
from topicloom.content.migration.announced_sums import Record, Told, record
from topicloom.content.migration.mailbox import Delay, Post
from topicloom.content.network.channels_by_user import Floats, Ids
from topicloom.content.network.network import Network
from topicloom.errors import InputError
from topicloom.kernels.content.sparse_rows import SparseRows

STARTS = {
    module.ALGORITHM.name: module.ALGORITHM for module in (packing, random_assignment, clustering, steiner_mixing)
}

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
            raise InputError(
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
