"""Message histories to rates, a message at a time."""

from __future__ import annotations

from collections import Counter


def summarized(messages: list[tuple], attributes: list[tuple[str, float, float, int]]) -> tuple[dict, Counter, float]:
    """Rates by (user, channel), reasons of bad messages, and the seconds that the good ones span."""
    counts: Counter = Counter()
    reasons: Counter = Counter()
    times = []
    for user, *values, time in messages:
        if user is None or not user.strip():
            reasons["no user"] += 1
            continue
        places = []
        for value, (name, low, high, cells) in zip(values, attributes, strict=True):
            if not isinstance(value, float):
                reasons[f"{name} is no number"] += 1
                break
            if not low <= value <= high:
                reasons[f"{name} is outside the space"] += 1
                break
            place = min(int((value - low) // ((high - low) / cells)), cells - 1) + 1
            places.append(f"{place:0{len(str(cells))}}")
        else:
            if time is None:
                reasons["no time"] += 1
                continue
            counts[user.strip(), "c" + ".".join(places)] += 1
            times.append(time)
    seconds = max(times) - min(times)
    return {key: count / seconds for key, count in counts.items()}, reasons, seconds
