"""What differs between kinds of brokers, and what their configurations say.

A kind is one class: the names that it carries, its configuration written and read, and how it is asked. A fleet may
have several kinds. A link is opened by one broker and accepted by another: `opens` and `speaks` say by which protocols.
Other packages add kinds as entry points of the group `topicloom.broker_kinds`: see docs/extending.md. Only the class of
a kind compares with its name.
"""

from __future__ import annotations

import typing
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

import numpy as np

from topicloom.brokers import dial
from topicloom.errors import InputError
from topicloom.model.filters import Protocol
from topicloom.model.fleet import Broker, Delivery, Source

if TYPE_CHECKING:
    from topicloom.brokers.fingerprints import Hashes
    from topicloom.brokers.lint import LintReport
    from topicloom.brokers.local import Processes
    from topicloom.brokers.plan import Line, Plan
    from topicloom.brokers.rows import BrokerRows
    from topicloom.model.interest import Interest

Pair: TypeAlias = tuple[str, str]
# A session that a broker keeps messages in: the broker's name, and its own.
Session: TypeAlias = tuple[str, str]
# Looks up the password by which others log in at a broker.
Secret: TypeAlias = Callable[[Broker], str]


@dataclass(frozen=True)
class Rule:
    """A `topic` line: its pattern, direction, and what is put before names on this side and on the other."""

    pattern: str
    direction: str
    local_prefix: str
    remote_prefix: str
    where: str

    @property
    def local_pattern(self) -> str:
        """What it matches on this side."""
        return self.local_prefix + self.pattern

    @property
    def remote_pattern(self) -> str:
        """What it matches on the other side."""
        return self.remote_prefix + self.pattern


@dataclass(frozen=True)
class Bridge:
    """A link in a configuration; private if the other broker is told not to send back what came from here."""

    name: str
    host: str
    port: int
    rules: tuple[Rule, ...]
    private: bool
    where: str


@dataclass(frozen=True)
class Configured:
    """A broker as its files describe it: the addresses it is known by, and the bridges it opens.

    `made_for` is the broker that the files were rendered for, None if they do not say; `kind` the name of its kind.
    """

    name: str
    addresses: tuple[tuple[str, int], ...]
    bridges: tuple[Bridge, ...]
    made_for: str | None = None
    kind: str = ""


@dataclass(frozen=True)
class SourceForm:
    """A key of a broker's `collect` table: its value, the options that go with it, and the wildcards of its topics.

    `over_http` if the value is a URL, else it is the path of a file; `several` if it may be a list of files.
    """

    filters: Protocol
    over_http: bool = False
    options: tuple[str, ...] = ()
    several: bool = False


def refuse(problem: InputError) -> None:
    """Raise a problem of a configuration; in its place a list may collect them."""
    raise problem


class DeliveryFailed(Exception):  # noqa: N818  it says what happened
    """A file did not get to a broker, or the broker did not take it; the message says why, in one line."""


class Driver(typing.Protocol):
    """A way to one broker. All of it may be done again after it was done, or half done."""

    @property
    def place(self) -> str:
        """The place of our file among those of `get`."""

    def get(self) -> Mapping[str, str]:
        """Return the texts of the configuration files that the broker reads, by their places, ours if it has one."""

    def set_aside(self, places: Iterable[str]) -> None:
        """Let the broker pass over files from now on, by their places among those of `get`; they are kept."""

    def bring_back(self) -> None:
        """Undo that."""

    def ready(self) -> Iterable[tuple[str, str | None]]:
        """Return what a put and a reload need, each with why it is not there, None if it is; nothing is changed."""

    def put(self, text: str) -> None:
        """Give the broker its configuration, whole or not at all."""

    def reload(self) -> None:
        """Let the broker take it."""


class LinkState(NamedTuple):
    """How many of the links of a broker are up; None if it cannot tell, with what it `needs` for that."""

    up: int | None
    expected: int | None
    needs: str = ""


# What a kind has, and the methods that it then defines.
_PROMISES = {
    "ending": ("render", "parse", "fingerprints"),
    "lints": ("parse",),
    "sources": ("collect",),
    "ways": ("driver",),
}


