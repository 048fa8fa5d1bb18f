"""`topicloom prepare`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from topicloom.cli import output
from topicloom.cli import typer_options as options
from topicloom.errors import InputError

if TYPE_CHECKING:
    from topicloom.cli.progress import Working


EXAMPLES = """\b
Example:
  topicloom prepare
"""


def command(*, printing: options.Printing) -> None:
    """Compile and keep what first runs wait for.

    For container images, and for whoever runs many short jobs. Kernels of all designers are compiled, and where Spark
    and Java are installed, Spark's classes are put into one file of some 200 MB, from which it starts in about half the
    time. Both go to the user's cache, and are made again when versions change and somebody asks.
    """
    with printing.working() as working:
        _compile(working)
        archive, why_not = _archive(working)
    if printing.json:
        output.print_json({"spark_classes": archive, "why_not": why_not})
        return
    output.say("kernels of all designers are compiled")
    output.say(f"Spark's classes are in {archive}" if archive else f"Spark starts as before: {why_not}")


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


def _archive(working: Working) -> tuple[str | None, str | None]:
    """Where the archive of Spark's classes is, or why there is none."""
    from topicloom.spark import SparkOptions
    from topicloom.spark.preparing import archive_classes

    try:
        return str(working.do("archiving Spark's classes", lambda: archive_classes(SparkOptions()))), None
    except InputError as error:
        return None, str(error)
