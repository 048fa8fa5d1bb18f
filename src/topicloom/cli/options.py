"""Options of commands: each that several commands share is one decorator.

Values of shared options are kept for `Run`, which reads what they name; no command takes them as arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from topicloom.errors import InputError

if TYPE_CHECKING:
    from topicloom.registry import Algorithm, Parameter, Prepared, Registry

    A = TypeVar("A", bound=Algorithm)

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

# Sections of help.
OPTIONS = "Options"
OF_DESIGNERS = "Parameters of designers"
OF_MAINTAINERS = "Parameters of repair"
READING = "Reading SUBS"
SPARK = "Spark"
PRINTING = "Printing"

# The fleet file unless another is given, for commands that need one.
FLEET = Path("fleet.toml")

# Under this key a context keeps the values of shared options.
SHARED_VALUES = "topicloom.shared"


def option_name(parameter: str) -> str:
    """The option that gives a parameter."""
    return "--" + parameter.replace("_", "-")


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    assert parameter.name is not None
    context.meta.setdefault(SHARED_VALUES, {})[parameter.name] = value
    return value


SHARED: Mapping[str, Any] = {"expose_value": False, "callback": _keep}


class Numeral(click.ParamType[Any]):
    """A number, with an error in plain words; if `least` is given, a finite one that is not less."""

    def __init__(self, kind: type[int] | type[float], name: str, expected: str, *, least: float | None = None) -> None:
        self.name = name
        self._kind, self._least = kind, least
        self._expected = expected if least is None else f"{expected} of {least:g} or more"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        """Convert text; other values are numbers already."""
        number = None
        with suppress(ValueError):
            number = self._kind(value)
        if number is None or (self._least is not None and not self._least <= number < math.inf):
            self.fail(f"'{value}' is not {self._expected}", param, ctx)
        return number


WHOLE = Numeral(int, "N", "a whole number")
NUMBER = Numeral(float, "X", "a number")
PATH = click.Path(path_type=Path)


class Option(click.Option):
    """An option that belongs to a section of the help."""

    def __init__(self, *arguments: Any, section: str = OPTIONS, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.section = section


def option(*names: str, **settings: Any) -> Decorator:
    """An option of one command."""
    return click.option(*names, cls=Option, **settings)


def flag(*names: str, **settings: Any) -> Decorator:
    """An option without a value."""
    return option(*names, is_flag=True, **settings)


def file(*names: str, metavar: str = "FILE", **settings: Any) -> Decorator:
    """An option that names a file."""
    return option(*names, metavar=metavar, type=PATH, **settings)


def path(name: str, metavar: str, help: str, *, required: bool = True) -> Decorator:
    """An argument that names a file or folder."""
    return click.argument(name, metavar=metavar, type=PATH, required=required, help=help)


def out(metavar: str, help: str) -> Decorator:
    """The option that names what a command writes."""
    return file("--out", "-o", metavar=metavar, required=True, help=help)


def all_of(*decorators: Decorator) -> Decorator:
    """Several decorators as one, in the order of the help."""

    def decorated(body: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            body = decorator(body)
        return body

    return decorated


def _column(name: str, help: str) -> Decorator:
    return option(
        f"--{name}-column", metavar="NAME", default=name, show_default=True, section=READING, help=help, **SHARED
    )


filters = option(
    "--filters",
    type=click.Choice(["mqtt", "nats", "amqp", "none"]),
    section=READING,
    help="Treat topics as wildcard filters of this protocol.  [default: what SUBS says]",
    **SHARED,
)
columns = all_of(
    _column("node", "Column of nodes in SUBS."),
    _column("topic", "Column of topics in SUBS."),
    _column("role", "Column of roles in SUBS: sub, pub or both; optional."),
    filters,
)
subscriptions = all_of(
    click.argument(
        "subscriptions",
        metavar="SUBS",
        type=PATH,
        help="Subscriptions, one a row: .parquet, .csv, .tsv, .csv.gz or .tsv.gz; or what `spark ingest` wrote.",
        **SHARED,
    ),
    columns,
)

overlay_if_any = path("overlay", "[OVERLAY]", "Links to use; designed unless given.", required=False)
overlay = path("overlay", "OVERLAY", "Links of `topicloom design`, or any table with columns source and target.")

plan = click.argument("plan", metavar="PLAN", type=PATH, help="JSON file of `topicloom plan`.", **SHARED)
configurations = click.argument(
    "paths",
    metavar="PATH...",
    type=PATH,
    nargs=-1,
    required=True,
    help="Configurations of all brokers: files, or folders with one for each broker.",
)

fleet = file(
    "--fleet",
    "-f",
    help="Fleet file: limits and regions of brokers, links to forbid or keep.",
    **SHARED,
)
brokers = file(
    "--fleet",
    "-f",
    default=FLEET,
    show_default=True,
    help="Fleet file: where brokers are, and how to reach them.",
    **SHARED,
)


state = file(
    "--state",
    metavar="DIR",
    default="fleet-state",
    show_default=True,
    help="Folder that keeps what the fleet has.",
)


def kinds(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Kinds of brokers, for shells to complete."""
    from topicloom.brokers.kinds import KINDS

    return [name for name in KINDS if name.startswith(begun)]


