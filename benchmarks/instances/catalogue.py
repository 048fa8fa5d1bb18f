"""The instances by name: how each is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from benchmarks.backbone import sparse
from benchmarks.real_data import FOLDER, SETS
from benchmarks.search import Row, random_interest
from topicloom import synthetic
from topicloom.model import Interest, Prices


@dataclass(frozen=True)
class Instance:
    """How an instance is made, and how it is searched.

    Args:
        kind: tiny, small, paper, worst, real or large.
        made: the generator and its arguments, or the recipe, in words.
        make: makes it.
        data: the file beside the checkout that it needs, if any.
        rounds: rounds of the search for a record; none if `exact` proves the optimum.
        prices: prices of links, whose sum is then lowered in place of the links.
    """

    kind: str
    made: str
    make: Callable[[], Interest]
    data: str | None = None
    rounds: int | None = None
    prices: Callable[[Interest], Prices] | None = None

    @property
    def missing(self) -> bool:
        """Whether its data are not there."""
        return self.data is not None and not (FOLDER / self.data).exists()


def cuboid(k: int, m: int) -> Interest:
    """GM 2007, lemma 6.6: `gm` needs far more than the 2 (k + m) links that suffice."""
    rows = []
    for plane in range(2):
        for column in range(1, 2**k):
            for j in range(m):
                rows += [
                    (role, f"{plane} {column} {j}") for role in (f"two{plane}", f"k{column.bit_length()}", f"m{j}")
                ]
    return Interest.from_pairs(rows)


def hub(nodes: int) -> Interest:
    """Low 2010, lemma 1: one node wants all topics, so that n - 1 links suffice, but at a degree of n - 1."""
    pairs = [(i, j) for i in range(nodes) for j in range(nodes)]
    return Interest.from_pairs([(f"v{v:03}", f"{i} {j}") for i, j in pairs for v in {0, i, j}])


def ros_nodes() -> Interest:
    """Programs of 37 robots and their topics; each robot is an island."""
    table = pyarrow.csv.read_csv(FOLDER / "subscriptions" / "ros_nodes.csv")
    named = [pc.binary_join_element_wise(table["system"], table[column], "/") for column in ("node", "topic")]
    return Interest.from_arrow(pa.table(dict(zip(("node", "topic"), named, strict=True))))


def twitter_followers() -> Interest:
    """Users, each a topic to those who follow it."""
    table = pyarrow.csv.read_csv(FOLDER / "graphs" / "twitter_followers.csv.gz")
    return Interest.from_arrow(pa.table({"node": table["src"], "topic": table["trg"]}))


def aws_latencies(interest: Interest) -> Prices:
    """Round trips between the 19 regions of AWS, over which nodes are dealt by their names."""
    data = Prices.read(FOLDER / "latency" / "aws_regions.csv")
    regions = sorted(data.names)
    return Prices(data.between, {name: regions[k % len(regions)] for k, name in enumerate(interest.node_names)})


def _drawn(kind: str, nodes: int, topics: int, each: int, popularity: str, seed: int, rounds: int) -> Instance:
    row = Row("", nodes, topics, (each, each), popularity, "", 0)
    law = "uniform" if popularity == "uniform" else "Zipf 0.9"
    made = f"`random_interest`: {each} of {topics:,} topics for each of {nodes:,} nodes, {law}, seed {seed}"
    return Instance(kind, made, partial(random_interest, row, seed), rounds=rounds)


def _synthetic(kind: str, nodes: int, topics: int, *, rounds: int | None = None, **more: object) -> Instance:
    words = ", ".join(f"{name}={value}" for name, value in more.items())
    make = partial(synthetic, nodes, topics, **more)  # type: ignore[arg-type]
    return Instance(kind, f"`synthetic({nodes}, {topics}, {words})`", make, rounds=rounds)


def _real(read: Callable[[], Interest], data: str, rounds: int) -> Instance:
    assert read.__doc__ is not None
    return Instance("real", f"{read.__doc__.rstrip('.')}: `{data}`", read, data, rounds)


def _catalogue() -> dict[str, Instance]:
    found: dict[str, Instance] = {}
    tiny = ((6, 5, 2, 3), (7, 6, 2, 4), (8, 6, 2, 4), (9, 8, 2, 4), (10, 8, 3, 3), (12, 8, 2, 3), (14, 10, 2, 3))
    for nodes, topics, least, most in tiny:
        sizes = {"sizes": "uniform", "min_topics": least, "max_topics": most, "seed": 1}
        found[f"tiny-{nodes}"] = _synthetic("tiny", nodes, topics, **sizes)
    for seed in range(1, 6):
        found[f"fleet-100-{seed}"] = _drawn("small", 100, 60, 6, "zipf", seed, 500_000)
    for k, m, rounds in ((3, 3, None), (4, 6, None), (6, 10, 20_000)):
        made = f"GM 2007, lemma 6.6, k={k}, m={m}"
        found[f"cuboid-{k}-{m}"] = Instance("worst", made, partial(cuboid, k, m), rounds=rounds)
    for nodes in (8, 30):
        found[f"hub-{nodes}"] = Instance("worst", f"Low 2010, lemma 1, n={nodes}", partial(hub, nodes), rounds=20_000)
    for popularity, more in (("uniform", {}), ("zipf", {"alpha": 0.5}), ("exponential", {})):
        each = {"popularity": popularity, **more, "min_topics": 10, "seed": 1}
        found[f"gm-2007-{popularity}"] = _synthetic("paper", 1000, 100, rounds=400_000, **each)
    power = {"sizes": "power-law", "min_topics": 20, "max_topics": 600, "seed": 1}
    for popularity in ("uniform", "zipf", "exponential"):
        for nodes, rounds in ((400, 200_000), (4000, 200_000)):
            each = {"popularity": popularity, **power}
            found[f"low-2010-{popularity}-{nodes}"] = _synthetic("paper", nodes, 1000, rounds=rounds, **each)
    found["zipf-1000"] = _drawn("large", 1000, 100, 10, "zipf", 1, 2_000_000)
    found["uniform-1000"] = _drawn("large", 1000, 100, 10, "uniform", 1, 2_000_000)
    found["zipf-3000"] = _drawn("large", 3000, 300, 15, "zipf", 1, 2_000_000)
    found["zipf-10000"] = _drawn("large", 10_000, 1000, 30, "zipf", 1, 1_000_000)
    found["sparse-20000"] = Instance("large", "`sparse(20000)`", partial(sparse, 20_000), rounds=500_000)
    found["sparse-100000"] = Instance("large", "`sparse(100000)`", partial(sparse, 100_000), rounds=1_000_000)
    found["ros-nodes"] = _real(ros_nodes, "subscriptions/ros_nodes.csv", 200_000)
    fleet = _drawn("real", 190, 60, 6, "zipf", 1, 500_000)
    made = f"{fleet.made}; prices are {aws_latencies.__doc__[0].lower()}{aws_latencies.__doc__[1:-1]}"
    found["aws-190"] = replace(fleet, made=made, data="latency/aws_regions.csv", prices=aws_latencies)
    found["deezer"] = _real(SETS["deezer_genres"], "subscriptions/deezer_genres.tsv.gz", 500_000)
    found["youtube"] = _real(SETS["youtube_groups"], "subscriptions/youtube_groups.tsv.gz", 1_000_000)
    found["slashdot"] = _real(SETS["slashdot_followers"], "graphs/slashdot_followers.csv.gz", 300_000)
    found["twitter"] = _real(twitter_followers, "graphs/twitter_followers.csv.gz", 500_000)
    return found


INSTANCES: Mapping[str, Instance] = _catalogue()
