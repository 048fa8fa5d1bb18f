"""The view of a fleet under control, as its controller tells it: who is away, support over time, and its links."""

from __future__ import annotations

import hashlib
import json
import time
import urllib.request
from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from topicloom.errors import InputError
from topicloom.explore.explorer import Explorer
from topicloom.present.charts import new_chart
from topicloom.present.figures import COLOURS
from topicloom.present.html import Cell, Sentence, facts_html, macro
from topicloom.present.interactive import chart_block, network_block
from topicloom.present.network_figure import DrawnNetwork, network_figure
from topicloom.present.network_layout import places
from topicloom.present.numbers import count, percent

_HERE = "topicloom.explore"
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
    """What a controller that listens at an address tells of its fleet."""
    asked = urllib.request.Request(f"{address.rstrip('/')}/status.json")
    if token is not None:
        asked.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(asked, timeout=_ASKING_SECONDS) as answered:
            status = json.loads(answered.read(50_000_000))
    except (OSError, ValueError) as error:
        raise InputError(f"{address}: does not answer ({error})") from None
    if not isinstance(status, dict):
        raise InputError(f"{address}: tells of no fleet")
    return status


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
    return macro(_HERE, "views.html", "live_now", chart_block(chart, "Support over time", height=240), network)


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
