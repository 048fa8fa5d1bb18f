"""Options of commands made from the parameters that algorithms declare.

Algorithms are loaded when a command that offers their parameters is parsed, not before: that takes most of a second,
which no other command should wait.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from topicloom.cli.shared.parameters import option_name

if TYPE_CHECKING:
    from topicloom.algorithms import Algorithm, Parameter, Prepared, Registry

    A = TypeVar("A", bound=Algorithm)

Command = Callable[..., None]
Options = list[inspect.Parameter]

_METAVARS = {int: "N", float: "X", str: "NAME", bool: None}


def taking(options: Callable[[], Options]) -> Callable[[Command], Command]:
    """Offer options, made late, in a command that ends in `**parameters`."""

    def mark(command: Command) -> Command:
        command.late_options = options  # type: ignore[attr-defined]
        return command

    return mark


def given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in parameters.items() if value is not None}


def shared_options(algorithms: Iterable[Algorithm]) -> Options:
    """An option for each parameter that some of the algorithms take; the help says which, and their defaults."""
    takers: dict[str, list[tuple[str, Parameter]]] = {}
    for algorithm in algorithms:
        for parameter in algorithm.accepts:
            takers.setdefault(parameter.name, []).append((algorithm.name, parameter))
    return [_shared_option(name, of) for name, of in takers.items()]


def _shared_option(name: str, takers: list[tuple[str, Parameter]]) -> inspect.Parameter:
    kind, meaning = takers[0][1].kind, takers[0][1].meaning
    choices = tuple(dict.fromkeys(word for _, parameter in takers for word in parameter.choices))
    defaults = [_default(parameter) for _, parameter in takers]
    if len(set(defaults)) == 1:
        text = f"{meaning}, for {', '.join(owner for owner, _ in takers)}{defaults[0]}."
    else:
        text = f"{meaning}, for {', '.join(f'{takers[i][0]}{default}' for i, default in enumerate(defaults))}."
    flag = f"{option_name(name)}/--no-{option_name(name)[2:]}" if kind is bool else option_name(name)
    return _option(name, kind, choices, flag, text, default=None)


def own_options(parameters: Iterable[Parameter]) -> Options:
    """An option for each parameter, with its default."""
    return [_option(p.name, p.kind, p.choices, option_name(p.name), f"{p.meaning}.", p.default) for p in parameters]


def maintainer_options() -> Options:
    """An option for each parameter of a maintainer."""
    from topicloom.churn.methods import PARAMETERS

    return own_options(PARAMETERS)


def _default(parameter: Parameter) -> str:
    if parameter.default is None:
        return ""
    return f" ({parameter.default if isinstance(parameter.default, bool | str) else f'{parameter.default:g}'})"


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


def prepared_each(registry: Registry[A], names: str, seed: int, parameters: Mapping[str, Any]) -> list[Prepared[A]]:
    """The algorithms of those names, which have commas between them, each with those of the parameters that it takes.

    A parameter that is of use to none of them is an error.
    """
    from topicloom.errors import InputError

    algorithms = [registry.find(name) for name in dict.fromkeys(name.strip() for name in names.split(","))]
    wanted = given(parameters)
    for name in wanted:
        if not any(algorithm.own({name: None}) for algorithm in algorithms):
            known = ", ".join(algorithm.name for algorithm in algorithms)
            raise InputError(f"{name} is of use to none of {known}; leave it out", name)
    return [registry.prepare(algorithm.name, seed, algorithm.own(wanted)) for algorithm in algorithms]
