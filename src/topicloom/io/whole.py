"""Files and folders written whole or not at all, scratch folders, and locks on folders.

A killed run leaves the old file or the new one, never half of one. What it leaves beside it, the next run clears: the
process that makes a temporary file holds a lock on it for as long as it lives, so a file whose lock is free is left
over, whichever process or container its number names by now.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from topicloom.errors import InputError

_PRIVATE = 0o700
_PRIVATE_FILE = 0o600
_ORDINARY_FILE = 0o666
# A process and a random number, so that a person can tell whose it is.
_OURS = re.compile(r"(\.|topicloom-).+\.[0-9]+-[0-9a-f]{8}\.part", re.DOTALL)
_LONGEST_BYTES = 100

_cleared: set[Path] = set()


@contextmanager
def temporary_file(target: Path, mode: int = _PRIVATE_FILE) -> Iterator[Path]:
    """Make an empty file beside a target, and remove it in the end if it is still there.

    The kernel takes the umask off the mode.
    """
    # Once in a process, as there may be thousands of files in one folder.
    if target.parent not in _cleared:
        clear_left_over(target.parent)
        _cleared.add(target.parent)
    with _locked(target.parent, f".{_cut(target.name)}", partial(_new_file, mode=mode)) as path:
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def temporary_folder(target: Path, mode: int = _PRIVATE) -> Iterator[Path]:
    """Make an empty folder beside a target, and remove it in the end with all that is in it."""
    clear_left_over(target.parent)
    with _locked(target.parent, f".{_cut(target.name)}", lambda path: path.mkdir(mode)) as path:
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """Make an empty private folder among the system's temporary files, and remove it in the end."""
    place = Path(tempfile.gettempdir())
    clear_left_over(place)
    with _locked(place, f"topicloom-{kind}", lambda path: path.mkdir(_PRIVATE)) as path:
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
            # Java runs on for a moment after its parent, and may have made a folder anew that was cleared.
            clear_left_over(place)


def clear_left_over(folder: Path) -> None:
    """Remove what dead processes left in a folder."""
    with suppress(OSError):
        for path in [Path(entry.path) for entry in os.scandir(folder) if _OURS.fullmatch(entry.name)]:
            _clear(path)


def _clear(path: Path) -> None:
    with suppress(OSError):  # another user's, or one that another run is clearing
        held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        finally:
            os.close(held)


@contextmanager
def _locked(place: Path, name: str, make: Callable[[Path], None]) -> Iterator[Path]:
    while True:
        path = place / f"{name}.{os.getpid()}-{secrets.token_hex(4)}.part"
        make(path)
        # Another run may take it for a dead one's until it is locked.
        with suppress(FileNotFoundError):
            held = os.open(path, os.O_RDONLY)
            with suppress(OSError):  # a file system without locks, where nothing is ever cleared
                fcntl.flock(held, fcntl.LOCK_EX)
            if _is(path, held):
                break
            os.close(held)
    try:
        yield path
    finally:
        os.close(held)


def _is(path: Path, held: int) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(held), path.stat())
    except FileNotFoundError:
        return False


def _new_file(path: Path, mode: int) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))


def _cut(name: str) -> str:
    """Return the beginning of a name, short enough that more can follow it."""
    return os.fsdecode(os.fsencode(name)[:_LONGEST_BYTES])


_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def write_whole(
    path: str | os.PathLike[str], content: str | bytes, *, mode: int | None = None, sync: bool = False
) -> None:
    """Write text, as UTF-8, or bytes to a file that is replaced as a whole; arguments as those of `replacing`."""
    data = content.encode() if isinstance(content, str) else content
    with replacing(path, mode=mode, sync=sync) as temporary:
        temporary.write_bytes(data)


@contextmanager
def replacing(path: str | os.PathLike[str], *, mode: int | None = None, sync: bool = False) -> Iterator[Path]:
    """Give a temporary path; on success what is there becomes `path`, otherwise it is removed.

    A file is replaced, also if a link leads to it. What is not a file, such as a pipe or /dev/null, is written to.

    Args:
        path: the file to write.
        mode: its permissions; unless given, a file that is replaced keeps its own, and a new one follows the umask.
        sync: whether the file and its name are on the disk in the end.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target}: is a folder, not a file to write to")
    with naming(target):
        if target.exists() and not target.is_file():
            with scratch_folder("out") as folder:
                yield folder / "out"
                with (folder / "out").open("rb") as made, target.open("wb") as taker:
                    shutil.copyfileobj(made, taker)
        else:
            with _beside(target, mode, sync=sync) as temporary:
                yield temporary


@contextmanager
def naming(target: Path) -> Iterator[None]:
    """Name a file in errors that leave it out, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_ERRORS:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error


@contextmanager
def _beside(path: Path, mode: int | None, *, sync: bool) -> Iterator[Path]:
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not target.parent.is_dir():
        raise InputError(f"{path}: the folder {target.parent} does not exist")
    with ExitStack() as stack:
        try:
            if mode is None and target.exists():
                mode = stat.S_IMODE(target.stat().st_mode)
            new = temporary_file(target, _ORDINARY_FILE if mode is None else _PRIVATE_FILE)
            temporary = stack.enter_context(new)
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror})") from None
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        if sync:
            sync_path(temporary)
        temporary.replace(target)
        if sync:
            sync_path(target.parent)


def sync_path(path: Path) -> None:
    """Return when a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
    # On a cluster other users than its owner may write to it.
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
    """Raise InputError unless a folder can be written to a path: a new one, or one that was written before."""
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
    """Give a folder its final name; a folder of that name takes the other name, in one step if the system can."""
    if not target.exists():
        temporary.rename(target)
    elif not _exchanged(temporary, target):
        # Not in one step on this file system: for a moment there is neither.
        target.rename(temporary.with_name("old"))
        temporary.rename(target)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step, which Linux can on most file systems; tell whether it could."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return bool(rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0)


LOCK = "lock"


@contextmanager
def exclusive_lock(folder: Path, lock_name: str = LOCK, *, mode: int = 0o777) -> Iterator[None]:
    """Make a folder if it is missing, and hold a lock on it; raise InputError if another process holds it.

    The lock ends with the process, however that ends.
    """
    try:
        folder.mkdir(mode, exist_ok=True)
        lock = os.open(folder / lock_name, os.O_WRONLY | os.O_CREAT, mode & 0o666)
    except FileNotFoundError:
        raise InputError(f"{folder}: the folder {folder.parent} does not exist") from None
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror})") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{folder}: is in use by another process") from None
        yield
    finally:
        os.close(lock)
