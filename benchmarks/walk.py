"""Count the functions and files of ours that a command passes.

    python benchmarks/walk.py design fleet.csv --algorithm gm --out overlay.parquet
    python benchmarks/walk.py --functions plan subs.csv overlay.parquet --fleet fleet.toml --out plan.json

The command runs in this process and must succeed. Functions are Python functions of the package topicloom: methods,
properties, nested functions and lambdas too, but no comprehensions. Kernels are compiled functions that Python calls;
kernels that kernels call are not seen. What runs only while modules of ours are imported is counted apart. Run
`topicloom prepare` before: else functions that take part in compilation are counted. `PYTHONPATH=other/tree/src` takes
the code of another tree.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import sys
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import topicloom
from topicloom.cli.main import run

PACKAGE = Path(topicloom.__file__).parent
NEW_LOCALS = 0x2


class Walk:
    """Calls by code object, in the order of first calls; those during imports of ours apart."""

    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()
        self.at_import: Counter[CodeType] = Counter()
        self._importing = threading.local()

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Note a call; a profile function of Python."""
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(str(PACKAGE)):
            return
        depth = getattr(self._importing, "depth", 0)
        if code.co_name == "<module>":
            self._importing.depth = depth + (1 if event == "call" else -1)
        elif event == "call" and is_function(code):
            (self.at_import if depth else self.calls)[code] += 1


def is_function(code: CodeType) -> bool:
    """Whether this is the code of a function, and not of a class or a comprehension."""
    return bool(code.co_flags & NEW_LOCALS) and (not code.co_name.startswith("<") or code.co_name == "<lambda>")


def compiled() -> set[CodeType]:
    """Code of all functions that numba compiles; empty if numba was not imported."""
    if "numba" not in sys.modules:
        return set()
    from numba.core.dispatcher import Dispatcher

    return {found.py_func.__code__ for found in gc.get_objects() if isinstance(found, Dispatcher)}


def walked(arguments: list[str]) -> tuple[Walk, int]:
    """Run a command and note its calls."""
    walk = Walk()
    threading.setprofile(walk)
    sys.setprofile(walk)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            status = run(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return walk, status


def place(code: CodeType) -> str:
    """File of a function, within the package."""
    return Path(code.co_filename).relative_to(PACKAGE).as_posix()


def name(code: CodeType) -> str:
    """Name of a function, with that of its class where Python tells it."""
    return getattr(code, "co_qualname", code.co_name)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", action="store_true", help="list the functions, in the order of first calls")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND...")
    given = parser.parse_args()
    if not given.command:
        parser.error("give a command, such as: designers")
    walk, status = walked(given.command)
    if status:
        return status
    kernels = compiled()
    python = [code for code in walk.calls if code not in kernels]
    if given.functions:
        for code, calls in walk.calls.items():
            mark = "kernel" if code in kernels else ""
            print(f"{calls:>8,}  {mark:<6}  {place(code)}:{code.co_firstlineno}  {name(code)}")
        print()
    rooms = Counter(place(code).split("/")[0] for code in python)
    print(f"{'functions':<28}{len(python):>6,}")
    print(f"{'kernels called from Python':<28}{len(walk.calls) - len(python):>6,}")
    print(f"{'files':<28}{len({place(code) for code in walk.calls}):>6,}")
    print(f"{'calls':<28}{sum(walk.calls[code] for code in python):>6,}")
    print(f"{'more, only at import':<28}{len(walk.at_import.keys() - walk.calls.keys()):>6,}")
    print("functions by room: " + ", ".join(f"{room} {count}" for room, count in rooms.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
