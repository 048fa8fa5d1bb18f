"""Networks and running fleets in the explorer.

The view of a fleet under control, as its controller tells it: who is away, support over time, and its links.

The view of a network: an overlay, or a part of it, and what is told of whatever is clicked.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from topicloom.errors import InputError
from topicloom.io.http import HttpClient, HttpError
from topicloom.metrics import Measures, measure
from topicloom.metrics.summary import compared_facts
from topicloom.views.answers import answer, carried, find
from topicloom.views.drawing import Drawing, SeenOverlay, draw
from topicloom.views.explorer import Explorer
from topicloom.views.figures import COLOURS
from topicloom.views.html import Cell, Sentence, facts_html, macro
from topicloom.views.interactive import Answer, chart_block, network_block, new_chart
from topicloom.views.network import DrawnNetwork, network_figure, places
from topicloom.views.numbers import count, percent

_ASKING_SECONDS = 3
_DOWN, _UP = "#D55E00", "#8c959f"
# What a status must tell, as lists, to be shown.
_NEEDED = ("brokers", "away", "silent", "links", "links_down", "support", "latest")
# How many names of brokers, and how many decisions, are listed.
_NAMES, _LATEST = 20, 6


def fleet_now(explorer: Explorer, known: str) -> dict[str, Any]:
    """What a page shows of the fleet: all of it, or what changes all the time where it knows the rest."""
    if explorer.live is None:
        raise InputError("no fleet is watched; start again with the address of a watch")
    status = explorer.live()
    if not all(isinstance(status.get(name), list | tuple) for name in _NEEDED):
        raise InputError("its controller has not looked at the fleet yet")
    told = {"known": _digest(status), "facts": facts_html(_facts(status)), "data": {"support": _support(status)}}
    return told if told["known"] == known else {**told, "html": _html(status)}


def read_status(address: str, token: str | None = None) -> Mapping[str, Any]:
    """Return the status of the fleet that a controller at an address watches."""
    try:
        return HttpClient(address, seconds=_ASKING_SECONDS, token=token).object("status.json")
    except HttpError as error:
        raise InputError(str(error)) from None


def _digest(status: Mapping[str, Any]) -> str:
    """The same as long as the picture of the network is."""
    drawn = [status[name] for name in ("brokers", "away", "silent", "links", "links_down")]
    return hashlib.sha256(json.dumps(drawn).encode()).hexdigest()[:16]


def _html(status: Mapping[str, Any]) -> Markup:
    chart = new_chart("seconds before now", "support", told=[("support", "@y{0.0%}")], percent=True)
    from bokeh.models import ColumnDataSource

    chart.line("x", "y", source=ColumnDataSource(_support(status), name="support"), line_width=2, color=COLOURS[0])
    chart.y_range.start, chart.y_range.end = 0, 1.05
    drawn = _drawn(status)
    network = network_block(network_figure(drawn, "fleet"), "The fleet", list(drawn.colourings))
    return macro("views.html", "live_now", chart_block(chart, "Support over time", height=240), network)


def _support(status: Mapping[str, Any]) -> dict[str, list[float]]:
    now = time.time()
    return {
        "x": [round(moment - now, 1) for moment, _ in status["support"]],
        "y": [share for _, share in status["support"]],
    }


def _facts(status: Mapping[str, Any]) -> list[tuple[str, Cell]]:
    return [
        ("brokers", count(len(status["brokers"]))),
        ("gone", _named(status["away"])),
        ("silent at the last look", _named(status["silent"])),
        ("not looked at", _named(status.get("not_looked_at") or [])),
        ("links", count(len(status["links"]))),
        ("links down", count(len(status["links_down"]))),
        ("support", percent(status["support"][-1][1]) if status["support"] else "–"),
        ("waiting", str(status.get("waiting") or "nothing")),
        ("left out of plans", _named([one["topic"] or one["nodes"][0] for one in status.get("left_out") or ()])),
        ("problems", Sentence("; ".join(map(str, status.get("problems") or ())) or "none")),
        ("latest", Sentence("; ".join(map(str, status["latest"][:_LATEST])) or "nothing")),
    ]


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return Sentence(", ".join(names[:_NAMES]) + more or "none")


def _drawn(status: Mapping[str, Any]) -> DrawnNetwork:
    names = sorted({*status["brokers"], *status["away"], *(end for link in status["links"] for end in link)})
    number = {name: at for at, name in enumerate(names)}
    ends = np.array([[number[first], number[second]] for first, second in status["links"]], np.int64).reshape(-1, 2)
    down = {frozenset(link) for link in status["links_down"]}
    is_down = [frozenset(link) in down for link in status["links"]]
    away = np.array([name in {*status["away"], *status["silent"]} for name in names], np.int64)
    degrees = np.bincount(ends.ravel(), minlength=len(names))
    return DrawnNetwork(
        names=tuple(names),
        places=places(len(names), ends[:, 0], ends[:, 1]),
        source=ends[:, 0],
        target=ends[:, 1],
        sizes=10 + 3 * np.sqrt(degrees),
        told={"links": degrees},
        colourings={"gone or silent": away, "links": degrees},
        groups=frozenset(["gone or silent"]),
        link_colours=[_DOWN if each else _UP for each in is_down],
        link_dashes=["dashed" if each else "solid" for each in is_down],
    )


# A whole overlay, or groups within it and within each other, at last perhaps the nodes of a topic.
_PART = re.compile(r"(?:group-\d{1,6}|topic-\d{1,9})(?:\.(?:group-\d{1,6}|topic-\d{1,9})){0,8}")
# Beyond so many subscriptions diameters are left out, which would take longest.
_QUICKLY_MEASURED = 250_000
_FOUND = 12


def network_html(explorer: Explorer, number: int, part: str = "") -> Markup:
    """The view of an overlay, or of a part of it."""
    named = explorer.collection.overlay(number)
    return drawing_html(drawing_of(explorer, number, part), measures_of(explorer, number), key=f"{number}:{part}") + (
        macro("views.html", "way_back", number, named.name, part) if part else Markup()
    )


def drawing_html(drawing: Drawing, measures: Measures, *, key: str = "") -> Markup:
    """A drawing with its measures beside it; without a key it carries all its answers with it."""
    drawn = drawing.drawn
    things = "groups of nodes" if drawing.grouped else "nodes"
    about = f"A network of {len(drawn.names):,} {things} and {len(drawn.source):,} links between them."
    beside = macro("views.html", "overview", about, facts_html(compared_facts(measures)), drawing.grouped)
    figure = network_figure(drawn, "network")
    given = None if key else carried(drawing)
    return network_block(figure, about, list(drawn.colourings), key=key, carried=given, beside=beside)


def ask(explorer: Explorer, key: str, kind: str, number: int) -> Answer:
    """What is told of something in a picture."""
    return answer(_keyed(explorer, key), kind, number)


def search(explorer: Explorer, key: str, text: str) -> list[tuple[str, int, str]]:
    """What has a text in its name."""
    return find(_keyed(explorer, key), text, _FOUND)


def drawing_of(explorer: Explorer, number: int, part: str = "") -> Drawing:
    """The drawing of an overlay, or of a part of it."""
    seen = explorer.collection.overlay(number).seen
    if part and not _PART.fullmatch(part):
        raise InputError("a part is a group or a topic, such as group-3 or topic-7")
    if not part:
        return seen.whole
    return explorer.once(("drawing", number, part), lambda: _part(explorer, seen, number, part))


def measures_of(explorer: Explorer, number: int) -> Measures:
    """The measures of an overlay."""
    overlay = explorer.collection.overlay(number).seen.overlay
    quick = overlay.interest.subscription_count <= _QUICKLY_MEASURED
    return explorer.once(("measures", number), lambda: measure(overlay.interest, overlay, diameters=quick))


def _part(explorer: Explorer, seen: SeenOverlay, number: int, part: str) -> Drawing:
    above, _, last = part.rpartition(".")
    outer = drawing_of(explorer, number, above)
    kind, _, which = last.partition("-")
    if kind == "topic":
        if int(which) >= seen.overlay.interest.topic_count:
            raise InputError(f"there is no topic {which}")
        nodes = np.asarray(seen.overlay.interest.nodes_of(int(which)), np.int64)
        return draw(seen, np.intersect1d(nodes, outer.nodes))
    members = outer.members(int(which)) if outer.grouped else np.empty(0, np.int64)
    if not len(members) or len(members) == len(outer.nodes):
        raise InputError(f"there is no group {which} in this picture")
    return draw(seen, members)


def _keyed(explorer: Explorer, key: str) -> Drawing:
    number, colon, part = key.partition(":")
    if not colon or not number.isdecimal() or len(number) > 6:
        raise InputError("the key of a picture is the number of an overlay, a colon and a part")
    return drawing_of(explorer, int(number), part)
