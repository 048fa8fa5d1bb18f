"""Interactive charts in pages.

Charts to point at, in one look: Bokeh figures with axes, whose text follows the colours of the page.

Bokeh figures inside HTML, and the scripts that draw them and answer clicks; nothing is fetched from anywhere.

A page needs the blocks, then `drawing_scripts`. An answer to a click is what stands beside the picture, and which rows
of the picture it is about. A page without a server carries its answers with it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple, TypedDict

from markupsafe import Markup

from topicloom.views.html import asset, macro
from topicloom.views.network import clear_background

# Letters of charts, as in pages.
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"


def new_chart(x: str, y: str, *, told: Sequence[tuple[str, str]] = (), percent: bool = False) -> Any:
    """A figure with named axes; `told` is what pointing at something tells, as Bokeh writes it."""
    from bokeh.models import HoverTool, NumeralTickFormatter, TapTool
    from bokeh.plotting import figure

    made: Any = figure(
        sizing_mode="stretch_both", tools="pan,box_zoom,wheel_zoom,reset,save", toolbar_location="above", min_border=4
    )
    made.toolbar.logo = None
    clear_background(made)
    made.xaxis.axis_label, made.yaxis.axis_label = x, y
    for axis in made.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font = axis.major_label_text_font = _FONT
        axis.formatter = NumeralTickFormatter(format="0,0[.]00")
    if percent:
        made.yaxis.formatter = NumeralTickFormatter(format="0.[0]%")
    if told:
        made.add_tools(HoverTool(tooltips=list(told)), TapTool())
    return made


class Answer(TypedDict, total=False):
    """What a click is answered: text, the part that each row of nodes has in it, and rows of links."""

    html: str
    nodes: dict[int, str]
    links: list[int]


class Carried(TypedDict):
    """What a page without a server knows: answers by kind and number, and numbers and names to search, by kind."""

    answers: dict[str, Answer]
    names: dict[str, Sequence[tuple[int, str]]]


def chart_block(model: Any, title: str, *, height: int = 360, kind: str = "chart") -> Markup:
    """A figure with nothing around it."""
    return macro("interactive.html", "chart", figure_json(model), title, height, kind)


def network_block(
    model: Any,
    about: str,
    colourings: Sequence[str],
    *,
    key: str = "",
    carried: Carried | None = None,
    beside: str = "",
    find: str = "a node or a topic",
) -> Markup:
    """A network with search, colours and a place for answers; `key` is what a server knows it by.

    `beside` is what stands beside it until something is clicked; without a key or anything carried there are no
    answers, and no search. `find` says what can be searched for.
    """
    return macro(
        "interactive.html",
        "network",
        figure_json(model),
        about,
        colourings,
        key,
        None if carried is None else script_json(carried),
        Markup(beside),
        find,
    )


class PageScripts(NamedTuple):
    """Elements with scripts, and a policy by which nothing is fetched and no other script runs.

    That holds even if a name got through that should have been escaped.
    """

    html: Markup
    policy: str


def page_scripts(plain: Sequence[str], packed: Sequence[str] = ()) -> PageScripts:
    """Scripts for a page that has no server; large ones packed, which the page unpacks and has run as one."""
    whole = ";\n".join(packed)
    texts = [*plain, asset("unpack.js")] if packed else list(plain)
    runs = [*texts, whole] if packed else texts
    allowed = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in runs)
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src {allowed}"
    data = base64.b64encode(gzip.compress(whole.encode(), mtime=0)).decode() if packed else ""
    return PageScripts(macro("interactive.html", "scripts", data, [Markup(text) for text in texts]), policy)


def drawing_scripts() -> list[str]:
    """What blocks need: BokehJS, 1.3 MB, and what makes it answer clicks."""
    return [bokeh_script(), asset("interactive.js")]


def styles() -> str:
    """The style sheet of blocks."""
    return asset("interactive.css")


@lru_cache
def bokeh_script() -> str:
    """BokehJS, from the installed package."""
    return files("bokeh").joinpath("server/static/js/bokeh.min.js").read_text("utf-8")


def figure_json(model: Any) -> Markup:
    """A figure as JSON inside a page; the same figure gives the same text."""
    from bokeh.embed import json_item

    return script_json(_renumbered(json_item(model), {}))


def _renumbered(value: Any, known: dict[str, str]) -> Any:
    """The JSON of a figure with the ids of its models from 1 on, which otherwise go on from figure to figure."""
    if isinstance(value, list):
        return [_renumbered(each, known) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: known.setdefault(each, f"m{len(known) + 1}")
        if key in ("id", "root_id") and isinstance(each, str)
        else _renumbered(each, known)
        for key, each in value.items()
    }


def script_json(value: Mapping[str, Any] | Any) -> Markup:
    """JSON that cannot end the element that it stands in, whatever names it holds."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))
