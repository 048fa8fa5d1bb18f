"""Views of an ingest, a sample and a profile."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from topicloom.views.designs import written
from topicloom.views.numbers import Number, count, count_of, mean, share
from topicloom.views.view import Column, Fact, Note, On, Show, Table, View

if TYPE_CHECKING:
    from topicloom.spark.distributions import Distribution
    from topicloom.spark.ingest import Ingest
    from topicloom.spark.interned import Totals
    from topicloom.spark.profile import Profile

_QUANTILES = (0.1, 0.5, 0.9, 0.99)
_COUNTS = (
    *("filtered", "rejected", "self_loops", "unheard", "repeats"),
    *("users", "nodes", "topics", "subscriptions"),
)
# Counts that are only shown if there are any.
_RARE = {
    "filtered": "left out by condition",
    "self_loops": "self-loops",
    "unheard": "published without subscribers",
    "users": "users",
}


def ingest(made: Ingest, out: str) -> View:
    """Counts of raw rows by what became of them."""
    data = made.to_dict()
    facts = [Fact("files", made.files, count), Fact("rows", made.counts.rows, count, on=On.PEOPLE)]
    for key in _COUNTS:
        value = getattr(made.counts, key)
        if value or key not in _RARE:
            facts.append(Fact(key, value, count, _RARE.get(key, ""), On.PEOPLE))
        if key == "rejected":
            reasons = made.counts.rejected_by_reason.items()
            facts += [Fact(reason, number, count, f"  {reason}", On.PEOPLE) for reason, number in reasons]
    for key in ("inputs", "options", "counts", "fingerprint"):
        facts.append(Fact(key, data[key], on=On.DATA))
    return View("ingest", "Ingest", (*facts, Fact("out", out, on=On.DATA), *written(out)))


def profile(found: Profile, out: str | PathLike[str] | None) -> View:
    """Sizes, popularity, what nodes share, and what designers would need."""
    shares = [
        Fact(f"{part:g}", value, share, f"subscriptions in the top {part:.0%} of topics", On.PEOPLE)
        for part, value in found.popular_shares.items()
    ]
    common = found.common_topics
    columns = ("size", "min", *(f"{part:.0%}" for part in _QUANTILES), "max", "mean")
    rows = [
        _row("topics per node", found.topics_per_node),
        _row("nodes per topic", found.nodes_per_topic),
        _row("topics that pairs share", common.distribution),
    ]
    shows: dict[str, Show] = {"size": str, "mean": mean}
    quantiles = Table(
        "quantiles",
        tuple(Column(key, shows.get(key, count), "" if key == "size" else key) for key in columns),
        rows,
        On.PEOPLE,
    )
    sharing = count_of(common.pairs, "pair of nodes shares", "pairs of nodes share")
    estimated = ""
    if common.sampled_nodes is not None:
        estimated = (
            f", give or take {count(round(common.standard_error)).text}, "
            f"estimated from {count_of(common.sampled_nodes, 'node')}"
        )
    memory = Table(
        "memory",
        (Column("memory for", str), Column("MB", _megabytes)),
        [[need.designer, need.bytes] for need in found.designer_memory],
        On.PEOPLE,
    )
    sizes = [Fact(key, getattr(found, key), count, on=On.PEOPLE) for key in ("nodes", "topics", "subscriptions")]
    data: list[Any] = [Fact(key, value, on=On.DATA) for key, value in found.to_dict().items()]
    data.append(Fact("out", None if out is None else str(out), on=On.DATA))
    note = Note(f"{sharing} a topic{estimated}")
    return View("profile", "Profile", (*sizes, *shares, quantiles, note, memory, *data, *written(out)))


def _megabytes(size: int) -> Number:
    return Number(size, f"{size / 1e6:,.1f}")


def _row(name: str, distribution: Distribution) -> list[Any]:
    quantiles = [distribution.quantile(part) for part in _QUANTILES]
    return [name, distribution.min, *quantiles, distribution.max, distribution.mean]


def sample(found: Totals, out: str) -> View:
    """Size of a sample."""
    facts = [Fact(key, getattr(found, key), count) for key in ("nodes", "topics", "subscriptions")]
    data = [Fact("fingerprint", found.fingerprint, on=On.DATA), Fact("out", out, on=On.DATA)]
    return View("sample", "Sample", (*facts, *data, *written(out)))
