"""A figure or table of a paper as its file describes it: what to run, what to draw, what the paper says.

The files are part of the package, and tests read all of them; so dataclasses, which refuse unknown keys, are check
enough, and no pydantic is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from topicloom.pipeline.grids.cell import require_64_bits
from topicloom.pipeline.grids.grid import combinations

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Value = str | int | float | bool
# A cell's parameters in the order of their names; a tuple, as cells are compared.
Parameters = tuple[tuple[str, Value], ...]

RULES = ("equal", "about", "order", "at most", "at least", "always", "mostly")


@dataclass(frozen=True)
class Claim:
    """What a paper says of a figure, and the query that gives our number: a column `value`, a row a repetition."""

    id: str
    place: str
    says: str
    rule: str
    query: str
    published: float | None = None
    unit: str = ""
    # Why it does not hold here; shown only where it does not.
    differs: str = ""

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"{self.id}: unknown rule '{self.rule}'")
        if (self.published is None) != (self.rule in ("always", "mostly")):
            raise ValueError(f"{self.id}: 'always' and 'mostly' have no published number, all others have one")


@dataclass(frozen=True)
class Plot:
    """What is drawn.

    - `draw`: "lines", "dots" or "table".
    - `query`: gives the rows to draw from the runs; all runs unless given.
    - `panels`: a column, one panel for each of its values.
    - `x`, `y`, `lines`: columns; several y are rows of panels, several of lines are told apart together.
    - `rows`, `columns`, `value`: the same for a table.
    - `names`: how values are written.
    """

    draw: str
    query: str = "SELECT * FROM runs"
    panels: str = ""
    x: str = ""
    y: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    x_label: str = ""
    y_label: tuple[str, ...] = ()
    log: str = ""
    rows: str = ""
    columns: str = ""
    value: str = ""
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper."""

    id: str
    paper: str
    place: str
    title: str
    about: str
    run: str
    cells: tuple[Parameters, ...]
    plot: Plot
    claims: tuple[Claim, ...]

    @property
    def needs_graphs(self) -> bool:
        """Whether it runs on social graphs, which are not part of the package."""
        return any(name == "graph" for cell in self.cells for name, _ in cell)

    @property
    def repetitions(self) -> int:
        """How many seeds it has."""
        return len({dict(cell)["seed"] for cell in self.cells})


def read_figure(path: Path, *, quick: bool) -> Figure:
    """Read a figure's file; `quick` takes the smaller sizes that it gives."""
    content = _sized(tomllib.loads(path.read_text(encoding="utf-8")), quick=quick)
    name = f"{path.parent.name}-{path.stem}"
    return Figure(
        id=name,
        cells=tuple(dict.fromkeys(_cells(content, quick=quick))),
        plot=_plot(content.pop("plot")),
        claims=tuple(
            Claim(id=f"{name}.{number}", **claim) for number, claim in enumerate(content.pop("claim"), start=1)
        ),
        **{key: value for key, value in content.items() if key not in ("seed", "workload", "try")},
    )


def _sized(table: Mapping[str, Any], *, quick: bool) -> dict[str, Any]:
    """The table without its quick values, or with them in place of the others."""
    sized = dict(table)
    smaller = sized.pop("quick", {})
    return {**sized, **smaller} if quick else sized


def _cells(content: Mapping[str, Any], *, quick: bool) -> Iterator[Parameters]:
    """All combinations of a seed, a workload and what is tried on it."""
    seeds: list[int] = content["seed"]
    for seed in seeds:
        require_64_bits("seed", seed)
    workloads = [each for table in content["workload"] for each in combinations(_sized(table, quick=quick))]
    tries = [each for table in content["try"] for each in combinations(_sized(table, quick=quick))]
    for workload, tried, seed in product(workloads, tries, seeds):
        yield tuple(sorted({"seed": seed, **workload, **tried}.items()))


def _plot(table: Mapping[str, Any]) -> Plot:
    several = {key: _listed(table[key]) for key in ("y", "lines", "y_label") if key in table}
    return Plot(**{**table, **several})


def _listed(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
