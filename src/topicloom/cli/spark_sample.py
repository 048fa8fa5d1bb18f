"""`topicloom spark sample`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from topicloom.cli import options
from topicloom.cli.command import command
from topicloom.cli.run import FOUND, Run
from topicloom.errors import InputError
from topicloom.views.view import View

EXAMPLES = """
  topicloom spark sample follows --nodes 1000 --seeds 3 --seed 7 --out part
  topicloom spark sample fleet --nodes 1000 --uniform --out part
"""


@command("sample", examples=EXAMPLES)
@options.place
@options.option("--nodes", metavar="N", type=options.WHOLE, required=True, help="How many nodes the sample has.")
@options.out_place("an interest")
@options.option("--seeds", metavar="N", type=options.WHOLE, help="How many random users to begin with.  [default: 3]")
@options.flag("--uniform", help="Take random nodes, near each other or not.")
@options.seed
@options.spark
def sample(run: Run, nodes: int, out: str, overwrite: bool, seeds: int | None, uniform: bool, seed: int) -> View:
    """Take a part of large subscriptions.

    Begins with a few random nodes and spreads breadth-first until it has as many as asked for, then takes all relations
    among them. PLACE gets what `topicloom spark ingest` writes. Exit status 1 if it has fewer nodes than asked for.
    """
    from topicloom.spark import sample as take
    from topicloom.spark import write_interest
    from topicloom.spark.intern import intern, keeping
    from topicloom.spark.interned import Interned, Totals
    from topicloom.spark.places import require_place
    from topicloom.views import ingested
    from topicloom.views.numbers import count_of

    if uniform and seeds is not None:
        raise InputError("seeds are of no use with uniform; leave one of them out", "seeds", "uniform")
    require_place(out)
    if out == run.place:
        raise InputError("is read by this command; give another place to write to", file=out)
    asked: dict[str, Any] = {"seeds": 3 if seeds is None else seeds, "seed": seed, "uniform": uniform}

    def write(whole: Interned) -> Totals:
        pairs = take(whole, nodes, **asked, progress=doing.append)
        doing.append("interning and writing")
        about = {"kind": "topicloom sample", "source": asdict(whole.totals), "sample": {"nodes": nodes, **asked}}
        with keeping() as keep:
            part = intern(pairs, keep=keep)
            part = Interned(part.subscriptions, part.nodes, part.topics, whole.graph, whole.filters)
            write_interest(part, out, overwrite=overwrite, about=about)
            return part.totals

    doing = ["drawing nodes"]
    with run.on_spark("sample") as work:
        whole = work.interned(run.place)
        found = work.do(lambda: doing[-1], lambda _: write(whole))
    if found.nodes < nodes:
        run.finding(f"{count_of(nodes, 'node')} were asked for; there is no sample of exactly as many", FOUND)
    return ingested.sample(found, out)
