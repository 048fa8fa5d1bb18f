"""Output folders that are whole or absent, whenever a run is killed."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from topicloom.errors import InputError

MANIFEST = "manifest.json"

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def replacing_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new folder beside `path`; on success it becomes `path`, otherwise it is removed.

    What `path` was before is there until then, and must have a manifest. What killed runs left is cleared.
    """
    target = Path(os.path.abspath(path))  # noqa: PTH100  keeps links
    require_replaceable(target)
    _clear_leftovers(target)
    temporary = _sibling(target, os.getpid())
    try:
        temporary.mkdir()
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror})") from None
    try:
        yield temporary
        put_in_place(temporary, target)
    finally:
        # After a success the old folder has this name.
        shutil.rmtree(temporary, ignore_errors=True)


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


def _sibling(target: Path, process: int) -> Path:
    return target.parent / f".{target.name[:100]}.{process}.part"


def _clear_leftovers(target: Path) -> None:
    for folder in target.parent.glob(f".{_literal(target.name[:100])}.*.part"):
        process = folder.suffixes[-2][1:] if len(folder.suffixes) > 1 else ""
        if process.isdecimal() and not _is_alive(int(process)):
            shutil.rmtree(folder, ignore_errors=True)


def _literal(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _is_alive(process: int) -> bool:
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def put_in_place(temporary: Path, target: Path) -> None:
    """Give a folder the place of another, if there is one, whose name it has then; at once where the system can."""
    if not target.exists():
        temporary.rename(target)
    elif not _exchanged(temporary, target):
        # Not at once on this file system: for a moment there is neither.
        old = temporary.with_suffix(".old.part")
        target.rename(old)
        temporary.rename(target)
        shutil.rmtree(old, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether two folders could be made to change names in one step, which Linux can on most file systems."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return bool(rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0)
