"""Relays at the ends of a routing tree."""

from __future__ import annotations

import numpy as np

from topicloom.kernels.routing import drop_loose_relays


def kept(parents: list[int], wants: list[bool]) -> tuple[int, dict[int, int]]:
    """The root and the parents that remain of a tree given by parents, -1 for the root, in the order of depth."""
    parent = np.array(parents, np.int32)
    link = np.array([-1 if p < 0 else i for i, p in enumerate(parents)], np.int64)
    root = drop_loose_relays(parent, link, np.array(wants), np.arange(len(parents), dtype=np.int32))
    return root, {i: int(parent[i]) for i in range(len(parents)) if link[i] >= 0}


def test_relays_without_anything_below_go() -> None:
    assert kept([-1, 0, 0, 2], [True, True, False, False]) == (0, {1: 0})


def test_relays_between_subscribers_stay() -> None:
    assert kept([-1, 0, 1], [True, False, True]) == (0, {1: 0, 2: 1})
    assert kept([-1, 0, 0], [False, True, True]) == (0, {1: 0, 2: 0})


def test_a_relay_at_the_top_with_one_branch_goes_and_so_may_those_below() -> None:
    assert kept([-1, 0, 0, 1], [False, True, False, True]) == (1, {3: 1})
    assert kept([-1, 0, 1, 2, 2], [False, False, False, True, True]) == (2, {3: 2, 4: 2})
    assert kept([-1, 0, 1], [False, False, True]) == (2, {})
