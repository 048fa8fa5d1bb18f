"""Brokers and users that exchange the calls of the Content paper, section V.

A broker asks a user to move (`request_to_move`); it accepts or declines. Its home then stops delivering to it,
replicates what it holds to the foreign broker, and redirects there what still comes for the user. The foreign broker
announces that it wants the user's channels, and holds its messages until it connects. Once nothing can come any more
to the home alone, after the time to live, the home stops redirecting and announces which channels it no longer wants.

A message may so reach the foreign broker twice, by itself and redirected. Brokers remember which messages they have
delivered to a user lately and replicate that too, so the user gets each of them once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from topicloom.content.migration.announced_sums import Record
from topicloom.content.migration.mailbox import Address, Post
from topicloom.content.network.channels_by_user import Ids

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
