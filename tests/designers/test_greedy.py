"""The greedy designers against their slow twins: the very same links in the same order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import greedy
from reference.interests import SHAPES, random_interest
from topicloom.designers import design, merging
from topicloom.designers.base import Watch
from topicloom.kernels.greedy import merge_evenly, merge_greedily, new_link_list
from topicloom.kernels.search import new_search
from topicloom.model import Interest, Overlay

CASES = [(shape, seed) for shape in SHAPES for seed in range(25)]


def steps(overlay: Overlay) -> list[tuple[int, int, int]]:
    assert overlay.contribution is not None
    return list(zip(overlay.source.tolist(), overlay.target.tolist(), overlay.contribution.tolist(), strict=True))


@pytest.fixture(params=[True, False], ids=["bitsets", "lists"])
def _representation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "prefers_bitsets", lambda interest: request.param)


@pytest.mark.usefixtures("_representation")
@pytest.mark.parametrize(("shape", "seed"), CASES)
class TestSameLinks:
    def test_gm(self, shape: str, seed: int) -> None:
        interest = random_interest(seed, shape)
        assert steps(design(interest, "gm")) == greedy.gm(interest)

    def test_minmax_oda(self, shape: str, seed: int) -> None:
        interest = random_interest(seed, shape)
        assert steps(design(interest, "minmax-oda")) == greedy.low_oda(interest)

    @pytest.mark.parametrize("k", [1, 1.5, 3, 8])
    def test_low_oda(self, shape: str, seed: int, k: float) -> None:
        interest = random_interest(seed, shape)
        assert steps(design(interest, "low-oda", k=k)) == greedy.low_oda(interest, k)

    @pytest.mark.parametrize("max_edges", [1, 4])
    def test_gpa(self, shape: str, seed: int, max_edges: int) -> None:
        interest = random_interest(seed, shape)
        assert steps(design(interest, "gpa", max_edges=max_edges)) == greedy.gm(interest, max_edges)

    @pytest.mark.parametrize("max_degree", [1, 2, 3])
    def test_gpm(self, shape: str, seed: int, max_degree: int) -> None:
        interest = random_interest(seed, shape)
        assert steps(design(interest, "gpm", max_degree=max_degree)) == greedy.low_oda(interest, math.inf, max_degree)

    def test_gm_fold(self, shape: str, seed: int) -> None:
        interest = random_interest(seed, shape)
        assert steps(design(interest, "gm-fold", folds=3)) == greedy.gm_fold(interest, 3)
