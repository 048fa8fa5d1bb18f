"""Fingerprint of a set of subscriptions, the same for every order of rows and every engine. This is version 2.

A name is hashed by 64-bit xxHash with seed 42, which is `xxhash64` of Spark. A subscription is hashed by
`xxhash64(xxhash64(node), xxhash64(topic))`, as Spark chains columns: the hash of one is the seed of the next. These
are summed modulo 2^64. A sum does not depend on order, so parts can be summed apart and added. Engines that check
for overflow sum the upper and the lower 32 bits by themselves.

Numpy works on blocks that fit a processor's cache: 5 ns a subscription. A compiled loop would take half, but numba
takes 0.6 s to import in every process, as in each of Spark's.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat

import numpy as np
import numpy.typing as npt
from xxhash import xxh64_intdigest

Hashes = npt.NDArray[np.uint64]
Ids = npt.NDArray[np.integer]

_SEED = 42
_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
)
_OF_NUMBER = _P5 + np.uint64(8)  # added to the seed for a value of 8 bytes
_BLOCK = 1 << 14


def name_hashes(names: Iterable[str]) -> Hashes:
    """Return xxhash64 of each name."""
    return np.fromiter(map(xxh64_intdigest, map(str.encode, names), repeat(_SEED)), np.uint64)


def subscriptions_sum(node_hashes: Hashes, topic_hashes: Hashes, nodes: Ids, topics: Ids) -> int:
    """Return the sum of the hashes of subscriptions modulo 2^64.

    `nodes` and `topics` have a row for each subscription, and refer to the hashes of the names.
    """
    total = 0
    # What depends on one name is worked out once.
    seeds = _finished(_mixed(node_hashes) ^ (np.uint64(_SEED) + _OF_NUMBER)) + _OF_NUMBER
    values = _mixed(topic_hashes)
    for begin in range(0, len(nodes), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        total += int(_finished(seeds[nodes[rows]] ^ values[topics[rows]]).sum(dtype=np.uint64))
    return total % 2**64


def digest(total: int, subscriptions: int) -> str:
    """Return the fingerprint as text, from the sum over all subscriptions and their number."""
    return f"{subscriptions:x}-{total % 2**64:016x}"


def _mixed(values: Hashes) -> Hashes:
    return _rotated(values * _P2, 31) * _P1


def _finished(hashes: Hashes) -> Hashes:
    hashes = _rotated(hashes, 27) * _P1 + _P4
    hashes ^= hashes >> np.uint64(33)
    hashes *= _P2
    hashes ^= hashes >> np.uint64(29)
    hashes *= _P3
    hashes ^= hashes >> np.uint64(32)
    return hashes


def _rotated(values: Hashes, bits: int) -> Hashes:
    rotated: Hashes = (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))
    return rotated
