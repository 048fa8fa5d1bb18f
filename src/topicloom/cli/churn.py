"""`topicloom churn`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from topicloom.cli import output
from topicloom.cli import output as checked_paths
from topicloom.cli import typer_options as options
from topicloom.views import numbers

if TYPE_CHECKING:
    from topicloom.model import Interest


EXAMPLES = """\b
Example:
  topicloom churn subs.parquet --rounds 1000 --seed 1 --out events.jsonl
  topicloom churn subs.parquet --rounds 1000 --change-share 0.2 \\
      --topics 200 --sizes power-law --min-topics 10 --max-topics 90 \\
      --seed 1 --out events.jsonl
"""


def command(
    *,
    subs: options.InterestFile,
    rounds: Annotated[int, typer.Option("--rounds", metavar="N", help="How many events.", min=0)],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="EVENTS", help="JSON Lines file to write.")],
    join_share: Annotated[
        float, typer.Option("--join-share", metavar="X", help="How many of the joins and leaves are joins.")
    ] = 0.5,
    change_share: Annotated[
        float, typer.Option("--change-share", metavar="X", help="How many of all events are changes of topics.")
    ] = 0.0,
    topics: Annotated[
        int | None,
        typer.Option(
            "--topics",
            metavar="N",
            help="Draw what new nodes want as `topicloom generate` does, from so many topics. Unless given, sizes and "
            "popularity are those of SUBS.",
            show_default=False,
        ),
    ] = None,
    popularity: Annotated[
        Literal["uniform", "zipf", "exponential", "steep-exponential"],
        typer.Option("--popularity", help="With --topics, as of generate."),
    ] = "uniform",
    alpha: Annotated[float, typer.Option("--alpha", metavar="X", help="With --topics: exponent of zipf.")] = 2.0,
    sizes: Annotated[
        Literal["fixed", "uniform", "power-law", "shifted-zipf", "by-chance"],
        typer.Option("--sizes", help="With --topics, as of generate."),
    ] = "fixed",
    min_topics: Annotated[
        int, typer.Option("--min-topics", metavar="N", help="With --topics: the fewest topics of a node.")
    ] = 1,
    max_topics: Annotated[
        int | None,
        typer.Option("--max-topics", metavar="N", help="With --topics: the most topics of a node.", show_default=False),
    ] = None,
    size_exponent: Annotated[
        float, typer.Option("--size-exponent", metavar="X", help="With --topics: exponent of power-law.")
    ] = 2.0,
    seed: options.Seed = 0,
    printing: options.Printing,
) -> None:
    """Make random churn: nodes come, go and change topics."""
    from topicloom.model.events import write_events
    from topicloom.workloads import churn_trace, drawn_newcomers

    checked_paths.require_writable(out, subs.path, ending=".jsonl")

    def newcomers() -> Interest | None:
        if topics is None or rounds == 0:
            return None
        return drawn_newcomers(
            rounds,
            topics,
            popularity=popularity,
            alpha=alpha,
            sizes=sizes,
            min_topics=min_topics,
            max_topics=max_topics,
            size_exponent=size_exponent,
            seed=seed,
        )

    with printing.working() as working:
        interest = subs.read(working)
        events = working.do(
            "drawing events",
            lambda: churn_trace(
                interest,
                rounds,
                join_share=join_share,
                change_share=change_share,
                newcomers=newcomers(),
                seed=seed,
            ),
        )
    write_events(events, out)
    kinds = Counter(event.kind for event in events)
    counts = {kind: kinds[kind] for kind in ("join", "leave", "change")}
    if printing.json:
        output.print_json({"events": len(events), **counts, "seed": seed, "out": str(out)})
        return
    named = ", ".join(numbers.count_of(count, kind) for kind, count in counts.items())
    output.say(f"{numbers.count_of(len(events), 'event')} ({named}), written to {output.one_line(str(out))}")
