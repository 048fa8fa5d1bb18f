"""How kernels are compiled, and where the compiled code is kept.

numba recompiles a cached kernel when its own file changes, not when a kernel that it calls does. So the cache is a
folder named after a hash of the rooms that have kernels: `kernels`, `content` and `designers`. After any change it
starts empty, and stale code cannot run. A kernel outside `kernels` calls only kernels of its own room and of `kernels`.
`NUMBA_CACHE_DIR` overrides the folder.

Only loops decorated here are compiled and cached this way: numba's settings are as before for everything else in the
process. Private flags of numba are named in this module alone, and used with the versions that they were tried with.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from numba.core import event

from topicloom.io.whole import scratch_folder

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


# How long the compiled kernels of a version are kept after it was last used.
_UNUSED_SECONDS = 7 * 24 * 3600
_PACKAGE = "topicloom"
_ROOMS = ("kernels", "content", "designers")


def _sources(package: Traversable) -> Iterator[Traversable]:
    """All sources of a room, in the order of their names."""
    for entry in sorted(package.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources(entry)
        elif entry.name.endswith(".py"):
            yield entry


@cache
def cache_folder() -> str:
    """Return the folder of compiled kernels: in the user's cache, or a temporary one if that cannot be written."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return given
    digest = hashlib.blake2b(digest_size=8)
    # Not by paths: on a Spark executor the package may lie in a zip file.
    package = resources.files(_PACKAGE)
    for room in _ROOMS:
        for source in _sources(package.joinpath(room)):
            digest.update(source.read_bytes())
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = home / _PACKAGE / f"kernels-{digest.hexdigest()}"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            os.utime(folder)
            _clear_unused(folder)
            return str(folder)
    except (OSError, RuntimeError):  # no home, or a read-only one
        pass
    until_the_end = ExitStack()
    atexit.register(until_the_end.close)
    return str(until_the_end.enter_context(scratch_folder("kernels")))


def _clear_unused(folder: Path) -> None:
    """Remove what other versions compiled, unless it was used lately."""
    for other in folder.parent.glob("kernels-*"):
        with suppress(OSError):  # another process may be clearing it
            if time.time() - other.stat().st_mtime > _UNUSED_SECONDS:
                shutil.rmtree(other, ignore_errors=True)


def _is_ours(compiling: Any) -> bool:
    """Whether an event of numba is about a loop of this package."""
    function = getattr((compiling.data or {}).get("dispatcher"), "py_func", None)
    return str(getattr(function, "__module__", "")).partition(".")[0] == _PACKAGE


class _Undisturbed(event.Listener):
    """Keeps the garbage collector off while a kernel is compiled: it took a tenth of the time."""

    def __init__(self) -> None:
        self._was_on: list[bool] = []

    def on_start(self, event: Any) -> None:
        if _is_ours(event):
            self._was_on.append(gc.isenabled())
            gc.disable()

    def on_end(self, event: Any) -> None:
        if _is_ours(event) and self._was_on.pop():
            gc.enable()


event.register("numba:compile", _Undisturbed())


def private_flags(version: str) -> tuple[dict[str, bool], dict[str, bool], dict[str, bool]]:
    """Return flags of numba for all kernels, for those without reference counts, and for those Python does not call.

    They are no promise of numba's, so a version that they were not tried with gets none: its code is slower.
    """
    major, minor = (int(part) for part in version.split(".")[:2])
    if not (0, 61) <= (major, minor) <= (0, 68):
        return {}, {}, {}
    return {"no_cfunc_wrapper": True}, {"_nrt": False}, {"no_cpython_wrapper": True}


_NO_C_WRAPPER, _NO_COUNTS, _NO_PYTHON_WRAPPER = private_flags(numba.__version__)

# Kernels release the interpreter lock, so that a progress bar can be drawn and Ctrl-C heard while they run. Wrappers
# for C, and wrappers for Python around kernels that only kernels call, were a third of what LLVM had to compile before
# a first design.
KERNEL: dict[str, Any] = {"nogil": True, **_NO_C_WRAPPER}
# Tight kernels make no arrays, so they need no reference counts. Counting those of a handful of arrays at every call
# took 57 of the 65 ns of evaluating a link. What such a kernel calls inherits this.
TIGHT = {**KERNEL, **_NO_COUNTS}
# Tight kernels that only other kernels call.
INNER = {**TIGHT, **_NO_PYTHON_WRAPPER}


def _decorated(flags: dict[str, Any], **more: Any) -> Callable[..., Any]:
    """Compile a function when it is first called, and keep its code in our own folder."""

    def decorate(function: Callable[..., Any]) -> Any:
        # numba chooses the folder when it decorates, by a setting of the whole process.
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, cache_folder()
        try:
            return numba.njit(cache=True, **{**flags, **more})(function)
        finally:
            config.CACHE_DIR = before

    return decorate


kernel: Callable[..., Any] = partial(_decorated, KERNEL)
tight_kernel: Callable[..., Any] = partial(_decorated, TIGHT)
inner_kernel: Callable[..., Any] = partial(_decorated, INNER)

# Kernels that make arrays and that only other kernels call.
inner_array_kernel: Callable[..., Any] = partial(_decorated, {**KERNEL, **_NO_PYTHON_WRAPPER})

# Steps of a kernel that calls them in one place: numba pastes them in. As functions of their own they would be
# optimised alone and again within every kernel around them, and be handed some hundred numbers that make up the arrays.
step: Callable[..., Any] = partial(inner_kernel, inline="always")

# Inlined by LLVM; as steps, their types would be inferred anew at every call.
inlined: Callable[..., Any] = partial(inner_kernel, forceinline=True)
