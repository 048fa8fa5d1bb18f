"""The views in one file that needs nothing else, as far as they need no server."""

from __future__ import annotations

import os
from collections.abc import Iterator

from markupsafe import Markup

from topicloom.explore.asking.background_work import Job
from topicloom.explore.asking.trade_off import trade_off
from topicloom.explore.asking.trade_off_answer import trade_off_html
from topicloom.explore.explorer import Explorer
from topicloom.explore.view_assets import ASSETS
from topicloom.explore.views.content_view import brokers_html, networks_with_trees
from topicloom.explore.views.network_view import drawing_html, measures_of
from topicloom.explore.views.papers_view import papers, papers_html
from topicloom.explore.views.sweep_view import curves_html
from topicloom.explore.views.time_view import trace_html
from topicloom.files.atomic import replacing
from topicloom.present.html import macro, rendered
from topicloom.present.interactive import drawing_scripts, page_scripts

# Who has more nodes than these is not let into a race of all designers while a file is written.
_COMPARED_NODES = 2000


def static_html(explorer: Explorer) -> str:
    """All views that need no server: networks with their answers, trade-offs, traces and papers."""
    sections = list(_sections(explorer))
    body = macro("topicloom.explore", "views.html", "sections", sections)
    return whole_page(body, explorer.title, contents=[title for title, _ in sections])


def whole_page(body: Markup, title: str, *, contents: list[str] | None = None) -> str:
    """A page with its style and scripts inside, which forbids itself to ask anybody for anything."""
    scripts = page_scripts([], [*drawing_scripts(), ASSETS["explore.js"].text()])
    page = rendered(
        "topicloom.explore",
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
    with replacing(out) as temporary:
        temporary.write_bytes(data)
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
