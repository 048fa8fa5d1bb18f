"""Rebuilding: a design from scratch after each event, the baseline of Shadows, section VI, where it is `low-oda`.

Degrees are as low as the designer makes them, but every event costs a whole design, and many links come and go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from topicloom.churn.live_overlay import Link
from topicloom.churn.maintainer import Change, MaintainerByName, links_by_name
from topicloom.designers import DESIGNERS, DesignProblem, run
from topicloom.designers.run import warm_up
from topicloom.model.constraints import Constraints
from topicloom.model.interest import Ids, Interest
from topicloom.model.overlay import Overlay
from topicloom.model.prices import Prices
from topicloom.model.provenance import Provenance

_NOTHING = np.empty(0, np.int32)


class RebuildMaintainer(MaintainerByName):
    """Designs the whole overlay anew; `build_seconds` is the processor time of the latest design."""

    method = "rebuild"
    _topics: dict[str, set[str]]
    _links: dict[Link, None]

    def __init__(
        self,
        overlay: Overlay,
        rule: str,
        rho: float,
        constraints: Constraints | None = None,
        prices: Prices | None = None,
    ) -> None:
        self._constraints, self._prices = constraints, prices
        self._made_with = MappingProxyType(choosing(rule, rho))
        self._designer = DESIGNERS.prepare(rule, 0, {"k": rho} if rule == "low-oda" else {})
        warm_up(self._problem(overlay.interest), self._designer)
        self._overlay = overlay
        self.build_seconds = 0.0
        interest = overlay.interest
        names = interest.topic_names
        self._topics = {
            node: {names[topic] for topic in interest.topics_of(number).tolist()}
            for node, number in interest.node_ids.items()
        }
        self._links = links_by_name(overlay)
        # Numbers of topics in the order they came, and the numbers of each node's topics beside the topics themselves.
        self._topic_names: list[str] = []
        self._topic_numbers: dict[str, int] = {}
        self._rows: dict[str, tuple[set[str], Ids]] = {}

    def _join(self, node: str, topics: list[str]) -> Change:
        self._topics[node] = set(topics)
        return self._rebuilt()

    def _leave(self, node: str) -> Change:
        del self._topics[node]
        self._rows.pop(node, None)
        return self._rebuilt()

    def _change(self, node: str, add: list[str], remove: list[str]) -> Change:
        self._topics[node] = self._topics[node].difference(remove).union(add)
        return self._rebuilt()

    def _apply_jointly(self, wanted: Mapping[str, set[str] | None]) -> Change:
        for node, topics in wanted.items():
            if topics is None:
                del self._topics[node]
                self._rows.pop(node, None)
            else:
                self._topics[node] = set(topics)
        return self._rebuilt()

    def _rebuilt(self) -> Change:
        made = run(self._problem(self._interest_now()), self._designer)
        self._overlay, self.build_seconds = made.overlay, made.processor_seconds
        before, self._links = self._links, links_by_name(self._overlay)
        return Change(
            tuple(link for link in self._links if link not in before),
            tuple(sorted(before.keys() - self._links.keys())),
            self.node_count,
        )

    def _problem(self, interest: Interest) -> DesignProblem:
        return DesignProblem.of(interest, constraints=self._constraints, prices=self._prices)

    def _interest_now(self) -> Interest:
        """Return what all nodes want. Made from numbers: from names it took twice as long as the design."""
        nodes = sorted(self._topics)
        wanted = [self._numbers_of(node) for node in nodes]
        present, topics = np.unique(np.concatenate([_NOTHING, *wanted]), return_inverse=True)
        names = [self._topic_names[topic] for topic in present.tolist()]
        order = np.argsort(names, kind="stable")
        ids = np.empty(len(names), np.int32)
        ids[order] = np.arange(len(names))
        owners = np.repeat(np.arange(len(nodes), dtype=np.int32), [len(row) for row in wanted])
        return Interest.from_ids(tuple(nodes), tuple(sorted(names)), owners, ids[topics])

    def _numbers_of(self, node: str) -> Ids:
        """Return the topics of a node as numbers, found once for each set of them."""
        kept = self._rows.get(node)
        if kept is None or kept[0] is not self._topics[node]:
            for topic in self._topics[node]:
                if topic not in self._topic_numbers:
                    self._topic_numbers[topic] = len(self._topic_names)
                    self._topic_names.append(topic)
            row = np.fromiter((self._topic_numbers[topic] for topic in self._topics[node]), np.int32)
            kept = self._rows[node] = (self._topics[node], row)
        return kept[1]

    @property
    def parameters(self) -> Mapping[str, int | float | str | bool]:
        """The parameters that it was made with."""
        return self._made_with

    @property
    def support(self) -> float:
        """Share of the possible merges that is done; designs are connected unless there are constraints."""
        return 1.0 if self._constraints is None else super().support

    def interest(self) -> Interest:
        """Return what all nodes want now."""
        return self._overlay.interest

    def _restart(self, overlay: Overlay) -> None:
        self._overlay, self._links = overlay, links_by_name(overlay)

    def _overlay_now(self) -> Overlay:
        numbers = {name: value for name, value in self._made_with.items() if not isinstance(value, str)}
        return replace(self._overlay, provenance=Provenance(self.method, MappingProxyType(numbers)))


def choosing(rule: str, rho: float) -> dict[str, int | float | str | bool]:
    """Return the parameters of how links are chosen: rho for the rule of Shadows, else the rule."""
    return {"rho": rho} if rule == "low-oda" else {"rule": rule}