class BrokerKind(ABC):
    """A kind of broker.

    A class that does not define what its attributes promise is a TypeError.

    Attributes:
        name: as users write it. title: as texts name it.
        ports: the usual port of links, without and with TLS.
        ending: of its configuration files; None if it is given none. main: the file of a folder for one broker.
        wildcards: the filters that it carries; None for plain names.
        opens, speaks: protocols of links that it can open, and that it accepts.
        one_tree: whether it refuses cycles of links, so that all topics share one tree, over relays if needed.
        opens_one: whether a broker that opens two links passes nothing on between them that no client there wants.
        both_ends: whether a link takes the configuration of both its brokers.
        keeps_messages: whether sessions of a link can be made before the link, and ended after it.
        greets_first: whether it speaks first on a connection, before TLS.
        lints: whether `lint` follows its bridges.
        sources: the keys of `collect` tables that it answers to.
        ways: further ways of delivery that it has, by their names: the keys that each needs, and those that it takes.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    ports: ClassVar[tuple[int, int]]
    ending: ClassVar[str | None] = None
    main: ClassVar[str | None] = None
    wildcards: ClassVar[Protocol | None] = None
    opens: ClassVar[frozenset[str]] = frozenset()
    speaks: ClassVar[frozenset[str]] = frozenset()
    one_tree: ClassVar[bool] = False
    opens_one: ClassVar[bool] = False
    both_ends: ClassVar[bool] = False
    keeps_messages: ClassVar[bool] = False
    greets_first: ClassVar[bool] = False
    lints: ClassVar[bool] = False
    sources: ClassVar[Mapping[str, SourceForm]] = MappingProxyType({})
    ways: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for promise, methods in _PROMISES.items():
            missing = [name for name in methods if getattr(cls, name) is getattr(BrokerKind, name)]
            if getattr(cls, promise) and missing:
                listed = " and ".join([", ".join(missing[:-1]), missing[-1]] if missing[1:] else missing)
                raise TypeError(f"{cls.__name__} has {promise}, but does not define {listed}")

    @abstractmethod
    def name_problem(self, name: str) -> str | None:
        """Return why it cannot carry a topic of this name, None if it can."""

    def pattern_problem(self, pattern: str) -> str | None:
        """Return why it cannot carry a well-formed filter of its `wildcards`, None if it can."""
        return self.name_problem(pattern)

    def group_problem(self, name: str) -> str | None:
        """Return why no topic can be called by this filter, which stands for all that overlap with it."""
        return None

    def broker_problem(self, broker: Broker) -> str | None:
        """Return which setting of a broker it does not have, None if it has all."""
        return f"has a vhost, which {self.name} does not know" if broker.vhost is not None else None

    def render(self, plan: Plan, broker: str, secret: Secret) -> str:
        """Return the configuration of a broker; raise InputError if a password cannot be looked up."""
        raise InputError(f"brokers of the kind {self.name} have no configuration to write")

    def fingerprints(self, plan: Plan) -> Hashes:
        """Return a hash of the configuration of each broker of a plan, 0 for one that says nothing.

        Only those of brokers of this kind count. `topicloom.brokers.fingerprints` has parts to make them of.
        """
        return np.zeros(len(plan.brokers), np.uint64)

    def looks_like(self, text: str) -> bool:
        """Whether a configuration with its `ending` is surely of this kind, by what only this kind has."""
        return False

    def parse_file(self, name: str, file: Path, unreadable: Callable[[InputError], None] = refuse) -> Configured:
        """Return the broker in a file; `name` if the file does not say another."""
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8"
            raise InputError(f"cannot be read ({why})", file=file) from None
        return self.parse(name, text, str(file), unreadable)

    def parse(self, name: str, text: str, where: str, unreadable: Callable[[InputError], None] = refuse) -> Configured:
        """Return the broker that a configuration describes.

        Args:
            name: the broker, if the text does not say another.
            text: the configuration.
            where: its name in errors and places.
            unreadable: called with the problem of each part that cannot be read; if it returns, that part is left out.
        """
        raise InputError(f"brokers of the kind {self.name} have no configuration to read")

    def more_than_bridges(self, text: str) -> str | None:
        """Return what a configuration has besides bridges that can be taken over, None if it has nothing else."""
        return f"bridges of {self.title} cannot be taken over"

    def lint(
        self, brokers: Sequence[Configured], interest: Interest | None, unreadable: Sequence[InputError]
    ) -> LintReport:
        """Return what loops, arrives twice or does not arrive in the bridges of some brokers."""
        from topicloom.brokers import lint

        return (
            lint.lint_leafnodes(brokers, unreadable)
            if self.one_tree
            else lint.lint_rules(brokers, interest, unreadable)
        )

    def collect(self, source: Source, broker: str, before: BrokerRows, now_us: int) -> Iterator[BrokerRows]:
        """Yield what a broker says of its subscribers and publishers, more each time.

        Raises:
            SourceError: it cannot be asked.
        """
        raise InputError(f"brokers of the kind {self.name} do not tell who subscribes")

    def driver(self, broker: Broker, delivery: Delivery) -> Driver:
        """Return the driver of one of its `ways`."""
        raise InputError(f"brokers of the kind {self.name} have no delivery of their own")

    def require_library(self) -> None:  # noqa: B027  most need none
        """Raise InputError if its links cannot be looked at here, as a library is missing."""

    def links(self, plan: Plan, broker: Broker, delivery: Delivery) -> LinkState:
        """Return how many links of a broker are up, if it can tell.

        Raises:
            DeliveryFailed: a link of the plan is not up, or one that it does not have is.
        """
        return LinkState(None, None, f"{self.name} does not tell")

    def answers(self, broker: Broker, management: str | None, deadline: float) -> bool:
        """Whether a broker answers in its protocol before a deadline of `time.monotonic`.

        Args:
            broker: with its port.
            management: the URL of its management interface, if known.
            deadline: OSError and EOFError before it count as no answer.
        """
        from topicloom.brokers import health

        return health.over_line(broker, deadline, dial.mqtt_login)

    def greet(self, line: dial.Line, broker: Broker) -> None:  # noqa: B027  most do not
        """Take what a broker says before TLS begins, if its kind `greets_first`.

        Raises:
            Refusal: it does not speak the protocol of links.
        """

    def log_in(self, line: dial.Line, broker: Broker, login: dial.Login | None) -> None:
        """Log in as those do who open links; by MQTT unless a kind says otherwise.

        Raises:
            Refusal: the broker refuses, or does not speak the protocol of links.
        """
        dial.mqtt_login(line, login)

    def sessions(self, link: Pair, lines: Sequence[Line]) -> tuple[Session, ...]:
        """Return the sessions that the brokers of a link have for it, if both kinds `keeps_messages`."""
        return ()

    def prepare(self, ends: Mapping[str, Broker], link: Pair, lines: Sequence[Line]) -> None:  # noqa: B027
        """Let those ends of a link that are given keep from now on what it will carry.

        Raises:
            InputError: a broker does not let us.
        """

    def forget(self, broker: Broker, name: str) -> None:  # noqa: B027
        """Let a broker forget a session.

        Raises:
            InputError: the broker does not let us.
        """

    def local(self, names: Sequence[str], *, lasting: bool) -> Processes:
        """Return processes on loopback; `lasting` if what waits survives a restart."""
        raise InputError(f"brokers of the kind {self.name} cannot be run on this machine")

    def of_broker(self, broker: Broker) -> Broker:
        """Return a broker as one of this kind, with the usual port if it names none."""
        return replace(broker, kind=self.name, port=broker.port or self.ports[broker.tls is not None])


def unreadable_character(name: str) -> str | None:
    """Return which character of a name brokers close the connection at, None if there is none."""
    for character in name:
        code = ord(character)
        # Control characters, and code points that stand for no character.
        if unicodedata.category(character) in ("Cc", "Cs") or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
            return f"has the character U+{code:04X}, which brokers refuse"
    return None


def too_long(name: str, most: int, what: str) -> str | None:
    """Return that a name has more bytes than `what` may have, None if it has not."""
    size = len(name.encode())
    return f"has {size:,} bytes; the name of {what} may have {most:,}" if size > most else None


_MQTT_BYTES = 65_535


def mqtt_problem(name: str) -> str | None:
    """Return why no MQTT message can have this name, None if one can."""
    wildcard = next((character for character in name if character in "+#"), None)
    if wildcard is not None:
        return f"has the wildcard '{wildcard}', which no message can have in its topic; give the names it stands for"
    if name.startswith("$"):
        return "begins with '$', which is kept for what a broker says about itself"
    return unreadable_character(name) or too_long(name, _MQTT_BYTES, "an MQTT topic")


def one_name(pattern: str) -> str:
    """Return a name that is as long as an MQTT filter and matches it."""
    return "/".join("-" if level in ("+", "#") else level for level in pattern.split("/"))
