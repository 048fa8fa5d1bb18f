"""Running a designer while a person watches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from topicloom.cli.shared.parameters import Number, checked
from topicloom.cli.shared.progress import Working

if TYPE_CHECKING:
    from topicloom.designers import Run
    from topicloom.model import Interest

COMPILING = "compiling kernels, once after an install or update"


def run_designer(
    working: Working, interest: Interest, algorithm: str, seed: int, parameters: Mapping[str, Number]
) -> Run:
    """Compile, then run, each with its own line of progress."""
    from topicloom.designers import Watch, find_designer, run

    working.do("loading kernels", lambda: _warm_up(interest, algorithm, parameters), if_slow=COMPILING)
    total = find_designer(algorithm).total
    watch = Watch()
    return working.do(
        algorithm,
        lambda: run(interest, algorithm, seed=seed, watch=watch, **parameters),
        watch=watch,
        total=None if total is None else total(interest, checked(algorithm, parameters)),
    )


def _warm_up(interest: Interest, algorithm: str, parameters: Mapping[str, Number]) -> None:
    from topicloom.designers import find_designer
    from topicloom.designers.run import warm_up

    designer = find_designer(algorithm)
    values = checked(algorithm, parameters)
    if designer.budget is not None and "budget_ratio" in values:
        # The budget is not known yet, and does not matter to the compiler. It will be a share of what this needs:
        values[designer.budget] = 1
        warm_up(find_designer("minmax-oda"), interest, {})
    warm_up(designer, interest, values)