target = option(
    "--target",
    "-t",
    metavar="KIND",
    default="mosquitto",
    show_default=True,
    shell_complete=kinds,
    help="Kind of brokers whose kind the fleet file does not give.",
)
prices = file("--prices", help="CSV file: source, target (nodes or regions), price; `*,*` is the default.", **SHARED)
rates = file("--rates", help="CSV file: topic, rate (messages in a unit of time).", **SHARED)
seed = option(
    "--seed",
    metavar="N",
    type=WHOLE,
    default=0,
    show_default=True,
    help="Seed of random numbers; the same seed gives the same result.",
)
no_diameters = flag("--no-diameters", help="Skip topic diameters, the slowest measure.")
bound = flag("--bound", help="Also compute lower bounds (seconds).")

place = click.argument(
    "place",
    metavar="FLEET",
    help="Subscriptions that `topicloom spark ingest` wrote.",
    **SHARED,
)
links_place = click.argument(
    "overlay",
    metavar="OVERLAY",
    help="Links of `topicloom design`, or any table with columns source and target.",
)


def out_place(what: str, help: str = "A folder on any file system, or table:NAME.") -> Decorator:
    """Options of what Spark writes to a place."""
    return all_of(
        option("--out", "-o", metavar="PLACE", required=True, help=help),
        flag("--overwrite", help=f"Replace {what} that is there."),
    )


def raw_rows(what: str, reading: str = OPTIONS, cleaning: str = OPTIONS) -> Decorator:
    """Options of raw data on Spark: `what` are its rows, the others sections of the help."""
    return all_of(
        option(
            "--input-format",
            metavar="NAME",
            section=reading,
            help="csv, tsv, json, parquet, orc or another.  [default: by name]",
        ),
        option(
            "--max-bad",
            metavar="SHARE",
            type=NUMBER,
            default=0.1,
            show_default=True,
            section=cleaning,
            help=f"Fail if more than this share of {what} is invalid.",
        ),
    )


spark = all_of(
    option(
        "--master",
        metavar="URL",
        section=SPARK,
        help="Spark to run on, such as local[4], yarn.  [default: SPARK_MASTER, spark-defaults, or this machine]",
        **SHARED,
    ),
    option(
        "--remote",
        metavar="URL",
        section=SPARK,
        help="Server of Spark Connect in place of a master, such as sc://host:15002.",
        **SHARED,
    ),
    option(
        "--conf",
        metavar="KEY=VALUE",
        multiple=True,
        section=SPARK,
        help="Setting of Spark, such as spark.driver.memory=8g; may be repeated.",
        **SHARED,
    ),
    flag("--verbose", help="Show output of Spark and Java instead of progress.", section=SPARK, **SHARED),
)


def printing(formats: Sequence[str] = ()) -> Decorator:
    """How a command prints; `formats` are further ones that it has."""
    return all_of(
        option(
            "--format",
            type=click.Choice(["text", "json", "csv", "markdown", *formats]),
            default="text",
            show_default=True,
            section=PRINTING,
            help="Print text, or data for programs.",
            **SHARED,
        ),
        flag("--json", help="Same as --format json.", section=PRINTING, **SHARED),
        flag("--quiet", "-q", section=PRINTING, help="Print only errors and data.", **SHARED),
    )


def spark_settings(texts: Iterable[str], name: str = "conf") -> dict[str, str]:
    """Settings of Spark from texts KEY=VALUE; `name` is the parameter that gave them."""
    settings = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f"{name} '{text}': expected KEY=VALUE, such as spark.executor.memory=4g", name)
        settings[key.strip()] = value.strip()
    return settings


