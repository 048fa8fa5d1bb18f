"""The files that pages of the explorer are made with: scripts and style, all from installed packages."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from topicloom.present.interactive import bokeh_script, own_file, styles


class Asset(NamedTuple):
    """A file that pages ask for: its kind, and its text."""

    kind: str
    text: Callable[[], str]


@lru_cache
def _beside(name: str) -> str:
    return files("topicloom.explore").joinpath(name).read_text("utf-8")


ASSETS = {
    "bokeh.js": Asset("text/javascript", bokeh_script),
    "interactive.js": Asset("text/javascript", lambda: own_file("interactive.js")),
    "explore.js": Asset("text/javascript", lambda: _beside("explore.js")),
    "explore.css": Asset("text/css", lambda: styles() + _beside("explore.css")),
}
