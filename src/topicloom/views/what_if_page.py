"""What-if questions: form, answer, before and after.

Two pictures of an overlay, before and after something changed: every node at the same place in both.

The form of the what-if view, and the question that a filled one asks.

What comes of a what-if question, as the view shows it, and the files that it can be taken away as.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from topicloom.brokers import make_plan
from topicloom.brokers.plan_file import plan_text
from topicloom.designers import DESIGNERS, Designer
from topicloom.designers.contract import asked_for
from topicloom.errors import InputError
from topicloom.io.tables import write_parquet
from topicloom.metrics import Measures
from topicloom.metrics.summary import COMPARED
from topicloom.model import Interest, Overlay
from topicloom.registry import Parameter, Value
from topicloom.views.drawing import DEGREE, Drawing, SeenOverlay, node_sizes
from topicloom.views.explorer import Explorer, Job, usual_designer
from topicloom.views.html import Cell, macro, table_html
from topicloom.views.interactive import network_block
from topicloom.views.network import DrawnNetwork, network_figure
from topicloom.views.network_views import measures_of
from topicloom.views.numbers import UNKNOWN, Number, mean
from topicloom.views.what_if import DESIGN, REACTIONS, Answered, Question, what_if

# Colour and dashes tell; a link that went is dashed before, one that came is thick after.
_SAME, _GONE, _NEW = "#8c959f", "#D55E00", "#0072B2"


def before_and_after(drawing: Drawing, after: SeenOverlay) -> tuple[DrawnNetwork, DrawnNetwork]:
    """Both pictures, from the drawing of all of the overlay as it was."""
    before = drawing.seen.overlay
    if drawing.grouped:
        return _groups(drawing, after.overlay)
    kept = {frozenset(link) for link in before} & {frozenset(link) for link in after.overlay}
    return replace(drawing.drawn, **_look(before, kept, _GONE, "dashed")), _after(drawing, after, kept)


def _look(overlay: Overlay, kept: set[frozenset[str]], changed: str, dash: str) -> dict[str, Any]:
    same = [frozenset(link) in kept for link in overlay]
    return {
        "link_colours": [_SAME if each else changed for each in same],
        "link_dashes": ["solid" if each else dash for each in same],
        "widths": np.where(same, 1.0, 2.5),
    }


def _after(drawing: Drawing, after: SeenOverlay, kept: set[frozenset[str]]) -> DrawnNetwork:
    overlay, known = after.overlay, drawing.seen.overlay.interest.node_ids
    degrees = overlay.degrees
    return DrawnNetwork(
        names=overlay.interest.node_names,
        places=_places(drawing, overlay),
        source=overlay.source,
        target=overlay.target,
        sizes=node_sizes(degrees),
        told={"links": degrees, "topics it has to do with": np.diff(overlay.interest.node_start)},
        colourings={
            DEGREE: degrees,
            "new": np.array([0 if name in known else 1 for name in overlay.interest.node_names]),
        },
        groups=frozenset(["new"]),
        **_look(overlay, kept, _NEW, "solid"),
    )


def _places(drawing: Drawing, overlay: Overlay) -> npt.NDArray[np.float64]:
    """Where nodes were; a new one is beside those that it is linked with."""
    known, places = drawing.seen.overlay.interest.node_ids, drawing.drawn.places
    names = overlay.interest.node_names
    at = np.array([places[known[name]] if name in known else (np.nan, np.nan) for name in names])
    for node in np.flatnonzero(np.isnan(at[:, 0])).tolist():
        linked = np.concatenate([overlay.target[overlay.source == node], overlay.source[overlay.target == node]])
        around = at[linked][~np.isnan(at[linked, 0])]
        at[node] = (around.mean(axis=0) if len(around) else (0.0, 1.1)) + (0.05, 0.05)
    return at


def _groups(drawing: Drawing, after: Overlay) -> tuple[DrawnNetwork, DrawnNetwork]:
    """Groups as they were; links between two of them are coloured where their number changed."""
    before, count = drawing.seen.overlay, len(drawing.drawn.names)
    known = before.interest.node_ids
    group = np.array(
        [drawing.row[known[name]] if name in known else count - 1 for name in after.interest.node_names], np.int64
    )
    numbers = [_between(drawing.row, before, count), _between(group, after, count)]
    drawn = []
    for mine, other, colour in ((numbers[0], numbers[1], _GONE), (numbers[1], numbers[0], _NEW)):
        pairs = np.flatnonzero(mine)
        drawn.append(
            replace(
                drawing.drawn,
                source=pairs // count,
                target=pairs % count,
                widths=0.5 + np.log10(mine[pairs]),
                link_told={"links": mine[pairs], "before or after": other[pairs]},
                link_colours=[colour if mine[pair] > other[pair] else _SAME for pair in pairs],
            )
        )
    return drawn[0], drawn[1]


def _between(group: npt.NDArray[np.int64], overlay: Overlay, count: int) -> npt.NDArray[np.int64]:
    """How many links there are between each two groups, by the lower one times the number of groups plus the other."""
    first, second = group[overlay.source], group[overlay.target]
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.bincount((low * count + high)[low != high], minlength=count * count)


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
    """The designers that can answer: those that honour constraints and prices, if there are any."""
    asked = asked_for(explorer.collection.constraints, explorer.collection.prices)
    for designer in DESIGNERS.values():
        if designer.name == "exact" and interest.node_count > _EXACT_NODES:
            continue
        if asked <= designer.honours:
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


class ToldAnswer(NamedTuple):
    """An answer, the overlay that it is about, and what the view shows of it."""

    answered: Answered
    number: int
    html: Markup


class Download(NamedTuple):
    """A file to take away."""

    name: str
    kind: str
    data: bytes


def answer_question(explorer: Explorer, number: int, question: Question, job: Job) -> ToldAnswer:
    """Answer a question about an overlay."""
    named, collection = explorer.collection.overlay(number), explorer.collection
    answered = what_if(
        named.seen.overlay,
        question,
        constraints=collection.constraints,
        prices=collection.prices,
        watch=job.watch,
        measured=measures_of(explorer, number),
    )
    drawn = before_and_after(named.seen.whole, collection.seen(answered.after))
    pictures = [
        network_block(network_figure(each, title), title, list(each.colourings))
        for each, title in zip(drawn, ("Before", "After"), strict=True)
    ]
    html = macro(
        "what_if.html",
        "answer",
        job.number,
        _table(answered),
        _said(answered),
        pictures,
        explorer.spell(question, named),
        _offered(explorer, answered),
        answered.seconds,
    )
    return ToldAnswer(answered, number, html)


def _table(answered: Answered) -> Markup:
    rows: list[list[Cell]] = []
    for title, field, show in COMPARED:
        before, after = (getattr(measures, field) for measures in answered.measures)
        rows.append([title, show(before), show(after), _difference(before, after, show)])
    if answered.longest_ways[0] is not None:
        before, after = answered.longest_ways
        rows.append(["longest way by price", mean(before), mean(after), _difference(before, after, mean)])
    return table_html(["", "before", "after", "change"], rows)


def _difference(before: float | None, after: float | None, show: Callable[[Any], Number]) -> Number:
    if before is None or after is None:
        return UNKNOWN
    change = after - before
    if not change:
        return Number(0, "=")
    return Number(change, f"{'+' if change > 0 else '−'}{show(abs(change)).text}")


def _said(answered: Answered) -> str:
    before, after = ({frozenset(link) for link in each} for each in (answered.before, answered.after))
    broken = answered.measures[1].components - answered.measures[1].components_connected
    told = f"{len(after - before):,} links come, {len(before - after):,} go and {len(before & after):,} stay."
    return f"{told} {'Every topic is connected.' if not broken else f'Topics lack {broken:,} merges to be connected.'}"


def _overlay(explorer: Explorer, answered: Answered) -> bytes:
    stream = io.BytesIO()
    write_parquet(answered.after.to_arrow(), stream)
    return stream.getvalue()


def _subscriptions(explorer: Explorer, answered: Answered) -> bytes:
    stream = io.BytesIO()
    write_parquet(answered.after.interest.to_arrow(), stream)
    return stream.getvalue()


def _events_file(explorer: Explorer, answered: Answered) -> bytes:
    return "".join(f"{event.to_json()}\n" for event in answered.events).encode()


def _plan(explorer: Explorer, answered: Answered) -> bytes:
    fleet = explorer.collection.fleet
    if fleet is None:
        raise InputError("a plan needs to know where brokers are; start again with a fleet", "fleet")
    return plan_text(make_plan(answered.after.interest, answered.after, fleet, relays=True)).encode()


def _fleet(explorer: Explorer, answered: Answered) -> bytes:
    """The fleet file with what was forbidden and had to stay; without one, hosts are called like their nodes."""
    known = explorer.collection.fleet_text
    if known is None:
        known = "".join(
            f"[brokers.{_quoted(name)}]\nhost = {_quoted(name)}\n" for name in answered.after.interest.node_names
        )
    told = {"forbid": answered.question.forbidden, "require": answered.staying}
    return "".join(
        [
            known,
            *(
                f"\n[[{word}]]\nbetween = [{_quoted(first)}, {_quoted(second)}]\n"
                for word, pairs in told.items()
                for first, second in pairs
            ),
        ]
    ).encode()


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


_FILES: dict[str, Callable[[Explorer, Answered], bytes]] = {
    "overlay.parquet": _overlay,
    "subscriptions.parquet": _subscriptions,
    "events.jsonl": _events_file,
    "plan.json": _plan,
    "fleet.toml": _fleet,
}


def _offered(explorer: Explorer, answered: Answered) -> list[str]:
    """The files that there is a use for."""
    useless = {
        "events.jsonl": not answered.events,
        "plan.json": explorer.collection.fleet is None,
        "fleet.toml": not answered.question.forbidden,
        "subscriptions.parquet": not answered.events,
    }
    return [name for name in _FILES if not useless.get(name)]


def download(explorer: Explorer, told: ToldAnswer, name: str) -> Download:
    """A file of an answer by its name."""
    if name not in _FILES:
        raise InputError(f"there is no file of that name; there are {', '.join(_FILES)}")
    return Download(name, "application/octet-stream", _FILES[name](explorer, told.answered))
