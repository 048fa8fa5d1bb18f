"""Designers at the command line: their options, and running one while a person watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.cli.shared.algorithm_options import Options, shared_options
from topicloom.cli.shared.progress import Working

if TYPE_CHECKING:
    from topicloom.algorithms import Prepared
    from topicloom.designers import Designer, DesignRun
    from topicloom.model import Interest

COMPILING = "compiling kernels, once after an install or update"


def designer_options() -> Options:
    """An option for each parameter of a designer."""
    from topicloom.designers import DESIGNERS

    return shared_options(DESIGNERS.values())


def run_designer(working: Working, prepared: Prepared[Designer], interest: Interest) -> DesignRun:
    """Compile, then run, each with its own line of progress."""
    from topicloom.designers import Watch, run_prepared
    from topicloom.designers.run import warm_up

    working.do("loading kernels", lambda: warm_up(prepared, interest), if_slow=COMPILING)
    total = prepared.algorithm.total
    watch = Watch()
    return working.do(
        prepared.name,
        lambda: run_prepared(prepared, interest, watch),
        watch=watch,
        total=None if total is None else total(interest, prepared.parameters),
    )
