"""Output folders that are whole or absent, whenever a run is killed."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from topicloom.errors import InputError
from topicloom.files.atomic import naming
from topicloom.files.temporary import temporary_folder

MANIFEST = "manifest.json"

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def replacing_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new folder; on success it becomes `path`, otherwise it is removed.

    What `path` was before is there until then, and must have a manifest.
    """
    target = Path(path)
    require_replaceable(target)
    # On a cluster others than its owner may write to it.
    with new_folder(target, mode=0o777) as folder:
        folder.mkdir()
        yield folder


@contextmanager
def new_folder(path: Path, *, mode: int = 0o700) -> Iterator[Path]:
    """Give a path to make a folder at; on success it becomes `path`, or what that links to, otherwise it is removed.

    Until then it lies in another folder of that mode.
    """
    target = Path(os.path.realpath(path))
    with naming(path), ExitStack() as stack:
        try:
            around = stack.enter_context(temporary_folder(target, mode))
        except FileNotFoundError:
            raise InputError(f"{path}: the folder {path.parent} does not exist") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror})") from None
        yield around / "new"
        _put_in_place(around / "new", target)


def require_replaceable(path: Path) -> None:
    """Refuse a path where something lies that is not such a folder, or that has no place."""
    if path.is_dir():
        if not _has_manifest(path) and any(path.iterdir()):
            raise InputError(f"{path}: is a folder with other things in it; give a new folder or one written before")
    elif path.exists():
        raise InputError(f"{path}: is a file; expected a folder to write")
    elif not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")


def _has_manifest(folder: Path) -> bool:
    try:
        return "fingerprint" in json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return False


def _put_in_place(temporary: Path, target: Path) -> None:
    """Give a folder the place of another, if there is one, whose name it has then; at once where the system can."""
    if not target.exists():
        temporary.rename(target)
    elif not _exchanged(temporary, target):
        # Not at once on this file system: for a moment there is neither.
        target.rename(temporary.with_name("old"))
        temporary.rename(target)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether two folders could be made to change names in one step, which Linux can on most file systems."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return bool(rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0)
