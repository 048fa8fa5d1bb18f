"""Options of the commands that are still on Typer: declared once, handed over as objects.

To be deleted with the last of these commands; `options` has the same for commands on click.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo

from topicloom.cli import output
from topicloom.cli.options import choices_of, help_of, option_name, spark_settings, takers_of
from topicloom.cli.progress import Working
from topicloom.cli.run import read_fleet, read_prices, read_token

if TYPE_CHECKING:
    from topicloom.brokers import Fleet
    from topicloom.model import Interest, Prices, Rates
    from topicloom.registry import Algorithm, Parameter
    from topicloom.spark import SparkOptions


@dataclass(frozen=True)
class SharedOptions:
    """Options that several commands take, declared once: a command has one parameter for all of them.

    Its fields are annotated as parameters of commands are.
    """


def with_shared_options(function: Callable[..., None], more: Sequence[inspect.Parameter] = ()) -> Callable[..., None]:
    """The function as typer shall see it: where it takes shared options, with all of them as parameters, last.

    `more` are those of its options that its signature does not tell; they stand before its seed.
    """
    own: list[inspect.Parameter] = []
    shared: list[inspect.Parameter] = []
    groups: dict[str, type[SharedOptions]] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        kind = parameter.annotation
        if isinstance(kind, type) and issubclass(kind, SharedOptions):
            groups[parameter.name] = kind
            for each in _parameters(kind):
                (own if _is_argument(each.annotation) else shared).append(each)
        elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            if parameter.name == "seed":
                own.extend(more)
            own.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(function)
    def command(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        function(**given)

    command.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *shared]}
    return command


def _parameters(kind: type[SharedOptions]) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def _is_argument(annotation: Any) -> bool:
    return get_origin(annotation) is Annotated and any(isinstance(m, ArgumentInfo) for m in get_args(annotation))


# Headings that the help of commands has.
READING = "Reading SUBS"
SPARK = "Spark"
PRINTING = "Printing"

Subscriptions = Annotated[
    Path,
    typer.Argument(
        metavar="SUBS",
        help="Subscriptions, one a row: a .parquet, .csv or .tsv file; the latter two may be .gz. "
        "Or a folder that `topicloom spark ingest` wrote.",
        show_default=False,
    ),
]
IngestFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder that `topicloom spark ingest` wrote.", show_default=False)
]
OverlayFile = Annotated[
    Path,
    typer.Argument(
        metavar="OVERLAY",
        help="Links as `topicloom design` wrote them, or any file with the columns source and target.",
        show_default=False,
    ),
]
PlanFile = Annotated[
    Path,
    typer.Argument(metavar="PLAN", help="JSON file that `topicloom plan` wrote.", show_default=False),
]
TopicsOut = Annotated[
    Path | None,
    typer.Option(
        "--topics", metavar="FILE", help="Parquet file to write the measures of each topic to.", show_default=False
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed; the same seed gives the same result.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.", rich_help_panel=PRINTING)]
Bound = Annotated[
    bool,
    typer.Option("--bound", help="Prove how far from the best overlay it may be, which takes some seconds."),
]
NoDiameters = Annotated[
    bool, typer.Option("--no-diameters", help="Leave out topic diameters, which may take most of the time.")
]


Filters = Annotated[
    Literal["mqtt", "nats", "amqp", "none"] | None,
    typer.Option(
        "--filters",
        help="Protocol whose wildcards topics may have, or none; unless SUBS says it.",
        show_default=False,
        rich_help_panel=READING,
    ),
]


@dataclass(frozen=True, kw_only=True)
class InterestColumns(SharedOptions):
    """How subscriptions are read."""

    node_column: Annotated[
        str,
        typer.Option(
            "--node-column", metavar="NAME", help="Column of SUBS that names the node.", rich_help_panel=READING
        ),
    ] = "node"
    topic_column: Annotated[
        str,
        typer.Option(
            "--topic-column", metavar="NAME", help="Column of SUBS that names the topic.", rich_help_panel=READING
        ),
    ] = "topic"
    role_column: Annotated[
        str,
        typer.Option(
            "--role-column",
            metavar="NAME",
            help="Column of SUBS that says whether the node subscribes (sub), publishes (pub) or both; "
            "without such a column all do both.",
            rich_help_panel=READING,
        ),
    ] = "role"
    filters: Filters = None


@dataclass(frozen=True, kw_only=True)
class InterestFile(InterestColumns):
    """Where subscriptions are, and how they are read."""

    subscriptions: Annotated[
        Path,
        typer.Argument(
            metavar="SUBS",
            help="Subscriptions, one a row: a .parquet, .csv or .tsv file; the latter two may be .gz. "
            "Or a folder that `topicloom spark ingest` wrote.",
            show_default=False,
        ),
    ]

    @property
    def path(self) -> Path:
        """The file or folder."""
        return self.subscriptions

    def read(self, working: Working) -> Interest:
        """Read them while a person watches."""
        from topicloom.model import Interest

        return working.do(
            f"reading {self.path.name}",
            lambda: Interest.read(
                self.path,
                node_column=self.node_column,
                topic_column=self.topic_column,
                role_column=self.role_column,
                filters=self.filters,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Spark(SharedOptions):
    """How Spark runs."""

    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="URL",
            help="Where Spark runs, such as local[4], spark://host:7077, yarn. "
            "Unless given: SPARK_MASTER, spark-defaults, or all cores of this machine.",
            show_default=False,
            rich_help_panel=SPARK,
        ),
    ] = None
    spark_conf: Annotated[
        list[str] | None,
        typer.Option(
            "--spark-conf",
            metavar="KEY=VALUE",
            help="A setting of Spark; may be repeated.",
            show_default=False,
            rich_help_panel=SPARK,
        ),
    ] = None
    driver_memory: Annotated[
        str | None,
        typer.Option(
            "--driver-memory",
            metavar="SIZE",
            help="Memory of Spark's driver, such as 8g; on one machine it does all the work.",
            show_default=False,
            rich_help_panel=SPARK,
        ),
    ] = None
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Show what Spark and Java say, instead of progress.", rich_help_panel=SPARK),
    ] = False

    def __post_init__(self) -> None:
        spark_settings(self.spark_conf or (), "spark_conf")  # so that a wrong one is refused before any work

    def options(self) -> SparkOptions:
        """The same for the pipeline."""
        from topicloom.spark import SparkOptions

        settings = spark_settings(self.spark_conf or (), "spark_conf")
        if self.driver_memory:
            settings["spark.driver.memory"] = self.driver_memory
        return SparkOptions(self.master, settings, self.verbose)


@dataclass(frozen=True, kw_only=True)
class Printing(SharedOptions):
    """What is printed, and how."""

    json: Json = False
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Print errors and nothing else, or JSON.", rich_help_panel=PRINTING),
    ] = False

    def __post_init__(self) -> None:
        output.be_quiet(self.quiet)

    def working(self, spark: Spark | None = None) -> Working:
        """Shows work going on, unless that is not wanted, or Spark itself shows what it does."""
        return Working(quiet=self.quiet or (spark is not None and spark.verbose))

    def written(self, path: object, what: str = "") -> None:
        """Say where something was written."""
        output.say(f"{what} written to {output.one_line(str(path))}".lstrip())


@dataclass(frozen=True, kw_only=True)
class FleetLimits(SharedOptions):
    """Which links there may be."""

    fleet: Annotated[
        Path | None,
        typer.Option(
            "--fleet",
            "-f",
            metavar="FILE",
            help="TOML file of the fleet: max_links, accepts and region of each broker, links to forbid, keep and "
            "require. No link breaks them.",
            show_default=False,
        ),
    ] = None

    def read(self) -> Fleet | None:
        """The fleet, where one is given."""
        return None if self.fleet is None else read_fleet(self.fleet)


@dataclass(frozen=True, kw_only=True)
class PriceFile(SharedOptions):
    """What links cost."""

    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="CSV file with columns source, target and price, of nodes, or of regions that a fleet file names: "
            "latency or money. A row *,* is for all others.",
            show_default=False,
        ),
    ] = None

    def read(self, fleet: Fleet | None, interest: Interest) -> Prices | None:
        """The prices, where they are given: of nodes where all are named, else of their regions."""
        return None if self.prices is None else read_prices(self.prices, fleet, interest)


@dataclass(frozen=True, kw_only=True)
class StatusToken(SharedOptions):
    """What lets somebody look at a fleet under control."""

    token_env: Annotated[
        str | None,
        typer.Option(
            "--token-env",
            metavar="NAME",
            help="Variable with the token that is needed to look where `topicloom watch` listens; must be given for "
            "addresses other than loopback.",
            show_default=False,
        ),
    ] = None

    def read(self) -> str | None:
        """The token, where a variable is named."""
        return read_token(self.token_env)


@dataclass(frozen=True, kw_only=True)
class RateFile(SharedOptions):
    """How many messages there are."""

    rates: Annotated[
        Path | None,
        typer.Option(
            "--rates",
            metavar="FILE",
            help="CSV file with columns topic and rate: messages in a unit of time, of known topic names.",
            show_default=False,
        ),
    ] = None

    def read(self) -> Rates | None:
        """The rates, where they are given."""
        from topicloom.model import Rates

        return None if self.rates is None else Rates.read(self.rates)


Command = Callable[..., None]
Options = list[inspect.Parameter]

_METAVARS = {int: "N", float: "X", str: "NAME", bool: None}


def taking(options: Callable[[], Options]) -> Callable[[Command], Command]:
    """Offer options, made late, in a command that ends in `**parameters`."""

    def mark(command: Command) -> Command:
        command.late_options = options  # type: ignore[attr-defined]
        return command

    return mark


def shared_options(algorithms: Iterable[Algorithm]) -> Options:
    """An option for each parameter that some of the algorithms take; the help says which, and their defaults."""
    return [_shared_option(name, takers) for name, takers in takers_of(algorithms).items()]


def _shared_option(name: str, takers: list[tuple[str, Parameter]]) -> inspect.Parameter:
    kind = takers[0][1].kind
    flag = f"{option_name(name)}/--no-{option_name(name)[2:]}" if kind is bool else option_name(name)
    return _option(name, kind, choices_of(takers), flag, help_of(takers), default=None)


def own_options(parameters: Iterable[Parameter]) -> Options:
    """An option for each parameter, with its default."""
    return [_option(p.name, p.kind, p.choices, option_name(p.name), f"{p.meaning}.", p.default) for p in parameters]


def maintainer_options() -> Options:
    """An option for each parameter of a maintainer."""
    from topicloom.churn.settings import PARAMETERS

    return own_options(PARAMETERS)


def _option(name: str, kind: Any, choices: tuple[str, ...], flag: str, text: str, default: Any) -> inspect.Parameter:
    option = typer.Option(
        flag,
        metavar=None if choices else _METAVARS[kind],
        help=text[0].upper() + text[1:],
        show_default=default not in (None, False),
    )
    values: Any = Literal[choices] if choices else kind
    annotation: Any = Annotated[values if default is not None else values | None, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
