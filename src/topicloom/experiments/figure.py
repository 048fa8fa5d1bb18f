"""A figure or table of a paper as its file describes it: what to run, what to draw, what the paper says.

The files are part of the package, and tests read all of them; so dataclasses, which refuse unknown keys, are check
enough, and no pydantic is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from topicloom.io.settings import read_toml
from topicloom.spark.sweep_spec import combinations, require_64_bits

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
    - `readings`: which are drawn, side by side; all unless given.
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
    readings: tuple[str, ...] = ()


@dataclass(frozen=True)
class PaperReading:
    """One way to read what a paper leaves open, and the cells that are run under it; "" where there is only one way.

    - `source`: where the paper says so.
    - `chosen_after`: whether it was chosen after seeing the published numbers.
    """

    name: str
    source: str
    chosen_after: bool
    cells: tuple[Parameters, ...]


@dataclass(frozen=True)
class Curve:
    """What runs of many rows come to: a query that gives the points of each repetition; `by` tells points apart."""

    query: str
    by: tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper, under one reading or several, of which the first is the nearest to the print."""

    id: str
    paper: str
    place: str
    title: str
    about: str
    run: str
    readings: tuple[PaperReading, ...]
    plot: Plot
    claims: tuple[Claim, ...]
    curve: Curve | None = None

    @cached_property
    def cells(self) -> tuple[Parameters, ...]:
        """The cells of all readings, each once."""
        return tuple(dict.fromkeys(cell for reading in self.readings for cell in reading.cells))

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of all parameters."""
        return frozenset(name for cell in self.cells for name, _ in cell)

    @cached_property
    def needs_graphs(self) -> bool:
        """Whether it runs on social graphs, which are not part of the package."""
        return any(name == "graph" for cell in self.cells for name, _ in cell)

    @cached_property
    def repetitions(self) -> int:
        """How many seeds it has."""
        return len({dict(cell)["seed"] for cell in self.cells})


def read_figure(path: Path, *, quick: bool) -> Figure:
    """Read a figure's file; `quick` takes the smaller sizes that it gives."""
    content = _sized(read_toml(path)[1], quick=quick)
    name = f"{path.parent.name}-{path.stem}"
    return Figure(
        id=name,
        readings=_readings(content.pop("reading", []), tuple(dict.fromkeys(_cells(content, quick=quick))), quick=quick),
        plot=_plot(content.pop("plot")),
        claims=tuple(
            Claim(id=f"{name}.{number}", **claim) for number, claim in enumerate(content.pop("claim"), start=1)
        ),
        curve=_curve(content.pop("curve", None)),
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
    # What is tried on the same workload follows each other, so that a worker need not make that again for each.
    for workload, seed, tried in product(workloads, seeds, tries):
        yield tuple(sorted({"seed": seed, **workload, **tried}.items()))


def _readings(
    tables: Sequence[Mapping[str, Any]], cells: tuple[Parameters, ...], *, quick: bool
) -> tuple[PaperReading, ...]:
    """The readings, each with the cells as it sets them; one without a name where there are none."""
    if not tables:
        return (PaperReading("", "", False, cells),)
    wanted = [table for table in tables if table.get("quick", True) or not quick]
    return tuple(_reading(cells, **{key: value for key, value in table.items() if key != "quick"}) for table in wanted)


def _reading(
    cells: Sequence[Parameters], *, name: str, source: str, chosen_after: bool, set: Sequence[Mapping[str, Any]] = ()
) -> PaperReading:
    return PaperReading(name, source, chosen_after, tuple(dict.fromkeys(_set(cell, set) for cell in cells)))


def _set(cell: Parameters, changes: Sequence[Mapping[str, Any]]) -> Parameters:
    """The cell with the values of those changes whose `where` it meets; a list there means any of its values."""
    given = dict(cell)
    changed = dict(cell)
    for change in changes:
        values = dict(change)
        where = values.pop("where", {})
        if all(given.get(name) in (wanted if isinstance(wanted, list) else [wanted]) for name, wanted in where.items()):
            changed.update(values)
    return tuple(sorted(changed.items()))


def _curve(table: Mapping[str, Any] | None) -> Curve | None:
    return None if table is None else Curve(**{**table, "by": _listed(table["by"])})


def _plot(table: Mapping[str, Any]) -> Plot:
    several = {key: _listed(table[key]) for key in ("y", "lines", "y_label", "readings") if key in table}
    return Plot(**{**table, **several})


def _listed(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
