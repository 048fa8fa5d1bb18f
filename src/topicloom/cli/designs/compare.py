"""`topicloom compare`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.shared import options, output
from topicloom.cli.shared.design_work import run_designer
from topicloom.cli.shared.parameters import Parameters, given, shared_out
from topicloom.cli.shared.progress import Working

if TYPE_CHECKING:
    from topicloom.model import Interest

EXAMPLES = """\b
Example:
  topicloom compare subs.parquet
  topicloom compare subs.parquet --algorithms gpm,random-m --max-degree 8
"""

DEFAULT_ALGORITHMS = "gm,minmax-oda,low-oda,cd-oda-2,ring-per-topic"


def command(
    subscriptions: options.Subscriptions,
    algorithms: Annotated[
        str,
        typer.Option("--algorithms", "-a", metavar="NAMES", help="Names of designers, with commas between them."),
    ] = DEFAULT_ALGORITHMS,
    max_edges: options.MaxEdges = None,
    max_degree: options.MaxDegree = None,
    budget_ratio: options.BudgetRatio = None,
    k: options.K = None,
    folds: options.Folds = None,
    greedy: options.Greedy = None,
    random: options.Random = None,
    seed: options.Seed = 0,
    no_diameters: options.NoDiameters = False,
    node_column: options.NodeColumn = "node",
    topic_column: options.TopicColumn = "topic",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure several designers side by side.

    Builds an overlay with each and writes nothing. Each designer gets those of the given options that it takes.
    """
    from topicloom.model import Interest

    parameters = shared_out(
        list(dict.fromkeys(name.strip() for name in algorithms.split(","))),
        given(
            max_edges=max_edges,
            max_degree=max_degree,
            budget_ratio=budget_ratio,
            k=k,
            folds=folds,
            greedy=greedy,
            random=random,
        ),
    )
    with Working(quiet=quiet) as working:
        interest = working.do(
            f"reading {subscriptions.name}",
            lambda: Interest.read(subscriptions, node_column=node_column, topic_column=topic_column),
        )
        rows = [
            _measured(working, interest, algorithm, seed, own, diameters=not no_diameters)
            for algorithm, own in parameters.items()
        ]
    if json:
        output.print_json(rows)
    else:
        _print(rows, diameters=not no_diameters)


def _measured(
    working: Working, interest: Interest, algorithm: str, seed: int, parameters: Parameters, *, diameters: bool
) -> dict[str, Any]:
    from topicloom.metrics import measure

    result = run_designer(working, interest, algorithm, seed, parameters)
    provenance = result.overlay.provenance
    assert provenance is not None
    measures = working.do(f"measuring {algorithm}", lambda: measure(interest, result.overlay, diameters=diameters))
    return {
        "algorithm": algorithm,
        "parameters": dict(provenance.parameters),
        "seed": provenance.seed,
        **measures.to_dict(),
        "seconds": result.seconds,
    }


def _print(rows: Sequence[dict[str, Any]], *, diameters: bool) -> None:
    columns: list[tuple[str, str, Callable[[Any], str]]] = [
        ("designer", "algorithm", str),
        ("links", "edges", output.count),
        ("avg\ndegree", "average_degree", output.degree),
        ("max\ndegree", "max_degree", output.count),
        ("support", "support", output.share),
        ("mean\ndiam.", "mean_topic_diameter", output.degree),
        ("max\ndiam.", "max_topic_diameter", output.count),
        ("relays", "relays", output.count),
        ("unreach-\nable", "unreachable", output.count),
        ("seconds", "seconds", output.seconds),
    ]
    columns = [column for column in columns if diameters or "diameter" not in column[1]]
    output.print_table(
        [header for header, _, _ in columns],
        [[show(row[key]) for _, key, show in columns] for row in rows],
    )
