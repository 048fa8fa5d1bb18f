"""`topicloom spark design`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from topicloom.cli import options, output
from topicloom.cli.command import command
from topicloom.cli.run import Run
from topicloom.views.view import View

EXAMPLES = """
  topicloom spark design fleet --out overlay.parquet
  topicloom spark design s3a://data/fleet --max-degree 40 \\
      --out s3a://data/overlay --master yarn
"""


@command("design", examples=EXAMPLES, late=options.of_backbone)
@options.place
@options.out_place("an overlay", "OVERLAY.parquet on this machine, a folder on any file system, or table:NAME.")
@options.seed
@options.spark
def design(run: Run, out: str, overwrite: bool, seed: int, **parameters: Any) -> View:
    """Choose the links that connect every topic, for large subscriptions.

    The designer is backbone; it gives the same links as `topicloom design --algorithm backbone`. Exit status 1 if
    --max-degree is too low to connect every topic.
    """
    from topicloom.designers import DESIGNERS
    from topicloom.io.ingest_folder import OVERLAY
    from topicloom.spark.design import design_links
    from topicloom.spark.places import Place, has_scheme, require_place
    from topicloom.views import designs

    prepared = DESIGNERS.prepare("backbone", seed, parameters)
    file = Path(out) if not has_scheme(out) and out.endswith(".parquet") else None
    if file is not None:
        output.require_writable(file)
    else:
        require_place(out)
    doing = [prepared.name]
    with run.on_spark("design") as work:
        interned = work.interned(run.place)
        if file is None:
            work.do(f"looking at {out}", lambda spark: Place(spark, out).require_writable(OVERLAY, overwrite=overwrite))
        began = time.perf_counter()
        made = work.do(lambda: doing[-1], lambda _: design_links(interned, prepared, doing.append))
        if file is not None:
            work.do(f"writing {file.name}", lambda _: made.overlay.write(file))
        else:
            work.do(f"writing {out}", lambda _: made.write(out, overwrite=overwrite))
        seconds = time.perf_counter() - began
        view = designs.design_on_spark(made, seconds, out)
    if made.support < 1:
        run.finding(f"not all topics are connected: --max-degree {prepared.parameters.get('max_degree')} is too low")
    return view
