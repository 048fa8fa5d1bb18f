"""The signatures that rooms share, as stubs under mypy: what one room may count on in another.

A room may have more than this. Functions at the end return each real class as its stub, so that
mypy tells if they drift apart. Stubs without a real class yet are the agreement for the room that will have it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from topicloom import model
from topicloom.brokers import dial, kind, plan
from topicloom.brokers.kind import Configured, Pair
from topicloom.brokers.lint import LintReport
from topicloom.brokers.local import Processes
from topicloom.brokers.rows import BrokerRows
from topicloom.churn.maintainer import Change
from topicloom.churn.maintainer import Maintainer as RealMaintainer
from topicloom.designers import contract
from topicloom.model import demand, events, filters, fleet
from topicloom.model.constraints import Constraints, LinkLimits
from topicloom.model.demand import WishesByNode
from topicloom.model.events import Event
from topicloom.model.prices import LinkPrices
from topicloom.model.rates import TopicTraffic
from topicloom.model.roles import Roles
from topicloom.registry import Watch
from topicloom.views import view

Ids = npt.NDArray[np.int32]
Starts = npt.NDArray[np.int64]


class Interest(Protocol):
    """Who wants what, on dense ids in the order of names; both directions in compressed sparse rows."""

    @property
    def node_names(self) -> tuple[str, ...]: ...
    @property
    def topic_names(self) -> tuple[str, ...]: ...
    @property
    def node_start(self) -> Starts: ...
    @property
    def node_topics(self) -> Ids: ...
    @property
    def topic_start(self) -> Starts: ...
    @property
    def topic_nodes(self) -> Ids: ...
    @property
    def roles(self) -> Roles | None: ...
    @property
    def filters(self) -> str | None: ...
    @property
    def node_ids(self) -> dict[str, int]: ...
    @property
    def topic_ids(self) -> dict[str, int]: ...
    @property
    def fingerprint(self) -> str: ...
    def topics_of(self, node: int | str) -> Ids: ...
    def nodes_of(self, topic: int | str) -> Ids: ...


class Overlay(Protocol):
    """Links over the nodes of an interest, source < target, in the order added."""

    @property
    def interest(self) -> model.Interest: ...
    @property
    def source(self) -> Ids: ...
    @property
    def target(self) -> Ids: ...
    @property
    def contribution(self) -> Ids | None: ...
    @property
    def degrees(self) -> npt.NDArray[np.int64]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[str, str]]: ...


class Demand(Protocol):
    """Who wants and publishes what, by names, whether it needs links or not; immutable."""

    @property
    def by_node(self) -> WishesByNode: ...
    @property
    def filters(self) -> str | None: ...
    @property
    def published(self) -> frozenset[str]: ...
    def refusal(self, event: Event, there: Collection[str]) -> str | None: ...
    def after(self, *events: Event) -> demand.Demand: ...
    def events_to(self, other: demand.Demand, first_id: int = 0) -> list[Event]: ...
    def among(self, nodes: Iterable[str]) -> model.Interest: ...


class Broker(Protocol):
    """Where a broker is; its kind is its own, that of the plan if None."""

    @property
    def name(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int | None: ...
    @property
    def kind(self) -> str | None: ...
    @property
    def tls(self) -> fleet.Tls | None: ...
    @property
    def credentials(self) -> fleet.Credentials | None: ...
    @property
    def accepts(self) -> bool: ...
    @property
    def vhost(self) -> str | None: ...
    @property
    def addresses(self) -> tuple[tuple[str, int | None], ...]: ...


class Fleet(Protocol):
    """A plain value; functions read, check, plan and apply it."""

    @property
    def brokers(self) -> Mapping[str, fleet.Broker]: ...
    @property
    def constraints(self) -> Constraints: ...
    @property
    def qos(self) -> int: ...
    @property
    def topic_qos(self) -> Mapping[str, int]: ...
    @property
    def deliveries(self) -> Mapping[str, fleet.Delivery]: ...
    @property
    def sources(self) -> Mapping[str, fleet.Source]: ...
    @property
    def demand(self) -> demand.Demand | None: ...
    @property
    def away(self) -> frozenset[str]: ...
    @property
    def overlay(self) -> model.Overlay | None: ...
    @property
    def revision(self) -> int: ...
    @property
    def there(self) -> tuple[str, ...]: ...
    @property
    def interest(self) -> model.Interest: ...
    def over(self, overlay: model.Overlay, /) -> fleet.Fleet: ...


class DesignProblem(Protocol):
    """What a designer is asked to solve, on ids."""

    @property
    def interest(self) -> model.Interest: ...
    @property
    def limits(self) -> LinkLimits: ...
    @property
    def prices(self) -> LinkPrices | None: ...
    @property
    def traffic(self) -> TopicTraffic | None: ...
    @property
    def seed(self) -> int: ...
    @property
    def watch(self) -> Watch: ...
    def rng(self) -> np.random.Generator: ...


class Designer(Protocol):
    """An algorithm that builds an overlay: `build(problem, **parameters)`."""

    @property
    def name(self) -> str: ...
    @property
    def guarantee(self) -> str: ...
    @property
    def build(self) -> Callable[..., contract.Links]: ...
    @property
    def honours(self) -> frozenset[str]: ...


class Maintainer(Protocol):
    """Keeps an overlay topic-connected; it refuses events with roles. `thaw` of `churn.settings` undoes `freeze`."""

    def join(self, node: str, topics: Iterable[str]) -> Change: ...
    def leave(self, node: str) -> Change: ...
    def change(self, node: str, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Change: ...
    def apply(self, event: Event) -> Change: ...
    def apply_jointly(self, events: Iterable[Event]) -> tuple[Change, dict[int, str]]: ...
    def become(self, interest: model.Interest) -> Change: ...
    def interest(self) -> model.Interest: ...
    def overlay(self, interest: model.Interest | None = None) -> model.Overlay: ...
    def freeze(self) -> dict[str, Any]: ...
    def tidy(self, fresh: model.Overlay, most: int) -> Change: ...


class Trees(Protocol):
    """For every topic a tree over its subscribers and the relays it needs: `upper[i]` - `lower[i]`, from the root."""

    interest: model.Interest
    start: Starts
    upper: Ids
    lower: Ids
    root: Ids


class Line(NamedTuple):
    """What a link carries of one pattern; `local` and `remote` are prefixes at its opener and at the other end."""

    pattern: str
    direction: str
    qos: int
    local: str = ""
    remote: str = ""


class Plan(Protocol):
    """A tree for each topic, and which end opens each link; on the ids of `trees.interest`."""

    brokers: tuple[fleet.Broker, ...]
    trees: Trees
    opener: Ids
    acceptor: Ids
    qos: npt.NDArray[np.uint8]
    made: Mapping[str, Any]

    @property
    def id(self) -> str: ...
    def carried(self, link: int) -> tuple[Line, ...]: ...


class Driver(Protocol):
    """A way to a broker: reads the files that are there by name, puts its configuration, has it taken."""

    def get(self) -> Mapping[str, str]: ...
    def set_aside(self, places: Iterable[str]) -> None: ...
    def bring_back(self) -> None: ...
    def ready(self) -> Iterable[tuple[str, str | None]]: ...
    def put(self, text: str) -> None: ...
    def reload(self) -> None: ...


class BrokerKind(Protocol):
    """A kind of broker: one class, which alone knows its name."""

    name: ClassVar[str]
    title: ClassVar[str]
    ports: ClassVar[tuple[int, int]]
    ending: ClassVar[str | None]
    main: ClassVar[str | None]
    wildcards: ClassVar[filters.Protocol | None]
    opens: ClassVar[frozenset[str]]
    speaks: ClassVar[frozenset[str]]
    one_tree: ClassVar[bool]
    opens_one: ClassVar[bool]
    both_ends: ClassVar[bool]
    keeps_messages: ClassVar[bool]
    greets_first: ClassVar[bool]
    lints: ClassVar[bool]

    def name_problem(self, name: str) -> str | None: ...
    def pattern_problem(self, pattern: str) -> str | None: ...
    def group_problem(self, name: str) -> str | None: ...
    def broker_problem(self, broker: fleet.Broker) -> str | None: ...
    def render(self, plan: plan.Plan, broker: str, secret: Callable[[fleet.Broker], str]) -> str: ...
    def looks_like(self, text: str) -> bool: ...
    def parse(self, name: str, text: str, where: str) -> Configured: ...
    def parse_file(self, name: str, file: Path) -> Configured: ...
    def more_than_bridges(self, text: str) -> str | None: ...
    def lint(
        self, brokers: Sequence[Configured], interest: model.Interest | None, unreadable: Sequence[model.InputError]
    ) -> LintReport: ...
    def collect(self, source: fleet.Source, broker: str, before: BrokerRows, now_us: int) -> Iterator[BrokerRows]: ...
    def driver(self, broker: fleet.Broker, delivery: fleet.Delivery) -> Driver: ...
    def require_library(self) -> None: ...
    def links(self, plan: plan.Plan, broker: fleet.Broker, delivery: fleet.Delivery) -> kind.LinkState | None: ...
    def greet(self, line: dial.Line, broker: fleet.Broker) -> None: ...
    def log_in(self, line: dial.Line, broker: fleet.Broker, login: dial.Login | None) -> None: ...
    def answers(self, broker: fleet.Broker, management: str | None, deadline: float) -> bool: ...
    def prepare(self, ends: Mapping[str, fleet.Broker], link: Pair, lines: Sequence[plan.Line]) -> None: ...
    def sessions(self, link: Pair, lines: Sequence[plan.Line]) -> tuple[kind.Session, ...]: ...
    def forget(self, broker: fleet.Broker, name: str) -> None: ...
    def local(self, names: Sequence[str], *, lasting: bool) -> Processes: ...


class View(Protocol):
    """What people look at: blocks, then views inside; shown on a terminal, a page, a notebook, or as data."""

    @property
    def key(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def blocks(self) -> tuple[view.Block, ...]: ...
    @property
    def inside(self) -> tuple[view.View, ...]: ...
    def data(self) -> Any: ...


# Each real class as its stub: mypy refuses one that does not fit.


def _interest(real: model.Interest) -> Interest:
    return real


def _overlay(real: model.Overlay) -> Overlay:
    return real


def _demand(real: demand.Demand) -> Demand:
    return real


def _broker(real: fleet.Broker) -> Broker:
    return real


def _fleet(real: fleet.Fleet) -> Fleet:
    return real


def _problem(real: contract.DesignProblem) -> DesignProblem:
    return real


def _designer(real: contract.Designer) -> Designer:
    return real


def _maintainer(real: RealMaintainer) -> Maintainer:
    return real


def _line(real: plan.Line) -> tuple[str, str, int, str, str]:
    return real


def _driver(real: kind.Driver) -> Driver:
    return real


def _kind(real: kind.BrokerKind) -> BrokerKind:
    return real


def _view(real: view.View) -> View:
    return real


# A function that rooms share: whether an event can have happened, with the rules of whoever asks.
event_problem: Callable[..., str | None] = events.event_problem
