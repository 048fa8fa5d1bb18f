"""Writing files so that a killed run leaves the old file or the new one, never half of one."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from topicloom.errors import InputError
from topicloom.files.temporary import scratch_folder, temporary_file

_CANNOT_TAKE_IT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path; on success what is there becomes `path`, otherwise it is removed.

    A file is replaced, also where a link leads to it. What is no file, such as a pipe or /dev/null, is written to.
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
            with _beside(target) as temporary:
                yield temporary


@contextmanager
def naming(target: Path) -> Iterator[None]:
    """Where the disk is full, for instance, say what was being written to it."""
    try:
        yield
    except OSError as error:
        if error.errno not in _CANNOT_TAKE_IT:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not target.parent.is_dir():
        raise InputError(f"{path}: the folder {target.parent} does not exist")
    with ExitStack() as stack:
        try:
            temporary = stack.enter_context(temporary_file(target))
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror})") from None
        yield temporary
        # Temporary files are their owner's alone; give the mode an ordinary file would have.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
