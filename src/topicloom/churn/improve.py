"""An overlay brought nearer to a fresh design by few changes, best first, without losing support on the way.

What topics lack comes first: links of the fresh design that join pieces, those that join most before others. Then links
that no topic needs are taken away, and where degrees shall become less, links of nodes that have most (`relieving`).
Then node after node may go over to the links that the fresh design gives it: these are added, links around that nobody
needs any more are taken away, and it is undone unless the overlay is better for it. In the end, if the changes that are
left suffice for the whole way to the fresh design and that is better, it is gone.

A link is only taken away where every topic has another way between its ends, so support never falls. Links are added
before others go, so nodes may for a while have more links than in the end.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from topicloom.churn.live_overlay import LiveOverlay, row_of
from topicloom.churn.maintainer import LinkStep
from topicloom.churn.relieve import link_to_take_off
from topicloom.designers.contract import Links
from topicloom.designers.run import design
from topicloom.errors import InputError
from topicloom.kernels.components import merge_links
from topicloom.kernels.live_graph import relink
from topicloom.kernels.needed_links import prune
from topicloom.model.constraints import Constraints
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.provenance import Provenance

Aim = Literal["links", "max-degree", "price"]
# What is designed afresh for each aim.
DESIGNER_FOR: dict[Aim, str] = {"links": "gm", "max-degree": "minmax-oda", "price": "gm"}

_Ends = tuple[int, int]
_Value = tuple[int, ...]


@dataclass(frozen=True)
class Improvement:
    """The overlay after changes, the changes in their order, and the fresh design that they lead towards."""

    overlay: Overlay
    steps: tuple[LinkStep, ...]
    fresh: Overlay


def improve(
    overlay: Overlay,
    changes: int,
    *,
    aim: Aim = "links",
    designer: str | None = None,
    constraints: Constraints | None = None,
    prices: Prices | None = None,
    fresh: Overlay | None = None,
) -> Improvement:
    """Change at most so many links of an overlay.

    Args:
        overlay: links that there are.
        changes: how many links may be added or taken away.
        aim: what shall become less: links, the highest degree, or the price of all links.
        designer: what the fresh design is made by; `gm` unless given, and `minmax-oda` for the highest degree.
        constraints: what the fresh design keeps to, and which links stay; with few changes others may still break them.
        prices: what links cost; needed for the aim `price`.
        fresh: the fresh design, if it is there already.
    """
    if changes < 0:
        raise InputError(f"changes must be 0 or more, not {changes}", "changes")
    if aim == "price" and prices is None:
        raise InputError("the aim price needs prices", "prices")
    interest = overlay.interest
    paying = prices if aim == "price" else None
    if fresh is None:
        fresh = design(interest, designer or DESIGNER_FOR[aim], constraints=constraints, prices=paying)
    work = _Work(overlay, fresh, changes, aim, prices, constraints or Constraints())
    work.join_pieces()
    work.drop_needless(work.old)
    while aim == "max-degree" and work.relieve():
        pass
    while work.move_nodes():
        pass
    work.go_all_the_way()
    work.drop_needless(set(work.links) - work.staying)
    links = np.array(list(work.links), np.int32).reshape(-1, 2)
    found = Links.measured(interest, links[:, 0].copy(), links[:, 1].copy())
    made = Provenance("improve", {"changes": changes, "aim": aim})
    return Improvement(Overlay(interest, *found[:3], made), tuple(work.steps), fresh)


class _Work:
    """Links that change, how many more may, and what has been done."""

    def __init__(
        self,
        overlay: Overlay,
        fresh: Overlay,
        changes: int,
        aim: Aim,
        prices: Prices | None,
        constraints: Constraints,
    ) -> None:
        self._interest = overlay.interest
        self._aim = aim
        self._paid = None if prices is None or aim != "price" else prices.over(overlay.interest)
        self._live = LiveOverlay(overlay, 0, constraints)
        self._left = changes
        self.links = dict.fromkeys(_ends(overlay))
        self._fresh = dict.fromkeys(_ends(fresh))
        self.staying = {
            _sorted(self._live.numbers[a], self._live.numbers[b])
            for a, b in constraints.links
            if a in self._live.numbers and b in self._live.numbers
        }
        self.steps: list[LinkStep] = []

    @property
    def old(self) -> set[_Ends]:
        """Links that the fresh design has not."""
        return self.links.keys() - self._fresh.keys()

    def join_pieces(self) -> None:
        """Add links of the fresh design where topics are in pieces, those that join most first."""
        pieces = _Pieces(self._interest, np.array(list(self.links), np.int32).reshape(-1, 2))
        waiting = [(-pieces.joined_by(*ends), ends) for ends in self._fresh if ends not in self.links]
        heapq.heapify(waiting)
        while waiting and self._left and waiting[0][0] < 0:
            _, ends = heapq.heappop(waiting)
            # What a link joins only falls as others are added, so one that still joins as much is best.
            joined = pieces.joined_by(*ends)
            if joined and (not waiting or (-joined, ends) <= waiting[0]):
                pieces.join(*ends)
                self._add([ends])
            elif joined:
                heapq.heappush(waiting, (-joined, ends))

    def drop_needless(self, links: Iterable[_Ends]) -> list[_Ends]:
        """Take away links that no topic needs, the best to lose first, as long as changes are left."""
        dropped = self._try_without(self._best_to_lose(links), self._left)
        self._note_removed(dropped)
        return dropped

    def move_nodes(self) -> bool:
        """Let each node go over to its links of the fresh design where that is better; whether any did."""
        missing: dict[int, list[_Ends]] = {}
        for ends in self._fresh:
            if ends not in self.links:
                for node in ends:
                    missing.setdefault(node, []).append(ends)
        around: dict[int, set[_Ends]] = {}
        for ends in self.old:
            for node in ends:
                around.setdefault(node, set()).add(ends)
        moved = False
        for node in sorted(missing, key=lambda node: (len(missing[node]) - len(around.get(node, ())), node)):
            added = [ends for ends in missing[node] if ends not in self.links]
            if added and len(added) < self._left:
                moved |= self._move(added, around)
        return moved

    def _move(self, added: list[_Ends], around: dict[int, set[_Ends]]) -> bool:
        before = self._value()
        near = {ends for link in added for node in link for ends in around.get(node, ()) if ends in self.links}
        self._link(added)
        dropped = self._try_without(self._best_to_lose(near), self._left - len(added))
        if self._value(added, dropped) < before and not self._have_too_many(added):
            self._note_added(added)
            self._note_removed(dropped)
            return True
        self._link(dropped)
        self._unlink(added)
        return False

    def _have_too_many(self, links: Sequence[_Ends]) -> bool:
        """Whether an end of some links has more of them than it may have."""
        population = self._live.population
        ends = _table(links).ravel()
        return bool((population.neighbours.length[ends] > population.limit[ends]).any())

    def relieve(self) -> bool:
        """Take a link off a node of highest degree; whether that could be done, with no more links than a fresh design.

        Where there are more already, there will not be still more.
        """
        if not self._left:
            return False
        most = 1 + max(0, len(self._fresh) - len(self.links))
        relief = link_to_take_off(self._live, self.staying, min(most, self._left - 1))
        if relief is None:
            return False
        self._add(relief.instead)
        self._unlink([relief.gone])
        self._note_removed([relief.gone])
        return True

    def go_all_the_way(self) -> None:
        """Make the fresh design's links the only ones, if changes suffice and it is better."""
        missing = [ends for ends in self._fresh if ends not in self.links]
        if len(missing) + len(self.old) <= self._left and self._fresh_value() < self._value():
            self._add(missing)
            self.drop_needless(self.old)

    def _value(self, added: Sequence[_Ends] = (), dropped: Sequence[_Ends] = ()) -> _Value:
        """What shall become less; with links that are already linked or not, but not noted yet."""
        if self._aim == "max-degree":
            degrees = self._live.population.degrees
            return int(degrees[-1]), int(degrees[degrees[-1]]), len(self.links) + len(added) - len(dropped)
        return (self._weight([*self.links, *added]) - self._weight(dropped),)

    def _fresh_value(self) -> _Value:
        if self._aim != "max-degree":
            return (self._weight(list(self._fresh)),)
        degrees = np.bincount(np.array(list(self._fresh), np.int64).ravel(), minlength=1)
        return int(degrees.max()), int((degrees == degrees.max()).sum()), len(self._fresh)

    def _weight(self, links: Sequence[_Ends]) -> int:
        if self._paid is None:
            return len(links)
        ends = np.array(links, np.int32).reshape(-1, 2)
        return int(self._paid.of(ends[:, 0], ends[:, 1]).sum())

    def _best_to_lose(self, links: Iterable[_Ends]) -> list[_Ends]:
        """Links in the order in which they should go: the dearest, of the highest degrees, or of fewest topics."""
        length = self._live.population.neighbours.length

        def key(ends: _Ends) -> tuple[int, int, _Ends]:
            degrees = sorted((int(length[ends[0]]), int(length[ends[1]])))
            if self._paid is not None:
                return -self._weight([ends]), -degrees[1], ends
            if self._aim == "max-degree":
                return -degrees[1], -degrees[0], ends
            topics = self._live.population.topics
            return len(np.intersect1d(row_of(topics, ends[0]), row_of(topics, ends[1]))), -degrees[1], ends

        return sorted(links, key=key)

    def _try_without(self, links: Sequence[_Ends], most: int) -> list[_Ends]:
        """Unlink those of some links that no topic needs, one after the other, `most` of them at most."""
        if not links or most <= 0:
            return []
        reasons = prune(self._live.population, self._live.scratch, _table(links)).tolist()
        needless = [ends for ends, reason in zip(links, reasons, strict=True) if reason < 0]
        self._link(needless[most:])
        return needless[:most]

    def _add(self, links: Sequence[_Ends]) -> None:
        self._link(links)
        self._note_added(links)

    def _note_added(self, links: Sequence[_Ends]) -> None:
        self.links |= dict.fromkeys(links)
        self._left -= len(links)
        self.steps += [LinkStep("add", self._live.link(*ends)) for ends in links]

    def _note_removed(self, links: Sequence[_Ends]) -> None:
        for ends in links:
            del self.links[ends]
        self._left -= len(links)
        self.steps += [LinkStep("remove", self._live.link(*ends)) for ends in links]

    def _link(self, links: Sequence[_Ends]) -> None:
        self._live.reserve(links=len(links))
        relink(self._live.population, _table(links), _table([]))

    def _unlink(self, links: Sequence[_Ends]) -> None:
        relink(self._live.population, _table([]), _table(links))


