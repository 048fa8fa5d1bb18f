"""From options to the parameters of designers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Number = int | float
Parameters = dict[str, Number]


def given(**options: Number | None) -> Parameters:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def option_name(parameter: str) -> str:
    """The option that gives a parameter."""
    return "--" + parameter.replace("_", "-")


def checked(algorithm: str, parameters: Mapping[str, Number]) -> Parameters:
    """The parameters with defaults filled in; an error where the designer does not take them as they are."""
    from topicloom.designers import checked_parameters, find_designer

    return checked_parameters(find_designer(algorithm), parameters)


def shared_out(algorithms: Sequence[str], parameters: Mapping[str, Number]) -> dict[str, Parameters]:
    """For each algorithm those of the parameters that it takes, checked; an error where one is of use to none."""
    from topicloom.designers.registry import find_designer
    from topicloom.errors import InputError

    takes = {}
    for algorithm in algorithms:
        designer = find_designer(algorithm)
        takes[algorithm] = {parameter.name for parameter in designer.parameters}
        if designer.budget is not None:
            takes[algorithm].add("budget_ratio")
    for name in parameters:
        if not any(name in names for names in takes.values()):
            raise InputError(f"{name} is of use to none of {', '.join(algorithms)}; leave it out", name)
    shared = {
        algorithm: {name: value for name, value in parameters.items() if name in names}
        for algorithm, names in takes.items()
    }
    for algorithm, own in shared.items():
        checked(algorithm, own)
    return shared
