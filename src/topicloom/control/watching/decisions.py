"""What a controller has decided, on disk, and the overlay that it leads to.

Each decision is in a log, on the disk, before anything follows from it: an event that was taken, a broker that is gone
or back, links that were tidied. What they do is determined by what was before, so a killed controller goes on from its
snapshot and the decisions since.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from topicloom.churn.connectedness import broken_topics
from topicloom.churn.improving import improve
from topicloom.churn.maintainer import EventRefused, Maintainer
from topicloom.churn.methods import Settings, maintainer
from topicloom.churn.snapshot import Snapshot, read_snapshot, write_snapshot
from topicloom.control.durable_log import DurableLog
from topicloom.designers import design
from topicloom.errors import InputError
from topicloom.model.constraints import Constraints
from topicloom.model.events import Event
from topicloom.model.interest import Interest
from topicloom.model.interest_changes import after_event, topics_by_node
from topicloom.model.overlay import Overlay

_LOG = "decisions.log"
_SNAPSHOT = "maintained.json"
_DESIGNER = "low-oda"
# How much above a fresh design links or the highest degree may be before they are tidied.
_SLACK = 1.1
_SNAPSHOT_EVERY = 500


class Decisions:
    """A fleet as decided: who wants what, who is away, and the overlay among those that are there."""

    def __init__(self, folder: Path, constraints: Constraints, begin: Interest | None) -> None:
        self._folder = folder
        self._constraints = constraints
        self._log = DurableLog(folder / _LOG)
        # What everybody wants, whether there or not, and who is away.
        self.wanted: dict[str, frozenset[str]] = {}
        self.away: set[str] = set()
        self.last_event = -1
        if not self._log.entries:
            if begin is None:
                raise InputError(
                    f"{folder}: is new; give the subscriptions that there are, or let brokers be asked", "subs"
                )
            topics = {node: sorted(wants) for node, wants in topics_by_node(begin).items()}
            self._log.append({"begin": topics})
        self.maintainer = self._restored()

    @property
    def count(self) -> int:
        """How many decisions there are."""
        return len(self._log.entries)

    def latest(self, number: int) -> list[dict[str, Any]]:
        """The latest decisions, the last one first."""
        return self._log.entries[: -number - 1 : -1]

    def take(self, event: Event) -> str | None:
        """Let an event happen; why it is refused where it cannot have happened."""
        problem = self._problem(event)
        if problem is None:
            self._decide({"event": json.loads(event.to_json())})
        return problem

    def lose(self, broker: str) -> None:
        """A broker is gone for now; what it wants stays known. The last one that is there stays."""
        if set(self._there()) != {broker}:
            self._decide({"lost": broker})

    def regain(self, broker: str) -> None:
        """A broker is back."""
        self._decide({"back": broker})

    def tidy(self, changes: int) -> int:
        """Bring the overlay nearer to a fresh design where it has become much worse, by at most so many links.

        Gives how many were changed.
        """
        overlay = self.maintainer.overlay()
        if changes < 1 or not len(overlay):
            return 0
        fresh = design(overlay.interest, _DESIGNER, constraints=self._constraints)
        many = len(overlay) > _SLACK * len(fresh)
        high = overlay.degrees.max(initial=0) > _SLACK * fresh.degrees.max(initial=0)
        if not many and not high:
            return 0
        aim = "max-degree" if high else "links"
        better = improve(overlay, changes, aim=aim, designer=_DESIGNER, constraints=self._constraints)  # type: ignore[arg-type]
        steps = [[step.action, *step.link] for step in better.steps]
        if steps and not broken_topics(better.overlay):
            self._decide({"tidied": steps})
            return len(steps)
        return 0

    def note(self, entry: dict[str, Any]) -> None:
        """Keep something that was done, which decides nothing."""
        self._log.append(entry)

    def close(self) -> None:
        """Write a snapshot, and end."""
        self._write_snapshot()
        self._log.close()

    def _decide(self, entry: dict[str, Any]) -> None:
        self._log.append(entry)
        self._follow(entry)
        if self.count % _SNAPSHOT_EVERY == 0:
            self._write_snapshot()

    def _follow(self, entry: dict[str, Any]) -> None:
        """Let a decision have its effect on the overlay, and on what is known."""
        before = self._there()
        self._know(entry)
        if "tidied" in entry:
            self._change_links(entry["tidied"])
            return
        after = self._there()
        for node in sorted(before.keys() - after.keys()):
            self.maintainer.leave(node)
        for node in sorted(after.keys() - before.keys()):
            self.maintainer.join(node, sorted(after[node]))
        for node in sorted(before.keys() & after.keys()):
            if before[node] != after[node]:
                self.maintainer.change(node, sorted(after[node] - before[node]), sorted(before[node] - after[node]))

    def _know(self, entry: dict[str, Any]) -> None:
        if "begin" in entry:
            self.wanted = {node: frozenset(topics) for node, topics in entry["begin"].items()}
        elif "event" in entry:
            event = Event.from_json(json.dumps(entry["event"]), _LOG)
            after_event(self.wanted, event)
            self.last_event = event.id
            if event.node not in self.wanted:
                self.away.discard(event.node)
        elif "lost" in entry:
            self.away.add(entry["lost"])
        elif "back" in entry:
            self.away.discard(entry["back"])

    def _there(self) -> dict[str, frozenset[str]]:
        return {node: topics for node, topics in self.wanted.items() if node not in self.away}

    def _problem(self, event: Event) -> str | None:
        try:
            known = self.wanted.get(event.node)
            if event.kind == "join" and known is not None:
                raise EventRefused(f"join of '{event.node}', which is there already")
            if event.kind != "join" and known is None:
                raise EventRefused(f"{event.kind} of '{event.node}', which is not there")
            after = (known or frozenset()) | set(event.add)
            if event.kind == "leave" and set(self._there()) <= {event.node}:
                raise EventRefused(f"leave of '{event.node}', which is the last one")
            if event.kind != "leave" and not after - set(event.remove):
                raise EventRefused(f"{event.kind} of '{event.node}', which would want no topic")
            if event.kind == "change" and (set(event.add) & (known or set()) or set(event.remove) - (known or set())):
                raise EventRefused(f"change of '{event.node}' to what is already so")
        except EventRefused as refusal:
            return str(refusal)
        return None

    def _change_links(self, steps: Sequence[Sequence[str]]) -> None:
        overlay = self.maintainer.overlay()
        names = overlay.interest.node_names
        ends = zip(overlay.source.tolist(), overlay.target.tolist(), strict=True)
        links = dict.fromkeys((names[u], names[v]) for u, v in ends)
        for action, source, target in steps:
            if action == "add":
                links[source, target] = None
            else:
                links.pop((source, target), None)
        self.maintainer = self._made(Overlay.from_links(overlay.interest, links))

    def _made(self, overlay: Overlay) -> Maintainer:
        return maintainer(overlay, Settings(prune=True), self._constraints)

    def _restored(self) -> Maintainer:
        """The overlay from the snapshot, or from a design of what there was first, and the decisions since."""
        done = 0
        path = self._folder / _SNAPSHOT
        if path.exists():
            snapshot = read_snapshot(path)
            self.maintainer, done = snapshot.maintainer, snapshot.last_event or 0
            if snapshot.constraints != self._constraints:
                # The fleet file allows other links now, so what there is is designed anew.
                self.maintainer = self._made(
                    design(snapshot.maintainer.interest(), _DESIGNER, constraints=self._constraints)
                )
        for number, entry in enumerate(self._log.entries):
            if number < done:
                self._know(entry)
            elif "begin" in entry:
                self._know(entry)
                rows = [(node, topic) for node, topics in entry["begin"].items() for topic in topics]
                interest = Interest.from_pairs(rows)
                self.maintainer = self._made(design(interest, _DESIGNER, constraints=self._constraints))
            else:
                self._follow(entry)
        return self.maintainer

    def _write_snapshot(self) -> None:
        snapshot = Snapshot(self.maintainer, Settings(prune=True), "watch", self.count, self._constraints)
        write_snapshot(self._folder / _SNAPSHOT, snapshot)
