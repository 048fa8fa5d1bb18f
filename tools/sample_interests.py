"""Interests of many shapes for `fingerprints.py`, with prices, constraints and rates for each."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from itertools import combinations

from topicloom import Constraints, Interest, NodeRule, Prices, Rates, synthetic

Pair = tuple[str, str]

# The levels of filters: how they are joined, one level of any name, and any number of levels.
_WILDCARDS = {"mqtt": ("/", "+", "#"), "nats": (".", "*", ">"), "amqp": (".", "*", "#")}


@cache
def interest(name: str) -> Interest:
    """Return one of INTERESTS by name."""
    return _MAKERS[name]()


def _drawn(popularity: str) -> Callable[[], Interest]:
    shape = {"sizes": "power-law", "min_topics": 5, "max_topics": 60, "size_exponent": 1.2, "seed": 1}
    return lambda: synthetic(600, 200, popularity=popularity, **shape)


def _filters(protocol: str) -> Callable[[], Interest]:
    """Rows of roles and filters, in some twenty groups that do not overlap."""

    def make() -> Interest:
        separator, one, rest = _WILDCARDS[protocol]
        dice = random.Random(protocol)
        rows = []
        for node in range(40):
            for _ in range(dice.randrange(2, 7)):
                levels = [f"site{dice.randrange(12)}", *(dice.choice(["a", "b", one]) for _ in range(2))]
                if dice.random() < 0.2:
                    levels[2:] = [rest]
                rows.append((f"n{node:02}", separator.join(levels), dice.choice(["sub", "sub", "pub", "both"])))
        return Interest.from_roles(rows, filters=protocol)

    return make


def _cuboid() -> Interest:
    """The worst case of GM 2007, lemma 6.6: the topics of a cuboid, each wanted by three nodes, for k = 4 and m = 5."""
    rows = []
    for plane in range(2):
        for column in range(1, 2**4):
            for j in range(5):
                nodes = (f"two{plane}", f"k{column.bit_length()}", f"m{j}")
                rows += [(node, f"{plane} {column} {j}") for node in nodes]
    return Interest.from_pairs(rows)


def _lemma() -> Interest:
    """The worst case of Low 2010, lemma 1: topic i j is wanted by nodes 0, i and j, of 9 nodes."""
    return Interest.from_pairs([(f"v{v}", f"{i} {j}") for i in range(9) for j in range(9) for v in sorted({0, i, j})])


def _ego() -> Interest:
    """Members of overlapping circles around one user; each is a topic to those that are linked with it."""
    dice = random.Random("ego")
    circles = [dice.sample(range(1, 150), dice.randrange(5, 30)) for _ in range(12)]
    friends = {(0, member) for member in range(1, 150)}
    for circle in circles:
        friends |= {pair for pair in combinations(sorted(circle), 2) if dice.random() < 0.4}
    rows = [(f"u{a}", f"u{b}") for a, b in sorted(friends)] + [(f"u{b}", f"u{a}") for a, b in sorted(friends)]
    return Interest.from_pairs(rows)


def _hub() -> Interest:
    """A node that wants all topics, among nodes that want two each."""
    rows = [("hub", f"t{t:02}") for t in range(30)]
    return Interest.from_pairs(rows + [(f"n{t:02}", f"t{(t + k) % 30:02}") for t in range(30) for k in range(2)])


def _unicode() -> Interest:
    names = ["Zürich", "大阪", "a b", "é", "e\u0301", "🛰", "Ωmega", "'quoted'", "x,y", "ß"]
    topics = ["температура", "t/1", "météo", "ニュース", '"t"', "t\\2"]
    dice = random.Random("unicode")
    return Interest.from_pairs([(node, topic) for node in names for topic in topics if dice.random() < 0.6])


_MAKERS: dict[str, Callable[[], Interest]] = {
    "zipf": _drawn("zipf"),
    "exponential": _drawn("exponential"),
    "uniform": _drawn("uniform"),
    "small": lambda: synthetic(
        90, 40, popularity="zipf", alpha=0.8, sizes="uniform", min_topics=2, max_topics=9, seed=2
    ),
    "tiny": lambda: synthetic(14, 9, sizes="uniform", min_topics=1, max_topics=5, seed=3),
    # Pairs with more common topics than a byte counts exactly.
    "many topics a node": lambda: synthetic(300, 1000, sizes="uniform", min_topics=200, max_topics=600, seed=4),
    # Many links are equally good.
    "few topics": lambda: synthetic(3300, 10, min_topics=3, seed=5),
    # Topics as lists rather than as bits.
    "sparse": lambda: synthetic(2000, 3000, sizes="uniform", min_topics=3, max_topics=8, seed=6),
    # Enough rows for several threads.
    "many nodes": lambda: synthetic(
        4200, 40, popularity="zipf", alpha=0.5, sizes="uniform", min_topics=2, max_topics=6, seed=7
    ),
    "equal rows": lambda: Interest.from_pairs([(f"n{n:02}", f"t{t}") for n in range(30) for t in range(5)]),
    "one node": lambda: Interest.from_pairs([("n", f"t{t}") for t in range(3)]),
    "two nodes": lambda: Interest.from_pairs([("a", "t"), ("b", "t"), ("b", "u")]),
    "hub": _hub,
    "unicode": _unicode,
    "mqtt": _filters("mqtt"),
    "nats": _filters("nats"),
    "amqp": _filters("amqp"),
    "cuboid": _cuboid,
    "lemma": _lemma,
    "ego": _ego,
    # Enough subscriptions for several blocks of leaves of a backbone.
    "blocks": lambda: synthetic(12_000, 200, sizes="uniform", min_topics=20, max_topics=30, seed=8),
}

INTERESTS: tuple[str, ...] = tuple(_MAKERS)


def regions(of: Interest) -> dict[str, str]:
    """Return one of three regions for each node."""
    return {name: "abc"[number % 3] for number, name in enumerate(of.node_names)}


def prices(of: Interest) -> dict[str, Prices]:
    """Return prices by region, by pair of nodes, and equal ones; few values, so that many links are equally good."""
    dice = random.Random(7)
    names = of.node_names
    values = [1, 2, 3, 0.5, 1.000001]
    between = {pair: dice.choice(values) for pair in combinations("aabbcc", 2)}
    pairs = {(a, b) for a, b in (dice.choices(names, k=2) for _ in range(20 * len(names))) if a < b}
    return {
        "by region": Prices({("*", "*"): 2, **between}, regions(of)),
        "by node": Prices({("*", "*"): 2, **{pair: dice.choice(values) for pair in sorted(pairs)}}),
        "equal": Prices({("*", "*"): 1.5}),
    }


def constraints(of: Interest) -> dict[str, Constraints]:
    """Return limits, rules by region, links that exist or must not, and all of these together."""
    dice = random.Random(8)
    names = of.node_names
    drawn = {(min(pair), max(pair)) for pair in (dice.choices(names, k=2) for _ in range(120))}
    pairs = sorted(pair for pair in drawn if pair[0] != pair[1])
    dice.shuffle(pairs)
    ends: dict[str, int] = {}
    stay: list[Pair] = []
    for a, b in pairs[:20]:
        if len(stay) < 6 and max(ends.get(a, 0), ends.get(b, 0)) < 2:
            stay.append((a, b))
            ends.update({a: ends.get(a, 0) + 1, b: ends.get(b, 0) + 1})
    keep, require, forbid = tuple(stay[:3]), tuple(stay[3:]), tuple(pairs[20:])
    where = regions(of)
    placed = {name: NodeRule(accepts=number % 5 > 0, region=where[name]) for number, name in enumerate(names)}
    limited = {
        name: NodeRule(max_links=3 + number % 7, region=where[name] if number % 2 else None)
        for number, name in enumerate(names)
    }
    others = NodeRule(max_links=4)
    return {
        "limits": Constraints(others=others),
        "regions": Constraints(placed, forbid_regions=(("a", "c"),)),
        "links": Constraints(forbid=forbid, keep=keep, require=require),
        "all": Constraints(limited, others, forbid=forbid, keep=keep, require=require),
    }


def rates(of: Interest) -> Rates:
    """Return a rate for a name that matches each topic or filter, and one for a name that no node subscribes to."""
    names = sorted({re.sub("[+*#>]", "a", name) for name in of.to_arrow()["topic"].to_pylist()})
    return Rates({"silent/name": 1.0, **{name: 0.25 * (1 + number % 9) for number, name in enumerate(names)}})
