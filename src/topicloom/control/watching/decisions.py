"""What a controller has decided, on disk, and the overlay that it leads to.

Each decision is in a log, on the disk, before anything outside follows from it: an event that was taken, a broker that
is gone or back, links that were tidied. What they do is determined by what was before, so a killed controller goes on
from its snapshot and the decisions since. The overlay is mended before a decision is logged: one that cannot be
followed is not taken, and all is as it was before.

Links are mended among those that have to do with a topic. A filter that comes or goes may change the topics of many
brokers at once, as filters that overlap are one topic; so may a publisher, as what nobody publishes needs no links.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from topicloom.churn.maintainer import EventRefused, Maintainer
from topicloom.churn.rebuild import links_by_name
from topicloom.control.durable_log import DurableLog
from topicloom.control.watching.left_out import LeftOut, Plannable
from topicloom.control.watching.mesh_links import MeshLinks
from topicloom.control.watching.tree_links import TreeLinks
from topicloom.control.watching.wishes import (
    Wish,
    WishesByNode,
    after_wish_event,
    filter_problem,
    from_log,
    interest_among,
    to_log,
    wishes_for,
)
from topicloom.errors import InputError
from topicloom.model.constraints import Constraints
from topicloom.model.events import Event
from topicloom.model.interest import Interest
from topicloom.model.interest_changes import events_between, topics_by_node
from topicloom.model.overlay import Overlay

_LOG = "decisions.log"
_SNAPSHOT = "maintained.json"
_SNAPSHOT_EVERY = 500


class DecisionFailed(InputError):  # noqa: N818  it says what happened
    """A decision that cannot be followed; it was not taken, and nothing changed."""


class Decisions:
    """A fleet as decided: who wants and publishes what, who is away, and the overlay among those that are there.

    Args:
        folder: where decisions are kept. constraints: which links there may be.
        begin: who wants and publishes what, where the folder is new. filters: whose filters the topics are, if any.
        tree: whether there is one tree for all topics, which NATS needs.
        plannable: says what the overlay leaves out; nothing unless given. It may be another one at the next start.
    """

    def __init__(
        self,
        folder: Path,
        constraints: Constraints,
        begin: WishesByNode | None,
        *,
        filters: str | None = None,
        tree: bool = False,
        plannable: Plannable | None = None,
    ) -> None:
        self._folder = folder
        self._log = DurableLog(folder / _LOG)
        # What everybody wants and publishes, whether there or not, what was published at any time, and who is away.
        self.wanted: dict[str, frozenset[Wish]] = {}
        self._published: set[str] = set()
        self.away: set[str] = set()
        self.last_event = -1
        self.left_out: tuple[LeftOut, ...] = ()
        self._plannable = plannable
        self._kept: WishesByNode = {}
        first = self._log.entries[0] if self._log.entries else self._first(begin, filters, tree=tree)
        self.filters = self._begun(first, "filters", filters, "topics", "filters")
        tree = self._begun(first, "tree", tree or None, "links", "target") is not None
        self._links = TreeLinks(constraints) if tree else MeshLinks(constraints)
        self.interest, self.maintainer = self._restored(first)
        if not self._log.entries:
            self._log.append(first)

    def _first(self, begin: WishesByNode | None, filters: str | None, *, tree: bool) -> dict[str, Any]:
        """What a new state begins with."""
        if not begin:
            raise InputError(
                f"{self._folder}: is new; give the subscriptions that there are, or let brokers be asked", "subs"
            )
        if self._plannable is not None:
            self._plannable.require_brokers(begin)
        kind = ({"filters": filters} if filters else {}) | ({"tree": True} if tree else {})
        return {"begin": to_log(begin), **kind}

    def _begun(self, first: dict[str, Any], what: str, now: Any, of: str, parameter: str) -> Any:
        """What the state began with; an error if it is something else now."""
        then = first.get(what)
        if now is not None and now != then:
            raise InputError(f"{self._folder}: began with other {of}, so it cannot go on with these", parameter)
        return then

    @property
    def count(self) -> int:
        """How many decisions there are."""
        return len(self._log.entries)

    def latest(self, number: int) -> list[dict[str, Any]]:
        """The latest decisions, the last one first."""
        return self._log.entries[: -number - 1 : -1]

    def take(self, event: Event) -> str | None:
        """Let an event happen; the reason if it is refused.

        An event that cannot have happened is judged again at the next start, one that cannot be followed is not.
        """
        problem = self._problem(event)
        if problem is None:
            fields = json.loads(event.to_json())
            try:
                self._decide({"event": fields})
            except DecisionFailed as failure:
                problem = f"{event.kind} of '{event.node}' {failure}"
                self._decide({"refused": fields, "why": problem})
        return problem

    def lose(self, broker: str) -> None:
        """A broker is gone for now; what it wants stays known. The last one that is there stays."""
        if set(self._there()) != {broker}:
            self._decide({"lost": broker})

    def regain(self, broker: str) -> None:
        """A broker is back."""
        self._decide({"back": broker})

    def overlay(self) -> Overlay:
        """The links among those that are there, over what they want and publish."""
        return Overlay.from_links(self.interest, links_by_name(self.maintainer.overlay()))

    def tidy(self, changes: int) -> int:
        """Bring the overlay nearer to a fresh design where it has become much worse, by at most so many links.

        Gives how many were changed.
        """
        steps = self._links.tidying(self.maintainer.overlay(), changes) if changes > 0 else []
        if steps:
            self._decide({"tidied": steps})
        return len(steps)

    def note(self, entry: dict[str, Any]) -> None:
        """Keep something that was done, which decides nothing."""
        self._log.append(entry)

    def close(self) -> None:
        """Write a snapshot, and end."""
        self._write_snapshot()
        self._log.close()

    def _decide(self, entry: dict[str, Any]) -> None:
        """Follow a decision, then log it."""
        try:
            self._follow(entry)
        except Exception as error:
            # The maintainer may be half mended: make it again from what is logged.
            self.interest, self.maintainer = self._restored(self._log.entries[0])
            raise DecisionFailed(f"cannot be followed ({_reason(error)})") from error
        self._log.append(entry)
        if self.count % _SNAPSHOT_EVERY == 0:
            self._write_snapshot()

    def _follow(self, entry: dict[str, Any]) -> None:
        """Let a decision have its effect on the overlay, and on what is known."""
        self._know(entry)
        if "tidied" in entry:
            self._change_links(entry["tidied"])
            return
        before, self.interest = self.interest, self._interest()
        self._mend(before)

    def _mend(self, before: Interest) -> None:
        """Bring the overlay from one interest to the present one."""
        events = events_between(topics_by_node(before), topics_by_node(self.interest))
        if len(events) == 1:
            self.maintainer.apply(events[0])
        elif events:
            _, refused = self.maintainer.apply_jointly(events)
            assert not refused, refused

    def _know(self, entry: dict[str, Any]) -> None:
        if "begin" in entry:
            self.wanted = from_log(entry["begin"])
        elif "event" in entry:
            event = Event.from_json(json.dumps(entry["event"]), _LOG)
            after_wish_event(self.wanted, event)
            self.last_event = event.id
            if event.node not in self.wanted:
                self.away.discard(event.node)
        elif "refused" in entry:
            self.last_event = entry["refused"]["id"]
        elif "lost" in entry:
            self.away.add(entry["lost"])
        elif "back" in entry:
            self.away.discard(entry["back"])
        if "begin" in entry or "event" in entry:
            self._published.update(topic for wishes in self.wanted.values() for topic, part in wishes if part == "pub")

    def _interest(self) -> Interest:
        self._kept = self.wanted
        if self._plannable is not None:
            self._kept, self.left_out = self._plannable.among(self.wanted, self.filters)
        return interest_among(self._there(), self._published, self.filters)

    def _there(self) -> dict[str, frozenset[Wish]]:
        """What is wanted and published by those that are there and that plans can have."""
        return {node: wishes for node, wishes in self._kept.items() if node not in self.away}

    def _problem(self, event: Event) -> str | None:
        try:
            known = self.wanted.get(event.node)
            if event.kind == "join" and known is not None:
                raise EventRefused(f"join of '{event.node}', which is there already")
            if event.kind != "join" and known is None:
                raise EventRefused(f"{event.kind} of '{event.node}', which is not there")
            if event.kind == "leave" and set(self._there()) <= {event.node}:
                raise EventRefused(f"leave of '{event.node}', which is the last one")
            has = known or frozenset()
            after = (has | wishes_for(event.add, event.role)) - wishes_for(event.remove, event.role)
            if event.kind != "leave" and not after:
                raise EventRefused(f"{event.kind} of '{event.node}', which would want no topic")
            if event.kind == "change" and not self._changes_each(event, has):
                raise EventRefused(f"change of '{event.node}' to what is already so")
            if problem := filter_problem(event, self.filters):
                raise EventRefused(f"{event.kind} of '{event.node}': {problem}")
        except EventRefused as refusal:
            return str(refusal)
        return None

    @staticmethod
    def _changes_each(event: Event, has: frozenset[Wish]) -> bool:
        """Whether something changes with every topic of a change."""
        added = all(wishes_for([topic], event.role) - has for topic in event.add)
        return added and all(wishes_for([topic], event.role) & has for topic in event.remove)

    def _change_links(self, steps: Sequence[Sequence[str]]) -> None:
        overlay = self.maintainer.overlay()
        names = overlay.interest.node_names
        ends = zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
        links = dict.fromkeys((names[u], names[v]) for u, v in ends)
        for action, source, target in steps:
            if action == "add" and {source, target} <= overlay.interest.node_ids.keys():
                links[source, target] = None
            else:
                links.pop((source, target), None)
        self.maintainer = self._links.over(Overlay.from_links(overlay.interest, links))

    def _restored(self, first: dict[str, Any]) -> tuple[Interest, Maintainer]:
        """What there is, and its links: from the snapshot, or a design of what was first, and what followed."""
        self.wanted, self._published, self.away, self.last_event = {}, set(), set(), -1
        done = 0
        path = self._folder / _SNAPSHOT
        if path.exists():
            self.maintainer, done = self._links.read(path)
        self._know(first)
        known = max(1, done)
        number = 1
        try:
            for entry in self._log.entries[1:known]:
                number += 1
                self._know(entry)
            self.interest = self._interest()
            if done:
                # The fleet file may have other brokers now than when these links were kept.
                self._mend(self.maintainer.interest())
            else:
                self.maintainer = self._links.fresh(self.interest)
            for entry in self._log.entries[known:]:
                number += 1
                self._follow(entry)
        except Exception as error:
            if not self._log.entries:
                raise
            raise InputError(
                f"{self._folder / _LOG}: decision {number} cannot be followed ({_reason(error)}); "
                "put the folder back from a copy, or begin a new one"
            ) from error
        return self.interest, self.maintainer

    def _write_snapshot(self) -> None:
        self._links.write(self._folder / _SNAPSHOT, self.maintainer, self.count)


def _reason(error: Exception) -> str:
    """Why something cannot be followed, in one line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, InputError) else f"{type(error).__name__}: {text}"
