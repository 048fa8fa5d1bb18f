"""What is answered to each request for a page, or for something that a page needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from topicloom.errors import InputError
from topicloom.explore.asking.questions import progress, whole_number
from topicloom.explore.asking.trade_off_answer import ToldTradeOff, load_point
from topicloom.explore.asking.what_if_answer import ToldAnswer, download
from topicloom.explore.explorer import Explorer
from topicloom.explore.pages import VIEWS, page, since_html
from topicloom.explore.view_assets import ASSETS
from topicloom.explore.views.fleet_view import fleet_now
from topicloom.explore.views.network_view import ask, search
from topicloom.explore.views.papers_view import data_html
from topicloom.present.web_reply import Reply
from topicloom.report import page_html

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
