"""The explorer as one file, and in notebooks.

The views in one file that needs nothing else, as far as they need no server.

A network inside a notebook: the view of an overlay, with all its answers, in a frame of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

from topicloom.io.whole import write_whole
from topicloom.metrics import measure
from topicloom.model import Overlay
from topicloom.views.drawing import SeenOverlay
from topicloom.views.explorer import Explorer, Job
from topicloom.views.html import macro, rendered
from topicloom.views.interactive import drawing_scripts, page_scripts
from topicloom.views.network import require_explorer
from topicloom.views.network_views import drawing_html, measures_of
from topicloom.views.pages import ASSETS
from topicloom.views.run_views import brokers_html, curves_html, networks_with_trees, papers, papers_html, trace_html
from topicloom.views.trade_off import trade_off, trade_off_html

# Who has more nodes than these is not let into a race of all designers while a file is written.
_COMPARED_NODES = 2000


def static_html(explorer: Explorer) -> str:
    """All views that need no server: networks with their answers, trade-offs, traces and papers."""
    sections = list(_sections(explorer))
    body = macro("views.html", "sections", sections)
    return whole_page(body, explorer.title, contents=[title for title, _ in sections])


def whole_page(body: Markup, title: str, *, contents: list[str] | None = None) -> str:
    """A page with its style and scripts inside, which forbids itself to ask anybody for anything."""
    scripts = page_scripts([], [*drawing_scripts(), ASSETS["explore.js"].text()])
    page = rendered(
        "shell.html",
        served=False,
        since=False,
        policy=scripts.policy,
        style=Markup(ASSETS["explore.css"].text()),
        scripts=scripts.html,
        title=title,
        views=[{"name": name, "address": f"#view-{at}"} for at, name in enumerate(contents or ())],
        view="",
        choices=(),
        body=body,
    )
    return str(page)


def write_static(explorer: Explorer, out: str | os.PathLike[str]) -> int:
    """Write the file and give its size in bytes."""
    data = static_html(explorer).encode("utf-8", "replace")
    write_whole(out, data)
    return len(data)


def _sections(explorer: Explorer) -> Iterator[tuple[str, Markup]]:
    for number, named in enumerate(explorer.collection.overlays):
        yield f"Network: {named.name}", drawing_html(named.seen.whole, measures_of(explorer, number))
    for wanted in explorer.collection.wanted:
        if wanted.interest.node_count <= _COMPARED_NODES:
            found = trade_off(
                wanted.interest,
                Job(0),
                constraints=explorer.collection.constraints,
                prices=explorer.collection.prices,
            )
            yield f"Trade-off: {wanted.name}", trade_off_html(found, ())
    results = explorer.collection.results
    for sweep in results.sweeps:
        yield f"Sweep: {sweep.name}", curves_html(sweep)
    for network, trees in networks_with_trees(explorer):
        yield f"Content: {network.name}", brokers_html(network, trees)
    for trace in results.traces:
        yield f"Time: {trace.name}", trace_html(trace)
    for number, (_, paper) in enumerate(papers(explorer)):
        yield f"Paper: {paper}", papers_html(explorer, number, served=False)


_HEIGHT = 760


@dataclass(frozen=True)
class NetworkView:
    """A page of one network, which notebooks show."""

    html: str

    def _repr_html_(self) -> str:
        # A frame keeps scripts and style of the page apart from those of the notebook.
        return (
            f'<iframe style="width: 100%; height: {_HEIGHT}px; border: 0" sandbox="allow-scripts" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def overlay_view(overlay: Overlay) -> NetworkView:
    """The view of an overlay; it holds everything that it needs."""
    require_explorer()
    drawing = SeenOverlay(overlay).whole
    return NetworkView(whole_page(drawing_html(drawing, measure(overlay.interest, overlay)), repr(overlay)[1:-1]))
