"""The form of the what-if view, and the question that a filled one asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from topicloom.algorithms import Parameter, Value
from topicloom.designers import DESIGNERS, Designer
from topicloom.errors import InputError
from topicloom.explore.asking.what_if import DESIGN, REACTIONS, Question
from topicloom.explore.collection import usual_designer
from topicloom.explore.explorer import Explorer
from topicloom.explore.views.network_view import measures_of
from topicloom.metrics import Measures
from topicloom.model import Interest
from topicloom.present.html import macro

# The best of all is looked for only among few nodes.
_EXACT_NODES = 30
# How many names a browser is given to choose from.
_OFFERED = 3000
# Between the names of two nodes.
_LINK = " - "


class _Field(NamedTuple):
    """A parameter of a designer as the form asks for it."""

    name: str
    meaning: str
    kind: str
    value: Any
    low: float | None
    high: float | None
    step: str
    choices: Sequence[str]


def what_if_html(explorer: Explorer, number: int) -> Markup:
    """The form; what comes of it goes below."""
    named = explorer.collection.overlay(number)
    interest = named.seen.overlay.interest
    measures = measures_of(explorer, number)
    designers = [
        (designer.name, designer.rule, list(_fields(designer, measures)))
        for designer in offered_designers(interest, explorer)
    ]
    made = named.seen.overlay.provenance
    known = made.algorithm if made is not None and made.algorithm in DESIGNERS else usual_designer(interest)
    return macro(
        "topicloom.explore",
        "what_if.html",
        "form",
        number,
        named.name,
        REACTIONS,
        designers,
        known,
        interest.node_names[:_OFFERED],
        interest.topic_names[:_OFFERED],
    )


def offered_designers(interest: Interest, explorer: Explorer) -> Iterator[Designer]:
    """The designers that can answer: those that keep to what the fleet allows and know prices, where there are any."""
    for designer in DESIGNERS.values():
        if designer.name == "exact" and interest.node_count > _EXACT_NODES:
            continue
        if explorer.collection.constraints is not None and not designer.takes_constraints:
            continue
        if explorer.collection.prices is not None and not designer.takes_prices:
            continue
        yield designer


def _fields(designer: Designer, measures: Measures) -> Iterator[_Field]:
    most = {"max_degree": max(4, 2 * measures.max_degree), "max_edges": max(4, 2 * measures.links)}
    usual = {"max_degree": max(1, measures.max_degree), "max_edges": max(1, measures.links)}
    for parameter in designer.parameters:
        yield _field(parameter, most.get(parameter.name), usual.get(parameter.name))


def _field(parameter: Parameter, most: int | None, usual: int | None) -> _Field:
    kind = "choice" if parameter.choices else {bool: "flag", int: "number", float: "number"}.get(parameter.kind, "text")
    if most is not None:
        kind = "slider"
    value = parameter.default
    if value is None and parameter.required:
        value = usual
    high = most if most is not None else parameter.maximum
    low = parameter.minimum if parameter.kind in (int, float) else None
    step = "1" if parameter.kind is int else "any"
    return _Field(parameter.name, parameter.meaning, kind, value, low, high, step, parameter.choices)


def question_of(interest: Interest, given: Mapping[str, Any]) -> Question:
    """The question of a filled form; whatever is not as the form makes it is an error."""
    algorithm = _text(given, "algorithm", usual_designer(interest))
    known = {parameter.name: parameter for parameter in DESIGNERS.find(algorithm).parameters}
    parameters = given.get("parameters", {})
    if not isinstance(parameters, dict) or not all(isinstance(name, str) for name in parameters):
        raise InputError("parameters must be names with values")
    name = _text(given, "added", "").strip()
    topics = tuple(sorted({line.strip() for line in _text(given, "topics", "").splitlines()} - {""}))
    if topics and not name:
        raise InputError("give the new node a name")
    killed = tuple(dict.fromkeys(line.strip() for line in _text(given, "killed", "").splitlines() if line.strip()))
    return Question(
        reaction=_text(given, "reaction", DESIGN),
        algorithm=algorithm,
        parameters={key: _value(known.get(key), key, value) for key, value in parameters.items() if value != ""},
        killed=killed,
        forbidden=tuple(
            _pair(interest, name, line) for line in _text(given, "forbidden", "").splitlines() if line.strip()
        ),
        added={name: topics} if name else {},
    )


def _text(given: Mapping[str, Any], name: str, otherwise: str) -> str:
    value = given.get(name, otherwise)
    if not isinstance(value, str):
        raise InputError(f"{name} must be text")
    return value


def _value(parameter: Parameter | None, name: str, value: Any) -> Value:
    if not isinstance(value, str | int | float | bool):
        raise InputError(f"{name} must be a number or a word")
    if parameter is None or parameter.kind is str or not isinstance(value, str):
        return value
    if parameter.kind is bool:
        return value in ("on", "true")
    try:
        return float(value) if "." in value or parameter.kind is float else int(value)
    except ValueError:
        raise InputError(f"{name} must be {parameter.expected}, not '{value}'") from None


def _pair(interest: Interest, added: str, line: str) -> tuple[str, str]:
    """Two names that ` - ` stands between; a name may hold that too."""
    words = line.strip().split(_LINK)
    pairs = [(_LINK.join(words[:at]), _LINK.join(words[at:])) for at in range(1, len(words))]
    for first, second in pairs:
        if all(name in interest.node_ids or name == added for name in (first, second)):
            return first, second
    raise InputError(f"'{line.strip()}' names no two nodes; write them as: A{_LINK}B")
