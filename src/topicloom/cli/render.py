"""`topicloom render`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

EXAMPLES = """\b
Example:
  topicloom render plan.json --out configurations
  BRIDGE_PASSWORD=... topicloom render plan.json --out configurations \\
      --replace --owner mosquitto
"""


def command(
    *,
    plan: options.PlanFile,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="New folder to write the files to.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="DIR may be a folder that render wrote before; it is replaced as a whole.")
    ] = False,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="OCTAL",
            help="Who may read the configurations, such as 640; 600 unless given where they hold passwords.",
            show_default=False,
        ),
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option(
            "--owner",
            metavar="USER[:GROUP]",
            help="Who the files belong to, such as mosquitto, which then can read them; needs root.",
            show_default=False,
        ),
    ] = None,
    printing: options.Printing,
) -> None:
    """Write the configuration of every broker.

    Passwords are looked up now, where the fleet file said they are; files that hold any can be read by their owner
    alone. `fleet.dot` is a picture of the fleet, for Graphviz.
    """
    from topicloom.brokers import read_plan, render
    from topicloom.io.whole import new_folder

    checked_paths.require_readable(plan)
    rights = _mode(mode)
    if not (replace and _is_ours(out)):
        checked_paths.require_new_folder(out)
    content = read_plan(plan)
    with new_folder(out) as folder:
        files = render(content, folder, mode=rights)
        names = [path.name for path in files]
        if owner is not None:
            _give([folder, *files], owner)
    facts = {"target": content.target, "files": names, "links": len(content.links), "out": str(out)}
    if printing.json:
        output.print_json(facts)
        return
    output.print_facts(
        [("configurations", numbers.count(len(content.brokers))), ("links", numbers.count(len(content.links)))]
    )
    printing.written(out)


def _is_ours(folder: Path) -> bool:
    """Whether there is nothing but what render writes."""
    from topicloom.brokers.plan_file import PICTURE

    if not (folder / PICTURE).is_file():
        return False
    return all(path.is_file() and path.suffix in (".conf", ".json", ".dot") for path in folder.iterdir())


def _mode(text: str | None) -> int | None:
    from topicloom.errors import InputError

    if text is None:
        return None
    if not re.fullmatch(r"0?[0-7]{3}", text):
        raise InputError(f"mode must be three octal digits, such as 640, not '{text}'", "mode")
    return int(text, 8)


def _give(paths: Sequence[Path], owner: str) -> None:
    from topicloom.errors import InputError

    user, _, group = owner.partition(":")
    try:
        for path in paths:
            if group:
                shutil.chown(path, user, group)
            else:
                shutil.chown(path, user)
    except LookupError:
        raise InputError(f"owner must be a user, or user and group, of this machine, not '{owner}'", "owner") from None
    except OSError as error:
        raise InputError(f"owner cannot be '{owner}' ({error.strerror})", "owner") from None
