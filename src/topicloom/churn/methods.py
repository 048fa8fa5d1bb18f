"""Maintainers by name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from topicloom.churn.connectedness import require_connected
from topicloom.churn.live_overlay import LiveOverlay
from topicloom.churn.maintainer import Maintainer
from topicloom.churn.mending_maintainer import MendingMaintainer
from topicloom.churn.pruning import Pruner
from topicloom.churn.rebuild import RebuildMaintainer
from topicloom.designers import find_designer
from topicloom.designers.run import warm_up as warm_up_designer
from topicloom.errors import InputError
from topicloom.kernels.living import shadow_sets
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay

METHODS = ("shadow", "naive", "rebuild")
BACKUPS = {"primal-dual": shadow_sets.PRIMAL_DUAL, "greedy": shadow_sets.GREEDY}


@dataclass(frozen=True)
class Settings:
    """How an overlay is to be maintained.

    Args:
        method: `shadow`, `naive` or `rebuild`.
        backups: how `shadow` chooses them, `primal-dual` or `greedy`.
        coverage: how often the backups of a node cover each of its topics, for `shadow`.
        rho: how much more a link must contribute to be worth a higher degree.
        prune: whether links that no topic needs any more are dropped; `rebuild` has none.
        seed: of the topics that `primal-dual` draws.
    """

    method: str = "shadow"
    backups: str = "primal-dual"
    coverage: int = 3
    rho: float = 3.0
    prune: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, known in (("method", self.method, METHODS), ("backups", self.backups, tuple(BACKUPS))):
            if value not in known:
                raise InputError(f"unknown {name} '{value}'; known are {', '.join(known)}")
        if isinstance(self.coverage, bool) or not isinstance(self.coverage, int) or self.coverage < 1:
            raise InputError(f"coverage must be a whole number, 1 or more, not {self.coverage!r}")
        if (
            isinstance(self.rho, bool)
            or not isinstance(self.rho, int | float)
            or not math.isfinite(self.rho)
            or self.rho < 1
        ):
            raise InputError(f"rho must be a number, 1 or more, not {self.rho!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**64:
            raise InputError(f"seed must be a whole number from 0 to 2^64 - 1, not {self.seed!r}")


def maintainer(overlay: Overlay, settings: Settings | None = None) -> Maintainer:
    """A maintainer of an overlay; backups are built at once.

    Args:
        overlay: must be topic-connected over its interest.
        settings: how to maintain it; by shadow sets unless given.
    """
    settings = settings or Settings()
    require_connected(overlay)
    if settings.method == "rebuild":
        warm_up_designer(find_designer("low-oda"), overlay.interest, {"k": float(settings.rho)})
        return RebuildMaintainer(overlay, float(settings.rho))
    made = mending(LiveOverlay(overlay, settings.seed), settings)
    made.build_backups()
    return made


def mending(live: LiveOverlay, settings: Settings) -> MendingMaintainer:
    """A maintainer of what is there, with the backups that are there."""
    _warm_up(settings.prune)
    return _made(live, settings)


def _made(live: LiveOverlay, settings: Settings) -> MendingMaintainer:
    shadow = settings.method == "shadow"
    return MendingMaintainer(
        live,
        settings.method,
        kind=BACKUPS[settings.backups] if shadow else shadow_sets.NAIVE,
        coverage=settings.coverage if shadow else 0,
        rho=float(settings.rho),
        seed=settings.seed,
        pruner=Pruner() if settings.prune else None,
    )


@cache
def _warm_up(prune: bool) -> None:
    """Compile what events need, by letting some happen to a tiny fleet, so that the first one takes no longer."""
    interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "x")])
    made = _made(LiveOverlay(Overlay.from_links(interest, [("a", "b"), ("b", "c")]), 0), Settings(prune=prune))
    made.build_backups()
    made.leave("b")
    made.join("d", ["x", "y"])
    made.change("a", ["y"], ["x"])
    made.settle()
