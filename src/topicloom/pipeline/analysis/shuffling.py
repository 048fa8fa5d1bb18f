"""A random order of names that everybody agrees on: whatever the partitions, the ids or the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import Column


def place(name: Column, seed: int) -> Column:
    """Where a name stands in the random order of a seed: 60 bits of a hash of both, as a long."""
    from pyspark.sql import functions as sql

    digest = sql.md5(sql.concat(sql.lit(f"{seed} "), name))
    return sql.conv(sql.substring(digest, 1, 15), 16, 10).cast("long")


def require_seed(seed: int) -> None:
    """Refuse what is not a seed."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, not {seed!r}", "seed")
