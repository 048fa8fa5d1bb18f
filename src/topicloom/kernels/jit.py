"""How kernels are compiled, and where the compiled code is kept.

numba recompiles a cached kernel when its own file changes, not when a kernel that it calls does. So the cache is a
folder named after a hash of the rooms that have kernels: `kernels`, `content` and `designers`. After any change it
starts empty, and stale code cannot run. A kernel outside `kernels` calls only kernels of its own room and of `kernels`.
`NUMBA_CACHE_DIR` overrides the folder.
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
from functools import partial
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


def _sources(package: Traversable) -> Iterator[Traversable]:
    """All sources of a room, in the order of their names."""
    for entry in sorted(package.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources(entry)
        elif entry.name.endswith(".py"):
            yield entry


def _cache_folder() -> str:
    """A folder that can be written: in the user's cache, or a temporary one where there is none."""
    digest = hashlib.blake2b(digest_size=8)
    # Not by paths: on a Spark executor the package may lie in a zip file.
    package = resources.files("topicloom")
    for room in ("kernels", "content", "designers"):
        for source in _sources(package.joinpath(room)):
            digest.update(source.read_bytes())
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = home / "topicloom" / f"kernels-{digest.hexdigest()}"
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
    """Remove what other versions compiled, unless somebody has used it lately."""
    for other in folder.parent.glob("kernels-*"):
        with suppress(OSError):  # another process may be clearing it
            if time.time() - other.stat().st_mtime > _UNUSED_SECONDS:
                shutil.rmtree(other, ignore_errors=True)


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = _cache_folder()  # type: ignore[attr-defined]


class _Undisturbed(event.Listener):
    """Keeps the garbage collector off while a kernel is compiled: it took a tenth of the time."""

    def __init__(self) -> None:
        self._was_on: list[bool] = []

    def on_start(self, event: Any) -> None:
        self._was_on.append(gc.isenabled())
        gc.disable()

    def on_end(self, event: Any) -> None:
        if self._was_on.pop():
            gc.enable()


event.register("numba:compile", _Undisturbed())

# Kernels release the interpreter lock, so that a progress bar can be drawn and Ctrl-C heard while they run. Nobody
# calls them from C: wrappers for that, and wrappers for Python around kernels that only kernels call, were a third of
# what LLVM had to compile before a first design.
kernel: Callable[..., Any] = partial(numba.njit, cache=True, nogil=True, no_cfunc_wrapper=True)

# Tight kernels make no arrays, so they need no reference counts. Counting those of a handful of arrays at every call
# took 57 of the 65 ns of evaluating a link. What such a kernel calls inherits this; `_nrt=True` undoes it.
tight_kernel: Callable[..., Any] = partial(kernel, _nrt=False)

# Tight kernels that only other kernels call.
INNER: Any = {"nogil": True, "_nrt": False, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
inner_kernel: Callable[..., Any] = partial(numba.njit, cache=True, **INNER)

# Steps of a kernel that calls them in one place: numba pastes them in. As functions of their own they would be
# optimised alone and again within every kernel around them, and be handed some hundred numbers that make up the arrays.
step: Callable[..., Any] = partial(inner_kernel, inline="always")

# Inlined by LLVM; as steps, their types would be inferred anew at every call.
inlined: Callable[..., Any] = partial(inner_kernel, forceinline=True)
