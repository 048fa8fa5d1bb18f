"""What comes of a what-if question, as the view shows it, and the files that it can be taken away as."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from markupsafe import Markup

from topicloom.deploy import make_plan
from topicloom.deploy.planning.plan_file import plan_text
from topicloom.errors import InputError
from topicloom.explore.asking.background_work import Job
from topicloom.explore.asking.before_and_after import before_and_after
from topicloom.explore.asking.what_if import Answered, Question, what_if
from topicloom.explore.explorer import Explorer
from topicloom.explore.views.network_view import measures_of
from topicloom.files.parquet import write_parquet
from topicloom.metrics.facts import COMPARED
from topicloom.present.html import Cell, macro, table_html
from topicloom.present.interactive import network_block
from topicloom.present.network_figure import network_figure
from topicloom.present.numbers import UNKNOWN, Number, mean


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
        "topicloom.explore",
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


def _events(explorer: Explorer, answered: Answered) -> bytes:
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
    "events.jsonl": _events,
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
