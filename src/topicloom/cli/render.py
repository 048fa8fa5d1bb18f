"""`topicloom render`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.errors import InputError
from topicloom.views.view import View

EXAMPLES = """
  topicloom render plan.json --out configurations
  BRIDGE_PASSWORD=... topicloom render plan.json --out configurations \\
      --replace --owner mosquitto
"""


@command("render", examples=EXAMPLES)
@options.plan
@options.out("DIR", "New folder for the files.")
@options.flag("--replace", help="Replace DIR if `topicloom render` wrote it.")
@options.option("--mode", metavar="OCTAL", help="File mode, such as 640.  [default: 600 for files with passwords]")
@options.option("--owner", metavar="USER[:GROUP]", help="Owner of the files, such as mosquitto; needs root.")
def render(run: Run, out: Path, replace: bool, mode: str | None, owner: str | None) -> View:
    """Write the configuration of every broker.

    Passwords are looked up now, in the places that the fleet file names; a file with a password can be read by its
    owner alone. `fleet.dot` is a picture of the fleet, for Graphviz.
    """
    from topicloom.brokers import render
    from topicloom.io.whole import new_folder
    from topicloom.views import plans

    rights = _mode(mode)
    if not (replace and _is_ours(out)):
        output.require_new_folder(out)
    plan = run.plan
    with new_folder(out) as folder:
        files = render(plan, folder, mode=rights)
        names = [path.name for path in files]
        if owner is not None:
            _give([folder, *files], owner)
    return plans.rendered(plan, names, out)


def _is_ours(folder: Path) -> bool:
    """Whether there is nothing but what render writes."""
    from topicloom.brokers.plan_file import PICTURE

    if not (folder / PICTURE).is_file():
        return False
    return all(path.is_file() and path.suffix in (".conf", ".json", ".dot") for path in folder.iterdir())


def _mode(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch(r"0?[0-7]{3}", text):
        raise InputError(f"mode must be three octal digits, such as 640, not '{text}'", "mode")
    return int(text, 8)


def _give(paths: Sequence[Path], owner: str) -> None:
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
