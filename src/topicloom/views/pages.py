"""Pages and answers of the explorer.

The files that pages of the explorer are made with: scripts and style, all from installed packages.

Questions that take work: how each begins, and how far it is.

The pages of the explorer: a frame with all views in its navigation, and one of them inside.

What is answered to each request for a page, or for something that a page needs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from markupsafe import Markup

from topicloom.designers import DESIGNERS
from topicloom.errors import InputError
from topicloom.views.explorer import Explorer, Job
from topicloom.views.html import asset, macro, rendered
from topicloom.views.interactive import bokeh_script, styles
from topicloom.views.network_views import ask, fleet_now, network_html, search
from topicloom.views.page import KINDS, page_html
from topicloom.views.run_views import content_html, data_html, papers, papers_html, sweep_html, time_html
from topicloom.views.trade_off import ToldTradeOff, answer_trade_off, load_point
from topicloom.views.web_reply import Reply
from topicloom.views.what_if import DESIGN
from topicloom.views.what_if_page import ToldAnswer, answer_question, download, question_of, what_if_html


class Asset(NamedTuple):
    """A file that pages ask for: its kind, and its text."""

    kind: str
    text: Callable[[], str]


ASSETS = {
    "bokeh.js": Asset("text/javascript", bokeh_script),
    "interactive.js": Asset("text/javascript", lambda: asset("interactive.js")),
    "explore.js": Asset("text/javascript", lambda: asset("explore.js")),
    "explore.css": Asset("text/css", lambda: styles() + asset("explore.css")),
}


def begin(explorer: Explorer, name: str, given: Mapping[str, Any]) -> int:
    """Begin to answer a question of that name and give the number of the work."""
    if name not in _QUESTIONS:
        raise InputError(f"nobody can be asked '{name}'; known are {', '.join(_QUESTIONS)}")
    return _QUESTIONS[name](explorer, given)


def whole_number(given: Mapping[str, Any], name: str) -> int:
    """A whole number of a question."""
    value = given.get(name)
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} must be a whole number")
    return value


def _what_if(explorer: Explorer, given: Mapping[str, Any]) -> int:
    number = whole_number(given, "overlay")
    interest = explorer.collection.overlay(number).seen.overlay.interest
    question = question_of(interest, given)
    total = DESIGNERS.find(question.algorithm).total if question.reaction == DESIGN else None
    parameters = DESIGNERS.prepare(question.algorithm, 0, question.parameters).parameters

    def work(job: Job) -> ToldAnswer:
        job.doing = f"{question.algorithm} works" if question.reaction == DESIGN else "working"
        job.total = None if total is None else total(interest, parameters)
        return answer_question(explorer, number, question, job)

    return explorer.jobs.start(work)


def _trade_off(explorer: Explorer, given: Mapping[str, Any]) -> int:
    number = whole_number(given, "wanted")
    if not 0 <= number < len(explorer.collection.wanted):
        raise InputError(f"there are no subscriptions {number}")
    # The answer is always the same, so it is looked for once.
    known = explorer.once(("trade-off", number), lambda: [0])
    if not explorer.jobs.is_good(known[0]):
        known[0] = explorer.jobs.start(lambda job: answer_trade_off(explorer, number, job))
    return known[0]


_QUESTIONS: dict[str, Callable[[Explorer, Mapping[str, Any]], int]] = {"what-if": _what_if, "trade-off": _trade_off}


def progress(explorer: Explorer, number: int) -> dict[str, Any]:
    """How far a piece of work is: what to show once it has ended, or the problem that ended it."""
    job = explorer.jobs.find(number)
    if not job.ended:
        return {"job": number, "doing": job.doing, "done": job.watch.done, "total": job.total}
    try:
        return {"job": number, "html": job.result().html}
    except InputError as error:
        return {"job": number, "problem": str(error)}


Arguments = Mapping[str, str]


class View(NamedTuple):
    """A view: its name and address, what it lets the reader choose among, and what it shows of that choice.

    Some only `ask`: what they show takes work first.
    """

    name: str
    address: str
    choice_of: str
    choices: Callable[[Explorer], Sequence[str]]
    html: Callable[[Explorer, int, Arguments], Markup]
    asks: bool = False


def _overlays(explorer: Explorer) -> Sequence[str]:
    several = len({each.wanted for each in explorer.collection.overlays}) > 1
    return [
        f"{each.name} ({each.wanted.name})" if several and each.wanted else each.name
        for each in explorer.collection.overlays
    ]


def _subscriptions(explorer: Explorer) -> Sequence[str]:
    return [each.name for each in explorer.collection.wanted]


def _times(explorer: Explorer) -> Sequence[str]:
    traces = [trace.name for trace in explorer.collection.results.traces]
    return traces if explorer.live is None else [*traces, "the fleet now"]


def _papers(explorer: Explorer) -> Sequence[str]:
    several = len(explorer.collection.results.reproductions) > 1
    return [f"{paper} ({each.name})" if several else paper for each, paper in papers(explorer)]


def _sweeps(explorer: Explorer) -> Sequence[str]:
    return [sweep.name for sweep in explorer.collection.results.sweeps]


def _contents(explorer: Explorer) -> Sequence[str]:
    return [network.name for network in explorer.collection.results.networks]


def _trade_off_html(explorer: Explorer, number: int) -> Markup:
    wanted = explorer.collection.wanted[number]
    return macro("views.html", "trade_off_form", number, wanted.name)


VIEWS = (
    View(
        "Network",
        "network",
        "Overlay",
        _overlays,
        lambda explorer, at, given: network_html(explorer, at, given.get("part", "")),
    ),
    View("What if", "what-if", "Overlay", _overlays, lambda explorer, at, given: what_if_html(explorer, at), True),
    View(
        "Trade-off",
        "trade-off",
        "Subscriptions",
        _subscriptions,
        lambda explorer, at, given: _trade_off_html(explorer, at),
        True,
    ),
    View("Sweep", "sweep", "Sweep", _sweeps, lambda explorer, at, given: sweep_html(explorer, at)),
    View("Content", "content", "Network", _contents, lambda explorer, at, given: content_html(explorer, at)),
    View("Time", "time", "Of", _times, lambda explorer, at, given: time_html(explorer, at)),
    View("Papers", "papers", "Paper", _papers, lambda explorer, at, given: papers_html(explorer, at)),
)


def shown_views(explorer: Explorer) -> list[View]:
    """The views that have something to show."""
    return [view for view in VIEWS if view.choices(explorer) and (explorer.asks or not view.asks)]


def _has_report(explorer: Explorer) -> bool:
    """Whether files were read, which a page of results can show."""
    return explorer.asks and any(getattr(explorer.collection.results, kind.name) for kind in KINDS)


def first_address(explorer: Explorer) -> str:
    """Where to begin."""
    return next((view.address for view in shown_views(explorer)), "report")


def since_html(explorer: Explorer) -> Markup:
    """Whether what is shown has changed meanwhile."""
    changed = explorer.current is not None and not explorer.current()
    return macro("views.html", "changed_since") if changed else Markup()


def page(explorer: Explorer, address: str, given: Arguments) -> str:
    """The page of a view; what is wrong with what was asked for is told on it."""
    view = next((each for each in VIEWS if each.address == address), None)
    if view is None:
        raise InputError(f"there is no page '{address}'")
    choices = list(enumerate(view.choices(explorer)))
    chosen = given.get("of", "0")
    at = int(chosen) if chosen.isdecimal() and len(chosen) < 10 else -1
    body = macro("views.html", "problem", "there is nothing to look at here")
    if choices:
        try:
            if not 0 <= at < len(choices):
                raise InputError(f"there is none of that number; the last is {len(choices) - 1}")
            body = view.html(explorer, at, given)
        except InputError as error:
            body = macro("views.html", "problem", str(error))
    return rendered(
        "shell.html",
        served=True,
        policy="",
        title=explorer.title,
        views=[*shown_views(explorer), *([{"name": "Report", "address": "report"}] if _has_report(explorer) else [])],
        since=explorer.current is not None,
        view=view.name,
        choices=choices,
        choice_of=view.choice_of,
        choice_name="of",
        chosen=at,
        body=body,
    )


# The page of results has a policy of its own, which names its scripts.
_OWN_POLICY = "frame-ancestors 'none'"

Given = Mapping[str, str]
T = TypeVar("T")


def _json(value: Any) -> Reply:
    return Reply("application/json", json.dumps(value).encode())


def _page(explorer: Explorer, name: str, given: Given) -> Reply:
    return Reply("text/html", page(explorer, name, given).encode("utf-8", "replace"))


def _asset(explorer: Explorer, name: str, given: Given) -> Reply:
    asset = ASSETS[name]
    return Reply(asset.kind, asset.text().encode())


def _ask(explorer: Explorer, name: str, given: Given) -> Reply:
    return _json(ask(explorer, given.get("key", ""), given.get("kind", ""), whole_number(given, "number")))


def _find(explorer: Explorer, name: str, given: Given) -> Reply:
    return _json({"found": search(explorer, given.get("key", ""), given.get("text", ""))})


def _job(explorer: Explorer, name: str, given: Given) -> Reply:
    return _json(progress(explorer, whole_number(given, "number")))


def _export(explorer: Explorer, name: str, given: Given) -> Reply:
    file = download(explorer, _result(explorer, given, ToldAnswer), given.get("name", ""))
    return Reply(file.kind, file.data, file.name)


def _load(explorer: Explorer, name: str, given: Given) -> Reply:
    number = load_point(explorer, _result(explorer, given, ToldTradeOff), whole_number(given, "point"))
    return Reply("text/html", b"", to=f"network?of={number}")


def _data(explorer: Explorer, name: str, given: Given) -> Reply:
    return _json({"html": data_html(explorer, whole_number(given, "paper"), whole_number(given, "figure"))})


def _live(explorer: Explorer, name: str, given: Given) -> Reply:
    return _json(fleet_now(explorer, given.get("known", "")))


def _since(explorer: Explorer, name: str, given: Given) -> Reply:
    return _json({"html": since_html(explorer)})


def _report(explorer: Explorer, name: str, given: Given) -> Reply:
    html = explorer.once("report", lambda: page_html(explorer.collection.results))
    return Reply("text/html", html.encode("utf-8", "replace"), policy=_OWN_POLICY)


def _result(explorer: Explorer, given: Given, kind: type[T]) -> T:
    """What came of a piece of work, which must be of a kind."""
    job = explorer.jobs.find(whole_number(given, "job"))
    result = job.result() if job.ended else None
    if not isinstance(result, kind):
        raise InputError("that is not what was asked there, or it is not answered yet")
    return result


# What is shown and told of things that are there.
LOOKING: dict[str, Callable[[Explorer, str, Given], Reply]] = {
    **{view.address: _page for view in VIEWS if not view.asks},
    **dict.fromkeys(ASSETS, _asset),
    "ask": _ask,
    "find": _find,
    "data": _data,
    "live": _live,
    "since": _since,
}
# What takes work first, and what came of it.
ASKING: dict[str, Callable[[Explorer, str, Given], Reply]] = {
    **{view.address: _page for view in VIEWS if view.asks},
    "job": _job,
    "export": _export,
    "load": _load,
    "report": _report,
}


def answer_to(explorer: Explorer, name: str, given: Given) -> Reply | None:
    """What is sent to who asks for that name; None where there is nothing of it."""
    known = LOOKING | ASKING if explorer.asks else LOOKING
    return known[name](explorer, name, given) if name in known else None
