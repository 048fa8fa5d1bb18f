"""Pages of results found in files.

All kinds of results, in the order of the page.

Which of the given files and folders hold what.

What is in the files, read and measured.

Sections put together into one HTML file that needs nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from topicloom._version import __version__
from topicloom.content import views
from topicloom.content.views import Costs, ShownNetwork, Trees
from topicloom.errors import InputError
from topicloom.io.settings import JSON, read_json
from topicloom.io.tables import column_names
from topicloom.io.whole import write_whole
from topicloom.model import Overlay
from topicloom.views import overlays, papers, runs
from topicloom.views.html import asset, rendered
from topicloom.views.interactive import drawing_scripts, page_scripts, styles
from topicloom.views.overlays import SUBSCRIPTIONS, ShownFleet, ShownPlan, Topics
from topicloom.views.papers import Reproduction
from topicloom.views.runs import ShownProfile, ShownSweep, Trace
from topicloom.views.section import Aside, Form, Found, Kind, Reading, Section, paragraph, table

KINDS: tuple[Kind, ...] = (
    papers.REPRODUCTION_KIND,
    overlays.FLEET_KIND,
    overlays.PLAN_KIND,
    runs.PROFILE_KIND,
    overlays.TOPICS_KIND,
    runs.TRACE_KIND,
    runs.SWEEP_KIND,
    views.NETWORK_KIND,
    views.COST_KIND,
    views.TREES_KIND,
)

# A file has the first form that fits, so those that ask for more come first: anything may have the two columns of
# subscriptions.
FORMS: tuple[Form, ...] = tuple(
    sorted((form for kind in KINDS for form in kind.forms), key=lambda form: -len(form.columns))
)


# How many columns or keys of a file that holds something else are named.
_SHOWN = 4
_FILES = (".parquet", ".pq", ".csv", ".tsv", ".csv.gz", ".tsv.gz", JSON)


def find_files(
    given: Sequence[str | os.PathLike[str]], *, node_column: str = "node", topic_column: str = "topic"
) -> Found:
    """Sort files, and those that lie in folders, by what they hold.

    In a folder, whatever is no result is put aside; a file that is given by name must be one. A folder inside a
    folder is looked at only where it is itself a result.
    """
    subscriptions = (node_column, topic_column)
    forms = [form._replace(columns=subscriptions) if form == SUBSCRIPTIONS else form for form in FORMS]
    found, seen = Found({form.name: [] for form in forms}), set()
    for path in map(Path, given):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        for file, named in _files(path):
            if file.resolve() in seen:
                continue
            seen.add(file.resolve())
            try:
                found.paths[_form(file, forms).name].append(file)
            except InputError as error:
                if named:
                    raise
                found.aside.append(Aside(file, str(error).removeprefix(f"{file}: ")))
            if named:
                found.named.add(file)
    if not any(found.paths.values()):
        places = ", ".join(os.fspath(path) for path in given)
        raise InputError(
            f"{places}: no results there; expected subscriptions (columns {node_column}, {topic_column}), "
            "overlays (source, target) or what another command wrote; docs/report.md lists all kinds"
        )
    return found


def folder_form(folder: Path) -> Form | None:
    """The form of a folder that is itself a result; None for files and other folders."""
    held = (form for form in FORMS if form.parts and all((folder / part).exists() for part in form.parts))
    return next(held, None)


def _files(path: Path) -> Iterator[tuple[Path, bool]]:
    """The results at a path, and whether each was given by name: the file, or what lies in the folder."""
    form = folder_form(path)
    if form is not None or not path.is_dir():
        yield path, True
    inside = path.is_dir() and (form is None or form.own)
    for file in sorted(path.iterdir()) if inside else ():
        if form is not None and file.name in form.own:
            continue
        if not file.name.startswith(".") and (
            folder_form(file) if file.is_dir() else file.name.lower().endswith(_FILES)
        ):
            yield file, False


def _form(file: Path, forms: Sequence[Form]) -> Form:
    if file.is_dir():
        held = folder_form(file)
        assert held is not None
        return held
    is_json = file.name.lower().endswith(JSON)
    present = list(read_json(file, dict[str, Any])) if is_json else column_names(file)
    for form in forms:
        needed = form.keys if is_json else form.columns
        if needed and set(needed) <= set(present):
            return form
    if folder_form(file.parent) is not None:
        raise InputError(f"{file}: is only a part of what {file.parent} holds; give that folder")
    more = f" and {len(present) - _SHOWN} more" if len(present) > _SHOWN else ""
    has = f"{', '.join(map(repr, present[:_SHOWN]))}{more}" or "none"
    named = "keys" if is_json else "columns"
    raise InputError(f"{file}: holds no kind of result that a page shows; its {named} are {has}")


@dataclass(frozen=True)
class Results:
    """All that a page shows: a field for each kind, by its name."""

    reproductions: tuple[Reproduction, ...]
    fleets: tuple[ShownFleet, ...]
    plans: tuple[ShownPlan, ...]
    profiles: tuple[ShownProfile, ...]
    topics: tuple[Topics, ...]
    traces: tuple[Trace, ...]
    sweeps: tuple[ShownSweep, ...]
    networks: tuple[ShownNetwork, ...]
    costs: tuple[Costs, ...]
    trees: tuple[Trees, ...]
    aside: tuple[Aside, ...]


def nothing_read() -> Results:
    """No results, where only what is made meanwhile is looked at."""
    return Results(**{kind.name: () for kind in KINDS}, aside=())


def read_results(
    found: Found,
    *,
    node_column: str = "node",
    topic_column: str = "topic",
    role_column: str = "role",
    filters: str | None = None,
    diameters: bool = True,
    costs: Callable[[Overlay], Mapping[str, float | None]] = lambda overlay: {},
) -> Results:
    """Read all files and measure the overlays, each against the subscriptions that it was designed for.

    A file that was given by name must be usable; one that was found in a folder is put aside where it is not. `costs`
    gives what an overlay costs, by what `metrics.COSTS` lists.
    """
    reading = Reading(found, list(found.aside), node_column, topic_column, diameters, role_column, filters, costs)
    read: dict[str, Any] = {kind.name: tuple(kind.read(reading)) for kind in KINDS}
    if not any(read.values()):
        first = reading.aside[0]
        raise InputError(f"{first.path}: {first.reason}")
    return Results(**read, aside=tuple(reading.aside))


def page_html(results: Results, *, title: str = "Topicloom report") -> str:
    """The whole page; the same results give the same text."""
    sections = [
        *(kind.section(result) for kind in KINDS for result in getattr(results, kind.name)),
        *([_aside(results.aside)] if results.aside else []),
    ]
    style, script = (asset(name) for name in ("page.css", "page.js"))
    drawn = any(map(_has_network, sections))
    scripts = page_scripts([script], drawing_scripts() if drawn else ())
    return rendered(
        "page.html",
        title=title,
        sections=sections,
        style=Markup(style + (styles() if drawn else "")),
        scripts=scripts.html,
        policy=scripts.policy,
        version=__version__,
    )


def _has_network(section: Section) -> bool:
    return any('<div class="network"' in block for block in section.blocks) or any(map(_has_network, section.inside))


def write_page(html: str, out: str | os.PathLike[str]) -> None:
    """Write the page."""
    write_whole(out, html)


def _aside(aside: Iterable[Aside]) -> Section:
    rows = [[each.path.name, each.reason] for each in aside]
    note = paragraph("These lay in the given folders, and this page does not show them.")
    return Section("Files left aside", (note, table("Files", ["file", "why"], rows)))