def of_backbone() -> list[click.Option]:
    """An option for each parameter of the designer that runs on Spark."""
    from topicloom.designers import DESIGNERS

    return [_parameter_option(name, takers) for name, takers in takers_of([DESIGNERS.find("backbone")]).items()]


def of_maintainers() -> list[click.Option]:
    """An option for each parameter of a maintainer."""
    from topicloom.churn.settings import PARAMETERS

    return [_setting_option(parameter) for parameter in PARAMETERS]


def _setting_option(parameter: Parameter) -> click.Option:
    text = f"{parameter.meaning[0].upper()}{parameter.meaning[1:]}{_default(parameter)}."
    settings: dict[str, Any] = {"help": text, "default": None, "section": OF_MAINTAINERS}
    if parameter.choices:
        settings["type"] = click.Choice(parameter.choices)
    elif parameter.kind is bool:
        settings["is_flag"] = True
    else:
        settings |= _OF_KIND[parameter.kind]
    return Option([option_name(parameter.name)], **settings)


def of_designers() -> list[click.Option]:
    """An option for each parameter of a designer."""
    from topicloom.designers import DESIGNERS

    return [_parameter_option(name, takers) for name, takers in takers_of(DESIGNERS.values()).items()]


_OF_KIND: Mapping[type, Mapping[str, Any]] = {
    int: {"type": WHOLE, "metavar": "N"},
    float: {"type": NUMBER, "metavar": "X"},
    str: {"metavar": "NAME"},
}


def _parameter_option(name: str, takers: Sequence[tuple[str, Parameter]]) -> click.Option:
    kind, choices = takers[0][1].kind, choices_of(takers)
    names = f"{option_name(name)}/--no-{option_name(name)[2:]}" if kind is bool else option_name(name)
    settings: dict[str, Any] = {"help": help_of(takers), "default": None, "section": OF_DESIGNERS}
    if choices:
        settings["type"] = click.Choice(choices)
    elif kind is not bool:
        settings |= _OF_KIND[kind]
    return Option([names], **settings)


def takers_of(algorithms: Iterable[Algorithm]) -> dict[str, list[tuple[str, Parameter]]]:
    """Parameters by name, each with the algorithms that take it."""
    takers: dict[str, list[tuple[str, Parameter]]] = {}
    for algorithm in algorithms:
        for parameter in algorithm.accepts:
            takers.setdefault(parameter.name, []).append((algorithm.name, parameter))
    return takers


def choices_of(takers: Sequence[tuple[str, Parameter]]) -> tuple[str, ...]:
    """Words to choose from, of all algorithms that take a parameter."""
    return tuple(dict.fromkeys(word for _, parameter in takers for word in parameter.choices))


def help_of(takers: Sequence[tuple[str, Parameter]]) -> str:
    """What a parameter does, for which algorithms, and their defaults."""
    defaults = [_default(parameter) for _, parameter in takers]
    if len(set(defaults)) == 1:
        owners = f"{', '.join(owner for owner, _ in takers)}{defaults[0]}"
    else:
        owners = ", ".join(f"{owner}{default}" for (owner, _), default in zip(takers, defaults, strict=True))
    text = f"{takers[0][1].meaning}, for {owners}."
    return text[0].upper() + text[1:]


def _default(parameter: Parameter) -> str:
    if parameter.default is None:
        return ""
    return f" ({parameter.default if isinstance(parameter.default, bool | str) else f'{parameter.default:g}'})"


def given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that were given."""
    return {name: value for name, value in parameters.items() if value is not None}


def prepared_each(registry: Registry[A], names: str, seed: int, parameters: Mapping[str, Any]) -> list[Prepared[A]]:
    """The algorithms of those names, separated by commas, each with those of the parameters that it takes.

    A parameter that none of them takes is an error.
    """
    algorithms = [registry.find(name) for name in dict.fromkeys(name.strip() for name in names.split(","))]
    wanted = given(parameters)
    for name in wanted:
        if not any(algorithm.own({name: None}) for algorithm in algorithms):
            owners = ", ".join(algorithm.name for algorithm in algorithms)
            raise InputError(f"{name}: none of {owners} takes it", name)
    return [registry.prepare(algorithm.name, seed, algorithm.own(wanted)) for algorithm in algorithms]
