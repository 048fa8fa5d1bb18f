"""The backbone designer against its slow twin, and what it promises."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from effort import times
from reference import greedy
from reference.backbone import Backbone
from reference.interests import SHAPES, random_interest
from topicloom import design, measure
from topicloom.designers import backbone
from topicloom.kernels.bit_planes import new_host_rows, wants
from topicloom.model import InputError, Interest, Overlay

CORES: dict[str, Callable[[Interest], list[greedy.Step]]] = {
    "gm": greedy.gm,
    "low-oda": lambda interest: greedy.low_oda(interest, k=3),
}


def steps_of(overlay: Overlay) -> list[greedy.Step]:
    assert overlay.contribution is not None
    columns = (overlay.source.tolist(), overlay.target.tolist(), overlay.contribution.tolist())
    return list(zip(*columns, strict=True))


def larger_interest(seed: int, nodes: int = 90, topics: int = 40) -> Interest:
    """Popular topics that have bitsets, rare ones that have lists, and nodes of 1 to 12 topics."""
    dice = random.Random(seed)
    weights = [1 / (1 + t) for t in range(topics)]
    return Interest.from_pairs(
        (f"n{u:03}", f"t{t:03}")
        for u in range(nodes)
        for t in set(dice.choices(range(topics), weights, k=dice.randint(1, 12)))
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("max_degree", [None, 1, 2, 3, 8])
def test_small_interests_like_the_twin(shape: str, max_degree: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backbone, "_BLOCK_SUBSCRIPTIONS", 6)
    for seed in range(times(12)):
        interest = random_interest(seed, shape)
        for core_size in {1, 2, min(4, interest.node_count)}:
            core = "low-oda" if seed % 3 == 0 else "gm"
            if core_size > interest.node_count:
                continue
            twin = Backbone(interest, CORES[core], core_size, max_degree, 6)
            found = design(interest, "backbone", core=core, core_size=core_size, max_degree=max_degree)
            assert steps_of(found) == twin.links, f"{shape} {seed}, core {core_size} by {core}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(times(8)))
@pytest.mark.parametrize("max_degree", [None, 3, 5, 9, 24])
@pytest.mark.parametrize("block_size", [1 << 18, 60])
def test_larger_interests_like_the_twin(
    seed: int, max_degree: int | None, block_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backbone, "_BLOCK_SUBSCRIPTIONS", block_size)
    interest = larger_interest(seed)
    twin = Backbone(interest, greedy.gm, 10, max_degree, block_size)
    assert steps_of(design(interest, "backbone", core="gm", core_size=10, max_degree=max_degree)) == twin.links


@pytest.mark.parametrize("max_degree", [None, 4, 6, 12, 40])
def test_a_limit_is_kept_and_topics_are_connected_where_there_is_room(max_degree: int | None) -> None:
    for seed in range(times(8)):
        interest = larger_interest(seed, nodes=400, topics=60)
        overlay = design(interest, "backbone", core_size=20, max_degree=max_degree)
        found = measure(interest, overlay, diameters=False)
        assert overlay.contribution is not None
        assert int(overlay.contribution.sum()) == found.components_unlinked - found.components
        assert overlay.degrees.max() <= (max_degree or interest.node_count)
        assert found.topic_connected or (max_degree is not None and max_degree < 12), f"seed {seed}"


@pytest.mark.parametrize("blocks", [2, 3, 7])
def test_shares_of_the_room_add_up_to_it(blocks: int) -> None:
    room = np.arange(40) * 7 % 23
    shares = np.array([backbone._share(room, block, blocks) for block in range(blocks)])
    assert (shares >= 0).all()
    assert shares.sum(axis=0).tolist() == room.tolist()
    assert (shares.max(axis=0) - shares.min(axis=0)).max() <= 1


def test_blocks_give_the_same_links_in_any_order_and_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backbone, "_BLOCK_SUBSCRIPTIONS", 50)
    interest = larger_interest(3, nodes=300)
    expected = steps_of(design(interest, "backbone", core_size=10, max_degree=9))
    for threads in (1, 2, 7):
        monkeypatch.setattr("os.cpu_count", lambda threads=threads: threads)
        assert steps_of(design(interest, "backbone", core_size=10, max_degree=9)) == expected


def test_bitsets_and_lists_tell_the_same() -> None:
    dice = random.Random(1)
    rows = [sorted(dice.sample(range(20), dice.randint(1, 6))) for _ in range(200)]
    start = np.cumsum([0, *map(len, rows)])
    built = new_host_rows(start, np.concatenate(rows).astype(np.int32), 20)
    assert (built.bitset >= 0).sum() > 0
    for host, topics in enumerate(rows):
        assert [t for t in range(20) if wants(built, host, t)] == topics


def test_islands_and_topics_without_large_nodes_are_connected() -> None:
    """Every second node is on an island of its own kind, and the smallest nodes share a topic that no large one has."""
    pairs = [(f"a{u:03}", f"x{(u * k) % 30}") for u in range(60) for k in range(1, 8)]
    pairs += [(f"b{u:03}", f"y{(u + k) % 11}") for u in range(40) for k in range(3)]
    pairs += [(f"c{u:03}", "rare") for u in range(20)]
    interest = Interest.from_pairs(pairs)
    for core_size in (None, 1, 5):
        overlay = design(interest, "backbone", core_size=core_size)
        assert measure(interest, overlay, diameters=False).topic_connected


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"core": "gmm"}, "core of backbone must be gm, minmax-oda or low-oda, not 'gmm'"),
            ({"core_size": 0}, "core_size of backbone must be a whole number, 1 or more, not 0"),
            ({"core_size": 91}, "core_size is 91 and there are 90 nodes; give at most as many"),
            ({"max_degree": 0}, "max_degree of backbone must be a whole number, 1 or more, not 0"),
        ],
    )
    def test_values(self, parameters: dict[str, int | str], message: str) -> None:
        with pytest.raises(InputError) as caught:
            design(larger_interest(0), "backbone", **parameters)
        assert str(caught.value) == message
