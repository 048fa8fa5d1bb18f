"""Random fleets of bridges, and a slow simulation of what Mosquitto does with a message in them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import product

# A message with more arrivals than this loops, and so does one whose name grows to more levels.
FOR_EVER = 2_000
MOST_LEVELS = 50


@dataclass(frozen=True)
class Line:
    """A `topic` line of a bridge."""

    pattern: str
    direction: str
    local: str
    remote: str


@dataclass(frozen=True, eq=False)
class SimulatedBridge:
    """A bridge that one broker opens to another."""

    opener: str
    other: str
    lines: tuple[Line, ...]
    private: bool

    def text(self) -> str:
        """The bridge as a section of the opener's configuration."""
        lines = [f"connection to-{self.other}", f"address {self.other}:1883"]
        lines += [] if self.private else ["try_private false"]
        lines += [
            f"topic {line.pattern} {line.direction} 1 {line.local or chr(34) * 2} {line.remote or chr(34) * 2}"
            for line in self.lines
        ]
        return "\n".join(lines) + "\n"


def random_bridges(seed: int) -> list[SimulatedBridge]:
    """Two to six bridges among two to four brokers."""
    dice = random.Random(seed)
    brokers = "abcd"[: dice.randint(2, 4)]
    bridges = []
    for _ in range(dice.randint(2, 6)):
        opener, other = dice.sample(brokers, 2)
        lines = tuple(_line(dice) for _ in range(dice.randint(1, 3)))
        bridges.append(SimulatedBridge(opener, other, lines, dice.random() < 0.8))
    return bridges


def _line(dice: random.Random) -> Line:
    levels = [dice.choice(["x", "y", "+"]) for _ in range(dice.randint(0, 2))]
    pattern = "/".join([*levels, *(["#"] if not levels or dice.random() < 0.4 else [])])
    local, remote = (dice.choice(["", "", "", "", "x/", "p/"]) for _ in range(2))
    return Line(pattern, dice.choice(["in", "out", "both"]), local, remote)


def possible_names() -> list[str]:
    """All names of up to three levels that tell the patterns of random fleets apart."""
    return ["/".join(levels) for size in (1, 2, 3) for levels in product(["x", "y", "p", "z"], repeat=size)]


def published(bridges: list[SimulatedBridge], broker: str, name: str) -> str | None:
    """What a message does: `loop`, or `duplicate` if it arrives twice under one name at a broker."""
    found: Counter[tuple[str, str]] = Counter()
    queue: list[tuple[str, str, SimulatedBridge | None]] = [(broker, name, None)]
    for at, called, came in queue:
        found[at, called] += 1
        if len(queue) > FOR_EVER or called.count("/") > MOST_LEVELS:
            return "loop"
        for bridge in bridges:
            outward = at == bridge.opener
            if at not in (bridge.opener, bridge.other) or (bridge is came and (outward or bridge.private)):
                continue
            for line in bridge.lines:
                here, there = (line.local, line.remote) if outward else (line.remote, line.local)
                if line.direction in ("both", "out" if outward else "in") and _matches(here + line.pattern, called):
                    to = bridge.other if outward else bridge.opener
                    queue.append((to, there + called[len(here) :], bridge))
                    break
    return "duplicate" if max(found.values()) > 1 else None


def _matches(pattern: str, name: str) -> bool:
    wanted, levels = pattern.split("/"), name.split("/")
    for place, level in enumerate(wanted):
        if level == "#":
            return True
        if place == len(levels) or level not in ("+", levels[place]):
            return False
    return len(wanted) == len(levels)
