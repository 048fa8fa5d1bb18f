"""Messages kept by brokers while their links change: sessions are made ready before old links go, and cleared after."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from topicloom.deploy.planning.delivery import LINKS
from topicloom.deploy.planning.fleet_file import Broker, Fleet
from topicloom.deploy.planning.flows import Pair
from topicloom.deploy.planning.plan import Line, Plan
from topicloom.deploy.proof.bridge_sessions import first_needed, forget_link, let_arrive, new_sessions, prepare_link
from topicloom.errors import InputError

_Do = Callable[[Mapping[str, Broker], Pair, Sequence[Line]], None]


class Keeping:
    """Makes sessions ready before the steps that need them, where we may log in at both brokers of a link.

    A broker that refuses stops nothing; `refused` says which did, and messages of its links may be lost. Brokers in
    `silent` are not asked.
    """

    def __init__(
        self,
        fleet: Fleet,
        has: Plan,
        wants: Plan,
        steps: Sequence[tuple[str, str | None]],
        silent: Collection[str] = (),
    ) -> None:
        asked = {name for name, delivery in fleet.deliveries.items() if delivery.check == LINKS}.difference(silent)
        self._brokers = {name: broker for name, broker in {**has.broker, **wants.broker}.items() if name in asked}
        self._has, self._wants = has, wants
        self._needed: dict[int, list[Pair]] = {}
        self._lasting = wants.target == "mosquitto" and bool(has.brokers) and bool(wants.brokers)
        if self._lasting:
            self._needed = first_needed(has, wants, [(name, file is not None) for name, file in steps])
        self.refused: tuple[str, ...] = ()

    def before(self, step: int) -> None:
        """Make ready what a step needs."""
        needed = [link for link in self._needed.get(step, []) if self._brokers.keys() >= set(link)]
        for link in needed:
            self._try(prepare_link, link, self._wants.lines_of_link[link])
        if needed:
            let_arrive()

    def end(self) -> None:
        """Let brokers forget the sessions of links that are gone."""
        if self._lasting:
            for link, lines in new_sessions(self._wants, self._has).items():
                self._try(forget_link, link, lines)

    def _try(self, do: _Do, link: Pair, lines: Sequence[Line]) -> None:
        try:
            do(self._brokers, link, lines)
        except InputError as error:
            self.refused = (*self.refused, str(error))
