from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from effort import times
from topicloom.kernels import random_links


@pytest.mark.parametrize("patience", [0, 1, 3])
def test_pairs_listed_at_the_end_keep_to_the_rule(monkeypatch: pytest.MonkeyPatch, patience: int) -> None:
    """With less patience nearly all pairs come from the list; run uncompiled, since compiled code holds constants."""
    monkeypatch.setattr(random_links, "_PATIENCE", patience)
    for seed in range(times(60)):
        nodes, max_degree = 2 + seed % 9, 1 + seed % 4
        max_degree = min(max_degree, nodes - 1)
        ticks = np.zeros(2, np.int64)
        source, target = random_links.random_pairs.py_func(nodes, max_degree, np.random.default_rng(seed), ticks)
        links = set(zip(source.tolist(), target.tolist(), strict=True))
        degree = Counter([*source.tolist(), *target.tolist()])
        assert len(links) == len(source) == ticks[0], seed
        assert all(u < v for u, v in links), seed
        assert max(degree.values()) <= max_degree, seed
        assert set(combinations([u for u in range(nodes) if degree[u] < max_degree], 2)) <= links, seed


def test_the_list_is_drawn_from_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_links, "_PATIENCE", 0)
    first: Counter[tuple[int, int]] = Counter()
    for seed in range(1200):
        source, target = random_links.random_pairs.py_func(4, 1, np.random.default_rng(seed), np.zeros(2, np.int64))
        first[int(source[0]), int(target[0])] += 1
    assert len(first) == 6
    assert sum((count - 200) ** 2 / 200 for count in first.values()) < 20.5  # 5 degrees of freedom, one in a thousand


def test_a_table_of_pairs_finds_what_it_holds_and_nothing_else() -> None:
    rng = np.random.default_rng(1)
    held = np.unique(rng.integers(0, 10**12, size=500))
    table = random_links._pair_table(len(held))
    for pair in held:
        table[random_links._slot(table, pair)] = pair
    assert all(table[random_links._slot(table, pair)] == pair for pair in held)
    assert all(table[random_links._slot(table, pair)] < 0 for pair in rng.integers(10**12, 10**13, size=500))
    assert (table >= 0).sum() == len(held)
