"""The pages of the explorer: a frame with all views in its navigation, and one of them inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from topicloom.errors import InputError
from topicloom.explore.asking.what_if_form import what_if_html
from topicloom.explore.explorer import Explorer
from topicloom.explore.views.content_view import content_html
from topicloom.explore.views.network_view import network_html
from topicloom.explore.views.papers_view import papers, papers_html
from topicloom.explore.views.sweep_view import sweep_html
from topicloom.explore.views.time_view import time_html
from topicloom.present.html import macro, rendered
from topicloom.report import KINDS

_HERE = "topicloom.explore"
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
    return macro(_HERE, "views.html", "trade_off_form", number, wanted.name)


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
    return macro(_HERE, "views.html", "changed_since") if changed else Markup()


def page(explorer: Explorer, address: str, given: Arguments) -> str:
    """The page of a view; what is wrong with what was asked for is told on it."""
    view = next((each for each in VIEWS if each.address == address), None)
    if view is None:
        raise InputError(f"there is no page '{address}'")
    choices = list(enumerate(view.choices(explorer)))
    chosen = given.get("of", "0")
    at = int(chosen) if chosen.isdecimal() and len(chosen) < 10 else -1
    body = macro(_HERE, "views.html", "problem", "there is nothing to look at here")
    if choices:
        try:
            if not 0 <= at < len(choices):
                raise InputError(f"there is none of that number; the last is {len(choices) - 1}")
            body = view.html(explorer, at, given)
        except InputError as error:
            body = macro(_HERE, "views.html", "problem", str(error))
    return rendered(
        _HERE,
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
