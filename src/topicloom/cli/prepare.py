"""`topicloom prepare`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from topicloom.cli import output
from topicloom.cli import typer_options as options

if TYPE_CHECKING:
    from topicloom.cli.progress import Working


EXAMPLES = """\b
Example:
  topicloom prepare
"""


def command(*, printing: options.Printing) -> None:
    """Compile and keep what first runs wait for.

    For container images and many short runs. Kernels of all designers are compiled into the user's cache.
    """
    with printing.working() as working:
        _compile(working)
    if printing.json:
        output.print_json({"compiled": True})
        return
    output.say("kernels of all designers are compiled")


def _compile(working: Working) -> None:
    from topicloom.designers import DESIGNERS, design
    from topicloom.metrics import measure
    from topicloom.workloads import synthetic

    interest = synthetic(12, 6, min_topics=2, max_topics=4, sizes="uniform", seed=1)
    for name, designer in DESIGNERS.items():
        budget: dict[str, Any] = {designer.budget: 2} if designer.budget else {}
        working.do(f"compiling {name}", partial(design, interest, name, **budget))
    overlay = design(interest, "gm")
    working.do("compiling measures", lambda: measure(interest, overlay))
