"""`topicloom reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli import output
from topicloom.cli import typer_options as options
from topicloom.cli.spark_work import on_spark
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.experiments.claims import Verdict
    from topicloom.experiments.figure import Figure
    from topicloom.spark.cells import Cell


EXAMPLES = """\b
Example:
  topicloom reproduce list
  topicloom reproduce low-2010-fig-1 --out results
  topicloom reproduce gm-2007 low-2010 --out results --quick
  topicloom reproduce all --out results --data data
"""

LIST = "list"


def command(
    *,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            help="Figures and tables to make, whole papers, or all; `list`, alone or before them, only tells them.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Folder to write to; new, or one that this command wrote.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller sizes: all within 4 minutes on two cores.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="Folder with the edge lists of social graphs, which some figures of Partial 2016 need.",
            show_default=False,
        ),
    ] = None,
    spark: options.Spark,
    printing: options.Printing,
) -> None:
    """Make the papers' figures again and check their claims.

    Each gets its data as Parquet and a picture; claims.json and results.md tell which of the papers' statements hold
    here. Runs that are done are kept: after Ctrl-C or a crash the same command goes on.
    """
    from topicloom.experiments.catalogue import EVERYTHING, find_figures
    from topicloom.experiments.figure_grid import plan_figures, run_figures
    from topicloom.experiments.graph_samples import Graphs
    from topicloom.experiments.reproduction_folder import require_folder, write_reproduction
    from topicloom.model import InputError
    from topicloom.spark.cells import GridWatch
    from topicloom.views.figures import require_matplotlib

    if names[0] == LIST:
        _list(find_figures(names[1:] or [EVERYTHING], quick=quick), json=printing.json)
        return
    if out is None:
        raise InputError("missing option '--out'; give a folder to write to")
    require_matplotlib()
    require_folder(out, quick=quick)
    figures, left_out = _possible(find_figures(names, quick=quick), names, data)
    with printing.working(spark) as working:
        plan = working.do("looking for finished runs", lambda: plan_figures(figures, out, Graphs(data, out)))
        watch, doing, failed = GridWatch(), ["runs"], dict["Cell", str]()
        try:
            if plan.pending:
                with on_spark(working, spark.options(), "topicloom reproduce", little_data=True) as work:
                    failed = work.do(
                        lambda: doing[-1],
                        lambda session: run_figures(session, plan, watch, doing.append),
                        watch=watch,
                        total=len(plan.pending),
                        note=lambda: numbers.time_left(watch.seconds_left),
                    )
            made = working.do("drawing and checking claims", lambda: write_reproduction(plan, failed, quick=quick))
        except KeyboardInterrupt:
            # A person wants to know what is lost: nothing of what is done.
            of = len(plan.all_cells)
            done = of - len(plan_figures(figures, out, plan.graphs).pending)
            raise KeyboardInterrupt(
                f"stopped; {done:,} of {of:,} runs are done and kept, the same command goes on from there"
            ) from None
    verdicts = [verdict for each in made for verdict in each.verdicts]
    facts = {
        "runs": len(plan.all_cells),
        "figures": [asdict(each.figure) for each in made],
        "claims": [verdict.to_dict() for verdict in verdicts],
        "ran": len(plan.pending),
        "errors": sorted(set(failed.values())),
        "left_out": left_out,
        "out": str(out),
    }
    if printing.json:
        output.print_json(facts)
    else:
        _print(facts, verdicts)
        printing.written(f"{out}; `topicloom report` makes a page of it")


def _list(figures: Sequence[Figure], *, json: bool) -> None:
    if json:
        output.print_json([_described(figure) for figure in figures])
        return
    width = max(len(figure.id) for figure in figures)
    rows: list[list[output.Cell]] = [
        [f"{figure.id:{width}}  {figure.title}", numbers.count(len(figure.cells)), numbers.count(len(figure.claims))]
        for figure in figures
    ]
    output.print_table((f"{'id':{width}}  what it shows", "runs", "claims"), rows)


def _described(figure: Figure) -> dict[str, Any]:
    return {
        "id": figure.id,
        "paper": figure.paper,
        "place": figure.place,
        "title": figure.title,
        "about": figure.about,
        "runs": len(figure.cells),
        "repetitions": figure.repetitions,
        "needs_graphs": figure.needs_graphs,
        "claims": [claim.says for claim in figure.claims],
    }


def _possible(figures: list[Figure], names: Sequence[str], data: Path | None) -> tuple[list[Figure], list[str]]:
    """The figures that can be made, and the ids of those that need graphs which are not given.

    Whoever asks for such a figure by its name is told that it needs them.
    """
    from topicloom.model import InputError

    lacking = [figure.id for figure in figures if figure.needs_graphs and data is None]
    for name in lacking:
        if name in names:
            raise InputError(f"{name} needs social graphs; give the folder that holds their edge lists with --data")
    return [figure for figure in figures if figure.id not in lacking], lacking


def _print(facts: dict[str, Any], verdicts: Sequence[Verdict]) -> None:
    from topicloom.experiments.claims import others, ours
    from topicloom.views.numbers import claimed

    words = {True: "yes", False: "no", None: "not measured"}
    rows = [
        [each.id, claimed(each.rule, each.published, each.unit), str(ours(each)), words[each.holds]]
        for each in verdicts
    ]
    output.print_table(("claim", "published", "here", "holds"), rows)
    output.say("")
    for each in verdicts:
        if each.holds is False:
            read = [(name, f"{number}, holds") for name, number, holds in others(each) if holds]
            output.print_entry(each.id, [("says", each.says), ("but", each.sentence), *read])
    holds = [each.holds for each in verdicts]
    output.print_facts(
        [
            ("figures and tables", numbers.count(len(facts["figures"]))),
            ("runs", numbers.count(facts["runs"])),
            ("run now", numbers.count(facts["ran"])),
            ("claims that hold", f"{holds.count(True):,} of {len(holds):,}"),
        ]
    )
    for error in facts["errors"]:
        output.say(output.one_line(f"a run failed: {error}"))
    if facts["left_out"]:
        output.say(f"left out, as they need social graphs (--data): {', '.join(facts['left_out'])}")
