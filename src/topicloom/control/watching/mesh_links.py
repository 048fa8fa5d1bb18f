"""The links of a fleet in which every topic has a tree of its own: mended by shadow sets, tidied towards `low-oda`."""

from __future__ import annotations

from pathlib import Path

from topicloom.churn.connectedness import broken_topics
from topicloom.churn.maintainer import Maintainer
from topicloom.churn.methods import Settings, maintainer
from topicloom.churn.snapshot import Snapshot, read_snapshot, write_snapshot
from topicloom.churn.tidying.improving import Aim, improve
from topicloom.designers import design
from topicloom.model.constraints import Constraints
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay

_DESIGNER = "low-oda"
_SETTINGS = Settings(prune=True)
# How much above a fresh design links or the highest degree may be before they are tidied.
_SLACK = 1.1
_FEW = 4


class MeshLinks:
    """How links of a mesh are designed, mended, tidied and kept."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints

    def fresh(self, interest: Interest) -> Maintainer:
        """Links designed anew."""
        return self.over(design(interest, _DESIGNER, constraints=self._constraints))

    def over(self, overlay: Overlay) -> Maintainer:
        """These links."""
        return maintainer(overlay, _SETTINGS, self._constraints)

    def tidying(self, overlay: Overlay, changes: int) -> list[list[str]]:
        """Steps that bring links nearer to a fresh design where they have become much worse; at most so many."""
        if not len(overlay):
            return []
        fresh = design(overlay.interest, _DESIGNER, constraints=self._constraints)
        better = None
        # As few as suffice: each changed link restarts a broker or two.
        for most in (*range(_FEW, changes, _FEW), changes):
            found = overlay if better is None else better.overlay
            if not _has_many(found, fresh) and not _is_high(found, fresh):
                break
            aim: Aim = "max-degree" if _is_high(overlay, fresh) else "links"
            better = improve(overlay, most, aim=aim, designer=_DESIGNER, constraints=self._constraints)
        if better is None or broken_topics(better.overlay) or self._constraints.broken_by(better.overlay):
            return []
        return [[step.action, *step.link] for step in better.steps]

    def write(self, path: Path, links: Maintainer, decisions: int) -> None:
        """Keep links as they are after so many decisions."""
        write_snapshot(path, Snapshot(links, _SETTINGS, "watch", decisions, self._constraints))

    def read(self, path: Path) -> tuple[Maintainer, int]:
        """The links that were kept, and after how many decisions; designed anew where the fleet file allows others."""
        snapshot = read_snapshot(path)
        links = snapshot.maintainer
        return links if snapshot.constraints == self._constraints else self.fresh(
            links.interest()
        ), snapshot.last_event or 0


def _has_many(overlay: Overlay, fresh: Overlay) -> bool:
    return len(overlay) > _SLACK * len(fresh)


def _is_high(overlay: Overlay, fresh: Overlay) -> bool:
    return bool(overlay.degrees.max(initial=0) > _SLACK * fresh.degrees.max(initial=0))
