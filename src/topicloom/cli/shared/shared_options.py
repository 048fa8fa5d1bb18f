"""Options that several commands take, declared once and handed over as one object."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo


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
