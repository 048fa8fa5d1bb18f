"""Which of the given files and folders hold what."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from topicloom.errors import InputError
from topicloom.files.json_files import JSON, read_json
from topicloom.files.name_tables import column_names
from topicloom.report.overlays.fleet_results import SUBSCRIPTIONS
from topicloom.report.page.kind import Aside, Form, Found
from topicloom.report.page.kinds import FORMS

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
