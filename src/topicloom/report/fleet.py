"""The section of a fleet: who wants what, and what was planned for it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from topicloom.model.figures import draw_ccdfs, new_figure, styled
from topicloom.model.interest import Interest, Starts
from topicloom.model.numbers import count, mean
from topicloom.report.comparison import comparison_section
from topicloom.report.design import design_section
from topicloom.report.results import Fleet
from topicloom.report.section import Section, beside, figure, paragraph, tiles


def fleet_section(fleet: Fleet) -> Section:
    """Sizes of the fleet; inside, a comparison where there are several overlays, and each of them."""
    interest, name = fleet.interest, fleet.name
    facts = [
        ("nodes", count(interest.node_count)),
        ("topics", count(interest.topic_count)),
        ("subscriptions", count(interest.subscription_count)),
        ("topics a node, mean", mean(interest.subscription_count / max(1, interest.node_count))),
        ("nodes a topic, mean", mean(interest.subscription_count / max(1, interest.topic_count))),
    ]
    inside = [comparison_section(fleet)] if len(fleet.designs) > 1 else []
    inside += [design_section(fleet, design) for design in fleet.designs]
    return Section(
        f"Fleet {name}",
        (
            paragraph("Who wants what: the subscriptions that overlays are planned for."),
            tiles(facts),
            beside([_sizes(interest, name)]),
        ),
        tuple(inside),
    )


def _sizes(interest: Interest, name: str) -> str:
    lines = {
        "topics per node": _ccdf(interest.node_start),
        "nodes per topic": _ccdf(interest.topic_start),
    }
    with styled():
        drawn, (axes,) = new_figure(5.4, 3.4)
        draw_ccdfs(axes, lines)
        axes.set(xlabel="size", ylabel="share with at least that size")
    note = "How many topics nodes want, and how many nodes want a topic; both axes are logarithmic."
    return figure(drawn, f"fleet {name} sizes", "Sizes", note)


def _ccdf(starts: Starts) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Different sizes of rows, rising, and the share of rows at least that long."""
    sizes, counts = np.unique(np.diff(starts), return_counts=True)
    return sizes, np.cumsum(counts[::-1])[::-1] / max(1, counts.sum())
