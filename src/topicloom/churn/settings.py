"""Maintainers by name, their parameters, and how they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from topicloom.churn.live_overlay import Link, LiveOverlay
from topicloom.churn.maintainer import Maintainer, links_by_name, require_connected
from topicloom.churn.prune import Pruner
from topicloom.churn.rebuild import RebuildMaintainer, choosing
from topicloom.churn.shadow import MendingMaintainer
from topicloom.churn.tree import TreeMaintainer
from topicloom.errors import InputError
from topicloom.kernels import shadow_sets
from topicloom.model.constraints import Constraints
from topicloom.model.filters import PLAIN
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.registry import SEED, Parameter

METHODS = ("shadow", "naive", "rebuild")
# Links are chosen as these designers choose them.
RULES = ("low-oda", "gm", "minmax-oda")
BACKUPS = {
    "primal-dual": shadow_sets.PRIMAL_DUAL,
    "primal-dual-carried": shadow_sets.PRIMAL_DUAL_CARRIED,
    "greedy": shadow_sets.GREEDY,
    "greedy-plain": shadow_sets.GREEDY_PLAIN,
}


PARAMETERS = (
    Parameter(
        "method",
        str,
        "how to mend: among few nodes kept ready, among all, or by designing everything anew",
        "shadow",
        choices=METHODS,
    ),
    Parameter(
        "backups", str, "how shadow chooses the nodes that it keeps ready", "primal-dual", choices=tuple(BACKUPS)
    ),
    Parameter(
        "coverage",
        int,
        "how often the backups of a node cover each of its topics, for shadow; with 0 neighbours alone are linked",
        3,
        minimum=0,
        maximum=1000,
    ),
    Parameter("rule", str, "the designer that links are chosen as by", "low-oda", choices=RULES),
    Parameter(
        "rho", float, "how much more a link must contribute to be worth a higher degree, for the rule low-oda", 3.0
    ),
    Parameter("prune", bool, "drop links that no topic needs any more, oldest first; not for rebuild", False),
)
# The generator of backups is a number of 64 bits.
_KNOWN = {parameter.name: parameter for parameter in (*PARAMETERS, replace(SEED, maximum=2**64 - 1))}


def _default(name: str) -> Any:
    return _KNOWN[name].default


@dataclass(frozen=True)
class Settings:
    """How an overlay is to be maintained; `PARAMETERS` says what each of them means."""

    method: str = _default("method")
    backups: str = _default("backups")
    coverage: int = _default("coverage")
    rho: float = _default("rho")
    prune: bool = _default("prune")
    seed: int = _default("seed")
    rule: str = _default("rule")

    def __post_init__(self) -> None:
        for name, parameter in _KNOWN.items():
            object.__setattr__(self, name, parameter.checked(getattr(self, name)))


def maintainer(
    overlay: Overlay,
    settings: Settings | None = None,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
) -> Maintainer:
    """Return a maintainer of an overlay, with its backups.

    Args:
        overlay: must be topic-connected over its interest, unless there are constraints, which it must not break.
        settings: how to maintain it; by shadow sets unless given.
        constraints: which links may be added, and which are there while both ends are. They are never broken, so
            events may leave topics in several components.
        prices: of links; of equally good ones the cheaper is added. `rebuild` designs by contribution per price.
    """
    settings = settings or Settings()
    if constraints is None:
        require_connected(overlay)
    else:
        constraints.require_kept(links_by_name(overlay), "the overlay")
        require_staying(overlay, constraints)
    if settings.method == "rebuild":
        return RebuildMaintainer(overlay, settings.rule, settings.rho, constraints, prices)
    made = mending(LiveOverlay(overlay, settings.seed, constraints, prices), settings)
    made.build_backups()
    return made


def thaw(
    frozen: Mapping[str, Any],
    settings: Settings | None = None,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
) -> Maintainer:
    """Return a maintainer that goes on as the one did whose `freeze` returned this.

    Args:
        frozen: what `freeze` returned, for instance read from JSON.
        settings: those that it was made with. constraints, prices: likewise.
    """
    settings = settings or Settings()
    nodes = frozen["nodes"]
    if frozen["method"] == TreeMaintainer.method:
        return TreeMaintainer(nodes, [Link(*link) for link in frozen["links"]], constraints or Constraints())
    interest = Interest.from_pairs(((node, topic) for node in nodes for topic in nodes[node]), filters=PLAIN)
    ids = interest.node_ids
    links = [(ids[source], ids[target], contribution) for source, target, contribution in frozen["links"]]
    table = np.array(links, np.int32).reshape(-1, 3)
    overlay = Overlay(interest, table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())
    if settings.method == "rebuild":
        return RebuildMaintainer(overlay, settings.rule, settings.rho, constraints, prices)
    live = LiveOverlay(overlay, frozen["random"], constraints, prices)
    live.set_backups(frozen["backups"])
    return mending(live, settings)


def require_staying(overlay: Overlay, constraints: Constraints) -> None:
    """Raise InputError if an overlay lacks a link that is to be kept, though both its nodes are there."""
    there = set(links_by_name(overlay))
    ids = overlay.interest.node_ids
    for a, b in constraints.links:
        if a in ids and b in ids and (a, b) not in there:
            raise InputError(
                f"the overlay lacks the link '{a}' - '{b}', which is to be kept; design it with the same fleet"
            )


def mending(live: LiveOverlay, settings: Settings) -> MendingMaintainer:
    """Return a maintainer of a live overlay as it is, with its present backups."""
    _warm_up(settings.prune)
    return _made(live, settings)


def _made(live: LiveOverlay, settings: Settings) -> MendingMaintainer:
    shadow = settings.method == "shadow"
    about_backups: dict[str, int | float | str | bool] = {}
    if shadow:
        about_backups = {"backups": settings.backups, "coverage": settings.coverage}
    return MendingMaintainer(
        live,
        settings.method,
        kind=_kind(settings),
        coverage=settings.coverage if shadow else 0,
        rho=_rho(settings),
        pruner=Pruner(live.constraints.links) if settings.prune else None,
        made_with={
            **choosing(settings.rule, settings.rho),
            **about_backups,
            "prune": settings.prune,
            "seed": settings.seed,
        },
    )


def _kind(settings: Settings) -> int:
    if settings.method == "naive":
        return shadow_sets.NAIVE
    return BACKUPS[settings.backups] if settings.coverage else shadow_sets.NEIGHBOURS


def _rho(settings: Settings) -> float:
    """Return the rho of a rule: 0 for `gm`, which minds contributions alone, infinite for `minmax-oda`."""
    return {"gm": 0.0, "minmax-oda": np.inf}.get(settings.rule, settings.rho)


@cache
def _warm_up(prune: bool) -> None:
    """Compile what events need, by a few events of a tiny fleet, so that the first event takes no longer."""
    interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "x")])
    made = _made(LiveOverlay(Overlay.from_links(interest, [("a", "b"), ("b", "c")]), 0), Settings(prune=prune))
    made.build_backups()
    made.leave("b")
    made.join("d", ["x", "y"])
    made.change("a", ["y"], ["x"])
    made.settle()
