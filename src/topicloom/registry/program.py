"""Integer programs, put together row by row and solved by HiGHS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import InputError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Solution:
    """The values of the variables, whether they are proved best, and what no solution can be below.

    There are no values where the time was too short to find any.
    """

    values: Floats | None
    optimal: bool
    bound: float


class Program:
    """Variables from 0 on with costs, and linear constraints on them."""

    def __init__(self) -> None:
        self._costs: list[Floats] = []
        self._most: list[Floats] = []
        self._whole: list[npt.NDArray[np.bool_]] = []
        self._count = 0
        self._columns: list[Sequence[int]] = []
        self._factors: list[Sequence[float]] = []
        self._bounds: list[tuple[float, float]] = []

    def variables(self, costs: Floats, *, whole: bool = False, most: float = 1.0) -> npt.NDArray[np.int64]:
        """New variables from 0 to `most`, one for each cost; gives their numbers in the same shape."""
        numbers = self._count + np.arange(costs.size).reshape(costs.shape)
        self._count += costs.size
        self._costs.append(costs.ravel())
        self._most.append(np.full(costs.size, most))
        self._whole.append(np.full(costs.size, whole))
        return numbers

    def constrain(self, variables: Any, factors: Any, low: float, high: float) -> None:
        """Keep a weighted sum of variables between two bounds."""
        self._columns.append(variables)
        self._factors.append(factors)
        self._bounds.append((low, high))

    def solve(
        self, seconds: float, *, relaxed: bool = False, stopped: Callable[[], bool] = lambda: False
    ) -> Solution | None:
        """Find the values of least cost, not whole where `relaxed`; None where no values keep the constraints.

        It gives the best values found so far when the time is up or `stopped` says so, which is asked now and then.
        """
        highs = _highs()
        model = highs.HighsLp()
        costs = np.concatenate(self._costs)
        model.num_col_, model.num_row_ = len(costs), len(self._bounds)
        # HiGHS works with absolute tolerances, so that costs are scaled to about one.
        scale = float(costs.max(initial=0.0)) or 1.0
        model.col_cost_ = costs / scale
        model.col_lower_, model.col_upper_ = np.zeros(len(costs)), np.concatenate(self._most)
        model.row_lower_ = np.array([low for low, _ in self._bounds])
        model.row_upper_ = np.array([high for _, high in self._bounds])
        model.a_matrix_.format_ = highs.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.cumsum([0, *map(len, self._columns)])
        model.a_matrix_.index_ = np.concatenate([np.asarray(row) for row in self._columns])
        model.a_matrix_.value_ = np.concatenate([np.asarray(row, np.float64) for row in self._factors])
        if not relaxed:
            kinds = (highs.HighsVarType.kContinuous, highs.HighsVarType.kInteger)
            model.integrality_ = [kinds[whole] for whole in np.concatenate(self._whole).astype(int)]
        solver = highs.Highs()
        options = {"output_flag": False, "threads": 1, "random_seed": 0, "time_limit": seconds, "mip_rel_gap": 1e-9}
        tolerances = ("mip_feasibility_tolerance", "primal_feasibility_tolerance")
        for name, value in {**options, **dict.fromkeys(tolerances, 1e-9)}.items():
            solver.setOptionValue(name, value)
        solver.passModel(model)
        if not relaxed:
            solver.cbMipInterrupt.subscribe(lambda event: event.interrupt() if stopped() else None)
        solver.run()
        status, info = solver.getModelStatus(), solver.getInfo()
        if status == highs.HighsModelStatus.kInfeasible:
            return None
        found = solver.getSolution()
        optimal = status == highs.HighsModelStatus.kOptimal
        bound = info.mip_dual_bound
        if relaxed:
            bound = info.objective_function_value if optimal else 0.0
        return Solution(np.array(found.col_value) if found.value_valid else None, optimal, bound * scale)


def _highs() -> Any:
    """The solver's module, which has types in some versions only."""
    try:
        import highspy
    except ImportError:
        raise InputError("exact needs HiGHS; install it with: pip install 'topicloom[exact]'") from None
    return highspy
