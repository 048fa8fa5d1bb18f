"""The view of a network: an overlay, or a part of it, and what is told of whatever is clicked."""

from __future__ import annotations

import re

import numpy as np
from markupsafe import Markup

from topicloom.errors import InputError
from topicloom.explore.explorer import Explorer
from topicloom.metrics import Measures, measure
from topicloom.metrics.facts import compared_facts
from topicloom.present.html import facts_html, macro
from topicloom.present.interactive import Answer, network_block
from topicloom.present.network_figure import network_figure
from topicloom.report.networks.network_answers import answer, carried, find
from topicloom.report.networks.overlay_drawing import Drawing, SeenOverlay, draw

# A whole overlay, or groups within it and within each other, at last perhaps the nodes of a topic.
_PART = re.compile(r"(?:group-\d{1,6}|topic-\d{1,9})(?:\.(?:group-\d{1,6}|topic-\d{1,9})){0,8}")
# Beyond so many subscriptions diameters are left out, which would take longest.
_QUICKLY_MEASURED = 250_000
_FOUND = 12


def network_html(explorer: Explorer, number: int, part: str = "") -> Markup:
    """The view of an overlay, or of a part of it."""
    named = explorer.collection.overlay(number)
    return drawing_html(drawing_of(explorer, number, part), measures_of(explorer, number), key=f"{number}:{part}") + (
        macro("topicloom.explore", "views.html", "way_back", number, named.name, part) if part else Markup()
    )


def drawing_html(drawing: Drawing, measures: Measures, *, key: str = "") -> Markup:
    """A drawing with its measures beside it; without a key it carries all its answers with it."""
    drawn = drawing.drawn
    things = "groups of nodes" if drawing.grouped else "nodes"
    about = f"A network of {len(drawn.names):,} {things} and {len(drawn.source):,} links between them."
    beside = macro(
        "topicloom.explore", "views.html", "overview", about, facts_html(compared_facts(measures)), drawing.grouped
    )
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
