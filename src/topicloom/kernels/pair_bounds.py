"""Candidate links with an upper bound for each, in rows by their first node.

Contributions only fall as links are added, so a contribution that was right once is an upper bound for ever.
Bounds are bytes: values above 128 are coded in steps, rounded up, so that any contribution fits. Rows are made
of blocks of 64 slots, and the highest bound of each block is kept beside them.

Every pair of nodes has a slot (n^2/2 bytes; the column of a slot follows from its place), row after row or in panels:
the parts of all rows with the same 512 nodes follow each other, so that what is known of these stays in the cache.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.kernels.jit import inlined, inner_kernel, tight_kernel
from topicloom.kernels.simd import LANES, WIDE, WORDS, count_lanes, highest_of

# Contributions up to this are coded as they are.
EXACT = 128
# Rows of a panel that are scanned together: their blocks are 64.
ROWS = LANES // WORDS
# A thread counts so many rows at a time.
_SHARE = 1024
# Threads that count, at most: more would wait for memory.
_THREADS = 8
_FEW = 4
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Candidates(NamedTuple):
    """Bounds of candidate links; row u holds its links with higher nodes, by rising node.

    Kernels number nodes in an order of their own; `outer` leads to the ids outside, `inner` back.
    """

    row_start: npt.NDArray[np.int64]  # first slot of each row, a multiple of 64; empty where pairs are in panels
    row_base: npt.NDArray[np.int64]  # what the row of a pair adds to the place of its slot,
    panel_base: npt.NDArray[np.int64]  # and what the panel of the higher node adds
    bound: npt.NDArray[np.uint8]  # by slot, coded; 0 where the slot is unused or the link is spent
    block_bound: npt.NDArray[np.uint8]  # highest bound of each block, padded so that 64 can be read
    step: int  # width of the codes above 128
    outer: npt.NDArray[np.int32]  # id of each node
    inner: npt.NDArray[np.int32]  # node of each id


@inlined()
def coded(value, step):
    """Code of a contribution; rising with it."""
    return np.uint8(value) if value <= EXACT else np.uint8(EXACT + (value - EXACT + step - 1) // step)


@inlined()
def highest_coded(code, step):
    """Highest contribution that has a code."""
    return np.int64(code) if code <= EXACT else EXACT + (np.int64(code) - EXACT) * step


def code_step(highest: int) -> int:
    """Width of codes above 128 such that the highest contribution still fits a byte."""
    return max(1, -(-(highest - EXACT) // (255 - EXACT)))


@inlined()
def first_column(u):
    """Node of the first slot of row u, where rows follow each other."""
    return (u + 1) // WIDE * WIDE


@inlined()
def block_slot(candidates, u, v):
    """The slot of row u with the first node of the panel of node v."""
    return candidates.row_base[u] + candidates.panel_base[v // WIDE]


def inverse(outer: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The node of each id, from the id of each node."""
    inner = np.empty_like(outer)
    inner[outer] = np.arange(len(outer), dtype=np.int32)
    return inner


def all_pairs(
    node_start: npt.NDArray[np.int64],
    node_topics: npt.NDArray[np.int32],
    table: npt.NDArray[np.uint64],
    highest: int,
    outer: npt.NDArray[np.int32],
    *,
    in_panels: bool,
) -> Candidates:
    """Every pair of nodes, bounded by the number of common topics."""
    row_start, row_base, panel_base, slots = (_panels if in_panels else _rows)(len(outer))
    candidates = Candidates(
        row_start,
        row_base,
        panel_base,
        np.zeros(slots, np.uint8),
        np.zeros(slots // LANES + LANES, np.uint8),
        code_step(highest),
        outer,
        inverse(outer),
    )

    def count(base: int) -> None:
        count_common_topics(node_start, node_topics, table, candidates, base)

    bases = range(0, len(outer), _SHARE)
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as threads:
        # For a few rows a thread would cost more than it saves.
        for _ in (map if len(bases) < _FEW else threads.map)(count, bases):
            pass
    return candidates


def _rows(nodes: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    """First slot of each row, `row_base`, `panel_base` and the number of slots; row after row."""
    first = first_column.py_func(np.arange(nodes))
    row_start = np.zeros(nodes + 1, np.int64)
    np.cumsum(-(-nodes // WIDE) * WIDE - first, out=row_start[1:])
    return row_start, row_start[:-1] - first, np.arange(-(-nodes // WIDE)) * WIDE, int(row_start[-1])


def _panels(nodes: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    """The same panel after panel: the parts of all rows with its 512 nodes."""
    panel = np.arange(-(-nodes // WIDE))
    panel_base = panel * (panel + 1) // 2 * WIDE**2
    slots = int(panel_base[-1]) + -(-nodes // ROWS) * ROWS * WIDE
    return np.empty(0, np.int64), np.arange(nodes) * WIDE, panel_base, slots


def all_pairs_bytes(nodes: int) -> int:
    """Memory of `all_pairs`, and of the groups of two searches among them."""
    slots = (nodes + WIDE) * (nodes + 2 * WIDE) // 2
    return slots + slots // 32 + nodes * 16


@tight_kernel()
def count_common_topics(node_start, node_topics, table, candidates, base):
    """Bound every pair of some rows from `base` on by its common topics, 512 higher nodes at a time.

    For these `table` tells who wants a topic, so counting bits in the rows of a node's topics gives what it has in
    common with each: popcounts of pairs take 5 times as long at 10,000 x 1,000.
    """
    nodes = candidates.outer.shape[0]
    rows = np.int64(table.shape[2])
    for first in range(first_column(base), nodes, WIDE):
        words = first // WIDE * 2 * rows * WORDS
        for u in range(base, min(base + _SHARE, nodes - 1, first + WIDE - 1)):
            slot = block_slot(candidates, u, first)
            count_lanes(candidates.bound, slot, table, words, node_topics, node_start[u], node_start[u + 1], rows - 1)
            if candidates.step > 1 and node_start[u + 1] - node_start[u] > EXACT:
                code_counts(candidates.bound, slot, candidates.step)
            for lane in range(u + 1 - first):
                candidates.bound[slot + lane] = 0
            for block in range(slot // LANES, (slot + WIDE) // LANES):
                candidates.block_bound[block] = highest_of(candidates.bound, block * LANES, _ALL)


@inner_kernel()
def code_counts(counts, slot, step):
    """Code 512 counts; 255 stands for any higher one, too."""
    for lane in range(slot, slot + WIDE):
        if counts[lane] < 255:
            counts[lane] = coded(np.int64(counts[lane]), step)


@inner_kernel()
def raise_block_bounds(candidates):
    """Set the bound of every block from its slots."""
    for block in range(candidates.bound.shape[0] // LANES):
        candidates.block_bound[block] = highest_of(candidates.bound, block * LANES, _ALL)


@tight_kernel()
def exclude(candidates, source, target):
    """Take links, given by ids, out of the candidates for good."""
    for link in range(source.shape[0]):
        a, b = candidates.inner[source[link]], candidates.inner[target[link]]
        u, v = min(a, b), max(a, b)
        candidates.bound[block_slot(candidates, u, v) + v % WIDE] = 0


@tight_kernel()
def exclude_groups(candidates, group, may_meet):
    """Take links between groups that may not be linked out of the candidates.

    `group` is that of each node; `may_meet[g, v]` is 255 where nodes of group g may be linked with node v, else 0.
    """
    nodes = group.shape[0]
    for u in range(nodes):
        for v in range(u + 1, nodes):
            candidates.bound[block_slot(candidates, u, v) + v % WIDE] &= may_meet[group[u], v]
    raise_block_bounds(candidates)
