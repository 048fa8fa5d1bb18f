"""Made-up results of the runs of Shadows, which agree with the paper unless told otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable

from made_up import Results, but

# Two values: after the first event and after the last, or of joins and of leaves.
Pair = tuple[float, float]
Fours = tuple[float, float, float, float]
# A value by the topics of a node, or by the event.
Course = Callable[[int], float]

# Seven nodes, of which three are 42.9%, and nine of the thousand events.
TOPICS = range(10, 71, 10)
EVENTS = (1, 400, 401, 402, 403, 996, 998, 999, 1000)
JOINS, LEAVES = (tuple(event for event in EVENTS if event % 2 == odd) for odd in (1, 0))
# All that is counted and timed is more than under uniform popularity, so that nothing can be compared across.
LEVEL = {"uniform": 1, "zipf": 3, "exponential": 2}


def slope(rise: float) -> Course:
    return lambda topics: rise * topics


def between(fewest: float, most: float) -> Course:
    return lambda topics: fewest + (most - fewest) * (topics - TOPICS[0]) / (TOPICS[-1] - TOPICS[0])


def flat(_: int) -> float:
    return 40


def falling(topics: int) -> float:
    return 80 - topics


def jump(topics: int) -> float:
    return 40 * (topics == TOPICS[-1])


def restless(event: int) -> float:
    return event // 2


def nodes(backups: Course, primaries: Course) -> Results:
    """A node with each number of topics."""
    return lambda _: [
        {"subscription_size": topics, "backup_count": round(backups(topics)), "primary_count": round(primaries(topics))}
        for topics in TOPICS
    ]


def exponential(topics: int) -> float:
    return math.exp(topics / 20)


FEW_BACKUPS, MANY_BACKUPS = slope(0.55), slope(1.4)
BALANCED = between(21, 59)


def greedy(backups: Course = FEW_BACKUPS, primaries: Course = exponential) -> Results:
    return nodes(backups, primaries)


def dual(backups: Course = MANY_BACKUPS, primaries: Course = BALANCED) -> Results:
    return nodes(backups, primaries)


def two_ways(by_dual: Results, greedily: Results) -> Results:
    return lambda p: by_dual(p) if p["backups"].startswith("primal-dual") else greedily(p)


def churn(max_degree: Pair | Course = (13, 22), average_degree: Pair = (4.0, 4.4), shadow: int = 30) -> Results:
    """Degrees that go evenly from those after the first event to those after the last."""

    def at(event: int, course: Pair | Course) -> float:
        if callable(course):
            return course(event)
        first, last = course
        return first + (last - first) * (event - 1) / 999

    return lambda p: [
        {
            "event": event,
            "max_degree": round(at(event, max_degree) * LEVEL[p["popularity"]]),
            "average_degree": at(event, average_degree) * LEVEL[p["popularity"]],
            "shadow": shadow * LEVEL[p["popularity"]],
        }
        for event in EVENTS
    ]


def averages(first: float, last: float) -> Results:
    """Average degrees after the first event and the last; maximum degrees as always."""
    return churn(average_degree=(first, last))


MAINTAINED, GREEDILY, REBUILT = churn(), churn((13, 84), (4.0, 6.0)), churn((10, 16), (3.6, 4.1))


def coverages(
    last: Fours = (31, 26, 24, 23), first: Fours = (13, 13, 13, 13), shadow: tuple[int, ...] = (20, 35, 50, 65)
) -> Results:
    """Maximum degrees after the first event and the last, and shadow sets, with coverage 1 to 4."""
    runs = [churn((start, end), shadow=size) for start, end, size in zip(first, last, shadow, strict=True)]
    return lambda p: runs[p["coverage"] - 1](p)


def methods(shadow: Results = MAINTAINED, naive: Results = MAINTAINED, low: Results = REBUILT) -> Results:
    return but(but(low, shadow, method="shadow"), naive, method="naive")


def events(**columns: Callable[[str, int], float]) -> Results:
    """Runs whose columns follow from the method and the event."""
    return lambda p: [
        {
            "event": event,
            "kind": "leave" if event in LEAVES else "join",
            **{name: value(p["method"], event) * LEVEL[p["popularity"]] for name, value in columns.items()},
        }
        for event in EVENTS
    ]


def by_kind(values: dict[str, Pair]) -> Callable[[str, int], float]:
    """Values of joins and of leaves, by the method: these on average, from half of it to half more."""

    def value(method: str, event: int) -> float:
        alike = LEAVES if event in LEAVES else JOINS
        return values[method][event in LEAVES] * (0.5 + alike.index(event) / (len(alike) - 1))

    return value


def times(
    low: float = 18.76, shadow: Pair = (0.00269, 0.333), naive: Pair = (0.00793, 2.575), worst: float = 11.5
) -> Results:
    """Mean seconds of joins and leaves; the last leave of Naive takes longest, and the others make up for it.

    The machine is busier at some events than at others, for all methods alike.
    """
    others = naive[1] - (worst - 1.5 * naive[1]) / 3.5
    mean = by_kind({"shadow": shadow, "naive": (naive[0], others)})

    def seconds(method: str, event: int) -> float:
        longest = method == "naive" and event == LEAVES[-1]
        return (low if method == "rebuild" else worst if longest else mean(method, event)) * (1 + event % 3)

    return events(seconds=seconds)


def shadow_sets(usual: int = 24, worst: int = 95, nodes_now: int = 2000) -> Results:
    """Shadow sets that are larger at one event; what other methods look at is no shadow set."""
    return events(
        shadow=lambda method, event: nodes_now if method != "shadow" else worst if event == 400 else usual,
        nodes_now=lambda method, event: nodes_now,
    )


def repairs(low: Pair = (11.3, 7.5), shadow: Pair = (0.068, 0.17), naive: Pair = (0.05, 0.15)) -> Results:
    """Percent of the links that are changed."""
    percent = by_kind({"rebuild": low, "shadow": shadow, "naive": naive})
    return events(repair_ratio=lambda method, event: percent(method, event) / 100)


def links(low: Pair = (730, 490), shadow: Pair = (5, 12), naive: Pair = (5, 12)) -> Results:
    """Links that are changed, a third of them removed."""
    changed = by_kind({"rebuild": low, "shadow": shadow, "naive": naive})
    return events(
        links_added=lambda method, event: round(changed(method, event)) - round(changed(method, event) / 3),
        links_removed=lambda method, event: round(changed(method, event) / 3),
    )
