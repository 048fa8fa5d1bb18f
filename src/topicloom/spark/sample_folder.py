"""A sample of an ingested folder, written as another one."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from topicloom.spark.intern import intern, keeping
from topicloom.spark.interned import Totals
from topicloom.spark.places import read_interest, write_interest
from topicloom.spark.sample import sample

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write_sample(
    spark: SparkSession,
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    nodes: int,
    seeds: int = 3,
    seed: int = 0,
    uniform: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Totals:
    """Write a part of an interest to another place, over one that is there."""
    whole = read_interest(spark, os.fspath(folder))
    pairs = sample(whole, nodes, seeds=seeds, seed=seed, uniform=uniform, progress=progress)
    progress("interning and writing")
    options = {"nodes": nodes, "seeds": seeds, "seed": seed, "uniform": uniform}
    said = {"options": {"graph": whole.graph, "filters": whole.filters}, "sample": options}
    with keeping() as keep:
        part = intern(pairs, keep=keep)
        about = {"kind": "topicloom sample", "source": asdict(whole.totals), **said}
        write_interest(part, os.fspath(out), overwrite=True, about=about)
    return part.totals
