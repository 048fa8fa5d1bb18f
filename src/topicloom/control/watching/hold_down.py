"""Who is there and who is gone, without following every flap.

A broker counts as gone once it has been silent for `down_seconds`, and as back once it has answered for `up_seconds`
without a break. Each further loss doubles the latter, up to an hour; what is steady for as long as that is forgiven.
"""

from __future__ import annotations

from dataclasses import dataclass

_LONGEST_SECONDS = 3600.0


@dataclass
class _Broker:
    there: bool = True
    # Since when it is otherwise than decided, and when it was last decided.
    otherwise_since: float | None = None
    decided: float = 0.0
    losses: int = 0


class HoldDown:
    """Turns answers and silences into losses and returns."""

    def __init__(self, down_seconds: float = 3.0, up_seconds: float = 5.0) -> None:
        self._down_seconds = down_seconds
        self._up_seconds = up_seconds
        self._brokers: dict[str, _Broker] = {}

    def begin(self, name: str, *, there: bool) -> None:
        """Take it that a broker is there or not."""
        self._brokers[name] = _Broker(there)

    def counts_as_there(self, name: str) -> bool:
        """Whether a broker counts as there."""
        return self._brokers.setdefault(name, _Broker()).there

    def see(self, name: str, *, answers: bool, now: float) -> bool | None:
        """Take in whether a broker answers; True where it is back with that, False where it is gone, else None."""
        broker = self._brokers.setdefault(name, _Broker())
        if answers == broker.there:
            broker.otherwise_since = None
            if broker.there and now - broker.decided > self.needed_seconds(name):
                broker.losses = 0
            return None
        if broker.otherwise_since is None:
            broker.otherwise_since = now
        if now - broker.otherwise_since < self.needed_seconds(name):
            return None
        broker.there, broker.otherwise_since, broker.decided = answers, None, now
        broker.losses += not answers
        return answers

    def needed_seconds(self, name: str) -> float:
        """How long a broker must be otherwise before that counts."""
        broker = self._brokers[name]
        if broker.there:
            return self._down_seconds
        return min(self._up_seconds * 2.0 ** max(0, broker.losses - 1), _LONGEST_SECONDS)