class _Pieces:
    """The pieces of all topics: every subscription has the number of one in its piece."""

    def __init__(self, interest: Interest, links: Ids) -> None:
        self._start, self._topics = interest.node_start, interest.node_topics
        _, parent = merge_links(self._start, self._topics, links[:, 0].copy(), links[:, 1].copy())
        piece: npt.NDArray[np.int64] = parent
        while not np.array_equal(above := piece[piece], piece):
            piece = above
        self._piece = piece

    def joined_by(self, u: int, v: int) -> int:
        """How many pieces a link would join to others."""
        ours, theirs = self._common(u, v)
        return int((self._piece[ours] != self._piece[theirs]).sum())

    def join(self, u: int, v: int) -> None:
        """Join what a link joins."""
        ours, theirs = self._common(u, v)
        for a, b in zip(self._piece[ours].tolist(), self._piece[theirs].tolist(), strict=True):
            self._piece[self._piece == b] = a

    def _common(self, u: int, v: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Places of the subscriptions to common topics, of one node and of the other."""
        ours, theirs = (self._topics[self._start[node] : self._start[node + 1]] for node in (u, v))
        _, first, second = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
        return self._start[u] + first, self._start[v] + second


def _ends(overlay: Overlay) -> list[_Ends]:
    return list(zip(overlay.source.tolist(), overlay.target.tolist(), strict=True))


def _sorted(u: int, v: int) -> _Ends:
    return (u, v) if u < v else (v, u)


def _table(links: Sequence[_Ends]) -> Ids:
    return np.array(links, np.int32).reshape(-1, 2)
